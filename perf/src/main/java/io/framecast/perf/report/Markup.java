package io.framecast.perf.report;

/// Text within markup.
final class Markup {
    private Markup() {}

    static String escape(final String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
