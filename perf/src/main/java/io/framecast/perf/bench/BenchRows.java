package io.framecast.perf.bench;

import io.framecast.perf.rivals.Bystander;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/// The rows of a run, each compared with the others that it has its place beside.
final class BenchRows {
    private record Entry(BenchSystem system, BenchRow row) {}

    private final List<Entry> entries = new ArrayList<>();

    void add(final BenchSystem system, final BenchRow row) {
        entries.add(new Entry(system, row));
    }

    List<BenchRow> compared() {
        return entries.stream()
                .map(entry -> entry.row.withRatios(ratios(entry)))
                .toList();
    }

    private BenchRow.Ratios ratios(final Entry entry) {
        final BenchCase setting = entry.row.setting();
        final Optional<BenchRow> floor = find(BenchSystem.FLOOR, setting::equals);
        final Optional<BenchRow> aeron = find(BenchSystem.AERON, setting::equals);
        final Optional<BenchRow> tcp = find(BenchSystem.TCP, setting::equals);
        final Optional<BenchRow> clean =
                setting.loss() == 0 ? Optional.empty() : find(entry.system, setting.withLoss(0)::equals);
        return new BenchRow.Ratios(
                compared(entry.row, floor),
                compared(entry.row, aeron),
                compared(entry.row, tcp),
                compared(entry.row, clean),
                new BenchRow.Ratios.Cpu(
                        ratio(entry.row, floor, RoundResult::cpuSecondsPerGB),
                        ratio(entry.row, aeron, RoundResult::cpuSecondsPerGB),
                        ratio(entry.row, tcp, RoundResult::cpuSecondsPerGB)),
                toFewest(entry),
                beside(entry));
    }

    private BenchRow.Ratios.Beside beside(final Entry entry) {
        final BenchCase setting = entry.row.setting();
        if (!setting.bystander().isThere()) {
            return BenchRow.Ratios.NONE.beside();
        }
        final BenchCase healthy = setting.withBystander(setting.bystander().healthy());
        return new BenchRow.Ratios.Beside(
                compared(entry.row, find(entry.system, setting.withBystander(Bystander.NONE)::equals)),
                setting.equals(healthy) ? Double.NaN : compared(entry.row, find(entry.system, healthy::equals)));
    }

    private BenchRow.Ratios.ToFewest toFewest(final Entry entry) {
        final BenchCase setting = entry.row.setting();
        final double fps = setting.framesPerSecond();
        final Optional<BenchRow> fewest = entries.stream()
                .filter(other -> other.system.equals(entry.system))
                .map(Entry::row)
                .filter(row -> row.setting().with(1, fps).equals(setting.with(1, fps)))
                .min(Comparator.comparingInt(row -> row.setting().receivers()))
                .filter(row -> row.setting().receivers() < setting.receivers());
        return new BenchRow.Ratios.ToFewest(
                ratio(entry.row, fewest, RoundResult::goodputMBps),
                ratio(entry.row, fewest, RoundResult::sourceCpuUsPerFrame),
                ratio(entry.row, fewest, RoundResult::wireBytesPerByte));
    }

    private Optional<BenchRow> find(final BenchSystem system, final Predicate<BenchCase> settings) {
        return entries.stream()
                .filter(entry -> entry.system.equals(system))
                .map(Entry::row)
                .filter(row -> settings.test(row.setting()))
                .findFirst();
    }

    private static double compared(final BenchRow row, final Optional<BenchRow> by) {
        return by.map(other -> Statistics.ratio(
                        row.compared().median(), other.compared().median()))
                .orElse(Double.NaN);
    }

    private static double ratio(
            final BenchRow row, final Optional<BenchRow> by, final ToDoubleFunction<RoundResult> figure) {
        return by.map(other -> Statistics.ratio(row.median(figure), other.median(figure)))
                .orElse(Double.NaN);
    }
}
