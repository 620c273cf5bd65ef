package io.framecast.reliability.session;

/// Limits a source to a rate: a token bucket, kept as the time at which the next datagram is due, so that rounding
/// loses nothing. A datagram moves that time by its length ÷ rate, remainders included. Unused time may be made up
/// for, up to [#CATCH_UP_NS] and [#CATCH_UP_BYTES], so that a thread's absence of that length does not lower the
/// rate.
///
/// In any span of time t the source sends at most rate × t, the bytes made up for, one quantum and one datagram.
///
/// No clock, no allocation: the caller gives the time. One thread.
public final class SendPacer {
    /// Time that may be made up for: a few time slices of other threads on a busy machine.
    static final long CATCH_UP_NS = 10_000_000;

    /// Bytes that may be made up for, so that a burst does not fill a switch.
    static final int CATCH_UP_BYTES = 1 << 20;

    /// How far ahead of new data repairs may go out.
    static final long REPAIR_AHEAD_NS = 2_000_000;

    /// The kernel takes as much as one packet.
    static final int QUANTUM_BYTES_MAX = 1 << 16;

    private static final long NS_PER_SECOND = 1_000_000_000;
    // A quantum holds the bytes of half a millisecond at the rate.
    private static final long QUANTA_PER_SECOND = 2_000;
    // A thread that sleeps for less comes late.
    private static final long SPIN_NS = 60_000;
    // 2^33 × 10^9 fits a long.
    private static final long SPENT_BYTES_MAX = 1L << 33;

    private final long rateBytes;
    private final int quantumBytes;
    private final long catchUpNs;
    private long dueNs;
    // Fraction of a nanosecond to add to dueNs, in units of 1 ÷ rate.
    private long remainder;

    /// @param rateBytes per second; 0 for no limit
    public SendPacer(final long rateBytes) {
        this.rateBytes = rateBytes;
        quantumBytes = (int) Math.min(rateBytes / QUANTA_PER_SECOND, QUANTUM_BYTES_MAX);
        catchUpNs = rateBytes == 0 ? 0 : Math.min(CATCH_UP_NS, CATCH_UP_BYTES * NS_PER_SECOND / rateBytes);
    }

    /// Bytes whose datagrams may begin now; 0 before [#nextNs]. One quantum more than is due, followed by a longer
    /// wait, so that datagrams are sent in batches.
    long budgetBytes(final long nowNs) {
        if (rateBytes == 0) {
            return Long.MAX_VALUE;
        }
        if (nowNs < dueNs) {
            return 0;
        }
        final long unusedNs = Math.min(nowNs - dueNs, catchUpNs);
        // At most NS_PER_SECOND × CATCH_UP_BYTES: no overflow.
        return Math.max(1, unusedNs * rateBytes / NS_PER_SECOND + quantumBytes);
    }

    /// Datagrams that may be sent now: those that begin within the budget.
    ///
    /// @param lengths payload bytes by slot
    /// @param headerBytes of each datagram
    int datagrams(final int[] lengths, final int headerBytes, final int firstSlot, final int most, final long nowNs) {
        if (rateBytes == 0) {
            return most;
        }
        long left = budgetBytes(nowNs);
        int count = 0;
        while (count < most && left > 0) {
            left -= headerBytes + lengths[firstSlot + count];
            count++;
        }
        return count;
    }

    /// These bytes were sent.
    void onSent(final long bytes, final long nowNs) {
        if (rateBytes == 0) {
            return;
        }
        if (nowNs - dueNs > catchUpNs) {
            dueNs = nowNs - catchUpNs;
            remainder = 0;
        }
        final long owed = Math.min(bytes, SPENT_BYTES_MAX) * NS_PER_SECOND + remainder;
        dueNs += owed / rateBytes;
        remainder = owed % rateBytes;
    }

    /// The time at which the next datagram may be sent; in the past when it may be sent now.
    long nextNs() {
        return dueNs;
    }

    /// Whether a thread that sleeps until the next datagram is due would come late.
    boolean isDueSoon(final long nowNs) {
        return rateBytes != 0 && dueNs - nowNs < SPIN_NS;
    }
}
