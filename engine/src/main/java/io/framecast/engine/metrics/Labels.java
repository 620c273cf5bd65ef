package io.framecast.engine.metrics;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Labels as text, in Prometheus' own form: `channel="cam1",lane="data"`.
public final class Labels {
    public static final String NONE = "";

    // A name and a quoted value, then a comma before another label, or the end. Names with two underscores in
    // front are Prometheus' own. The possessive loop keeps a long value from exhausting the stack.
    private static final Pattern LABEL =
            Pattern.compile("(?!__)([a-zA-Z_]\\w*)=\"((?:[^\"\\\\\\n]|\\\\[\\\\\"n])*+)\"(?:,(?!\\z)|\\z)");

    private Labels() {}

    /// Writes labels, escaping values.
    ///
    /// @param namesAndValues name, value, name, value …
    public static String of(final String... namesAndValues) {
        if (namesAndValues.length % 2 != 0) {
            throw new IllegalArgumentException("labels: expected names and values in pairs");
        }
        String text = NONE;
        for (int i = 0; i < namesAndValues.length; i += 2) {
            text = join(text, namesAndValues[i] + "=\"" + escape(namesAndValues[i + 1]) + "\"");
        }
        parse(text);
        return text;
    }

    /// Labels behind given ones.
    public static String join(final String first, final String second) {
        return first.isEmpty() || second.isEmpty() ? first + second : first + "," + second;
    }

    private static String escape(final String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    /// Reads labels strictly: Prometheus takes them as they are.
    ///
    /// @return values by name, in order of the text
    /// @throws IllegalArgumentException when the text is not labels, or names one twice
    static Map<String, String> parse(final String text) {
        final Map<String, String> labels = new LinkedHashMap<>();
        final Matcher label = LABEL.matcher(text);
        for (int at = 0; at < text.length(); at = label.end()) {
            if (!label.region(at, text.length()).lookingAt()
                    || labels.put(label.group(1), label.group(2).translateEscapes()) != null) {
                throw new IllegalArgumentException(
                        "labels: expected name=\"value\",… with each name once, got " + text);
            }
        }
        return labels;
    }
}
