package io.framecast.perf.bench;

import io.framecast.reliability.sim.SimReport;
import io.framecast.reliability.sim.Simulation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// What one simulated run took at the source.
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
        final SimReport.Control control = report.control();
        final double bytesEach = (double) report.deliveredBytes() / receivers;
        return new ControlRow(
                receivers,
                coRoots,
                rule,
                (double) (control.taken() + control.told()) / control.sent(),
                bytesEach / ((report.reliableNs() - Simulation.QUIET_BEGIN_NS) * MICROS),
                control.sent());
    }

    Map<String, Object> json() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("scenario", "control");
        json.put("simulated", true);
        json.put("receivers", receivers);
        json.put("co_roots", coRoots);
        json.put("rule", rule);
        json.put("control_per_datagram", Math.round(perDatagram * 1e4) / 1e4);
        json.put("goodput_MBps", Math.round(megabytesPerSecond));
        json.put("data_datagrams", dataDatagrams);
        return json;
    }

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

    static String table(final List<ControlRow> rows) {
        final StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT, "%9s  %-12s  %20s  %12s", "receivers", "co-roots", "control per datagram", "MB/s"));
        for (final ControlRow row : rows) {
            text.append(String.format(
                    Locale.ROOT,
                    "%n%9d  %-12s  %20.3f  %12.0f",
                    row.receivers,
                    row.rule + " = " + row.coRoots,
                    row.perDatagram,
                    row.megabytesPerSecond));
        }
        return text.toString();
    }
}
