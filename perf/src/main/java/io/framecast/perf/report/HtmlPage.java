package io.framecast.perf.report;

import io.framecast.perf.bench.BenchCase;
import io.framecast.perf.bench.BenchPlan;
import io.framecast.perf.bench.BenchReport;
import io.framecast.perf.bench.BenchRow;
import io.framecast.perf.bench.BenchScenario;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// A run as one page that needs nothing else: no script, no font, no picture from anywhere.
final class HtmlPage {
    private static final String STYLE = """
            *{box-sizing:border-box}
            body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
            main{max-width:1360px;margin:0 auto;padding:48px 24px 64px}
            h1{font-size:32px;line-height:1.2;margin:0 0 4px;letter-spacing:-.015em}
            h2{font-size:22px;line-height:1.3;margin:56px 0 2px;letter-spacing:-.01em}
            p{margin:8px 0;max-width:96ch}
            .dim{color:var(--dim)}
            .facts{display:flex;flex-wrap:wrap;gap:6px;margin:14px 0 18px;padding:0;list-style:none;font-size:13px}
            .facts li{background:var(--card);border:1px solid var(--line);border-radius:99px;padding:2px 11px}
            .card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:14px 18px;margin:16px 0}
            .scroll{overflow-x:auto;padding:2px 0}
            table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:13.5px}
            th,td{padding:6px 9px;text-align:right;white-space:nowrap}
            th:first-child,td:first-child{text-align:left;padding-left:18px}
            th:last-child,td:last-child{padding-right:18px}
            thead th{color:var(--dim);font-weight:500;font-size:12.5px;border-bottom:1px solid var(--line)}
            .case td{background:var(--paper);color:var(--dim);font-size:12.5px;border-top:1px solid var(--line);padding-top:8px}
            tbody tr:first-child td{border-top:0}
            .own td{font-weight:650}
            .bad{color:var(--s5)}
            .key{display:inline-block;width:10px;height:10px;margin-right:8px}
            .figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:16px;margin:16px 0}
            .figures .card{margin:0;max-width:720px}
            svg{display:block;width:100%;height:auto}
            footer{margin-top:48px;font-size:13px;color:var(--dim)}
            """;

    private HtmlPage() {}

    static String of(final BenchReport report) {
        final String title = "Framecast bench: " + scenarios(report);
        return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                + "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
                + "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                + "<title>" + Markup.escape(title) + "</title>\n<style>" + Palette.css() + STYLE
                + "</style>\n</head>\n<body>\n<main>\n<h1>" + Markup.escape(title) + "</h1>\n"
                + "<p class=\"dim\">" + Markup.escape(report.started()) + "</p>\n" + facts(report) + how(report)
                + Arrays.stream(BenchScenario.values())
                        .filter(scenario -> !report.rows(scenario).isEmpty())
                        .map(scenario -> section(report, scenario))
                        .collect(Collectors.joining())
                + notes() + "</main>\n</body>\n</html>\n";
    }

    private static String scenarios(final BenchReport report) {
        return report.rows().stream()
                .map(row -> row.setting().scenario().label())
                .distinct()
                .collect(Collectors.joining(", "));
    }

    private static String facts(final BenchReport report) {
        return report.machine().facts().stream()
                .map(fact -> "<li>" + Markup.escape(fact) + "</li>")
                .collect(Collectors.joining("", "<ul class=\"facts\">", "</ul>\n"));
    }

    private static String how(final BenchReport report) {
        final BenchPlan plan = report.plan();
        return "<div class=\"card\">"
                + String.format(
                        Locale.ROOT,
                        "<p>Publisher and receivers are processes of their own. They ran untimed until goodput was steady, or"
                                + " %.0f s were over (more with several receivers). Then every system ran once in each of %d rounds, one after"
                                + " the other, %.1f s each; a figure is the median of its rounds, whiskers go from quartile to"
                                + " quartile.</p>",
                        plan.times().warmUpMaxSeconds(),
                        plan.rounds(),
                        plan.times().seconds())
                + plan.skips().stream()
                        .map(skip -> "<p class=\"dim\">Not measured: " + Markup.escape(skip) + "</p>")
                        .collect(Collectors.joining())
                + "</div>\n";
    }

