package io.framecast.reliability.receive;

import io.framecast.reliability.flow.RetryTimer;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.CreditWord;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.Verdict;
import org.jspecify.annotations.Nullable;

/// A co-root's side of replication. The co-root repeats the address of its replica of the window until the source's
/// word there answers. From then on it holds the datagrams below the word, and copies nothing itself. When its
/// connection ends, which stops the writes, it copies again.
///
/// The word follows its datagrams over a connection that carries out writes in order, but nothing depends on that
/// order. The co-root checks headers as it checks those from the wire, and payloads by the checksum that the source
/// wrote with them. Datagrams that fail a check are not held. When the word stands still while other lanes bring
/// more, the co-root asks again.
///
/// One thread.
final class WindowReplica {
    // Headers examined in one turn; the remaining headers follow in the next.
    static final int TAKEN_PER_TURN_MAX = 1024;
    private static final long RETRY_NS = 20_000_000;
    private static final long RETRY_MAX_NS = RETRY_NS << 4;
    private static final int ATTEMPTS_MAX = 20;
    // No event announces a write, so the co-root checks the word now and then while writes are under way.
    private static final long LOOK_NS = 1_000_000;
    private static final int LOOK_DOUBLINGS_MAX = 6;
    private static final int VAIN_LOOKS_MAX = 12;
    private static final long NEVER = Long.MAX_VALUE;

    private enum Stage {
        NONE,
        ASKING,
        FED,
        /// The source did not answer.
        GIVEN_UP
    }

    private final CoRoot coRoot;
    private final ReceiverOutput receiver;
    private final Counts<ReceiverCount> counts;
    private final ReceiveWindow window;
    private final CoRootOutput output;
    private final Terms terms;
    private final HeaderCheck headers;
    private final RepairStore store;
    private Stage stage = Stage.NONE;
    private int epoch;
    private final RetryTimer retry = new RetryTimer(RETRY_NS, RETRY_MAX_NS, ATTEMPTS_MAX);
    private long lookNs = NEVER;
    private long announcedEnd;
    private long end;
    private int looks;

    /// Gives each word a new epoch, though writes may still be under way.
    static final class Terms {
        private final ControlWriter ids;
        private int last;

        /// @param ids of this receiver; their epoch is the one it obeys
        Terms(final ControlWriter ids) {
            this.ids = ids;
        }

        private int next() {
            last = last % CreditWord.EPOCH_MAX + 1;
            return last;
        }
    }

    /// @param coRoot is notified of each held sequence
    WindowReplica(
            final CoRoot coRoot,
            final ReceiverOutput receiver,
            final Counts<ReceiverCount> counts,
            final ReceiveWindow window,
            final CoRootOutput output,
            final Terms terms,
            final HeaderCheck headers) {
        this.coRoot = coRoot;
        this.receiver = receiver;
        this.counts = counts;
        this.window = window;
        this.output = output;
        this.terms = terms;
        this.headers = headers;
        store = coRoot.store();
    }

    /// Takes the datagrams written since the last call, and sends the address to the source when that is due.
    ///
    /// @param linked whether a connection stands over which the source would write
    void onTick(final boolean linked, final long nowNs) {
        if (!linked) {
            stop();
            return;
        }
        if (stage == Stage.NONE) {
            begin(nowNs);
        }
        look();
        if (stage == Stage.ASKING && retry.isDue(nowNs)) {
            ask(nowNs);
        } else if (stage == Stage.FED && (lookNs == NEVER || nowNs >= lookNs)) {
            waitForMore(nowNs);
        }
    }

    private void begin(final long nowNs) {
        stage = Stage.ASKING;
        epoch = terms.next();
        retry.resume(nowNs);
    }

    private void ask(final long nowNs) {
        if (retry.isExhausted()) {
            stage = Stage.GIVEN_UP;
            retry.stop();
            counts.add(ReceiverCount.FEED_FAILURES);
            return;
        }
        retry.onAttempt(nowNs);
        final @Nullable EndpointOffer copy = output.replicaOffer();
        if (copy != null) {
            receiver.sendControl(RcConnectLayout.writeFeed(terms.ids.in(receiver.control()), epoch, copy));
        }
    }

    // Datagrams that this receiver has are on their way into the replica too.
    private void waitForMore(final long nowNs) {
        if (looks > VAIN_LOOKS_MAX) {
            stop();
            begin(nowNs);
            return;
        }
        final boolean behind = end < Math.max(announcedEnd, window.end());
        lookNs = behind ? nowNs + (LOOK_NS << Math.min(LOOK_DOUBLINGS_MAX, looks++)) : NEVER;
    }

    /// Takes the datagrams written since the last call.
    void look() {
        if (stage != Stage.ASKING && stage != Stage.FED) {
            return;
        }
        final long word = output.feedWord();
        if (CreditWord.epoch(word) != epoch) {
            return;
        }
        announcedEnd = CreditWord.grant(word, window.end());
        if (stage == Stage.ASKING) {
            stage = Stage.FED;
            retry.stop();
            lookNs = NEVER;
            end = announcedEnd;
            looks = 0;
            store.feedFrom(end);
        }
        take();
    }

    private void take() {
        if (announcedEnd <= end) {
            return;
        }
        looks = 0;
        retry.reset();
        // The replica's older datagrams were overwritten.
        final long first = Math.max(end, announcedEnd - store.slots());
        counts.add(ReceiverCount.LATE_FEEDS, first - end);
        end = Math.min(announcedEnd, first + TAKEN_PER_TURN_MAX);
        for (long sequence = first; sequence < end; sequence++) {
            final int bytes = bytesOf(sequence);
            if (bytes > 0 && store.take(sequence, bytes - store.headerBytes())) {
                coRoot.onHeld(sequence);
                counts.add(ReceiverCount.FED_DATAGRAMS);
            } else {
                counts.add(ReceiverCount.VAIN_FEEDS);
            }
        }
        store.feedFrom(end);
    }

    // Length of its datagram; 0 where another lies.
    private int bytesOf(final long sequence) {
        final long at = (long) store.slot(sequence) * store.headerBytes();
        final int bytes = DataLayout.datagramBytes(store.headers(), at, store.headerBytes(), store.slotBytes());
        return DataLayout.SEQUENCE.get(store.headers(), at) == sequence
                        && DataLayout.type(store.headers(), at) == DataLayout.TYPE_DATA
                        && !DataLayout.isGathered(store.headers(), at)
                        && headers.check(store.headers(), at, bytes) == Verdict.GOOD
                ? bytes
                : 0;
    }

    /// This receiver keeps the replica itself from now on, or stops serving.
    void stop() {
        if (stage == Stage.ASKING || stage == Stage.FED) {
            stage = Stage.NONE;
            retry.stop();
            lookNs = NEVER;
            store.unfed();
        }
    }

    long nextDeadlineNs() {
        return stage == Stage.FED ? lookNs : retry.dueNs();
    }
}
