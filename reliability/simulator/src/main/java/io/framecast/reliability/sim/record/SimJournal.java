package io.framecast.reliability.sim.record;

import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.wire.Counts;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// The outcome of a run: violations, counts, and a digest of every decision in order.
public final class SimJournal {
    private static final int VIOLATIONS_MAX = 20;

    private final List<String> violations = new ArrayList<>();
    private final long[] counts = new long[SimCount.values().length];
    private long digest;
    private long reliableNs;

    /// A decision: three numbers that identify it.
    public void decide(final long what, final long subject, final long value) {
        digest = SimFrames.mix(digest ^ SimFrames.mix(what * 31 + subject) ^ (value * 0x9e3779b97f4a7c15L));
    }

    /// Counts one.
    public void count(final SimCount what) {
        count(what, 1);
    }

    public void count(final SimCount what, final long more) {
        counts[what.ordinal()] += more;
    }

    /// Adds a source's counters to those of the run.
    public void add(final Counts<SenderCount> source) {
        count(SimCount.EVICTIONS, source.get(SenderCount.EVICTIONS));
        count(SimCount.TIMEOUTS, source.get(SenderCount.TIMEOUTS));
        count(SimCount.WORDS, source.get(SenderCount.CREDIT_WORDS));
        count(SimCount.WRITTEN, source.get(SenderCount.WRITTEN_DATAGRAMS));
        count(SimCount.FAILOVERS, source.get(SenderCount.FAILOVERS));
        count(SimCount.AGGREGATES, source.get(SenderCount.AGGREGATES));
        count(SimCount.SENT, source.get(SenderCount.SENT_DATAGRAMS));
    }

    /// The count so far.
    public long of(final SimCount what) {
        return counts[what.ordinal()];
    }

    /// A reliable receiver got a frame.
    public void reliable(final long timeNs) {
        reliableNs = timeNs;
    }

    public void violation(final long timeNs, final String text) {
        if (violations.size() < VIOLATIONS_MAX) {
            violations.add("at " + timeNs / 1_000 + " us: " + text);
        }
    }

    public boolean isClean() {
        return violations.isEmpty();
    }

    /// The report on a run that is over.
    public SimReport report(
            final long seed, final long timeNs, final SimReport.RepairTail gaps, final SimReport.RepairTail tails) {
        final Map<SimCount, Long> all = new EnumMap<>(SimCount.class);
        for (final SimCount what : SimCount.values()) {
            all.put(what, of(what));
        }
        return new SimReport(seed, all, gaps, tails, reliableNs, timeNs, digest, List.copyOf(violations));
    }
}
