package io.framecast.perf.kit;

import io.framecast.perf.bench.BenchTool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The steps of a run, in their order: what needs no GPU first, so that its failure is not taken for the
/// GPU's.
final class KitPlan {
    /// The words of `--only`, each also with a name behind it.
    static final List<String> WORDS = List.of("doctor", "stream", "calls", "tests", "bench", "litmus", "demo");

    // Which calls of the driver wait for a kernel that runs; beside the tests of the device that it asks.
    private static final String DRIVER_CALLS = "io.framecast.gpu.cuda.CallsBesideKernel";
    private static final String TAG = "gpu";
    private static final int HANG_SECONDS = 60;
    // A class whose tests hang one after the other is given up.
    private static final int HANGS_MAX = 3;

    private final KitOptions options;
    private final KitDevice device;
    private final KitResults results;
    private final KitCommand.Place place;

    KitPlan(final KitOptions options, final KitDevice device, final KitResults results, final KitCommand.Place place) {
        this.options = options;
        this.device = device;
        this.results = results;
        this.place = place;
    }

    void run() throws IOException, InterruptedException {
        tool("doctor", List.of("doctor"));
        // Multicast on this machine's loopback, which some sandboxes lack.
        tool("stream on host", List.of("demo", "--device", "host", "--seconds", options.quick() ? "1" : "3"));
        if (device.isGpu()) {
            step("calls beside a kernel", new KitCommand(List.of(DRIVER_CALLS, device.name())));
        } else if (options.isWanted("calls beside a kernel")) {
            results.add(KitStep.skipped("calls beside a kernel", "an emulated device has no driver"));
        }
        tests(TAG, HANG_SECONDS);
        for (final BenchTool.DeviceBench bench : BenchTool.onDevices()) {
            final List<String> words = new ArrayList<>(List.of("bench", bench.name(), "--device", device.name()));
            if (!bench.quick().isEmpty()) {
                // A bench with `--quick` has rounds, three by default: more than one step may take.
                words.addAll(options.quick() ? bench.quick() : List.of("--rounds", "2"));
            }
            tool("bench " + bench.name(), words);
        }
        tool("litmus", List.of("litmus", "--device", device.name(), "--rounds", "500"));
        tool("demo", List.of("demo", "--device", device.name(), "--seconds", options.quick() ? "2" : "10"));
        if (results.steps().isEmpty()) {
            results.add(KitStep.failed("--only", "there is no step " + String.join(", ", options.only())));
        }
    }

    private void tool(final String name, final List<String> words) throws IOException, InterruptedException {
        step(name, KitCommand.tool(words));
    }

    /// @return null if it is not wanted
    private @Nullable KitStep step(final String name, final KitCommand command)
            throws IOException, InterruptedException {
        if (!options.isWanted(name)) {
            return null;
        }
        System.out.println("=== " + name);
        results.begin(name);
        final KitStep step = command.run(name, place);
        results.add(step);
        System.out.println("=== " + step.line());
        return step;
    }

    /// A process for each class: what one of them breaks or waits for is not in the way of others.
    void tests(final String tag, final int hangSeconds) throws IOException, InterruptedException {
        if (options.only().stream().noneMatch(word -> word.startsWith("tests"))
                && !options.only().isEmpty()) {
            return;
        }
        results.begin("tests");
        final KitStep found = KitCommand.testClasses(tag, options.tests()).run("tests", place);
        final Map<?, ?> result = found.result();
        if (result == null || !(result.get("classes") instanceof final List<?> classes)) {
            results.add(found);
            return;
        }
        final List<String> names = classes.stream().map(String::valueOf).toList();
        boolean passed = false;
        if (device.isGpu() || !options.only().isEmpty()) {
            for (final String name : names) {
                passed |= testClass(tag, name, hangSeconds);
            }
        } else {
            // All skip, quickly.
            testClass(tag, String.join(",", names), hangSeconds);
        }
        if (device.isGpu() && !passed && options.isWanted("tests")) {
            results.add(KitStep.failed("tests", "no test passed on a GPU"));
        }
    }

    // The report names the test that hung, and a process without it runs the others.
    private boolean testClass(final String tag, final String className, final int hangSeconds)
            throws IOException, InterruptedException {
        final String name =
                className.contains(",") ? "tests" : "tests " + className.substring(className.lastIndexOf('.') + 1);
        final List<String> done = new ArrayList<>();
        boolean passed = false;
        for (int i = 0; i < HANGS_MAX; i++) {
            final KitStep step =
                    step(i == 0 ? name : name + " again " + i, KitCommand.tests(tag, className, hangSeconds, done));
            if (step == null || step.result() == null) {
                return passed;
            }
            passed |= step.result().get("passed") instanceof final Number count && count.intValue() > 0;
            if (!(step.result().get("hung") instanceof final String hung)) {
                return passed;
            }
            done.add(hung);
            if (step.result().get("tests") instanceof final List<?> tests) {
                tests.forEach(test -> done.add(String.valueOf(((Map<?, ?>) test).get("name"))));
            }
        }
        return passed;
    }
}
