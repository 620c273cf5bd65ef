package io.framecast.engine.metrics;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Labels as text, in Prometheus' own form: `channel="cam1",lane="data"`.
public final class Labels {
    public static final String NONE = "";

    private Labels() {}

    /// One label, with its value as it is.
    record Label(String name, String value) {}

    /// Writes labels, escaping values.
    ///
    /// @param namesAndValues name, value, name, value …
    public static String of(final String... namesAndValues) {
        if (namesAndValues.length % 2 != 0) {
            throw new IllegalArgumentException("labels: expected names and values in pairs");
        }
        final StringBuilder text = new StringBuilder();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            text.append(text.isEmpty() ? "" : ",").append(namesAndValues[i]).append("=\"");
            escape(text, namesAndValues[i + 1]);
            text.append('"');
        }
        parse(text.toString());
        return text.toString();
    }

    /// Labels after others.
    public static String join(final String first, final String second) {
        return first.isEmpty() || second.isEmpty() ? first + second : first + "," + second;
    }

    private static void escape(final StringBuilder text, final String value) {
        for (int i = 0; i < value.length(); i++) {
            final char c = value.charAt(i);
            switch (c) {
                case '\\' -> text.append("\\\\");
                case '"' -> text.append("\\\"");
                case '\n' -> text.append("\\n");
                default -> text.append(c);
            }
        }
    }

    /// Reads labels strictly: what passes is fit for Prometheus.
    ///
    /// @throws IllegalArgumentException when the text is not labels, or names one twice
    static List<Label> parse(final String text) {
        final List<Label> labels = new ArrayList<>();
        final Set<String> names = new HashSet<>();
        int at = 0;
        while (at < text.length()) {
            final int equals = text.indexOf("=\"", at);
            final String name = equals < 0 ? "" : text.substring(at, equals);
            if (!isName(name) || !names.add(name)) {
                throw new IllegalArgumentException("labels: expected name=\"value\",… got " + text);
            }
            final StringBuilder value = new StringBuilder();
            at = readValue(text, equals + 2, value);
            labels.add(new Label(name, value.toString()));
            if (at < text.length() && (text.charAt(at) != ',' || ++at == text.length())) {
                throw new IllegalArgumentException("labels: expected a comma and a label, got " + text);
            }
        }
        return labels;
    }

    /// Returns the index after the closing quote.
    private static int readValue(final String text, final int from, final StringBuilder value) {
        int i = from;
        while (i < text.length() && text.charAt(i) != '\n') {
            final char c = text.charAt(i);
            i++;
            if (c == '"') {
                return i;
            }
            if (c != '\\') {
                value.append(c);
                continue;
            }
            final char escaped = i < text.length() ? text.charAt(i) : ' ';
            if (escaped != '\\' && escaped != '"' && escaped != 'n') {
                break;
            }
            value.append(escaped == 'n' ? '\n' : escaped);
            i++;
        }
        throw new IllegalArgumentException("labels: expected a closing quote and valid escapes, got " + text);
    }

    private static boolean isName(final String name) {
        // Two underscores in front are Prometheus' own.
        return name.matches("[a-zA-Z_][a-zA-Z0-9_]*") && !name.startsWith("__");
    }
}
