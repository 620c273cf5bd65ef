package io.framecast.perf.bench;

import io.framecast.perf.harness.MachineInfo;
import io.framecast.perf.table.Figure;
import io.framecast.perf.table.Output;
import io.framecast.perf.table.Table;
import io.framecast.samples.ToolContext;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/// The course of a bench that measures systems beside one another, and its report.
///
/// @param name of its files
/// @param hasPage whether it writes a page, too
record SystemsBench(
        String name, Table<BenchRow> table, Function<List<BenchRow>, List<Figure>> figures, boolean hasPage) {
    static final SystemsBench SCENARIOS = new SystemsBench("bench", BenchTable.TABLE, BenchTable::figures, true);
    static final SystemsBench NODE = new SystemsBench("node", NodeTable.TABLE, NodeTable::figures, false);
    static final SystemsBench START = new SystemsBench("start", StartTable.TABLE, StartTable::figures, false);

    /// @return the tool's exit status
    int run(final ToolContext context, final TimedOptions options) throws InterruptedException {
        final Output output = new Output(context, options.untried().out().orElse(null));
        final BenchPlan plan = options.plan();
        final MachineInfo machine = MachineInfo.announced(context::line);
        plan.skips().forEach(skip -> context.line("skipped: " + skip));
        context.line(
                String.format(Locale.ROOT, "%d measurements, about %.0f s", plan.measurements(), plan.aboutSeconds()));
        final String started = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        try (Measurement measurement = new Measurement(plan.socketBufferBytes(), context::line)) {
            context.onStop(measurement::stop);
            final BenchRun run = new BenchRun(plan, context::line, System::nanoTime, measurement);
            final List<BenchRow> rows = run.run();
            if (hasPage) {
                output.file("index.html", () -> BenchTable.page(machine, plan, started, rows));
            }
            output.write(name, Map.of("machine", machine.json()), table, rows, "", figures.apply(rows));
            final boolean haveLost = rows.stream().anyMatch(row -> row.isFramecast() && row.lostFrames() > 0);
            return output.statusOf(run.haveFramesDiffered() || haveLost, rows);
        }
    }
}
