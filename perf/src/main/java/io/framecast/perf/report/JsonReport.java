package io.framecast.perf.report;

import io.framecast.perf.bench.BenchReport;
import io.framecast.perf.bench.BenchRow;
import io.framecast.perf.bench.RoundResult;
import io.framecast.perf.bench.Statistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/// A run as JSON: `{"machine": {…}, "rows": [{…}]}`, a row per system and case. What is not known is null.
public final class JsonReport {
    private static final double DIGITS = 1e6;

    private static final Map<String, ToDoubleFunction<RoundResult>> FIGURES = figures();

    private JsonReport() {}

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

    // The tool's writer takes null for null.
    @SuppressWarnings("NullAway")
    public static Map<String, Object> of(final BenchReport report) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("machine", report.machine().json());
        json.put("rows", report.rows().stream().map(JsonReport::row).toList());
        return json;
    }

    private static Map<String, @Nullable Object> row(final BenchRow row) {
        final Map<String, @Nullable Object> json = setting(row);
        FIGURES.forEach((name, figure) -> json.put(name, number(row.median(figure))));
        json.put(
                "latency_us",
                latency(
                        row.median(RoundResult::p50Us),
                        row.median(RoundResult::p99Us),
                        row.median(RoundResult::p999Us)));
        json.put("lost_frames", row.lostFrames());
        ratios(row.ratios(), json);
        json.put("beside", row.setting().bystander().text());
        json.put("warm_up_s", number(row.warmUpSeconds()));
        json.put("rounds", row.rounds().stream().map(JsonReport::round).toList());
        json.put("spread", spread(row));
        return json;
    }

    private static void ratios(final BenchRow.Ratios ratios, final Map<String, @Nullable Object> json) {
        json.put("ratio_to_floor", number(ratios.toFloor()));
        json.put("ratio_to_aeron", number(ratios.toAeron()));
        json.put("ratio_to_tcp", number(ratios.toTcp()));
        json.put("ratio_to_clean", number(ratios.toClean()));
        json.put("cpu_ratio_to_floor", number(ratios.cpu().toFloor()));
        json.put("cpu_ratio_to_aeron", number(ratios.cpu().toAeron()));
        json.put("cpu_ratio_to_tcp", number(ratios.cpu().toTcp()));
        json.put("goodput_ratio_to_fewest", number(ratios.toFewest().goodput()));
        json.put("source_cpu_ratio_to_fewest", number(ratios.toFewest().sourceCpuPerFrame()));
        json.put("source_wire_ratio_to_fewest", number(ratios.toFewest().sourceWireBytes()));
        json.put("ratio_to_alone", number(ratios.beside().toAlone()));
        json.put("ratio_to_healthy", number(ratios.beside().toHealthy()));
    }

    private static Map<String, @Nullable Object> setting(final BenchRow row) {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("scenario", row.setting().scenario().label());
        json.put("transport", row.transport());
        json.put("frame_bytes", row.setting().frameBytes());
        json.put("receivers", row.setting().receivers());
        json.put("net", row.setting().net().label());
        json.put("mtu", row.setting().mtuBytes());
        json.put("loss", row.setting().loss());
        json.put("offload", row.setting().offload() ? "on" : "off");
        json.put("offered_fps", number(row.setting().framesPerSecond()));
        return json;
    }

    private static Map<String, @Nullable Object> latency(final double p50Us, final double p99Us, final double p999Us) {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("p50", number(p50Us));
        json.put("p99", number(p99Us));
        json.put("p999", number(p999Us));
        return json;
    }

    private static Map<String, @Nullable Object> round(final RoundResult round) {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        FIGURES.forEach((name, figure) -> json.put(name, number(figure.applyAsDouble(round))));
        json.put("latency_us", latency(round.p50Us(), round.p99Us(), round.p999Us()));
        json.put("lost_frames", round.lostFrames());
        if (round.hasFailed()) {
            json.put("failure", round.failure());
        }
        return json;
    }

    private static Map<String, @Nullable Object> spread(final BenchRow row) {
        final Statistics compared = row.compared();
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("of", row.setting().scenario().comparesLatency() ? "latency_p99_us" : "goodput_MBps");
        json.put("min", number(compared.min()));
        json.put("q1", number(compared.q1()));
        json.put("q3", number(compared.q3()));
        json.put("max", number(compared.max()));
        return json;
    }

    /// Six places at most; null for NaN.
    static @Nullable Double number(final double value) {
        return Double.isFinite(value) ? Math.rint(value * DIGITS) / DIGITS : null;
    }

    /// All rows flat, for a table: the columns of the first row are those of all.
    static List<Map<String, @Nullable Object>> flatRows(final BenchReport report) {
        return report.rows().stream().map(JsonReport::flat).toList();
    }

    private static Map<String, @Nullable Object> flat(final BenchRow row) {
        final Map<String, @Nullable Object> flat = new LinkedHashMap<>();
        row(row).forEach((name, value) -> {
            if (value instanceof Map<?, ?> parts) {
                parts.forEach((part, inner) -> flat.put(name + "_" + part, inner));
            } else if (value instanceof List<?> list) {
                flat.put(name, list.size());
            } else {
                flat.put(name, value);
            }
        });
        return flat;
    }
}
