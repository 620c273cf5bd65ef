package io.framecast.perf.report;

import java.util.List;
import java.util.Locale;

/// Draws a figure as SVG. Colours come from the style sheet's variables, so that it follows the reader's theme.
final class SvgFigure {
    private static final double WIDTH = 600;
    private static final double HEIGHT = 330;
    private static final double LEFT = 64;
    private static final double RIGHT = 12;
    private static final double TOP = 62;
    private static final double BOTTOM = 58;
    private static final double GROUP_SHARE = 0.76;
    private static final double BAR_MAX = 64;
    private static final double LEGEND_CHARACTER = 7.2;
    private static final double LEGEND_GAP = 34;
    private static final double LABEL_LINE = 15;
    private static final double WHISKER = 4;
    private static final String BETWEEN = " · ";

    private final Figure figure;
    private final Axis axis;
    private final StringBuilder svg = new StringBuilder();

    private SvgFigure(final Figure figure) {
        this.figure = figure;
        axis = Axis.of(figure);
    }

    /// An element to be put into a page that has [Palette#css].
    static String inline(final Figure figure) {
        return new SvgFigure(figure).draw("");
    }

    /// A file of its own.
    static String file(final Figure figure) {
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                + new SvgFigure(figure)
                        .draw("<style>" + Palette.css() + "</style>"
                                + "<rect width=\"100%\" height=\"100%\" fill=\"var(--card)\"/>");
    }

    private String draw(final String head) {
        add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\""
                        + " font-family=\"system-ui,sans-serif\" font-size=\"12\" fill=\"var(--ink)\">",
                WIDTH, HEIGHT, Markup.escape(figure.title()));
        svg.append(head);
        add(
                "<text x=\"%.1f\" y=\"22\" font-size=\"15\" font-weight=\"600\">%s</text>",
                LEFT, Markup.escape(figure.title()));
        legend();
        grid();
        for (int i = 0; i < figure.categories().size(); i++) {
            category(i);
        }
        for (int i = 0; i < figure.series().size(); i++) {
            if (figure.lines()) {
                line(figure.series().get(i));
            } else {
                bars(figure.series().get(i), i);
            }
        }
        svg.append("</svg>");
        return svg.toString();
    }

    private void legend() {
        double x = LEFT;
        for (final Figure.Series series : figure.series()) {
            add(
                    "<rect class=\"%s\" x=\"%.1f\" y=\"35\" width=\"11\" height=\"11\" rx=\"2\"/>",
                    Palette.style(series.name()), x);
            add("<text x=\"%.1f\" y=\"45\">%s</text>", x + 16, Markup.escape(series.name()));
            x += LEGEND_GAP + LEGEND_CHARACTER * series.name().length();
        }
    }

    private void grid() {
        for (final double tick : axis.ticks()) {
            final double y = y(tick);
            add(
                    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"var(--line)\"/>",
                    LEFT, y, WIDTH - RIGHT, y);
            add(
                    "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" fill=\"var(--dim)\">%s</text>",
                    LEFT - 8, y + 4, Axis.text(tick));
        }
        add(
                "<text transform=\"translate(16 %.1f) rotate(-90)\" text-anchor=\"middle\" fill=\"var(--dim)\">%s</text>",
                (TOP + HEIGHT - BOTTOM) / 2,
                Markup.escape(figure.yTitle() + (figure.logarithmic() ? ", logarithmic" : "")));
        // Several aspects name themselves, line by line, and need the room.
        if (!figure.xTitle().contains(BETWEEN)) {
            add(
                    "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"var(--dim)\">%s</text>",
                    (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, Markup.escape(figure.xTitle()));
        }
    }

    private void category(final int index) {
        final List<String> lines = List.of(figure.categories().get(index).split(BETWEEN, -1));
        for (int i = 0; i < lines.size(); i++) {
            add(
                    "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>",
                    center(index), HEIGHT - BOTTOM + 18 + i * LABEL_LINE, Markup.escape(lines.get(i)));
        }
    }

    private void bars(final Figure.Series series, final int seriesIndex) {
        final int count = figure.series().size();
        final double width = Math.min(BAR_MAX, groupWidth() * GROUP_SHARE / count);
        final String style = Palette.style(series.name());
        for (int i = 0; i < series.points().size(); i++) {
            final Figure.Point point = series.points().get(i);
            if (point.isKnown()) {
                final double x = center(i) + (seriesIndex - count / 2.0) * width;
                final double y = y(point.value());
                add(
                        "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\">%s</rect>",
                        style, x + 1, y, width - 2, Math.max(0, HEIGHT - BOTTOM - y), tooltip(series, i));
                whisker(x + width / 2, point);
            }
        }
    }

    private void line(final Figure.Series series) {
        final String style = Palette.style(series.name());
        final StringBuilder path = new StringBuilder();
        for (int i = 0; i < series.points().size(); i++) {
            final Figure.Point point = series.points().get(i);
            if (point.isKnown()) {
                path.append(String.format(
                        Locale.ROOT, "%s%.1f %.1f", path.isEmpty() ? "M" : "L", center(i), y(point.value())));
            }
        }
        add("<path class=\"%s\" d=\"%s\" style=\"fill:none\" stroke-width=\"2\"/>", style, path);
        for (int i = 0; i < series.points().size(); i++) {
            final Figure.Point point = series.points().get(i);
            if (point.isKnown()) {
                whisker(center(i), point);
                add(
                        "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\">%s</circle>",
                        style, center(i), y(point.value()), tooltip(series, i));
            }
        }
    }

    /// From quartile to quartile.
    private void whisker(final double x, final Figure.Point point) {
        final double low = y(point.low());
        final double high = y(point.high());
        add(
                "<path d=\"M%.1f %.1fV%.1fM%.1f %.1fh%.1fM%.1f %.1fh%.1f\" stroke=\"var(--ink)\" fill=\"none\"/>",
                x, low, high, x - WHISKER, low, 2 * WHISKER, x - WHISKER, high, 2 * WHISKER);
    }

    private String tooltip(final Figure.Series series, final int index) {
        final Figure.Point point = series.points().get(index);
        return "<title>"
                + Markup.escape(series.name() + ", " + figure.categories().get(index) + ": "
                        + Axis.text(rounded(point.value())) + " " + figure.yTitle() + " (quartiles "
                        + Axis.text(rounded(point.low())) + " – " + Axis.text(rounded(point.high())) + ")")
                + "</title>";
    }

    private static double rounded(final double value) {
        return value >= 100 ? Math.rint(value) : value;
    }

    private double groupWidth() {
        return (WIDTH - LEFT - RIGHT) / figure.categories().size();
    }

    private double center(final int category) {
        return LEFT + (category + 0.5) * groupWidth();
    }

    private double y(final double value) {
        return HEIGHT - BOTTOM - Math.clamp(axis.share(value), 0, 1) * (HEIGHT - TOP - BOTTOM);
    }

    // The annotation is of a library that nothing here needs at run time.
    @SuppressWarnings("AnnotateFormatMethod")
    private void add(final String format, final Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }
}
