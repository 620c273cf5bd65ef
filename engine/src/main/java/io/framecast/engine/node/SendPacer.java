package io.framecast.engine.node;

/// Holds a source to a rate: a token bucket, kept as the time at which the next datagram is due rather than as a level,
/// so that nothing is lost in rounding. What is sent makes that time later by its length ÷ rate, remainders included;
/// what was not used of the past is made up for as far as [#CATCH_UP_NS] and [#CATCH_UP_BYTES] go, which is how long a
/// thread may be away without the rate suffering.
///
/// In any span of time t no more goes out than rate × t + what is made up for + one quantum + one datagram.
///
/// No clock, no allocation: the caller gives the time. One thread.
final class SendPacer {
    /// How much of the past may be made up for: a few time slices of other threads on a machine that is busy.
    static final long CATCH_UP_NS = 10_000_000;

    /// And how many bytes, so that what goes out at once does not fill a switch.
    static final int CATCH_UP_BYTES = 1 << 20;

    /// How far ahead of new data repairs may go out.
    static final long REPAIR_AHEAD_NS = 2_000_000;

    /// At high rates as much as the kernel takes as one packet.
    static final int QUANTUM_BYTES_MAX = 1 << 16;

    private static final long NS_PER_SECOND = 1_000_000_000;
    // A quantum is what the rate gives in half a millisecond.
    private static final long QUANTA_PER_SECOND = 2_000;
    // Shorter than a thread can be counted on to sleep.
    private static final long SPIN_NS = 60_000;
    // 2^33 × 10^9 fits a long.
    private static final long SPENT_BYTES_MAX = 1L << 33;

    private final long rateBytes;
    private final int quantumBytes;
    private final long catchUpNs;
    private long dueNs;
    // Of a nanosecond, in units of 1 ÷ rate: what dueNs is later than it says.
    private long remainder;

    /// @param rateBytes per second; 0 for no limit
    SendPacer(final long rateBytes) {
        this.rateBytes = rateBytes;
        quantumBytes = (int) Math.min(rateBytes / QUANTA_PER_SECOND, QUANTUM_BYTES_MAX);
        catchUpNs = rateBytes == 0 ? 0 : Math.min(CATCH_UP_NS, CATCH_UP_BYTES * NS_PER_SECOND / rateBytes);
    }

    boolean isUnlimited() {
        return rateBytes == 0;
    }

    /// Bytes that may begin now; the last datagram may reach beyond them. 0 before [#nextNs]. A quantum more than is
    /// due, paid for by waiting afterwards, so that datagrams go out by the batch.
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

    /// How many of the next datagrams may be sent now: those that begin within the budget.
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

    /// So much went out.
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

    /// When something may be sent again; in the past when it may be sent now.
    long nextNs() {
        return dueNs;
    }

    /// Whether that is so soon that a thread that slept until then would come late.
    boolean isDueSoon(final long nowNs) {
        return rateBytes != 0 && dueNs - nowNs < SPIN_NS;
    }
}
