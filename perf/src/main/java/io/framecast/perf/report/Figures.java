package io.framecast.perf.report;

import io.framecast.perf.bench.BenchCase;
import io.framecast.perf.bench.BenchReport;
import io.framecast.perf.bench.BenchRow;
import io.framecast.perf.bench.BenchScenario;
import io.framecast.perf.bench.RoundResult;
import io.framecast.perf.bench.Statistics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/// Which plots a run gives.
final class Figures {
    private static final double US_PER_MS = 1e3;
    private static final double WIDE = 30;

    private Figures() {}

    static List<Figure> of(final BenchReport report) {
        return Arrays.stream(BenchScenario.values())
                .flatMap(scenario -> of(report, scenario).stream())
                .toList();
    }

    /// Those of one scenario; none where it was not measured.
    static List<Figure> of(final BenchReport report, final BenchScenario scenario) {
        final List<BenchRow> rows = report.rows(scenario);
        return rows.isEmpty()
                ? List.of()
                : of(scenario, rows).stream()
                        .filter(figure -> !figure.isEmpty())
                        .toList();
    }

    private static List<Figure> of(final BenchScenario scenario, final List<BenchRow> rows) {
        final String id = scenario.label();
        final Measure goodput = new Measure(id + "-goodput", "Goodput", "MB/s", RoundResult::goodputMBps);
        final Measure cpu = new Measure(id + "-cpu", "CPU of all processes", "s/GB", RoundResult::cpuSecondsPerGB);
        final Measure sourceCpu =
                new Measure(id + "-source-cpu", "CPU of the source", "µs/frame", RoundResult::sourceCpuUsPerFrame);
        final Measure wire = new Measure(
                id + "-source-wire", "Bytes that the source sent", "per byte", RoundResult::wireBytesPerByte);
        return switch (scenario) {
            case LATENCY -> latency(scenario, rows);
            case THROUGHPUT, LOSS, SIZES, ISOLATION ->
                List.of(figure(scenario, goodput, rows), figure(scenario, cpu, rows));
            case SCALING ->
                List.of(
                        figure(scenario, goodput, rows),
                        figure(scenario, sourceCpu, rows),
                        figure(scenario, wire, rows),
                        figure(scenario, cpu, rows));
        };
    }

    /// What one plot shows.
    private record Measure(String id, String title, String unit, ToDoubleFunction<RoundResult> figure) {}

    private static Figure figure(final BenchScenario scenario, final Measure measure, final List<BenchRow> rows) {
        final Labels labels = Labels.of(rows);
        final Map<String, Map<String, Figure.Point>> series = new LinkedHashMap<>();
        for (final BenchRow row : rows) {
            series.computeIfAbsent(row.transport(), _ -> new LinkedHashMap<>())
                    .put(labels.label(row.setting()), point(row.of(measure.figure), 1));
        }
        final List<String> categories =
                rows.stream().map(row -> labels.label(row.setting())).distinct().toList();
        return finished(
                new Figure(
                        measure.id,
                        measure.title + ", " + scenario.label(),
                        labels.title(),
                        measure.unit,
                        categories,
                        List.of(),
                        labels.areSteps() && categories.size() > 1,
                        false),
                series);
    }

    // One plot per case: percentiles side by side.
    private static List<Figure> latency(final BenchScenario scenario, final List<BenchRow> rows) {
        final List<String> percentiles = List.of("p50", "p99", "p99.9");
        final List<BenchCase> settings =
                rows.stream().map(BenchRow::setting).distinct().toList();
        final List<Figure> figures = new ArrayList<>();
        for (final BenchCase setting : settings) {
            final Map<String, Map<String, Figure.Point>> series = new LinkedHashMap<>();
            for (final BenchRow row : rows) {
                if (row.setting().equals(setting)) {
                    series.put(
                            row.transport(),
                            Map.of(
                                    "p50", point(row.of(RoundResult::p50Us), US_PER_MS),
                                    "p99", point(row.of(RoundResult::p99Us), US_PER_MS),
                                    "p99.9", point(row.of(RoundResult::p999Us), US_PER_MS)));
                }
            }
            final String id = scenario.label() + (settings.size() == 1 ? "" : "-" + (figures.size() + 1));
            figures.add(finished(
                    new Figure(id, Markup.capital(setting.text()), "", "ms", percentiles, List.of(), false, false),
                    series));
        }
        return figures;
    }

    private static Figure finished(final Figure bare, final Map<String, Map<String, Figure.Point>> values) {
        final List<Figure.Series> series = new ArrayList<>();
        values.forEach((name, points) -> series.add(new Figure.Series(
                name,
                bare.categories().stream()
                        .map(category -> points.getOrDefault(category, Figure.Point.NONE))
                        .toList())));
        final Figure figure = with(bare, series, false);
        return with(bare, series, figure.highest() > WIDE * figure.lowest());
    }

    private static Figure with(final Figure bare, final List<Figure.Series> series, final boolean logarithmic) {
        return new Figure(
                bare.id(),
                bare.title(),
                bare.xTitle(),
                bare.yTitle(),
                bare.categories(),
                series,
                bare.lines(),
                logarithmic);
    }

    private static Figure.Point point(final Statistics values, final double unit) {
        return new Figure.Point(values.median() / unit, values.q1() / unit, values.q3() / unit);
    }

    /// Names cases by what differs between them.
    private record Labels(List<Aspect> aspects) {
        private static final String BETWEEN = " · ";

        /// One property of a case.
        private record Aspect(String title, Function<BenchCase, String> text) {}

        private static final List<Aspect> ALL = List.of(
                new Aspect("frame", setting -> BenchCase.bytesText(setting.frameBytes())),
                new Aspect(
                        "receivers",
                        setting -> setting.receivers() + (setting.receivers() == 1 ? " receiver" : " receivers")),
                new Aspect("MTU", setting -> "MTU " + setting.mtuBytes()),
                new Aspect("network", setting -> setting.net().label()),
                new Aspect("loss", BenchCase::lossText),
                new Aspect("offload", setting -> setting.offload() ? "offload on" : "offload off"),
                new Aspect(
                        "beside",
                        setting -> setting.bystander().isThere()
                                ? setting.bystander().text()
                                : "alone"));

        /// Whether a line may join them: they are values of one quantity.
        boolean areSteps() {
            return aspects.size() == 1
                    && (aspects.getFirst().equals(ALL.get(0))
                            || aspects.getFirst().equals(ALL.get(1)));
        }

        static Labels of(final List<BenchRow> rows) {
            final List<Aspect> differing = new ArrayList<>();
            for (final Aspect aspect : ALL) {
                final Set<String> texts = new LinkedHashSet<>();
                rows.forEach(row -> texts.add(aspect.text.apply(row.setting())));
                if (texts.size() > 1) {
                    differing.add(aspect);
                }
            }
            return new Labels(differing.isEmpty() ? List.of(ALL.getFirst()) : differing);
        }

        String label(final BenchCase setting) {
            return String.join(
                    BETWEEN,
                    aspects.stream().map(aspect -> aspect.text.apply(setting)).toList());
        }

        String title() {
            return String.join(BETWEEN, aspects.stream().map(Aspect::title).toList());
        }
    }
}
