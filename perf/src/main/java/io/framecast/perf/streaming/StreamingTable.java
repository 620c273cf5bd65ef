package io.framecast.perf.streaming;

import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.MachineInfo;
import io.framecast.perf.harness.ProcessUse;
import io.framecast.perf.table.Figure;
import io.framecast.perf.table.Outcome;
import io.framecast.perf.table.Page;
import io.framecast.perf.table.Statistics;
import io.framecast.perf.table.Table;
import io.framecast.perf.table.Texts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/// The fields, columns and figures of a run's rows.
final class StreamingTable {
    private static final double US_PER_MS = 1e3;

    private static final Table<Outcome<StreamingResult>> ROUNDS = new Table<Outcome<StreamingResult>>()
            .field("broadcast_MBps", round -> round.figure(StreamingResult::broadcastMBps))
            .field("background_MBps", round -> round.figure(StreamingResult::backgroundMBps))
            .field("latency_us", round -> round.figure(StreamingResult::latencyUs))
            .field("latency_p99_us", round -> round.figure(StreamingResult::latencyP99Us))
            .field("compiling_share", round -> round.figure(StreamingResult::compilingShare))
            .field(
                    "checked_frames",
                    round -> round.result().map(StreamingResult::checkedFrames).orElse(0L))
            .field("source_link_bytes_per_byte", round -> link(round, LinkUse::sourcePerByte))
            .field("receiver_link_bytes_per_byte", round -> link(round, LinkUse::receiverPerByte))
            .field("source_link_share", round -> link(round, LinkUse::sourceShare))
            .field("receiver_link_share", round -> link(round, LinkUse::receiverShare))
            .field("cpu_share", round -> link(round, LinkUse::busyShare))
            .field("source_cpu", round -> source(round).cpuShare())
            .field("source_threads", round -> source(round).threads())
            .field("source_resident_MB", round -> source(round).residentBytes() / 1e6)
            .field("receiver_cpu", round -> receiver(round).cpuShare())
            .field("receiver_threads", round -> receiver(round).threads())
            .field("receiver_resident_MB", round -> receiver(round).residentBytes() / 1e6)
            .field(
                    "control_per_datagram",
                    round -> round.figure(result -> result.use().controlPerDatagram()))
            .field("slow_share", round -> round.figure(result -> result.use().slowShare()))
            .field("failure", round -> round.hasFailed() ? round.failure() : null);

