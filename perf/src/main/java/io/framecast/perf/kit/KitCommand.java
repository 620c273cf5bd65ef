package io.framecast.perf.kit;

import io.framecast.samples.Main;
import io.framecast.samples.json.Json;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// One step of a run: a process of this runtime that writes one JSON object to stdout, and for people to
/// stderr.
final class KitCommand {
    // What finds tests is a test class: it needs JUnit, which the product does not.
    private static final String TESTS = "io.framecast.perf.kit.KitTests";
    private static final long STEP_MAX_MINUTES = 15;

    private final List<String> words;

    private KitCommand(final List<String> words) {
        this.words = words;
    }

    /// `framecast`, with these words.
    static KitCommand tool(final List<String> words) {
        final List<String> all = new ArrayList<>(List.of(Main.class.getName()));
        all.addAll(words);
        all.addAll(List.of("--json", "-"));
        return new KitCommand(all);
    }

    /// The tests found in a folder of test classes.
    ///
    /// @param least that must have passed: where there is a GPU, tests that all skip show nothing
    static KitCommand tests(final Path folder, final int least) {
        return new KitCommand(List.of(TESTS, folder.toString(), Integer.toString(least)));
    }

    /// @param log takes what it says to people
    KitStep run(final String name, final Path log) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "--add-opens",
                "java.base/jdk.internal.misc=ALL-UNNAMED",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-cp",
                System.getProperty("java.class.path")));
        command.addAll(words);
        final long beginNs = System.nanoTime();
        final Process process =
                new ProcessBuilder(command).redirectError(log.toFile()).start();
        final Thread killer = Thread.ofPlatform().daemon().name("step-limit").start(() -> limit(process));
        final String out;
        try (InputStream stream = process.getInputStream()) {
            out = new String(stream.readAllBytes(), StandardCharsets.UTF_8).strip();
        }
        final int status = process.waitFor();
        killer.interrupt();
        final double seconds = (System.nanoTime() - beginNs) / 1e9;
        return new KitStep(name, status, seconds, parse(out), lastLine(log));
    }

    private static void limit(final Process process) {
        try {
            if (!process.waitFor(STEP_MAX_MINUTES, TimeUnit.MINUTES)) {
                process.destroyForcibly();
            }
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static @Nullable Map<?, ?> parse(final String out) {
        try {
            return Json.parse(out) instanceof Map<?, ?> map ? map : null;
        } catch (final IllegalArgumentException e) {
            return null;
        }
    }

    private static String lastLine(final Path log) throws IOException {
        final List<String> lines = Files.readAllLines(log);
        return lines.isEmpty() ? "" : lines.getLast();
    }
}
