package io.framecast.perf.bench;

import java.util.List;

/// A whole run.
///
/// @param started when, in UTC
public record BenchReport(MachineInfo machine, BenchPlan plan, String started, List<BenchRow> rows) {
    public List<BenchRow> rows(final BenchScenario scenario) {
        return rows.stream().filter(row -> row.setting().scenario() == scenario).toList();
    }
}
