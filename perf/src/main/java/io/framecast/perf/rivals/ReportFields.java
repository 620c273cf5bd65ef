package io.framecast.perf.rivals;

import io.framecast.samples.json.Json;
import java.util.Map;

/// A child's one-line report, read back.
record ReportFields(Map<?, ?> json) {
    static ReportFields parse(final String text) {
        if (Json.parse(text) instanceof Map<?, ?> map) {
            return new ReportFields(map);
        }
        throw new IllegalArgumentException("expected a report, got " + text);
    }

    long number(final String name) {
        if (json.get(name) instanceof Long number) {
            return number;
        }
        throw new IllegalArgumentException("expected a number " + name + " in " + json);
    }

    String text(final String name) {
        if (json.get(name) instanceof String text) {
            return text;
        }
        throw new IllegalArgumentException("expected a text " + name + " in " + json);
    }
}
