package io.framecast.perf.chaos;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// What a run did and found.
///
/// @param unmet every expectation that was not met; empty is well
record ChaosReport(
        ChaosPlan plan, List<FaultResult> faults, List<MemoryRow> memory, List<String> unmet, Totals totals) {
    private static final double MEBI = 1 << 20;

    /// @param lives subscriber processes there were in all
    /// @param dropped packets that the rules of all hosts dropped, of those set last
    record Totals(long frames, long lives, long evictions, long failovers, long dropped, RepairTotals repairs) {}

    boolean isMet() {
        return unmet.isEmpty();
    }

    /// A fault in one line.
    static String line(final FaultResult fault) {
        return String.format(
                Locale.ROOT,
                "%6.1f s  %-28s %-22s %-4s longest stall %5d ms  %s",
                fault.atMs() / 1e3,
                fault.fault(),
                fault.target(),
                fault.isMet() ? "met" : "NOT",
                fault.longestStallMs(),
                fault.outcome());
    }

    String text() {
        final List<String> text = new ArrayList<>();
        text.add("seed " + plan.seed() + ": " + faults.size() + " faults in " + plan.seconds() + " s, alive-timeout "
                + plan.aliveTimeoutMs() + " ms, margin " + plan.marginMs() + " ms");
        for (final FaultResult fault : faults) {
            text.add(line(fault));
            text.add("          expected: " + fault.expectation());
            fault.unmet().forEach(why -> text.add("          NOT MET: " + why));
        }
        for (final MemoryRow row : memory) {
            text.add(String.format(
                    Locale.ROOT,
                    "memory of %-13s heap %.1f → %.1f MiB, resident %.1f → %.1f MiB, descriptors %d → %d%s",
                    row.process(),
                    row.first().heapBytes() / MEBI,
                    row.last().heapBytes() / MEBI,
                    row.first().residentBytes() / MEBI,
                    row.last().residentBytes() / MEBI,
                    row.first().descriptors(),
                    row.last().descriptors(),
                    row.begunToServe() ? ", became a co-root" : ""));
        }
        text.add(totals.frames() + " frames, " + totals.lives() + " subscriber processes, " + totals.evictions()
                + " evictions, " + totals.failovers() + " failovers, " + totals.dropped() + " packets dropped");
        text.add(totals.repairs().text());
        unmet.forEach(why -> text.add("NOT MET: " + why));
        text.add(isMet() ? "every expectation met" : unmet.size() + " expectations not met, seed " + plan.seed());
        return String.join("\n", text);
    }

    Map<String, Object> json() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("seed", plan.seed());
        json.put("seconds", plan.seconds());
        json.put("subscribers", plan.subscribers());
        json.put("co_roots", plan.coRoots());
        json.put("loss", plan.loss());
        json.put("alive_timeout_ms", plan.aliveTimeoutMs());
        json.put("margin_ms", plan.marginMs());
        json.put("frames_per_second", plan.rate());
        json.put("frame_bytes", plan.frameBytes());
        json.put("frames", totals.frames());
        json.put("subscriber_processes", totals.lives());
        json.put("evictions", totals.evictions());
        json.put("failovers", totals.failovers());
        json.put("dropped_packets", totals.dropped());
        json.put("repairs", totals.repairs().json());
        json.put("faults", faults.stream().map(ChaosReport::json).toList());
        json.put("memory", memory.stream().map(ChaosReport::json).toList());
        json.put("met", isMet());
        json.put("unmet", unmet);
        return json;
    }

    private static Map<String, Object> json(final FaultResult fault) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("at_ms", fault.atMs());
        json.put("fault", fault.fault());
        json.put("target", fault.target());
        json.put("expectation", fault.expectation());
        json.put("outcome", fault.outcome());
        json.put("met", fault.isMet());
        json.put("unmet", fault.unmet());
        json.put("stall_ms", fault.stallMs());
        return json;
    }

    private static Map<String, Object> json(final MemoryRow row) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("process", row.process());
        json.put("heap_bytes", List.of(row.first().heapBytes(), row.last().heapBytes()));
        json.put(
                "resident_bytes",
                List.of(row.first().residentBytes(), row.last().residentBytes()));
        json.put("descriptors", List.of(row.first().descriptors(), row.last().descriptors()));
        json.put("became_co_root", row.begunToServe());
        return json;
    }
}
