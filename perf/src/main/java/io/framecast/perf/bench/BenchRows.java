package io.framecast.perf.bench;

import io.framecast.perf.rivals.Bystander;
import io.framecast.perf.table.Statistics;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/// The rows of a run, each compared with the other rows that it stands beside.
final class BenchRows {
    /// Fields of the ratios, in their order: median over median of goodput, or of p99 where the scenario asks
    /// for latency; `cpu`: CPU seconds per GB; `plain`: the same without a protection; `clean`: the same case
    /// without loss; `fewest`: the same case with the fewest receivers; `alone`: the same without a bystander;
    /// `healthy`: beside a bystander of the same policy that is fast enough.
    static final List<String> RATIOS = List.of(
            "ratio_to_floor",
            "ratio_to_aeron",
            "ratio_to_tcp",
            "ratio_to_plain",
            "ratio_to_clean",
            "cpu_ratio_to_floor",
            "cpu_ratio_to_aeron",
            "cpu_ratio_to_tcp",
            "goodput_ratio_to_fewest",
            "source_cpu_ratio_to_fewest",
            "source_wire_ratio_to_fewest",
            "ratio_to_alone",
            "ratio_to_healthy");

    private BenchRows() {}

    /// The rows with their ratios.
    static List<BenchRow> compared(final List<BenchRow> rows) {
        return rows.stream()
                .map(row ->
                        new BenchRow(row.setting(), row.system(), row.rounds(), row.warmUpSeconds(), ratios(rows, row)))
                .toList();
    }

    /// The ratio of goodput after some seconds to the floor's at its end.
    static String floorShare(final int seconds) {
        return "floor_share_after_" + seconds + "s";
    }

    private static Map<String, Double> ratios(final List<BenchRow> rows, final BenchRow row) {
        final BenchCase setting = row.setting();
        final Map<String, Double> ratios = new HashMap<>();
        for (final BenchSystem rival : List.of(BenchSystem.FLOOR, BenchSystem.AERON, BenchSystem.TCP)) {
            final Optional<BenchRow> other = find(rows, rival, setting);
            put(ratios, "ratio_to_" + rival.name(), row, other, row.comparedFigure());
            put(ratios, "cpu_ratio_to_" + rival.name(), row, other, RoundResult::cpuSecondsPerGB);
        }
        final BenchSystem plain = row.system().plain();
        if (!plain.equals(row.system())) {
            put(ratios, "ratio_to_plain", row, find(rows, plain, setting), row.comparedFigure());
        }
        find(rows, BenchSystem.FLOOR, setting).ifPresent(floor -> {
            final double steady = floor.median(round -> round.start().steadyMBps());
            for (final int seconds : List.of(2, 4)) {
                final double after = row.median(round -> round.start().goodputAfter(seconds));
                ratios.put(floorShare(seconds), Statistics.ratio(after, steady));
            }
        });
        if (setting.loss() > 0) {
            put(ratios, "ratio_to_clean", row, find(rows, row.system(), setting.withLoss(0)), row.comparedFigure());
        }
        final double fps = setting.framesPerSecond();
        final Optional<BenchRow> fewest = rows.stream()
                .filter(other -> other.system().equals(row.system()))
                .filter(other -> other.setting().with(1, fps).equals(setting.with(1, fps)))
                .min(Comparator.comparingInt(other -> other.setting().receivers()))
                .filter(other -> other.setting().receivers() < setting.receivers());
        put(ratios, "goodput_ratio_to_fewest", row, fewest, RoundResult::goodputMBps);
        put(ratios, "source_cpu_ratio_to_fewest", row, fewest, RoundResult::sourceCpuUsPerFrame);
        put(ratios, "source_wire_ratio_to_fewest", row, fewest, RoundResult::wireBytesPerByte);
        if (setting.bystander().isThere()) {
            final BenchCase healthy = setting.withBystander(setting.bystander().healthy());
            final Optional<BenchRow> alone = find(rows, row.system(), setting.withBystander(Bystander.NONE));
            put(ratios, "ratio_to_alone", row, alone, row.comparedFigure());
            if (!setting.equals(healthy)) {
                put(ratios, "ratio_to_healthy", row, find(rows, row.system(), healthy), row.comparedFigure());
            }
        }
        return ratios;
    }

    private static Optional<BenchRow> find(
            final List<BenchRow> rows, final BenchSystem system, final BenchCase setting) {
        return rows.stream()
                .filter(row -> row.system().equals(system) && row.setting().equals(setting))
                .findFirst();
    }

    private static void put(
            final Map<String, Double> ratios,
            final String name,
            final BenchRow row,
            final Optional<BenchRow> by,
            final ToDoubleFunction<RoundResult> figure) {
        by.ifPresent(other -> ratios.put(name, Statistics.ratio(row.median(figure), other.median(figure))));
    }
}
