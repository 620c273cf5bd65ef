package io.framecast.perf.tail;

import io.framecast.perf.table.Percentiles;
import io.framecast.perf.table.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// The result of one case.
///
/// @param capacityFps frames per second that were taken when as many were published as were taken
/// @param ping round trips of a small datagram during the stream
/// @param sourceTripUs median of the source's smoothed round trip, which it paces repairs by
/// @param lost datagrams diverted at a tap, of the whole stream, all subscribers together
/// @param repaired datagrams that arrived by the repair lane and were needed, as subscribers count them
record TailRow(
        TailCase setting,
        double capacityFps,
        double offeredFps,
        Percentiles ping,
        double sourceTripUs,
        long lost,
        long repaired,
        TailJoin.Result late) {
    private static final double TRIPS = 2;
    private static final double MARGIN_US = 100;

    static final Table<TailRow> TABLE = new Table<TailRow>()
            .field("scenario", _ -> "tail")
            .field("transport", _ -> "udp")
            .field("net", _ -> TailSpec.LINKS.net().label())
            .field("mtu", _ -> TailSpec.LINKS.mtuBytes())
            .field("frame_bytes", row -> row.setting().frameBytes())
            .field("receivers", row -> row.setting().subscribers())
            .field("loss", row -> row.setting().loss())
            .field("losing", row -> row.setting().everyLink() ? "each" : "one")
            .field("offload", row -> row.setting().offload() ? "on" : "off")
            .field("capacity_fps", TailRow::capacityFps)
            .field("offered_fps", TailRow::offeredFps)
            .field("ping_us", row -> row.ping().json())
            .field("source_rtt_us", TailRow::sourceTripUs)
            .field("bound_us", TailRow::boundUs)
            .field("lost_datagrams", TailRow::lost)
            .field("repaired_datagrams", TailRow::repaired)
            .field("frame_gaps_us", row -> row.late().frames().gaps().json())
            .field("frame_tails_us", row -> row.late().frames().tails().json())
            .field("datagram_gaps_us", row -> row.late().datagrams().gaps().json())
            .field("datagram_tails_us", row -> row.late().datagrams().tails().json())
            .field("unrepaired_us", row -> row.late().unrepaired().json())
            .field("frames_behind", row -> row.late().counts().behind())
            .field("frames_lost_everywhere", row -> row.late().counts().everywhere())
            .field("unmatched", row -> row.late().counts().unmatched());

    /// One line below its row.
    private record Line(TailRow row, String what, Percentiles late, boolean isBound) {}

    private static final Table<Line> LINES = new Table<Line>()
            .groupedBy(line -> head(line.row))
            .column("µs: p50 / p99 / max", Line::what)
            .column("count", line -> Integer.toString(line.late.count()))
            .column("late", line -> line.late.text())
            .column("2 RTT + 100 µs", line -> line.isBound ? Table.decimal(line.row.boundUs(), 0) : "");

    /// The bound for 99 of 100 repairs: two round trips, as a ping takes them, and 100 µs.
    double boundUs() {
        return TRIPS * ping.p50Us() + MARGIN_US;
    }

    static String text(final List<TailRow> rows) {
        final List<Line> lines = new ArrayList<>();
        for (final TailRow row : rows) {
            final TailJoin.Late datagrams = row.late().datagrams();
            final TailJoin.Late frames = row.late().frames();
            lines.add(new Line(row, "repair after its original", datagrams.gaps(), true));
            lines.add(new Line(row, "  tails", datagrams.tails(), false));
            lines.add(new Line(row, "repaired frame after the same elsewhere", frames.gaps(), true));
            lines.add(new Line(row, "  tails", frames.tails(), false));
            lines.add(new Line(
                    row, "unrepaired frame after the same elsewhere", row.late().unrepaired(), false));
        }
        return LINES.text(lines);
    }

    private static String head(final TailRow row) {
        return String.format(
                Locale.ROOT,
                "%s: %.0f of %.0f frames/s; RTT by ping %.0f µs (p99 %.0f), by the source %.0f µs; %d datagrams lost,"
                        + " %d repaired; frames behind a repaired one %d, lost everywhere %d; unmatched %d",
                row.setting().text(),
                row.offeredFps(),
                row.capacityFps(),
                row.ping().p50Us(),
                row.ping().p99Us(),
                row.sourceTripUs(),
                row.lost(),
                row.repaired(),
                row.late().counts().behind(),
                row.late().counts().everywhere(),
                row.late().counts().unmatched());
    }
}