    static final Table<StreamingRow> TABLE = new Table<StreamingRow>()
            .left(4)
            .field("scheme", row -> row.contender().scheme())
            .column("scheme", row -> row.contender().text())
            .field(
                    "radix",
                    row -> row.contender().radix() == 0 ? null : row.contender().radix())
            .field("net", row -> row.plan().links().net().label())
            .field("net_MBps", row -> row.plan().links().megabytesPerSecond())
            .field("scenario", row -> row.setting().scenario())
            .column("scenario", StreamingTable::scenario)
            .field("direction", row -> row.setting().direction().label())
            .both("placement", "placement", StreamingRow::placement)
            .both("device", "device", StreamingRow::device)
            .field("emulated", row -> row.device().contains(DeviceChoice.EMULATED))
            .both("subscribers", "subscribers", row -> row.setting().subscribers())
            .field("loss", row -> row.setting().impairment().loss())
            .field(
                    "slow_delivery",
                    row -> row.setting().impairment().hasSlow()
                            ? row.setting().impairment().slowDelivery()
                            : null)
            .field("transport", StreamingRow::transport)
            .field("source", row -> row.plan().sourceInDevice() ? "device" : "host")
            .field("frame_bytes", row -> row.plan().frameBytes())
            .field("in_flight", row -> row.plan().inFlight())
            .field("broadcast_MBps", row -> goodput(row).median())
            .column("MB/s", row -> row.medianOrFailures(StreamingResult::broadcastMBps))
            .field("broadcast_MBps_min", row -> goodput(row).min())
            .field("broadcast_MBps_max", row -> goodput(row).max())
            .column("spread", row -> goodput(row).range())
            .both("ratio_to_peak", "of peak", 2, StreamingRow::toPeak)
            .field("background_MBps", row -> row.median(StreamingResult::backgroundMBps))
            .column("background", StreamingTable::background)
            .field("background_wanted_MBps", StreamingTable::backgroundWanted)
            .field("latency_us", row -> row.median(StreamingResult::latencyUs))
            .column("alone ms", row -> Table.decimal(row.median(StreamingResult::latencyUs) / US_PER_MS, 2))
            .field("latency_p99_us", row -> row.median(StreamingResult::latencyP99Us))
            .column("p99 ms", row -> Table.decimal(row.median(StreamingResult::latencyP99Us) / US_PER_MS, 2))
            .both("source_link_bytes_per_byte", "link B/B", 2, row -> link(row, LinkUse::sourcePerByte))
            .field("receiver_link_bytes_per_byte", row -> link(row, LinkUse::receiverPerByte))
            .field("source_link_share", row -> link(row, LinkUse::sourceShare))
            .both("receiver_link_share", "of link", 2, row -> link(row, LinkUse::receiverShare))
            .field("source_cpu", row -> use(row, use -> use.source().cpuShare()))
            .field("receiver_cpu", row -> use(row, use -> use.receiver().cpuShare()))
            .field("receiver_threads", row -> use(row, use -> use.receiver().threads()))
            .field("receiver_resident_MB", row -> use(row, use -> use.receiver().residentBytes() / 1e6))
            .both("control_per_datagram", "control", 3, row -> use(row, StreamUse::controlPerDatagram))
            .both("slow_share", "slow got", 2, row -> use(row, StreamUse::slowShare))
            .both("cpu_share", "CPU", 2, row -> link(row, LinkUse::busyShare))
            .both("predicted_MBps", "model MB/s", 0, StreamingRow::predictedMBps)
            .field("predicted_latency_us", StreamingRow::predictedLatencyUs)
            .column("model ms", row -> Table.decimal(row.predictedLatencyUs() / US_PER_MS, 2))
            .field(
                    "equation",
                    row -> row.prediction() == null ? null : row.prediction().equation())
            .field("rounds", row -> ROUNDS.json(row.rounds()))
            .field("failures", StreamingRow::failures);

    private StreamingTable() {}

    private static Statistics goodput(final StreamingRow row) {
        return row.of(StreamingResult::broadcastMBps);
    }

    private static double link(final Outcome<StreamingResult> round, final ToDoubleFunction<LinkUse> figure) {
        return round.figure(result -> figure.applyAsDouble(result.link()));
    }

    private static ProcessUse source(final Outcome<StreamingResult> round) {
        return round.result().map(result -> result.use().source()).orElse(ProcessUse.NOTHING);
    }

    private static ProcessUse receiver(final Outcome<StreamingResult> round) {
        return round.result().map(result -> result.use().receiver()).orElse(ProcessUse.NOTHING);
    }

    private static double link(final StreamingRow row, final ToDoubleFunction<LinkUse> figure) {
        return row.median(round -> figure.applyAsDouble(round.link()));
    }

    private static double use(final StreamingRow row, final ToDoubleFunction<StreamUse> figure) {
        return row.median(round -> figure.applyAsDouble(round.use()));
    }

    private static @Nullable Double backgroundWanted(final StreamingRow row) {
        final long bytes = row.plan().backgroundBytesPerSecond();
        return row.setting().isPeak() || bytes == 0 ? null : bytes / 1e6;
    }

    private static String scenario(final StreamingRow row) {
        return row.setting().scenario()
                + (row.setting().isPeak() ? "" : " " + row.setting().direction().label())
                + row.setting().impairment().text();
    }

