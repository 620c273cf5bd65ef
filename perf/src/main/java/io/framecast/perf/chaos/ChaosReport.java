package io.framecast.perf.chaos;

import io.framecast.engine.metrics.EngineCounter;
import io.framecast.perf.table.Table;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// The faults of a run and their outcomes.
///
/// @param unmet every expectation that was not met; empty is well
/// @param lives subscriber processes there were in all
/// @param dropped packets that the rules of all hosts dropped, of those set last
/// @param repairs the counters of [#REPAIRS], summed over the processes, of killed ones until then
record ChaosReport(
        ChaosPlan plan,
        List<FaultResult> faults,
        List<MemoryRow> memory,
        List<String> unmet,
        long frames,
        long lives,
        long evictions,
        long failovers,
        long dropped,
        List<Long> repairs) {
    /// The counters by which lost datagrams came after all, by their names in the report.
    static final Map<String, EngineCounter> REPAIRS = repairCounters();

    private static final double MEBI = 1 << 20;
    private static final Table<FaultResult> FAULTS = new Table<FaultResult>()
            .field("at_ms", FaultResult::atMs)
            .field("fault", FaultResult::fault)
            .field("target", FaultResult::target)
            .field("expectation", FaultResult::expectation)
            .field("outcome", FaultResult::outcome)
            .field("met", FaultResult::isMet)
            .field("unmet", FaultResult::unmet)
            .field("stall_ms", FaultResult::stallMs);
    private static final Table<MemoryRow> MEMORY = new Table<MemoryRow>()
            .field("process", MemoryRow::process)
            .field(
                    "heap_bytes",
                    row -> List.of(row.first().heapBytes(), row.last().heapBytes()))
            .field(
                    "resident_bytes",
                    row -> List.of(row.first().residentBytes(), row.last().residentBytes()))
            .field(
                    "descriptors",
                    row -> List.of(row.first().descriptors(), row.last().descriptors()))
            .field("became_co_root", MemoryRow::begunToServe);

    private static Map<String, EngineCounter> repairCounters() {
        final Map<String, EngineCounter> counters = new LinkedHashMap<>();
        counters.put("sent_repairs", EngineCounter.REPAIRS_SENT);
        counters.put("sent_set_repairs", EngineCounter.SET_REPAIRS_SENT);
        counters.put("pulled_datagrams", EngineCounter.DATAGRAMS_PULLED);
        counters.put("set_pulled_datagrams", EngineCounter.DATAGRAMS_PULLED_SET);
        counters.put("read_grants", EngineCounter.GRANTS_READ);
        return counters;
    }

    /// The counters of [#REPAIRS] of all processes whose counters can still be read.
    static List<Long> repairs(final List<ChaosProcess> processes) {
        return REPAIRS.values().stream()
                .map(counter -> processes.stream()
                        .mapToLong(process -> Math.max(0, process.counter(counter)))
                        .sum())
                .toList();
    }

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
        text.add(frames + " frames, " + lives + " subscriber processes, " + evictions + " evictions, " + failovers
                + " failovers, " + dropped + " packets dropped");
        text.add(String.format(
                Locale.ROOT,
                "%d datagrams sent again by the source, %d by co-roots, %d read out of its window, %d out of co-roots'"
                        + " copies, %d grants written by RDMA",
                repairs.toArray()));
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
        json.put("frames", frames);
        json.put("subscriber_processes", lives);
        json.put("evictions", evictions);
        json.put("failovers", failovers);
        json.put("dropped_packets", dropped);
        final Map<String, Object> counters = new LinkedHashMap<>();
        REPAIRS.keySet().forEach(name -> counters.put(name, repairs.get(counters.size())));
        json.put("repairs", counters);
        json.put("faults", FAULTS.json(faults));
        json.put("memory", MEMORY.json(memory));
        json.put("met", isMet());
        json.put("unmet", unmet);
        return json;
    }
}
