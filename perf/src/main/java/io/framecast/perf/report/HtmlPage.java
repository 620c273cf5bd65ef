package io.framecast.perf.report;

import io.framecast.perf.bench.BenchCase;
import io.framecast.perf.bench.BenchPlan;
import io.framecast.perf.bench.BenchReport;
import io.framecast.perf.bench.BenchRow;
import io.framecast.perf.bench.BenchScenario;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// A run as one page that needs nothing else: no script, no font, no picture from anywhere.
final class HtmlPage {
    private static final String STYLE = """
            *{box-sizing:border-box}
            body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
            main{max-width:1080px;margin:0 auto;padding:48px 24px 64px}
            h1{font-size:30px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em}
            h2{font-size:19px;margin:44px 0 12px}
            p{margin:8px 0;max-width:78ch}
            .dim{color:var(--dim)}
            .card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:16px 18px;margin:16px 0}
            .scroll{overflow-x:auto;padding:0}
            table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}
            th,td{padding:7px 12px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
            th:first-child,td:first-child{text-align:left}
            thead th{color:var(--dim);font-weight:500;font-size:12.5px}
            tr:last-child td{border-bottom:0}
            .case td{font-weight:600;padding-top:16px}
            .own td{font-weight:600}
            .key{display:inline-block;width:10px;height:10px;margin-right:8px}
            .figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:16px}
            .figures .card{margin:0}
            svg{display:block;width:100%;height:auto}
            footer{margin-top:48px;font-size:13px;color:var(--dim)}
            """;

    private HtmlPage() {}

    static String of(final BenchReport report, final List<Figure> figures) {
        final String title = "Framecast bench: " + scenarios(report);
        return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                + "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
                + "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                + "<title>" + Markup.escape(title) + "</title>\n<style>" + Palette.css() + STYLE
                + "</style>\n</head>\n<body>\n<main>\n<h1>" + Markup.escape(title) + "</h1>\n"
                + "<p class=\"dim\">"
                + Markup.escape(report.started() + " · " + report.machine().text()) + "</p>\n"
                + how(report)
                + "<h2>Figures</h2>\n<div class=\"figures\">\n"
                + figures.stream()
                        .map(figure -> "<div class=\"card\">" + SvgFigure.inline(figure) + "</div>\n")
                        .collect(Collectors.joining())
                + "</div>\n<h2>Medians</h2>\n" + table(report) + failures(report) + notes()
                + "</main>\n</body>\n</html>\n";
    }

    private static String scenarios(final BenchReport report) {
        return report.rows().stream()
                .map(row -> row.setting().scenario().label())
                .distinct()
                .collect(Collectors.joining(", "));
    }

    private static String how(final BenchReport report) {
        final BenchPlan plan = report.plan();
        final String what = report.rows().stream()
                .map(row -> row.setting().scenario())
                .distinct()
                .map(scenario -> "<b>" + scenario.label() + "</b>: " + Markup.escape(scenario.summary()))
                .collect(Collectors.joining("; "));
        return "<div class=\"card\"><p>" + what + ".</p>"
                + String.format(
                        Locale.ROOT,
                        "<p>Publisher and receivers are processes of their own. Every system ran once in each of %d rounds,"
                                + " one after the other, %.1f s each after %.1f s of warming up; a figure is the median"
                                + " of its rounds, whiskers go from quartile to quartile.</p>",
                        plan.rounds(),
                        plan.times().seconds(),
                        plan.times().leadSeconds())
                + plan.skips().stream()
                        .map(skip -> "<p class=\"dim\">Not measured: " + Markup.escape(skip) + "</p>")
                        .collect(Collectors.joining())
                + "</div>\n";
    }

    private static String table(final BenchReport report) {
        final List<TextTable.Column> columns = TextTable.columns(report);
        final StringBuilder html = new StringBuilder("<div class=\"card scroll\"><table>\n<thead><tr>");
        columns.forEach(column ->
                html.append("<th>").append(Markup.escape(column.title())).append("</th>"));
        html.append("</tr></thead>\n<tbody>\n");
        BenchCase last = null;
        for (final BenchRow row : report.rows()) {
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

    private static String failures(final BenchReport report) {
        return report.rows().stream()
                .flatMap(row -> row.failures().stream()
                        .map(failure -> "<p>Failed: "
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
                + "<p><b>overhead</b>: bytes that the source sent per payload byte, less one: IP and UDP headers, control and"
                + " repairs included; counted at its interface where that sends datagrams singly, else by the sender.</p>"
                + "<p><b>/ floor, / aeron, / tcp</b>: median over the median of that system in the same run; goodput, or p99"
                + " where the scenario is <b>" + BenchScenario.LATENCY.label() + "</b> (there less is better).</p>"
                + "<p><b>floor</b>: a raw multicast loop over UDP_SEGMENT and UDP_GRO with one credit per frame, the same"
                + " processes and socket buffers, nothing repaired. <b>stock-aeron</b>: Aeron's reliable multicast, tuned."
                + " <b>tcp</b>: one thread, a connection per receiver.</p></div>\n"
                + "<footer>Made by <code>framecast bench</code>. The figures of every round are in bench.json.</footer>\n";
    }
}
