package io.framecast.perf.kit;

import io.framecast.samples.json.Json;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/// Finds the tests of a tag and runs those of one class, without Maven: one JSON object on stdout, lines on
/// stderr. A test that hangs is reported by its name, with the stacks of all threads, and ends this process: it may be
/// inside the driver, where nothing else frees it. A program, not a test.
public final class KitTests {
    // They read sources, by libraries that the kit leaves out.
    private static final String RULES = "io\\.framecast\\.rules\\..*";
    private static final long POLL_MS = 50;

    private KitTests() {}

    /// Words: `list TAG FOLDER`, with a folder of test classes per module in it; or `run TAG CLASS,… SECONDS
    /// NAME…`, the seconds after which a test is held to hang, and names of those to leave out.
    public static void main(final String[] arguments) throws IOException {
        final List<String> words = Arrays.asList(arguments);
        // The output of tests is no result.
        final PrintStream out = System.out;
        System.setOut(System.err);
        if (words.getFirst().equals("list")) {
            write(out, Map.of("classes", classes(words.get(1), Path.of(words.get(2)))));
            System.exit(KitMain.PASSED);
        }
        final KitTestLog log = new KitTestLog();
        final long secondsMax = Long.parseLong(words.get(3));
        Thread.ofPlatform().daemon().name("kit-watchdog").start(() -> watch(log, secondsMax, out));
        LauncherFactory.create()
                .execute(
                        request(words.get(1))
                                .selectors(Stream.of(words.get(2).split(",", -1))
                                        .map(DiscoverySelectors::selectClass)
                                        .toList())
                                .filters(without(Set.copyOf(words.subList(4, words.size()))))
                                .build(),
                        log);
        if (log.end()) {
            write(out, log.json());
            System.exit(log.isGood() ? KitMain.PASSED : KitMain.FAILED);
        }
        // The watchdog has the word.
        parkForEver();
    }

    private static void write(final PrintStream out, final Map<String, ?> json) {
        out.println(Json.write(json));
        out.flush();
    }

    private static LauncherDiscoveryRequestBuilder request(final String tag) {
        return LauncherDiscoveryRequestBuilder.request()
                .filters(ClassNameFilter.excludeClassNamePatterns(RULES), TagFilter.includeTags(tag));
    }

    private static List<String> classes(final String tag, final Path folder) throws IOException {
        final Set<Path> roots = new HashSet<>();
        try (Stream<Path> modules = Files.list(folder)) {
            for (final Path module : modules.filter(Files::isDirectory).toList()) {
                roots.add(module.toRealPath());
            }
        }
        final LauncherDiscoveryRequest request = request(tag)
                .selectors(DiscoverySelectors.selectClasspathRoots(roots))
                .build();
        final var plan = LauncherFactory.create().discover(request);
        return plan.getRoots().stream()
                .flatMap(root -> plan.getDescendants(root).stream())
                .map(test -> test.getSource().orElse(null))
                .filter(MethodSource.class::isInstance)
                .map(source -> ((MethodSource) source).getClassName())
                .distinct()
                .sorted()
                .toList();
    }

    private static PostDiscoveryFilter without(final Set<String> names) {
        return test -> FilterResult.includedIf(!test.isTest() || !names.contains(name(test)));
    }

    private static String name(final TestDescriptor test) {
        return name(test.getSource().orElse(null), test.getDisplayName());
    }

    static String name(final @Nullable TestSource source, final String displayName) {
        return switch (source) {
            case MethodSource method -> method.getClassName() + "." + displayName;
            case ClassSource type -> type.getClassName();
            case null, default -> displayName;
        };
    }

    private static void watch(final KitTestLog log, final long secondsMax, final PrintStream out) {
        final long longestNs = TimeUnit.SECONDS.toNanos(secondsMax);
        try {
            while (!log.isHanging(longestNs)) {
                TimeUnit.MILLISECONDS.sleep(POLL_MS);
            }
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        // First what was found: to look at threads waits for all of them.
        write(out, log.json());
        System.err.println("hung for " + secondsMax + " s: " + log.running());
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            System.err.println("  " + thread.getName() + ", " + thread.getState());
            Stream.of(frames).forEach(frame -> System.err.println("    at " + frame));
        });
        System.err.println("hung for " + secondsMax + " s: " + log.running());
        Runtime.getRuntime().halt(KitMain.FAILED);
    }

    private static void parkForEver() {
        while (true) {
            java.util.concurrent.locks.LockSupport.park();
        }
    }
}