    private static String section(final BenchReport report, final BenchScenario scenario) {
        final List<BenchRow> rows = report.rows(scenario);
        return "<section>\n<h2>" + Markup.escape(Markup.capital(scenario.label())) + "</h2>\n<p class=\"dim\">"
                + Markup.escape(Markup.capital(scenario.summary())) + ".</p>\n<div class=\"figures\">\n"
                + Figures.of(report, scenario).stream()
                        .map(figure -> "<div class=\"card\">" + SvgFigure.inline(figure) + "</div>\n")
                        .collect(Collectors.joining())
                + "</div>\n" + table(rows) + failures(rows) + "</section>\n";
    }

    private static String table(final List<BenchRow> rows) {
        final List<TextTable.Column> columns = TextTable.columns(rows);
        final StringBuilder html = new StringBuilder("<div class=\"card scroll\"><table>\n<thead><tr>");
        columns.forEach(column ->
                html.append("<th>").append(Markup.escape(column.title())).append("</th>"));
        html.append("</tr></thead>\n<tbody>\n");
        BenchCase last = null;
        for (final BenchRow row : rows) {
            if (!row.setting().equals(last)) {
                last = row.setting();
                html.append("<tr class=\"case\"><td colspan=\"")
                        .append(columns.size())
                        .append("\">")
                        .append(Markup.escape(last.text()))
                        .append("</td></tr>\n");
            }
            html.append(row.framecast() ? "<tr class=\"own\">" : "<tr>");
            for (int i = 0; i < columns.size(); i++) {
                html.append("<td>")
                        .append(i == 0 ? key(row.transport()) : "")
                        .append(Markup.escape(columns.get(i).cell().apply(row)))
                        .append("</td>");
            }
            html.append("</tr>\n");
        }
        return html.append("</tbody></table></div>\n").toString();
    }

    private static String key(final String system) {
        return "<svg class=\"key\" viewBox=\"0 0 10 10\"><rect class=\"" + Palette.style(system)
                + "\" width=\"10\" height=\"10\" rx=\"2\"/></svg>";
    }

    private static String failures(final List<BenchRow> rows) {
        return rows.stream()
                .flatMap(row -> row.failures().stream()
                        .map(failure -> "<p class=\"bad\">Failed: "
                                + Markup.escape(row.setting().text() + ", " + row.transport() + ": " + failure)
                                + "</p>\n"))
                .collect(Collectors.joining());
    }

    private static String notes() {
        return "<h2>How to read it</h2>\n<div class=\"card\">"
                + "<p><b>MB/s</b>: payload (MB = 10<sup>6</sup> bytes) of the frames due after the warm-up, from the first"
                + " publish to the last frame in place, at the receiver that got least.</p>"
                + "<p><b>CPU s/GB</b>: processor time of all processes, embedded drivers included, per 10<sup>9</sup>"
                + " payload bytes delivered to one receiver.</p>"
                + "<p><b>p50, p99, p99.9</b>: from the moment a frame was due to the moment its last byte was in place, all"
                + " receivers together. At a fixed rate a frame is due at its place in the schedule, so a stall counts for"
                + " every frame that waited.</p>"
                + "<p><b>src µs/frame</b>: processor time of the publisher's process per frame.</p>"
                + "<p><b>overhead</b>: payload of the datagrams that the source sent, or of its connections, per byte of frames,"
                + " less one: repairs and control included. <b>wire B/B</b>: bytes on the wire per byte of frames, IP and UDP or"
                + " TCP headers included; counted at its interface where that sends datagrams singly, else by the sender.</p>"
                + "<p><b>/ floor, / aeron, / tcp</b>: median over the median of that system in the same run; goodput, or p99"
                + " where the scenario is <b>" + BenchScenario.LATENCY.label()
                + "</b> (there less is better). <b>/ clean</b>:"
                + " over the same system without loss. <b>CPU / aeron</b>: CPU s/GB over stock Aeron's (less is better).</p>"
                + "<p><b>floor</b>: a raw multicast loop over UDP_SEGMENT and UDP_GRO with one credit per frame, the same"
                + " processes and socket buffers, nothing repaired. <b>stock-aeron</b>: Aeron's reliable multicast, tuned."
                + " <b>tcp</b>: one thread, a connection per receiver.</p></div>\n"
                + "<footer>Made by <code>framecast bench</code>. The figures of every round are in bench.json.</footer>\n";
    }
}
