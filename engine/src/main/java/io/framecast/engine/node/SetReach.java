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
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// What a receiver reads of its co-root's copy of the window: by an endpoint that is made anew for each
/// co-root, by the conductor, and closed before the next.
///
/// By the receiver's thread, but for construction and the making of endpoints.
final class SetReach implements AutoCloseable {
    private final OneSided oneSided;
    private final StreamInfo stream;
    private final PullLanding landing;
    private final Executor conductor;
    private final Consumer<String> notices;
    private final long[] tokens = new long[ReadSlots.SLOTS];
    private @Nullable Making making;
    private @Nullable WindowReads reads;
    private State seen = State.IDLE;
    private boolean closed;
    private long nowNs;
    private long pulled;
    private long stalePulls;
    private long slowPulls;

    /// An endpoint that may not be wanted any more when it is there.
    private static final class Making implements Runnable {
        private final OneSided oneSided;
        private final AtomicReference<@Nullable OneSidedEndpoint> made = new AtomicReference<>();
        private volatile boolean unwanted;
        private volatile String failure = "";

        private Making(final OneSided oneSided) {
            this.oneSided = oneSided;
        }

        // By the conductor.
        @Override
        public void run() {
            if (unwanted) {
                return;
            }
            try {
                made.set(oneSided.open(WindowReads.OPERATIONS_MAX));
            } catch (final TransportException e) {
                failure = String.valueOf(e.getMessage());
            }
            if (unwanted) {
                drop();
            }
        }

        // Whoever comes first closes it.
        private void drop() {
            unwanted = true;
            CloseHelper.close(made.getAndSet(null));
        }
    }

    /// @param landing the session's
    SetReach(
            final OneSided oneSided,
            final StreamInfo stream,
            final PullLanding landing,
            final Executor conductor,
            final Consumer<String> notices) {
        this.oneSided = oneSided;
        this.stream = stream;
        this.landing = landing;
        this.conductor = conductor;
        this.notices = notices;
    }

    void count(final CounterBoard board, final ReceiverCounts counts) {
        board.add(EngineCounter.DATAGRAMS_PULLED_SET, () -> pulled)
                .fallback("set_link", counts::setLinkFailures)
                .fallback("slow_set_pull", this::slowPulls)
                .fallback("stale_set_pull", () -> stalePulls);
    }

    private long slowPulls() {
        final WindowReads current = reads;
        return current == null ? slowPulls : slowPulls + current.slow();
    }

    /// Has an endpoint made.
    boolean make() {
        if (closed) {
            return false;
        }
        cut();
        final Making begun = new Making(oneSided);
        making = begun;
        conductor.execute(begun);
        return true;
    }

    private @Nullable OneSidedEndpoint endpoint() {
        final Making current = making;
        return current == null ? null : current.made.get();
    }

    /// What the co-root must be given; null until there is an endpoint.
    byte @Nullable [] descriptor() {
        final OneSidedEndpoint endpoint = endpoint();
        return endpoint == null ? null : endpoint.descriptor();
    }

    /// Begins to connect to the co-root's endpoint; all of the offer is from the wire.
    boolean connect(final LinkOffer told) {
        final OneSidedEndpoint endpoint = endpoint();
        if (endpoint == null) {
            return false;
        }
        try {
            endpoint.connect(told.descriptor());
        } catch (final TransportException e) {
            notice(String.valueOf(e.getMessage()));
            return false;
        }
        seen = State.CONNECTING;
        reads = new WindowReads(endpoint, landing, stream, told, true);
        return true;
    }

    private void notice(final String why) {
        notices.accept("subscriber of " + stream.channel() + ": its co-root repairs by datagram: " + why);
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
        return !closed && (seen == State.CONNECTING || (current != null && current.isBusy()));
    }

    /// One duty cycle: tells the machine what became of what it asked for.
    int doWork(final ReceiverMachine machine, final long now) {
        nowNs = now;
        final Making current = making;
        if (current == null) {
            return 0;
        }
        final OneSidedEndpoint endpoint = current.made.get();
        if (endpoint == null) {
            if (!current.failure.isEmpty()) {
                fail(current.failure, machine);
            }
            return 0;
        }
        if (seen == State.CONNECTING && endpoint.state() == State.UP) {
            seen = State.UP;
            machine.setLink().onUp();
        }
        final WindowReads open = reads;
        if (open != null) {
            open.slowAfter(machine.link().slowNs());
        }
        final int count = open == null ? 0 : endpoint.poll(tokens);
        for (int i = 0; i < count && open != null; i++) {
            end(open.end((int) tokens[i]), machine, now);
        }
        if (endpoint.state() == State.BROKEN) {
            fail(endpoint.failure(), machine);
        }
        return count;
    }

    private void end(final long vain, final ReceiverMachine machine, final long now) {
        if (vain == WindowReads.LANDED) {
            pulled++;
        } else {
            stalePulls++;
            machine.repairRequests().ask(vain, now);
        }
    }

    private void fail(final String why, final ReceiverMachine machine) {
        notice(why);
        cut();
        machine.setLink().onBroken();
    }

    /// Reads nothing more when this returns. Idempotent.
    void cut() {
        final Making current = making;
        if (current != null) {
            making = null;
            seen = State.IDLE;
            // Closed first: until then something may still land.
            current.drop();
        }
        final WindowReads open = reads;
        if (open != null) {
            reads = null;
            slowPulls += open.slow();
            open.abandon();
        }
    }

    @Override
    public void close() {
        closed = true;
        cut();
    }
}
