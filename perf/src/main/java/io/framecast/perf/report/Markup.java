package io.framecast.perf.report;

import java.util.Locale;

/// Text within markup.
final class Markup {
    private Markup() {}

    /// With its first letter large.
    static String capital(final String text) {
        return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    }

    static String escape(final String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
