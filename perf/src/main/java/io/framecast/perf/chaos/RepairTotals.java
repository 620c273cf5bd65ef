package io.framecast.perf.chaos;

import io.framecast.engine.metrics.EngineCounter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// How what was lost came after all, summed over processes: those that were killed until then.
///
/// @param sent datagrams that a source sent again
/// @param setSent datagrams that co-roots sent to their sets
/// @param pulled datagrams that receivers read out of the source's window
/// @param setPulled datagrams that receivers read out of a co-root's copy of it
/// @param grants grants that a source found in its memory
record RepairTotals(long sent, long setSent, long pulled, long setPulled, long grants) {
    /// Of all whose counters can still be read.
    static RepairTotals of(final List<ChaosProcess> processes) {
        return new RepairTotals(
                sum(processes, EngineCounter.REPAIRS_SENT),
                sum(processes, EngineCounter.SET_REPAIRS_SENT),
                sum(processes, EngineCounter.DATAGRAMS_PULLED),
                sum(processes, EngineCounter.DATAGRAMS_PULLED_SET),
                sum(processes, EngineCounter.GRANTS_READ));
    }

    private static long sum(final List<ChaosProcess> processes, final EngineCounter counter) {
        return processes.stream()
                .mapToLong(process -> Math.max(0, process.counter(counter)))
                .sum();
    }

    String text() {
        return sent + " datagrams sent again by the source, " + setSent + " by co-roots, " + pulled
                + " read out of its window, " + setPulled + " out of co-roots' copies, " + grants
                + " grants read as words";
    }

    Map<String, Object> json() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("sent_repairs", sent);
        json.put("sent_set_repairs", setSent);
        json.put("pulled_datagrams", pulled);
        json.put("set_pulled_datagrams", setPulled);
        json.put("read_grants", grants);
        return json;
    }
}
