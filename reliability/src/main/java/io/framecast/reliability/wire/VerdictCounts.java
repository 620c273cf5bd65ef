package io.framecast.reliability.wire;

/// Number of datagrams by verdict. One thread writes; other threads may read stale values.
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

    /// All datagrams dropped for their content, not for the time of their arrival.
    public long rejected() {
        long sum = 0;
        for (final Verdict verdict : VERDICTS) {
            sum += verdict.isRejection() ? counts[verdict.ordinal()] : 0;
        }
        return sum;
    }
}
