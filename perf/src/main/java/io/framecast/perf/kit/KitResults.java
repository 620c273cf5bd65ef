package io.framecast.perf.kit;

import io.framecast.perf.harness.MachineInfo;
import io.framecast.samples.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// `verify.json`: written anew, as a whole, whenever a step begins or ends, for a machine that is lent may be
/// taken away at any time.
final class KitResults {
    private final KitOptions options;
    private final String hardware;
    private final @Nullable KitDevice device;
    private final String started = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    private final Map<String, @Nullable Object> machine = MachineInfo.read().json();
    private final List<KitStep> steps = new ArrayList<>();
    private @Nullable String running;
    private boolean complete;

    /// @param hardware one line that says what ran
    /// @param device null if it did not open
    KitResults(final KitOptions options, final String hardware, final @Nullable KitDevice device) {
        this.options = options;
        this.hardware = hardware;
        this.device = device;
    }

    List<KitStep> steps() {
        return steps;
    }

    boolean isPassed() {
        return steps.stream().noneMatch(KitStep::isFailed);
    }

    void begin(final String step) throws IOException {
        running = step;
        write();
    }

    void add(final KitStep step) throws IOException {
        running = null;
        steps.add(step);
        write();
    }

    /// All is done: what a reader should know of it.
    String end() throws IOException {
        complete = true;
        write();
        return "\n" + hardware + "\n" + KitStep.TABLE.text(steps) + "\nwrote " + file();
    }

    private Path file() {
        return options.out().resolve("verify.json");
    }

    private void write() throws IOException {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("kit", "framecast gpu");
        json.put("commit", commit());
        json.put("started", started);
        json.put("hardware", hardware);
        json.put("device", device == null ? null : device.json());
        json.put("machine", machine);
        json.put("quick", options.quick());
        json.put("only", options.only());
        json.put("step_seconds", options.stepSeconds());
        json.put("complete", complete);
        json.put("running", running);
        json.put("passed", complete && isPassed());
        json.put("steps", KitStep.TABLE.json(steps));
        final Path fresh = options.out().resolve("verify.json.new");
        Files.writeString(fresh, Json.write(json) + "\n");
        Files.move(fresh, file(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    // Beside the tests, in the archive.
    private @Nullable String commit() {
        try {
            return Files.readString(options.tests().resolveSibling("commit")).strip();
        } catch (final IOException e) {
            return null;
        }
    }
}
