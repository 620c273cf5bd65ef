package io.framecast.perf.streaming;

import io.framecast.perf.bench.BenchCase;
import io.framecast.perf.bench.MachineInfo;
import io.framecast.perf.report.CsvReport;
import io.framecast.samples.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A run as JSON, table, CSV and plots.
record StreamingReport(
        MachineInfo machine, StreamingPlan plan, String started, ModelParameters parameters, List<StreamingRow> rows) {
    private static final String UNKNOWN = "–";
    private static final List<String> TITLES = List.of(
            "scheme",
            "scenario",
            "placement",
            "device",
            "subscribers",
            "MB/s",
            "spread",
            "of peak",
            "background",
            "alone ms",
            "p99 ms",
            "model MB/s",
            "model ms");

    Map<String, @Nullable Object> json() {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("bench", "streaming");
        json.put("started", started);
        json.put("machine", machine.json());
        json.put("frame_bytes", plan.frameBytes());
        json.put("chunk_bytes", plan.way().chunkBytes());
        json.put("radix", plan.way().radix());
        json.put("in_flight", plan.inFlight());
        json.put(
                "emulated_link_MBps",
                plan.devices().linkBytesPerSecond() == 0 ? null : plan.devices().linkBytesPerSecond() / 1e6);
        json.put("model", parameters.json());
        json.put("rows", rows.stream().map(StreamingRow::json).toList());
        return json;
    }

    String table() {
        final List<List<String>> lines = new ArrayList<>();
        lines.add(TITLES);
        rows.forEach(row -> lines.add(cells(row)));
        final int[] widths = new int[TITLES.size()];
        lines.forEach(line -> {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        });
        final StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "Frames of %s, %d under way at most, from the %s; background %s each way and process%s%n",
                BenchCase.bytesText(plan.frameBytes()),
                plan.inFlight(),
                plan.devices().sourceInDevice() ? "source's device" : "source's host memory",
                plan.backgroundBytesPerSecond() == 0
                        ? "as much as is taken"
                        : plan.backgroundBytesPerSecond() / 1_000_000 + " MB/s",
                plan.devices().linkBytesPerSecond() == 0
                        ? ""
                        : "; emulated links of " + plan.devices().linkBytesPerSecond() / 1_000_000 + " MB/s each way"));
        for (final List<String> line : lines) {
            for (int i = 0; i < widths.length; i++) {
                final String space = " ".repeat(widths[i] - line.get(i).length());
                text.append("  ").append(i < 4 ? line.get(i) + space : space + line.get(i));
            }
            text.append('\n');
        }
        return text.toString().stripTrailing();
    }

    private static List<String> cells(final StreamingRow row) {
        final StreamingResult.Ran ran = row.ran();
        final var goodput = row.of(StreamingResult::broadcastMBps);
        final Prediction model = row.prediction();
        return List.of(
                row.setting().contender().scheme(),
                row.setting().scenario()
                        + (row.setting().direction() == Direction.NONE
                                ? ""
                                : " " + row.setting().direction().label()),
                ran.placement(),
                ran.device(),
                Integer.toString(row.setting().subscribers()),
                row.failures().isEmpty()
                        ? decimal(goodput.median(), 0)
                        : row.failures().size() + " failed",
                decimal(goodput.min(), 0) + "–" + decimal(goodput.max(), 0),
                decimal(row.toPeak(), 2),
                row.setting().direction() == Direction.NONE
                        ? UNKNOWN
                        : decimal(row.median(StreamingResult::backgroundMBps), 0),
                decimal(row.median(StreamingResult::latencyUs) / 1e3, 2),
                decimal(row.median(StreamingResult::latencyP99Us) / 1e3, 2),
                model == null ? UNKNOWN : decimal(model.MBps(), 0),
                model == null ? UNKNOWN : decimal(model.latencyUs() / 1e3, 2));
    }

    private static String decimal(final double value, final int places) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%." + places + "f", value) : UNKNOWN;
    }

    /// As CSV: a line of names, then a line per row.
    String csv() {
        final StringBuilder text = new StringBuilder();
        for (int i = 0; i < rows.size(); i++) {
            final Map<String, @Nullable Object> flat = rows.get(i).flat();
            if (i == 0) {
                text.append(String.join(",", flat.keySet())).append("\r\n");
            }
            text.append(String.join(
                            ",", flat.values().stream().map(CsvReport::field).toList()))
                    .append("\r\n");
        }
        return text.toString();
    }

    /// @return what is to be told about it
    /// @throws IOException when something cannot be written
    List<String> write(final Path folder) throws IOException {
        Files.writeString(folder.resolve("streaming.json"), Json.write(json()) + "\n");
        Files.writeString(folder.resolve("streaming.csv"), csv());
        final List<String> lines = new ArrayList<>(StreamingFigures.write(folder, this));
        lines.add("wrote " + folder.resolve("streaming.json"));
        return lines;
    }
}