    private static String background(final StreamingRow row) {
        return row.setting().isPeak() ? Table.UNKNOWN : Table.decimal(row.median(StreamingResult::backgroundMBps), 0);
    }

    /// The line above the table.
    static String head(final StreamingPlan plan) {
        final long link = plan.linkBytesPerSecond();
        final long background = plan.backgroundBytesPerSecond();
        return String.format(
                Locale.ROOT,
                "Frames of %s, %d under way at most, from the %s; background %s each way and process%s%n",
                Texts.bytes(plan.frameBytes()),
                plan.inFlight(),
                plan.sourceInDevice() ? "source's device" : "source's host memory",
                background == 0 ? "as much as is taken" : background / 1_000_000 + " MB/s",
                link == 0 ? "" : "; emulated links of " + link / 1_000_000 + " MB/s each way");
    }

    /// Per direction, peak and streaming of each scheme by number of subscribers, as in Chu et al. 2019,
    /// figures 10 and 11; measured and predicted beside one another.
    static List<Figure> figures(final StreamingPlan plan, final List<StreamingRow> rows) {
        final String size = ", " + Texts.bytes(plan.frameBytes()) + " on " + String.join("+", plan.devices());
        final List<Figure> figures = new ArrayList<>();
        for (final Direction direction : plan.directions()) {
            final List<Figure.Value> values = rows.stream()
                    .filter(row -> row.setting().isPeak() || row.setting().direction() == direction)
                    .map(row -> value(row, row.setting().isPeak() ? "" : ", streaming", goodput(row)))
                    .toList();
            figures.add(figure(
                    "streaming-" + direction.label(), "Broadcast beside " + direction.words() + size, "MB/s", values));
        }
        final List<Figure.Value> goodputs = new ArrayList<>();
        final List<Figure.Value> latencies = new ArrayList<>();
        rows.stream().filter(row -> row.setting().isPeak()).forEach(row -> {
            goodputs.add(value(row, "", goodput(row)));
            goodputs.add(value(row, ", model", Statistics.of(List.of(row.predictedMBps()))));
            latencies.add(value(row, "", row.of(StreamingResult::latencyUs).per(US_PER_MS)));
            latencies.add(value(
                    row,
                    ", model",
                    Statistics.of(List.of(row.predictedLatencyUs())).per(US_PER_MS)));
        });
        figures.add(figure(
                "streaming-model-goodput", "Broadcast at its peak, measured and by models" + size, "MB/s", goodputs));
        figures.add(figure(
                "streaming-model-latency", "One broadcast alone, measured and by models" + size, "ms", latencies));
        return figures;
    }

    static String page(
            final MachineInfo machine, final StreamingPlan plan, final String started, final List<StreamingRow> rows) {
        final List<String> failures = rows.stream()
                .flatMap(row -> row.failures().stream()
                        .map(failure -> scenario(row) + ", " + row.contender().text() + ": " + failure))
                .toList();
        final Page.Section<StreamingRow> section = new Page.Section<>(
                "streaming",
                "broadcasts into devices, alone and beside other copies between host and device",
                rows,
                figures(plan, rows).stream().filter(figure -> !figure.isEmpty()).toList(),
                failures);
        return new Page(
                        "Framecast bench: streaming",
                        started,
                        machine.facts(),
                        List.of(head(plan).strip() + "."),
                        Page.resource(StreamingTable.class, "notes.html"))
                .html(TABLE, StreamingRow::isFramecast, List.of(section));
    }

    private static Figure.Value value(final StreamingRow row, final String suffix, final Statistics statistics) {
        final String category = Integer.toString(row.setting().subscribers());
        final String series =
                row.contender().text() + row.setting().impairment().text() + suffix;
        return new Figure.Value(series, category, statistics);
    }

    private static Figure figure(
            final String id, final String title, final String unit, final List<Figure.Value> values) {
        return Figure.of(id, title, "subscribers", unit, values, id.contains("model"));
    }
}
