package io.framecast.perf.control;

import io.framecast.perf.table.Table;
import io.framecast.reliability.sim.Simulation;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimReport;
import java.util.Locale;

/// The cost of one simulated run at the source.
///
/// @param receivers how many
/// @param coRoots K, the most co-roots it might choose
/// @param rule how K follows from the number of receivers
/// @param perDatagram control datagrams that the source took and sent, for each data datagram
/// @param megabytesPerSecond goodput at the slowest receiver, in virtual time
/// @param dataDatagrams that it sent, each multicast once
record ControlRow(
        int receivers, int coRoots, String rule, double perDatagram, double megabytesPerSecond, long dataDatagrams) {
    private static final double MICROS = 1e-3;

    static ControlRow of(final int receivers, final int coRoots, final String rule, final SimReport report) {
        final double bytesEach = (double) report.of(SimCount.DELIVERED_BYTES) / receivers;
        return new ControlRow(
                receivers,
                coRoots,
                rule,
                (double) (report.of(SimCount.TAKEN) + report.of(SimCount.ANNOUNCED)) / report.of(SimCount.SENT),
                bytesEach / ((report.reliableNs() - Simulation.QUIET_BEGIN_NS) * MICROS),
                report.of(SimCount.SENT));
    }

    static final Table<ControlRow> TABLE = new Table<ControlRow>()
            .field("scenario", _ -> "control")
            .field("simulated", _ -> true)
            .both("receivers", "receivers", ControlRow::receivers)
            .field("co_roots", ControlRow::coRoots)
            .field("rule", ControlRow::rule)
            .column("co-roots", row -> row.rule + " = " + row.coRoots)
            .both("control_per_datagram", "control per datagram", 3, ControlRow::perDatagram)
            .both("goodput_MBps", "MB/s", row -> Math.round(row.megabytesPerSecond))
            .field("data_datagrams", ControlRow::dataDatagrams);

    String text() {
        return String.format(
                Locale.ROOT,
                "%d receivers, co-roots %s = %d: %.3f control datagrams per data datagram, %.0f MB/s",
                receivers,
                rule,
                coRoots,
                perDatagram,
                megabytesPerSecond);
    }
}
