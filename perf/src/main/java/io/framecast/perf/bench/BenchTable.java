package io.framecast.perf.bench;

import io.framecast.perf.harness.MachineInfo;
import io.framecast.perf.table.Figure;
import io.framecast.perf.table.Outcome;
import io.framecast.perf.table.Page;
import io.framecast.perf.table.Statistics;
import io.framecast.perf.table.Table;
import io.framecast.perf.table.Texts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The fields, columns and figures of a run's rows, and its page.
final class BenchTable {
    private static final double US_PER_MS = 1e3;
    private static final double MANY = 100;
    private static final String BETWEEN = " · ";

    private static final Map<String, ToDoubleFunction<RoundResult>> FIGURES = figures();
    private static final Table<Outcome<RoundResult>> ROUNDS = rounds();
    static final Table<BenchRow> TABLE = columns(fields());

    private static final Plot GOODPUT = new Plot("goodput", "Goodput", "MB/s", RoundResult::goodputMBps);
    private static final Plot CPU = new Plot("cpu", "CPU of all processes", "s/GB", RoundResult::cpuSecondsPerGB);
    private static final Plot SOURCE_CPU =
            new Plot("source-cpu", "CPU of the source", "µs/frame", RoundResult::sourceCpuUsPerFrame);
    private static final Plot SOURCE_WIRE =
            new Plot("source-wire", "Bytes that the source sent", "per byte", RoundResult::wireBytesPerByte);

    /// One figure of the rows of a scenario.
    private record Plot(String id, String title, String unit, ToDoubleFunction<RoundResult> figure) {}

    private BenchTable() {}

    private static Map<String, ToDoubleFunction<RoundResult>> figures() {
        final Map<String, ToDoubleFunction<RoundResult>> figures = new LinkedHashMap<>();
        figures.put("goodput_MBps", RoundResult::goodputMBps);
        figures.put("messages_per_s", RoundResult::messagesPerSecond);
        figures.put("cpu_s_per_GB", RoundResult::cpuSecondsPerGB);
        figures.put("source_cpu_s_per_GB", RoundResult::sourceCpuSecondsPerGB);
        figures.put("source_cpu_us_per_frame", RoundResult::sourceCpuUsPerFrame);
        figures.put("compiling_share", RoundResult::compilingShare);
        figures.put("source_wire_bytes_per_frame_byte", RoundResult::wireBytesPerByte);
        figures.put("overhead", RoundResult::overhead);
        figures.put("wire_overhead", RoundResult::wireOverhead);
        return figures;
    }

    private static Table<Outcome<RoundResult>> rounds() {
        final Table<Outcome<RoundResult>> table = new Table<>();
        FIGURES.forEach((name, figure) -> table.field(name, round -> round.figure(figure)));
        return table.field(
                        "latency_us",
                        round -> latency(
                                round.figure(RoundResult::p50Us),
                                round.figure(RoundResult::p99Us),
                                round.figure(RoundResult::p999Us)))
                .field(
                        "lost_frames",
                        round -> round.result().map(RoundResult::lostFrames).orElse(0L));
    }

