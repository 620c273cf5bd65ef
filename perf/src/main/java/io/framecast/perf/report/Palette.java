package io.framecast.perf.report;

import java.util.List;

/// One colour per system, the same in every plot.
final class Palette {
    private static final List<String> NAMES = List.of(
            "udp",
            "aeron",
            "verbs",
            "floor",
            "stock-aeron",
            "tcp",
            "framecast",
            "framecast, streaming",
            "framecast, model",
            "ring",
            "ring, streaming",
            "ring, model",
            "knomial",
            "knomial, streaming",
            "knomial, model");
    private static final List<String> LIGHT = List.of(
            "#1f6feb", "#0f9d8a", "#7c3aed", "#8a93a0", "#e07a1f", "#b5366f", "#1f6feb", "#8cb8f5", "#0b3a80",
            "#e07a1f", "#f3bf8f", "#8a4500", "#0f9d8a", "#8fd6cc", "#065a4e");
    private static final List<String> DARK = List.of(
            "#5b9dff", "#3fd0b9", "#b18cff", "#8e98a6", "#ffa657", "#f778ba", "#5b9dff", "#2f5a99", "#a9ccff",
            "#ffa657", "#9c6433", "#ffd3a8", "#3fd0b9", "#277f71", "#9fe8dc");

    private Palette() {}

    /// The class of a system's shapes in a plot.
    static String style(final String system) {
        return "s" + index(system);
    }

    static String light(final String system) {
        return LIGHT.get(index(system));
    }

    private static int index(final String system) {
        final int at = NAMES.indexOf(system);
        return at < 0 ? 0 : at;
    }

    /// Style sheet for plots and page: variables by theme, a class per system.
    static String css() {
        final StringBuilder css = new StringBuilder();
        css.append(":root{--ink:#1b1f24;--dim:#5b6470;--line:#d9dee5;--paper:#fbfcfd;--card:#fff;");
        variables(css, LIGHT);
        css.append("}@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#9aa5b1;--line:#30363d;")
                .append("--paper:#0d1117;--card:#161b22;");
        variables(css, DARK);
        css.append("}}");
        for (int i = 0; i < NAMES.size(); i++) {
            css.append(".s")
                    .append(i)
                    .append("{fill:var(--s")
                    .append(i)
                    .append(");stroke:var(--s")
                    .append(i)
                    .append(")}");
        }
        return css.toString();
    }

    private static void variables(final StringBuilder css, final List<String> colours) {
        for (int i = 0; i < colours.size(); i++) {
            css.append("--s").append(i).append(':').append(colours.get(i)).append(';');
        }
    }
}
