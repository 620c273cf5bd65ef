package io.framecast.perf.kit;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.bench.BenchTool;
import io.framecast.perf.bench.MachineInfo;
import io.framecast.samples.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// `verify.sh` of the GPU kit: looks for the device, runs the tests tagged `gpu`, each bench that takes a
/// device, and the demo; prints a table and writes `verify.json`. Without a driver it says so in one line and
/// runs nothing.
public final class KitMain {
    static final int PASSED = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;
    /// What test harnesses take for skipped.
    static final int SKIPPED = 77;

    private final KitOptions options;
    private final KitDevice device;
    private final List<KitStep> steps = new ArrayList<>();

    private KitMain(final KitOptions options, final KitDevice device) {
        this.options = options;
        this.device = device;
    }

    /// Words: those of [KitOptions].
    public static void main(final String[] arguments) throws IOException, InterruptedException {
        System.exit(run(List.of(arguments)));
    }

    static int run(final List<String> words) throws IOException, InterruptedException {
        final KitOptions options;
        try {
            options = KitOptions.parse(words);
        } catch (final ConfigException e) {
            System.err.println("verify.sh: " + e.getMessage());
            return USAGE;
        }
        final KitDevice device;
        try {
            device = KitDevice.find(options.device());
        } catch (final ConfigException e) {
            System.out.println("skipped: " + e.getMessage());
            return SKIPPED;
        }
        return new KitMain(options, device).run();
    }

    private int run() throws IOException, InterruptedException {
        final String started = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        Files.createDirectories(options.out());
        System.out.println(device.line());
        step("tests tagged gpu", KitCommand.tests(options.tests(), device.isGpu() ? 1 : 0));
        for (final BenchTool.DeviceBench bench : BenchTool.onDevices()) {
            final List<String> words = new ArrayList<>(List.of("bench", bench.name(), "--device", options.device()));
            if (options.quick() && bench.quick()) {
                words.add("--quick");
            }
            step("bench " + bench.name(), KitCommand.tool(words));
        }
        step(
                "demo",
                KitCommand.tool(
                        List.of("demo", "--device", options.device(), "--seconds", options.quick() ? "2" : "10")));
        write(started);
        return steps.stream().allMatch(KitStep::isPassed) ? PASSED : FAILED;
    }

    private void step(final String name, final KitCommand command) throws IOException, InterruptedException {
        System.out.println("=== " + name);
        final Path log = options.out().resolve(name.replace(' ', '-') + ".log");
        final KitStep step = command.run(name, log);
        steps.add(step);
        System.out.println("=== " + step.line());
    }

    private void write(final String started) throws IOException {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("kit", "framecast gpu");
        json.put("started", started);
        json.put("hardware", device.line());
        json.put("device", device.json());
        json.put("machine", MachineInfo.read().json());
        json.put("quick", options.quick());
        json.put("passed", steps.stream().allMatch(KitStep::isPassed));
        json.put("steps", steps.stream().map(KitStep::json).toList());
        final Path file = options.out().resolve("verify.json");
        Files.writeString(file, Json.write(json) + "\n");
        System.out.println();
        System.out.println(device.line());
        System.out.println(table());
        System.out.println("wrote " + file);
    }

    private String table() {
        final StringBuilder text =
                new StringBuilder(String.format(Locale.ROOT, "  %-28s %-8s %9s  %s", "step", "result", "seconds", ""));
        steps.forEach(step -> text.append('\n').append(step.tableLine()));
        return text.toString();
    }
}
