package io.framecast.reliability.repair;

import io.framecast.reliability.window.ReceiveWindow;
import java.util.random.RandomGenerator;

/// The time of a receiver's NACKs. The first NACK for a gap is sent as soon as more than `reorderDatagrams` later
/// datagrams have arrived, or after a short delay when the stream pauses behind the gap. Repetitions wait for the
/// round trip, doubled each time, with a random part, so that receivers that lost the same datagram do not answer
/// in step (RFC 5401 §5: back-off against NACK implosion).
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
public final class NackScheduler implements RepairRequests {
    /// Takes the due ranges, in ascending order.
    public interface Output {
        /// @param attempts earlier reports of the range; at most [#ESCALATE_AFTER]
        void nack(long firstSequence, int count, int attempts);
    }

    /// From that attempt on the NACK goes to the source instead of the co-root.
    public static final int ESCALATE_AFTER = 2;

    /// Ranges reported in one call of [#onTick]; further ranges follow a moment later.
    public static final int RANGES_MAX = 768;

    static final long BACKOFF_MIN_NS = 500_000;
    static final long BACKOFF_MAX_NS = 100_000_000;
    static final long GAP_DELAY_NS = 500_000;
    private static final long UNDRAINED_RETRY_NS = 100_000;
    private static final int DOUBLINGS_MAX = 7;

    private final ReceiveWindow window;
    private final int reorderDatagrams;
    private final RandomGenerator random;
    private final long[] dueNs;
    private final byte[] attempts;
    private final RepairRoom room;
    private long rttNs = 2_000_000;
    private long nextDueNs = Long.MAX_VALUE;
    private long lastDataNs;
    private long drainedNs = Long.MAX_VALUE;
    // The first sequence never reported: it is due at once when data has come more than the allowance behind it.
    private long firstUnreported = Long.MAX_VALUE;

    /// Makes a scheduler over a window.
    public NackScheduler(final ReceiveWindow window, final int reorderDatagrams, final RandomGenerator random) {
        this.window = window;
        this.reorderDatagrams = reorderDatagrams;
        this.random = random;
        dueNs = new long[window.capacity()];
        attempts = new byte[window.capacity()];
        room = new RepairRoom(window);
    }

    public void onRtt(final long groupRttNs) {
        rttNs = Math.clamp(groupRttNs, 1_000, 1_000_000_000);
    }

    /// Sequences `[first, end)` were sent and have not arrived; called before the window learns of them.
    public void onGap(final long first, final long end, final long nowNs) {
        await(first, end, nowNs + gapDelayNs());
    }

    /// As [#onGap], but known only from a heartbeat, which came by another lane and may have overtaken the data.
    public void onTail(final long first, final long end, final long nowNs) {
        await(first, end, nowNs + tailDelayNs());
    }

    private void await(final long first, final long end, final long due) {
        for (long sequence = first; sequence < end; sequence++) {
            final int index = window.index(sequence);
            dueNs[index] = due;
            attempts[index] = 0;
        }
        nextDueNs = Math.min(nextDueNs, due);
        firstUnreported = Math.min(firstUnreported, first);
    }

    /// The caller found the data lane empty.
    public void onDrained(final long nowNs) {
        drainedNs = nowNs;
    }

    @Override
    public void room(final int frames, final long slots, final long nowNs) {
        if (room.set(frames, slots)) {
            nextDueNs = Math.min(nextDueNs, nowNs);
        }
    }

    @Override
    public void defer(final long first, final long slots, final long dueNs) {
        schedule(first, slots, dueNs, 1);
    }

    @Override
    public void retryNow(final long first, final long slots, final long nowNs) {
        schedule(first, slots, nowNs, 0);
    }

    @Override
    public void ask(final long sequence, final long nowNs) {
        schedule(sequence, 1, nowNs, 1);
    }

    @Override
    public void escalate(final long sequence, final long nowNs) {
        schedule(sequence, 1, nowNs, ESCALATE_AFTER);
    }