    private static Map<String, Object> latency(final double p50Us, final double p99Us, final double p999Us) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("p50", p50Us);
        json.put("p99", p99Us);
        json.put("p999", p999Us);
        return json;
    }

    private static Map<String, @Nullable Object> round(final Outcome<RoundResult> round) {
        final Map<String, @Nullable Object> json = ROUNDS.json(round);
        if (round.hasFailed()) {
            json.put("failure", round.failure());
        }
        return json;
    }

    private static Map<String, Object> spread(final BenchRow row) {
        final Statistics compared = row.of(row.comparedFigure());
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("of", row.setting().scenario().comparesLatency() ? "latency_p99_us" : "goodput_MBps");
        json.put("min", compared.min());
        json.put("q1", compared.q1());
        json.put("q3", compared.q3());
        json.put("max", compared.max());
        return json;
    }

    private static Table<BenchRow> fields() {
        final Table<BenchRow> table = new Table<BenchRow>()
                .field("scenario", row -> row.setting().scenario().label())
                .field("transport", BenchRow::transport)
                .field("frame_bytes", row -> row.setting().frameBytes())
                .field("receivers", row -> row.setting().receivers())
                .field("net", row -> row.setting().net().label())
                .field("mtu", row -> row.setting().mtuBytes())
                .field("loss", row -> row.setting().loss())
                .field("offload", row -> row.setting().offload() ? "on" : "off")
                .field("offered_fps", row -> row.setting().framesPerSecond());
        FIGURES.forEach((name, figure) -> table.field(name, row -> row.median(figure)));
        table.field(
                        "latency_us",
                        row -> latency(
                                row.median(RoundResult::p50Us),
                                row.median(RoundResult::p99Us),
                                row.median(RoundResult::p999Us)))
                .field("lost_frames", BenchRow::lostFrames);
        BenchRows.RATIOS.forEach(name -> table.field(name, row -> row.ratio(name)));
        return table.field("beside", row -> row.setting().bystander().text())
                .field("security", row -> row.system().protection().label())
                .field("warm_up_s", BenchRow::warmUpSeconds)
                .field(
                        "rounds",
                        row -> row.rounds().stream().map(BenchTable::round).toList())
                .field("spread", BenchTable::spread);
    }

    private static Table<BenchRow> columns(final Table<BenchRow> table) {
        return table.groupedBy(row -> row.setting().text())
                .column("system", BenchRow::label)
                .column("MB/s", row -> Table.decimal(row.median(RoundResult::goodputMBps), 1))
                .column("spread", row -> row.of(RoundResult::goodputMBps).range())
                .column("frames/s", row -> rate(row.median(RoundResult::messagesPerSecond)))
                .column("CPU s/GB", row -> Table.decimal(row.median(RoundResult::cpuSecondsPerGB), 3))
                .column("src µs/frame", row -> Table.decimal(row.median(RoundResult::sourceCpuUsPerFrame), 1))
                .column("p50 ms", row -> Table.decimal(row.median(RoundResult::p50Us) / US_PER_MS, 3))
                .column("p99 ms", row -> Table.decimal(row.median(RoundResult::p99Us) / US_PER_MS, 3))
                .column("p99.9 ms", row -> Table.decimal(row.median(RoundResult::p999Us) / US_PER_MS, 3))
                .column("overhead", row -> percent(row.median(RoundResult::overhead)))
                .column("wire B/B", row -> Table.decimal(row.median(RoundResult::wireBytesPerByte), 3))
                .column("lost", BenchTable::lost)
                .column("/ floor", row -> Table.decimal(row.ratio("ratio_to_floor"), 2))
                .column("/ aeron", row -> Table.decimal(row.ratio("ratio_to_aeron"), 2))
                .column("/ tcp", row -> Table.decimal(row.ratio("ratio_to_tcp"), 2))
                .column("/ plain", row -> Table.decimal(row.ratio("ratio_to_plain"), 2))
                .column("/ clean", row -> Table.decimal(row.ratio("ratio_to_clean"), 2))
                .column("/ alone", row -> Table.decimal(row.ratio("ratio_to_alone"), 3))
                .column("/ healthy", row -> Table.decimal(row.ratio("ratio_to_healthy"), 3))
                .column("CPU / aeron", row -> Table.decimal(row.ratio("cpu_ratio_to_aeron"), 2));
    }

    private static String rate(final double perSecond) {
        return Table.decimal(perSecond, perSecond < MANY ? 1 : 0);
    }

    private static String percent(final double share) {
        return Double.isNaN(share) ? Table.UNKNOWN : Table.decimal(share * 100, 2) + " %";
    }

    private static String lost(final BenchRow row) {
        return row.failures().isEmpty()
                ? Long.toString(row.lostFrames())
                : row.failures().size() + " failed";
    }

    static List<BenchRow> rows(final List<BenchRow> rows, final BenchScenario scenario) {
        return rows.stream().filter(row -> row.setting().scenario() == scenario).toList();
    }

    static List<Figure> figures(final List<BenchRow> rows) {
        return Stream.of(BenchScenario.values())
                .flatMap(scenario -> figures(scenario, rows(rows, scenario)).stream())
                .filter(figure -> !figure.isEmpty())
                .toList();
    }

    private static List<Figure> figures(final BenchScenario scenario, final List<BenchRow> rows) {
        return switch (scenario) {
            case LATENCY -> latencies(scenario, rows);
            case THROUGHPUT, LOSS, SIZES, ISOLATION ->
                Stream.of(GOODPUT, CPU)
                        .map(plot -> figure(scenario, plot, rows))
                        .toList();
            case SCALING ->
                Stream.of(GOODPUT, SOURCE_CPU, SOURCE_WIRE, CPU)
                        .map(plot -> figure(scenario, plot, rows))
                        .toList();
        };
    }

    private static Figure figure(final BenchScenario scenario, final Plot plot, final List<BenchRow> rows) {
        final Map<String, Function<BenchCase, String>> aspects = differing(rows);
        final List<Figure.Value> values = rows.stream()
                .map(row -> new Figure.Value(
                        row.label(),
                        aspects.values().stream()
                                .map(aspect -> aspect.apply(row.setting()))
                                .collect(Collectors.joining(BETWEEN)),
                        row.of(plot.figure)))
                .toList();
        return Figure.of(
                scenario.label() + "-" + plot.id,
                plot.title + ", " + scenario.label(),
                String.join(BETWEEN, aspects.keySet()),
                plot.unit,
                values,
                aspects.size() == 1 && (aspects.containsKey("frame") || aspects.containsKey("receivers")));
    }

    /// The properties by which the cases differ.
    private static Map<String, Function<BenchCase, String>> differing(final List<BenchRow> rows) {
        final Map<String, Function<BenchCase, String>> aspects = new LinkedHashMap<>();
        final Function<BenchCase, String> frame = setting -> Texts.bytes(setting.frameBytes());
        aspects.put("frame", frame);
        aspects.put("receivers", BenchCase::receiversText);
        aspects.put("MTU", setting -> "MTU " + setting.mtuBytes());
        aspects.put("network", setting -> setting.net().label());
        aspects.put("loss", BenchCase::lossText);
        aspects.put("offload", setting -> setting.offload() ? "offload on" : "offload off");
        aspects.put(
                "beside",
                setting -> setting.bystander().isThere() ? setting.bystander().text() : "alone");
        aspects.values()
                .removeIf(aspect -> rows.stream()
                                .map(row -> aspect.apply(row.setting()))
                                .distinct()
                                .count()
                        < 2);
        return aspects.isEmpty() ? Map.of("frame", frame) : aspects;
    }

    // One plot per case: percentiles side by side.
    private static List<Figure> latencies(final BenchScenario scenario, final List<BenchRow> rows) {
        final List<BenchCase> settings =
                rows.stream().map(BenchRow::setting).distinct().toList();
        return settings.stream()
                .map(setting -> {
                    final List<Figure.Value> values = new ArrayList<>();
                    rows.stream().filter(row -> row.setting().equals(setting)).forEach(row -> {
                        values.add(latency(row, "p50", RoundResult::p50Us));
                        values.add(latency(row, "p99", RoundResult::p99Us));
                        values.add(latency(row, "p99.9", RoundResult::p999Us));
                    });
                    final String id =
                            scenario.label() + (settings.size() == 1 ? "" : "-" + (settings.indexOf(setting) + 1));
                    return Figure.of(id, Page.capital(setting.text()), "", "ms", values, false);
                })
                .toList();
    }

    private static Figure.Value latency(
            final BenchRow row, final String percentile, final ToDoubleFunction<RoundResult> figure) {
        return new Figure.Value(row.label(), percentile, row.of(figure).per(US_PER_MS));
    }

    static String page(
            final MachineInfo machine, final BenchPlan plan, final String started, final List<BenchRow> rows) {
        final List<String> remarks = new ArrayList<>();
        remarks.add(String.format(
                Locale.ROOT,
                "Publisher and receivers are processes of their own. They ran untimed until goodput was steady, or"
                        + " %.0f s were over (more with several receivers). Then every system ran once in each of %d"
                        + " rounds, one after the other, %.1f s each; a figure is the median of its rounds%s.",
                plan.times().warmUpMaxSeconds(),
                plan.rounds(),
                plan.times().seconds(),
                plan.rounds() > 1 ? ", whiskers go from quartile to quartile" : ""));
        plan.skips().forEach(skip -> remarks.add("Not measured: " + skip));
        final List<Page.Section<BenchRow>> sections = Stream.of(BenchScenario.values())
                .filter(scenario -> !rows(rows, scenario).isEmpty())
                .map(scenario -> section(scenario, rows(rows, scenario)))
                .toList();
        final String title =
                "Framecast bench: " + sections.stream().map(Page.Section::title).collect(Collectors.joining(", "));
        return new Page(title, started, machine.facts(), remarks, Page.resource(BenchTable.class, "notes.html"))
                .html(TABLE, BenchRow::isFramecast, sections);
    }

    private static Page.Section<BenchRow> section(final BenchScenario scenario, final List<BenchRow> rows) {
        final List<String> failures = rows.stream()
                .flatMap(row -> row.failures().stream()
                        .map(failure -> row.setting().text() + ", " + row.label() + ": " + failure))
                .toList();
        return new Page.Section<>(scenario.label(), scenario.summary(), rows, figures(rows), failures);
    }
}
