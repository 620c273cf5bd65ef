package io.framecast.perf.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What came of all cases, for people.
final class TailTable {
    private static final List<String> TITLES = List.of("µs: p50 / p99 / max", "count", "late", "2 RTT + 100 µs");

    private TailTable() {}

    static String of(final List<TailRow> rows) {
        final List<String> lines = new ArrayList<>();
        for (final TailRow row : rows) {
            lines.add(String.format(
                    Locale.ROOT,
                    "%s: %.0f of %.0f frames/s; RTT by ping %.0f µs (p99 %.0f), by the source %.0f µs",
                    row.setting().text(),
                    row.rates().offered(),
                    row.rates().capacity(),
                    row.ping().p50Us(),
                    row.ping().p99Us(),
                    row.sourceTripUs()));
            lines.add(line(TITLES.get(0), TITLES.get(1), TITLES.get(2), TITLES.get(3)));
            final String bound = Long.toString(Math.round(row.boundUs()));
            lines.add(line("repair after its original", row.late().datagrams().gaps(), bound));
            lines.add(line("  tails", row.late().datagrams().tails(), ""));
            lines.add(line(
                    "repaired frame after the same elsewhere",
                    row.late().frames().gaps(),
                    bound));
            lines.add(line("  tails", row.late().frames().tails(), ""));
            lines.add(
                    line("unrepaired frame after the same elsewhere", row.late().unrepaired(), ""));
            lines.add(String.format(
                    Locale.ROOT,
                    "  %d datagrams lost, %d repaired; frames behind a repaired one %d, lost everywhere %d; unmatched %d",
                    row.datagrams().lost(),
                    row.datagrams().repaired(),
                    row.late().counts().behind(),
                    row.late().counts().everywhere(),
                    row.late().counts().unmatched()));
        }
        return String.join("\n", lines);
    }

    private static String line(final String what, final TailStats late, final String bound) {
        return line(what, Integer.toString(late.count()), late.text(), bound);
    }

    private static String line(final String what, final String count, final String late, final String bound) {
        return String.format(Locale.ROOT, "  %-42s %8s %24s %16s", what, count, late, bound)
                .stripTrailing();
    }
}
