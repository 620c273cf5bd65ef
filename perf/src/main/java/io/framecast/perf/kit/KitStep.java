package io.framecast.perf.kit;

import io.framecast.perf.table.Table;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The result of one step.
///
/// @param status the process's exit status
/// @param result the object that it wrote, or null
/// @param lastLine of what it said to people, or why it was ended
record KitStep(
        String name, int status, double seconds, @Nullable Map<?, ?> result, String lastLine) {
    /// One that failed without a process.
    static KitStep failed(final String name, final String why) {
        return new KitStep(name, KitMain.FAILED, 0, Map.of("error", why), why);
    }

    /// One that says nothing about this device.
    static KitStep skipped(final String name, final String why) {
        return new KitStep(name, KitMain.SKIPPED, 0, Map.of("skipped_because", why), why);
    }

    boolean isSkipped() {
        return status == KitMain.SKIPPED && result != null && result.get("skipped_because") instanceof String;
    }

    boolean isPassed() {
        return result != null && (status == 0 || isSurvey());
    }

    // doctor ends with 1 when something is missing; whatever this step needs is missed by the steps behind it.
    private boolean isSurvey() {
        return status == 1 && result != null && result.get("missing") instanceof Number;
    }

    boolean isFailed() {
        return !isPassed() && !isSkipped();
    }

    private String verdict() {
        return isPassed() ? "passed" : isSkipped() ? "skipped" : "FAILED";
    }

    /// In a few words what it found.
    String detail() {
        if (result == null) {
            return "status " + status + ": " + lastLine;
        }
        if (result.get("error") instanceof final String error) {
            return error;
        }
        if (result.get("skipped_because") instanceof final String why) {
            return why;
        }
        if (result.get("tests") instanceof List<?>) {
            return result.get("passed") + " passed, " + result.get("failed") + " failed, " + result.get("skipped")
                    + " skipped" + (result.get("hung") instanceof final String hung ? ", hung: " + hung : "");
        }
        if (result.get("rows") instanceof final List<?> rows) {
            return rows.size() + " rows";
        }
        return result.get("verified") instanceof final Boolean verified ? verified ? "verified" : "not verified" : "";
    }

    String line() {
        return String.format(Locale.ROOT, "%s: %s in %.1f s, %s", name, verdict(), seconds, detail());
    }

    static final Table<KitStep> TABLE = new Table<KitStep>()
            .left(2)
            .both("name", "step", KitStep::name)
            .column("result", KitStep::verdict)
            .field("passed", KitStep::isPassed)
            .field("skipped", KitStep::isSkipped)
            .field("status", KitStep::status)
            .both("seconds", "seconds", 1, KitStep::seconds)
            .both("detail", "", KitStep::detail)
            .field("result", KitStep::result);
}
