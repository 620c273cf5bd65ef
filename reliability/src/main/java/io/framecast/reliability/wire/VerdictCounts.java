package io.framecast.reliability.wire;

/// How many datagrams met each verdict. One thread writes; others may read stale values.
public final class VerdictCounts {
    private static final Verdict[] VERDICTS = Verdict.values();

    private final long[] counts = new long[VERDICTS.length];

    public void count(final Verdict verdict, final int datagrams) {
        counts[verdict.ordinal()] += datagrams;
    }

    public Verdict count(final Verdict verdict) {
        counts[verdict.ordinal()]++;
        return verdict;
    }

    public long get(final Verdict verdict) {
        return counts[verdict.ordinal()];
    }

    /// Everything dropped for what it was, not for when it came.
    public long rejected() {
        long sum = 0;
        for (final Verdict verdict : VERDICTS) {
            sum += verdict.isRejection() ? counts[verdict.ordinal()] : 0;
        }
        return sum;
    }
}
