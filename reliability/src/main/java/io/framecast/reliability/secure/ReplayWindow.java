package io.framecast.reliability.secure;

import java.util.Arrays;

/// The counters that were accepted under one key: the highest, and those of the [#COUNTERS] up to it (Kent and Seo
/// 2005, RFC 4303 §3.4.3). A lower counter counts as accepted.
///
/// Pure state; one thread.
final class ReplayWindow {
    /// Length of the window, counters.
    static final int COUNTERS = 1024;

    private static final int MASK = COUNTERS - 1;

    // A ring of bits: the counter modulo the window's length.
    private final long[] bits = new long[COUNTERS / Long.SIZE];
    private long highest;

    /// Whether a counter is new. Nothing changes: its datagram may be forged.
    ///
    /// @param counter from 1 on; a lower one is never new
    boolean isNew(final long counter) {
        if (counter <= 0 || counter <= highest - COUNTERS) {
            return false;
        }
        return counter > highest || (bits[word(counter)] & bit(counter)) == 0;
    }

    /// Accepts a counter that is new, whose datagram was verified.
    void accept(final long counter) {
        if (counter > highest) {
            clear(highest + 1, Math.min(counter, highest + COUNTERS));
            highest = counter;
        }
        bits[word(counter)] |= bit(counter);
    }

    private void clear(final long first, final long last) {
        if (last - first + 1 >= COUNTERS) {
            Arrays.fill(bits, 0);
            return;
        }
        for (long i = first; i <= last; i++) {
            bits[word(i)] &= ~bit(i);
        }
    }

    private static int word(final long counter) {
        return (int) (counter & MASK) / Long.SIZE;
    }

    private static long bit(final long counter) {
        return 1L << counter;
    }
}
