package io.framecast.perf.kit;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What came of one step.
///
/// @param status the process's exit status
/// @param result the object that it wrote, or null
/// @param lastLine of what it said to people
record KitStep(
        String name, int status, double seconds, @Nullable Map<?, ?> result, String lastLine) {
    boolean isPassed() {
        return status == 0 && result != null;
    }

    private String verdict() {
        return isPassed() ? "passed" : "FAILED";
    }

    /// In a few words what it found.
    private String detail() {
        if (result == null) {
            return "status " + status + ": " + lastLine;
        }
        if (result.get("error") instanceof String error) {
            return error;
        }
        if (result.get("tests") instanceof List<?>) {
            return result.get("passed") + " passed, " + result.get("failed") + " failed, " + result.get("skipped")
                    + " skipped";
        }
        if (result.get("rows") instanceof List<?> rows) {
            return rows.size() + " rows";
        }
        return result.get("verified") instanceof Boolean verified ? verified ? "verified" : "not verified" : "";
    }

    String line() {
        return String.format(Locale.ROOT, "%s: %s in %.1f s, %s", name, verdict(), seconds, detail());
    }

    String tableLine() {
        return String.format(Locale.ROOT, "  %-28s %-8s %9.1f  %s", name, verdict(), seconds, detail());
    }

    Map<String, @Nullable Object> json() {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("name", name);
        json.put("passed", isPassed());
        json.put("status", status);
        json.put("seconds", seconds);
        json.put("detail", detail());
        json.put("result", result);
        return json;
    }
}
