package io.framecast.reliability.wire;

/// One word of a source's status vector (Chu et al. 2019, Algorithm 1, line 25): a grant, and the epoch of the
/// member that wrote it. The word 0 belongs to no member.
///
/// ```
///  bits 63 … 48 epoch (1 … 65535)   47 … 0 the low bits of a grant
/// ```
public final class CreditWord {
    public static final int EPOCH_MAX = 0xffff;
    private static final int GRANT_BITS = 48;
    private static final long GRANT_MASK = (1L << GRANT_BITS) - 1;

    private CreditWord() {}

    public static long of(final int epoch, final long grant) {
        return ((long) epoch << GRANT_BITS) | (grant & GRANT_MASK);
    }

    public static int epoch(final long word) {
        return (int) (word >>> GRANT_BITS);
    }

    /// The whole sequence: of all sequences with these low bits the nearest to another.
    public static long grant(final long word, final long near) {
        final int unused = Long.SIZE - GRANT_BITS;
        return near + (((word - near) << unused) >> unused);
    }
}
