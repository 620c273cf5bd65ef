package io.framecast.perf;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Measured goodputs by MTU and system, their medians and ratios.
final class ComparisonTable {
    private final Map<Integer, Map<String, List<Double>>> goodputs = new LinkedHashMap<>();

    void add(final int mtuBytes, final String system, final double goodputMBps) {
        goodputs.computeIfAbsent(mtuBytes, _ -> new LinkedHashMap<>())
                .computeIfAbsent(system, _ -> new ArrayList<>())
                .add(goodputMBps);
    }

    double median(final int mtuBytes, final String system) {
        final List<Double> sorted = goodputs.getOrDefault(mtuBytes, Map.of()).getOrDefault(system, List.of()).stream()
                .sorted()
                .toList();
        final int half = sorted.size() / 2;
        if (sorted.isEmpty()) {
            return Double.NaN;
        }
        return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }

    /// A system's median over stock Aeron's.
    double ratio(final int mtuBytes, final String system) {
        return median(mtuBytes, system) / median(mtuBytes, AeronComparison.STOCK_AERON);
    }

    /// The least ratio of the default transport.
    double leastRatio() {
        return goodputs.keySet().stream()
                .mapToDouble(mtu -> ratio(mtu, AeronComparison.FRAMECAST_DEFAULT))
                .min()
                .orElse(Double.NaN);
    }

    String text() {
        final StringBuilder text = new StringBuilder();
        text.append(
                String.format(Locale.ROOT, "%6s  %-16s %10s %6s  %s%n", "MTU", "system", "MB/s", "ratio", "rounds"));
        goodputs.forEach((mtu, systems) -> systems.forEach((system, rounds) -> text.append(String.format(
                Locale.ROOT,
                "%6d  %-16s %10.1f %6.2f  %s%n",
                mtu,
                system,
                median(mtu, system),
                ratio(mtu, system),
                list(rounds)))));
        return text.toString();
    }

    String json(final ComparisonPlan plan) {
        final List<String> rows = new ArrayList<>();
        goodputs.forEach((mtu, systems) -> systems.forEach((system, rounds) -> rows.add(String.format(
                Locale.ROOT,
                "{\"mtu\": %d, \"system\": \"%s\", \"median_MBps\": %.1f, \"ratio\": %.3f, \"MBps\": [%s]}",
                mtu,
                system,
                median(mtu, system),
                ratio(mtu, system),
                list(rounds)))));
        return String.format(
                Locale.ROOT,
                "{\"frame_bytes\": %d, \"socket_buffer_bytes\": %d, \"rounds\": %d, \"cpus\": %d, \"bar\": %.2f, "
                        + "\"least_ratio\": %.3f, \"results\": [%s]}%n",
                plan.frameBytes(),
                plan.socketBufferBytes(),
                plan.rounds(),
                Runtime.getRuntime().availableProcessors(),
                AeronComparison.RATIO_MIN,
                leastRatio(),
                String.join(", ", rows));
    }

    private static String list(final List<Double> values) {
        return String.join(
                ", ",
                values.stream()
                        .map(value -> String.format(Locale.ROOT, "%.1f", value))
                        .toList());
    }
}
