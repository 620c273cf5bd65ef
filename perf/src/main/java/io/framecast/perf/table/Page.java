package io.framecast.perf.table;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// A run as one HTML page that needs nothing else: no script, no font, no picture from anywhere.
///
/// @param facts about the machine, each in a few words
/// @param remarks paragraphs about the run
/// @param notes markup about the columns
public record Page(String title, String started, List<String> facts, List<String> remarks, String notes) {
    private static final String TEMPLATE = resource(Page.class, "page.html");

    /// A part of the page: its figures and a table of its rows.
    ///
    /// @param failures of its rows, a line each
    public record Section<R>(String title, String summary, List<R> rows, List<Figure> figures, List<String> failures) {}

    /// A text beside a class.
    public static String resource(final Class<?> beside, final String name) {
        try (InputStream stream = beside.getResourceAsStream(name)) {
            return new String(Objects.requireNonNull(stream, name).readAllBytes(), StandardCharsets.UTF_8);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// @param own whether a row stands out
    public <R> String html(final Table<R> table, final Predicate<R> own, final List<Section<R>> sections) {
        return TEMPLATE.replace("{title}", escape(title))
                .replace("{started}", escape(started))
                .replace("{facts}", each("<li>%s</li>", facts))
                .replace("{remarks}", each("<p>%s</p>", remarks))
                .replace("{notes}", notes)
                .replace(
                        "{sections}",
                        sections.stream()
                                .map(section -> section(table, own, section))
                                .collect(Collectors.joining()));
    }

    private static <R> String section(final Table<R> table, final Predicate<R> own, final Section<R> section) {
        final Map<String, Function<R, String>> columns = table.columns(section.rows);
        final StringBuilder html = new StringBuilder("<section>\n<h2>" + escape(capital(section.title))
                + "</h2>\n<p class=\"dim\">" + escape(capital(section.summary)) + ".</p>\n<div class=\"figures\">\n");
        section.figures.forEach(figure -> html.append(picture(figure)));
        html.append("</div>\n<div class=\"card scroll\"><table>\n<thead><tr>")
                .append(each("<th>%s</th>", columns.keySet()))
                .append("</tr></thead>\n<tbody>\n");
        String last = "";
        for (final R row : section.rows) {
            final String group = table.group(row);
            if (!group.equals(last)) {
                html.append(
                        "<tr class=\"case\"><td colspan=\"" + columns.size() + "\">" + escape(group) + "</td></tr>\n");
                last = group;
            }
            final List<String> cells =
                    columns.values().stream().map(column -> column.apply(row)).toList();
            html.append(own.test(row) ? "<tr class=\"own\">" : "<tr>")
                    .append("<td><span class=\"key\" style=\"background:" + Charts.colour(cells.getFirst())
                            + "\"></span>")
                    .append(escape(cells.getFirst()) + "</td>")
                    .append(each("<td>%s</td>", cells.subList(1, cells.size())))
                    .append("</tr>\n");
        }
        return html.append("</tbody></table></div>\n" + each("<p class=\"bad\">Failed: %s</p>\n", section.failures)
                        + "</section>\n")
                .toString();
    }

    // A system without fonts has a page without pictures.
    private static String picture(final Figure figure) {
        try {
            return "<div class=\"card\"><img alt=\"" + escape(figure.title()) + "\" src=\"data:image/svg+xml;base64,"
                    + Base64.getEncoder().encodeToString(Charts.svg(figure)) + "\"/></div>\n";
        } catch (final IOException | RuntimeException | LinkageError | InternalError e) {
            return "";
        }
    }

    private static String each(final String markup, final Collection<String> texts) {
        return texts.stream().map(text -> markup.replace("%s", escape(text))).collect(Collectors.joining());
    }

    /// With its first letter large.
    public static String capital(final String text) {
        return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    }

    private static String escape(final String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
