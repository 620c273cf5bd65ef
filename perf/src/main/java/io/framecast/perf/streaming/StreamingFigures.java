package io.framecast.perf.streaming;

import io.framecast.perf.bench.BenchCase;
import io.framecast.perf.bench.Statistics;
import io.framecast.perf.report.Figure;
import io.framecast.perf.report.Plots;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// Plots of a run: per direction, peak and streaming of each scheme by number of subscribers, as in figures
/// 10 and 11 of seed 000; measured and predicted beside one another.
final class StreamingFigures {
    private static final String SUBSCRIBERS = "subscribers";

    private StreamingFigures() {}

    /// @return what is to be told about it
    /// @throws IOException when something cannot be written
    static List<String> write(final Path folder, final StreamingReport report) throws IOException {
        return Plots.write(
                folder, of(report).stream().filter(figure -> !figure.isEmpty()).toList());
    }

    static List<Figure> of(final StreamingReport report) {
        final List<Figure> figures = new ArrayList<>();
        for (final Direction direction : report.plan().directions()) {
            figures.add(figure(
                    report, direction, "streaming-" + direction.label(), "Broadcast beside " + words(direction)));
        }
        figures.add(model(report, "streaming-model-goodput", "Broadcast at its peak, measured and by models", "MB/s"));
        figures.add(model(report, "streaming-model-latency", "One broadcast alone, measured and by models", "ms"));
        return figures;
    }

    private static String words(final Direction direction) {
        return switch (direction) {
            case NONE -> "nothing";
            case H2D -> "copies to the device";
            case D2H -> "copies to the host";
            case BOTH -> "copies both ways";
            case PAPER -> "copies to the source's device and from the receivers'";
        };
    }

    private static Figure figure(
            final StreamingReport report, final Direction direction, final String id, final String title) {
        final Map<String, List<StreamingRow>> series = new LinkedHashMap<>();
        for (final StreamingRow row : report.rows()) {
            if (row.setting().direction() == Direction.NONE) {
                add(series, row.name(), row);
            } else if (row.setting().direction() == direction) {
                add(series, row.name() + ", streaming", row);
            }
        }
        final List<Figure.Series> drawn = new ArrayList<>();
        series.forEach((name, rows) ->
                drawn.add(series(report, name, rows, row -> point(row.of(StreamingResult::broadcastMBps), 1))));
        return new Figure(id, title + size(report), SUBSCRIBERS, "MB/s", categories(report), drawn, false, false);
    }

    private static Figure model(final StreamingReport report, final String id, final String title, final String unit) {
        final boolean latency = unit.equals("ms");
        final Map<String, List<StreamingRow>> series = new LinkedHashMap<>();
        report.rows().stream()
                .filter(row -> row.setting().direction() == Direction.NONE)
                .forEach(row -> add(series, row.name(), row));
        final List<Figure.Series> drawn = new ArrayList<>();
        series.forEach((name, rows) -> {
            drawn.add(series(
                    report,
                    name,
                    rows,
                    row -> latency
                            ? point(row.of(StreamingResult::latencyUs), 1e3)
                            : point(row.of(StreamingResult::broadcastMBps), 1)));
            drawn.add(series(report, name + ", model", rows, row -> {
                final Prediction prediction = row.prediction();
                return prediction == null ? Figure.Point.NONE : predicted(prediction, latency);
            }));
        });
        return new Figure(
                id,
                title + size(report),
                SUBSCRIBERS,
                unit,
                categories(report),
                drawn,
                report.plan().subscribers().size() > 1,
                false);
    }

    private static Figure.Point predicted(final Prediction prediction, final boolean latency) {
        final double value = latency ? prediction.latencyUs() / 1e3 : prediction.MBps();
        return new Figure.Point(value, value, value);
    }

    private static void add(final Map<String, List<StreamingRow>> series, final String name, final StreamingRow row) {
        series.computeIfAbsent(name, _ -> new ArrayList<>()).add(row);
    }

    private static Figure.Series series(
            final StreamingReport report,
            final String name,
            final List<StreamingRow> rows,
            final Function<StreamingRow, Figure.Point> point) {
        return new Figure.Series(
                name,
                report.plan().subscribers().stream()
                        .map(count -> rows.stream()
                                .filter(row -> row.setting().subscribers() == count)
                                .findFirst()
                                .map(point)
                                .orElse(Figure.Point.NONE))
                        .toList());
    }

    private static List<String> categories(final StreamingReport report) {
        return report.plan().subscribers().stream().map(String::valueOf).toList();
    }

    private static Figure.Point point(final Statistics values, final double unit) {
        return new Figure.Point(values.median() / unit, values.q1() / unit, values.q3() / unit);
    }

    private static String size(final StreamingReport report) {
        return ", " + BenchCase.bytesText(report.plan().frameBytes()) + " on "
                + String.join("+", report.plan().devices().names());
    }
}
