package io.framecast.reliability.assembly;

/// One bit for each slot of a ring.
final class SlotBits {
    private final long[] bits;
    private int set;

    SlotBits(final int slots) {
        bits = new long[(slots + 63) >>> 6];
    }

    void set(final int slot) {
        final long bit = 1L << slot;
        if ((bits[slot >>> 6] & bit) == 0) {
            bits[slot >>> 6] |= bit;
            set++;
        }
    }

    boolean isSet(final int slot) {
        return (bits[slot >>> 6] & 1L << slot) != 0;
    }

    /// Clears a slot.
    ///
    /// @return whether it was set
    boolean clear(final int slot) {
        final long bit = 1L << slot;
        if ((bits[slot >>> 6] & bit) == 0) {
            return false;
        }
        bits[slot >>> 6] &= ~bit;
        set--;
        return true;
    }

    boolean isEmpty() {
        return set == 0;
    }
}
