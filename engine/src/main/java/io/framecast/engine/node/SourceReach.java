package io.framecast.engine.node;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.OneSidedEndpoint.State;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.reliability.ReceiverCounts;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.ReceiverOutput;
import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.StreamInfo;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// What a receiver does to its source's memory: one word written, and datagrams read out of the window into
/// slots of the sink.
///
/// By the receiver's thread, but for construction.
final class SourceReach implements AutoCloseable {
    private static final long GRANT_TOKEN = ReadSlots.SLOTS;

    private final StreamInfo stream;
    private final boolean guarded;
    private final Consumer<String> notices;
    private final OneSidedEndpoint endpoint;
    private final @Nullable PullLanding landing;
    private final long[] tokens = new long[ReadSlots.SLOTS];
    private @Nullable LinkOffer offer;
    private @Nullable WindowReads reads;
    private State seen = State.IDLE;
    private boolean closed;
    private boolean writing;
    private long nowNs;
    private long pulled;
    private long stalePulls;

    /// @param landing where reads land, the caller's; null for one that only writes its grants
    /// @param guarded whether the source waits for it not, so that slots may be used again while they are read
    /// @throws TransportException when the system refuses
    SourceReach(
            final OneSided oneSided,
            final StreamInfo stream,
            final @Nullable PullLanding landing,
            final boolean guarded,
            final Consumer<String> notices) {
        this.stream = stream;
        this.guarded = guarded;
        this.notices = notices;
        this.landing = landing;
        endpoint = oneSided.open(WindowReads.OPERATIONS_MAX, OneSided.Access.PEERS_WRITE);
    }

    /// What the source must be given.
    byte[] descriptor() {
        return endpoint.descriptor();
    }

    void count(final CounterBoard board, final ReceiverCounts counts) {
        board.add(EngineCounter.GRANTS_WRITTEN, counts::grantsWritten)
                .add(EngineCounter.FEED_TAKEN, counts::fedDatagrams)
                .add(EngineCounter.OWN_REPAIRS, counts::ownRepairs)
                .fallback("feed", counts::feedFailures)
                .fallback("vain_feed", counts::vainFeeds)
                .add(EngineCounter.DATAGRAMS_PULLED, () -> pulled)
                .fallback("link", counts::linkFailures)
                .fallback("slow_grant", counts::slowWrites)
                .fallback("overdue_pull", counts::overduePulls)
                .fallback("slow_pull", this::slowPulls)
                .fallback("stale_pull", () -> stalePulls);
    }

    private long slowPulls() {
        final WindowReads current = reads;
        return current == null ? 0 : current.slow();
    }

    /// Begins to connect to the source's endpoint; all of the offer is from the wire.
    boolean connect(final LinkOffer told) {
        offer = told;
        final PullLanding to = landing;
        reads = to == null ? null : new WindowReads(endpoint, to, stream, told, guarded);
        try {
            endpoint.connect(told.descriptor());
            seen = State.CONNECTING;
            return true;
        } catch (final TransportException e) {
            notice(String.valueOf(e.getMessage()));
            return false;
        }
    }

    private void notice(final String why) {
        notices.accept("subscriber of " + stream.channel() + ": credit and repair go by datagram from now on: " + why);
    }

    /// Writes this receiver's word.
    boolean write(final long word) {
        final LinkOffer current = offer;
        if (current == null || writing) {
            return false;
        }
        writing = endpoint.write64(current.word().address(), current.word().key(), word, GRANT_TOKEN);
        return writing;
    }

    /// Begins to read datagrams.
    ///
    /// @return how many, from the first on, are on their way
    int pull(final long firstSequence, final int count) {
        final WindowReads current = reads;
        return current == null ? ReceiverOutput.NO_PULL : current.pull(firstSequence, count, nowNs);
    }

    /// Whether something is under way whose end nobody tells of.
    boolean isBusy() {
        final WindowReads current = reads;
        return !closed && (writing || (current != null && current.isBusy()) || seen == State.CONNECTING);
    }

    /// One duty cycle: tells the machine what became of what it asked for.
    int doWork(final ReceiverMachine machine, final long now) {
        nowNs = now;
        if (seen != State.CONNECTING && seen != State.UP) {
            return 0;
        }
        final WindowReads current = reads;
        if (current != null) {
            current.slowAfter(machine.link().slowNs());
        }
        final State state = endpoint.state();
        if (seen == State.CONNECTING && state == State.UP) {
            seen = State.UP;
            machine.link().onUp(now);
        }
        final int count = endpoint.poll(tokens);
        for (int i = 0; i < count; i++) {
            if (tokens[i] == GRANT_TOKEN) {
                writing = false;
                machine.link().onWritten(now);
            } else {
                end((int) tokens[i], machine, now);
            }
        }
        if (endpoint.state() == State.BROKEN) {
            seen = State.BROKEN;
            writing = false;
            notice(endpoint.failure());
            release();
            machine.link().onBroken(now);
        }
        return count;
    }

    private void end(final int slot, final ReceiverMachine machine, final long now) {
        final WindowReads current = reads;
        if (current == null) {
            throw new IllegalStateException("something was read without a place to land");
        }
        final long vain = current.end(slot);
        if (vain == WindowReads.LANDED) {
            pulled++;
        } else {
            stalePulls++;
            machine.repairRequests().insist(vain, now);
        }
    }

    // Closed first: until then something may still land.
    private void release() {
        endpoint.close();
        final WindowReads current = reads;
        if (current != null) {
            current.abandon();
        }
    }

    @Override
    public void close() {
        closed = true;
        CloseHelper.close(this::release);
    }
}
