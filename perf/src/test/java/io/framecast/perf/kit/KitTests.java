package io.framecast.perf.kit;

import io.framecast.samples.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/// Finds the tests tagged `gpu` of all modules and runs them, without Maven: one JSON object on stdout, a
/// line per test on stderr. A program, not a test.
public final class KitTests {
    private static final String TAG = "gpu";
    // They read sources, by libraries that the kit leaves out.
    private static final String RULES = "io\\.framecast\\.perf\\.rules\\..*";

    private KitTests() {}

    /// Words: a folder with a folder of test classes per module; how many tests must pass at least.
    public static void main(final String[] arguments) throws IOException {
        final Outcome outcome = run(roots(Path.of(arguments[0])));
        System.out.println(Json.write(outcome.json()));
        System.exit(
                outcome.failed == 0 && outcome.passed >= Integer.parseInt(arguments[1])
                        ? KitMain.PASSED
                        : KitMain.FAILED);
    }

    private static Set<Path> roots(final Path folder) throws IOException {
        try (Stream<Path> modules = Files.list(folder)) {
            return new HashSet<>(modules.filter(Files::isDirectory).toList());
        }
    }

    static Outcome run(final Set<Path> roots) {
        final LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClasspathRoots(roots))
                .filters(ClassNameFilter.excludeClassNamePatterns(RULES), TagFilter.includeTags(TAG))
                .build();
        final Outcome outcome = new Outcome();
        LauncherFactory.create().execute(request, outcome);
        return outcome;
    }

    /// What came of each test.
    static final class Outcome implements TestExecutionListener {
        private final List<Map<String, Object>> tests = new ArrayList<>();
        private int passed;
        private int failed;
        private int skipped;

        @Override
        public void executionSkipped(final TestIdentifier test, final String reason) {
            add(test, "skipped", reason);
            skipped++;
        }

        @Override
        public void executionFinished(final TestIdentifier test, final TestExecutionResult result) {
            final String why = result.getThrowable().map(KitTests::oneLine).orElse("");
            // A class that assumes what is not there skips all its tests, and they are never told.
            if (test.isTest() || result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
                switch (result.getStatus()) {
                    case SUCCESSFUL -> passed++;
                    case FAILED -> failed++;
                    case ABORTED -> skipped++;
                }
                add(
                        test,
                        switch (result.getStatus()) {
                            case SUCCESSFUL -> "passed";
                            case FAILED -> "failed";
                            case ABORTED -> "skipped";
                        },
                        why);
            }
        }

        private void add(final TestIdentifier test, final String verdict, final String reason) {
            final Map<String, Object> json = new LinkedHashMap<>();
            json.put("name", name(test));
            json.put("result", verdict);
            if (!reason.isEmpty()) {
                json.put("reason", reason);
            }
            tests.add(json);
            System.err.println(verdict + ": " + name(test) + (reason.isEmpty() ? "" : ": " + reason));
        }

        Map<String, Object> json() {
            final Map<String, Object> json = new LinkedHashMap<>();
            json.put("passed", passed);
            json.put("failed", failed);
            json.put("skipped", skipped);
            json.put("tests", tests);
            return json;
        }
    }

    private static String name(final TestIdentifier test) {
        final TestSource source = test.getSource().orElse(null);
        return switch (source) {
            case MethodSource method -> method.getClassName() + "." + test.getDisplayName();
            case ClassSource type -> type.getClassName();
            case null, default -> test.getDisplayName();
        };
    }

    private static String oneLine(final Throwable why) {
        return String.valueOf(why).replaceAll("\\s+", " ");
    }
}