    private void schedule(final long first, final long slots, final long due, final int attempt) {
        final long end = Math.min(first + slots, window.end());
        for (long s = window.nextMissing(first); s < end; s = window.nextMissing(s + 1)) {
            dueNs[window.index(s)] = due;
            attempts[window.index(s)] = (byte) attempt;
        }
        nextDueNs = Math.min(nextDueNs, due);
    }

    /// New data arrived on the data lane.
    public void onData(final long sequence, final long nowNs) {
        lastDataNs = nowNs;
        if (sequence - reorderDatagrams > firstUnreported) {
            nextDueNs = Math.min(nextDueNs, nowNs);
        }
    }

    /// Reports the due ranges.
    ///
    /// @param highestData highest sequence that arrived on the data lane
    /// @return ranges reported
    public int onTick(final long nowNs, final long highestData, final Output output) {
        if (nowNs < nextDueNs) {
            return 0;
        }
        nextDueNs = Long.MAX_VALUE;
        firstUnreported = Long.MAX_VALUE;
        room.begin();
        int ranges = 0;
        long rangeFirst = -1;
        long rangeEnd = -1;
        int rangeAttempts = 0;
        for (long s = window.nextMissing(window.next()); s < window.end(); s = window.nextMissing(s + 1)) {
            if (!room.admits(s)) {
                break;
            }
            if (ranges == RANGES_MAX) {
                nextDueNs = Math.min(nextDueNs, nowNs + BACKOFF_MIN_NS);
                break;
            }
            final int before = Math.min(ESCALATE_AFTER, attempts[window.index(s)]);
            if (!report(s, nowNs, highestData)) {
                continue;
            }
            if (s == rangeEnd && before == rangeAttempts) {
                rangeEnd++;
                continue;
            }
            if (rangeFirst >= 0) {
                output.nack(rangeFirst, (int) (rangeEnd - rangeFirst), rangeAttempts);
                ranges++;
            }
            rangeFirst = s;
            rangeEnd = s + 1;
            rangeAttempts = before;
        }
        if (rangeFirst >= 0) {
            output.nack(rangeFirst, (int) (rangeEnd - rangeFirst), rangeAttempts);
            ranges++;
        }
        return ranges;
    }

    private boolean report(final long sequence, final long nowNs, final long highestData) {
        final int index = window.index(sequence);
        if (sequence > highestData) {
            // A tail known from heartbeats only may still be on its way while data flows, because heartbeats travel
            // on another lane.
            dueNs[index] = Math.max(dueNs[index], lastDataNs + tailDelayNs());
            if (dueNs[index] <= nowNs && drainedNs < dueNs[index]) {
                // The datagram may lie in a lane that the caller has not polled yet.
                nextDueNs = Math.min(nextDueNs, nowNs + UNDRAINED_RETRY_NS);
                return false;
            }
        }
        final boolean overtaken = attempts[index] == 0 && highestData - sequence > reorderDatagrams;
        final boolean due = overtaken || dueNs[index] <= nowNs;
        if (due) {
            dueNs[index] = nowNs + backoffNs(attempts[index]);
            attempts[index] = (byte) Math.min(DOUBLINGS_MAX, attempts[index] + 1);
        } else if (attempts[index] == 0) {
            firstUnreported = Math.min(firstUnreported, sequence);
        }
        nextDueNs = Math.min(nextDueNs, dueNs[index]);
        return due;
    }

    // Nothing behind the tail has arrived, so only time separates a lost tail from a late one. The round trip
    // includes delays that threads and drivers on the way add under load. A quarter of it made the source repeat up
    // to 6 % of an undisturbed stream on Aeron, on a machine with more threads than cores.
    private long tailDelayNs() {
        return Math.max(GAP_DELAY_NS, rttNs);
    }

    private long gapDelayNs() {
        return Math.max(GAP_DELAY_NS, rttNs / 4);
    }

    private long backoffNs(final int attempt) {
        final long first = Math.max(BACKOFF_MIN_NS, rttNs + rttNs / 2);
        final long base = Math.max(first, Math.min(BACKOFF_MAX_NS, first << attempt));
        return base + (long) (base * 0.5 * random.nextDouble());
    }

    public long nextDeadlineNs() {
        return window.missing() > 0 ? nextDueNs : Long.MAX_VALUE;
    }
}
