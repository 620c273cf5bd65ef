package io.framecast.perf;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/// One end of a measured stream in a JVM of its own, with the flags of this one.
final class ChildProcess implements AutoCloseable {
    /// What a subscriber's one line of output begins with.
    static final String RESULT = "goodput ";

    private static final long PARK_NS_MIN = 1_000;
    private static final long PARK_NS_MAX = 200_000;

    private final Process process;

    private ChildProcess(final Process process) {
        this.process = process;
    }

    /// What applications idle with here: the same for every system.
    static IdleStrategy idle() {
        return new BackoffIdleStrategy(20, 10, PARK_NS_MIN, PARK_NS_MAX);
    }

    /// @param role [AeronComparison#PUBLISH] or [AeronComparison#SUBSCRIBE]
    static ChildProcess start(final String role, final String system, final StreamSpec spec) {
        final List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.addAll(List.of(
                "--add-opens",
                "java.base/jdk.internal.misc=ALL-UNNAMED",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData"));
        final String flags = System.getProperty("framecast.perf.flags", "");
        if (!flags.isEmpty()) {
            command.addAll(List.of(flags.split(" ")));
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), AeronComparison.class.getName()));
        command.addAll(List.of(role, system));
        command.addAll(spec.arguments());
        try {
            return new ChildProcess(new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start());
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// What the subscriber measured.
    double goodputMBps(final long seconds) throws InterruptedException {
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            throw new IllegalStateException("still running after " + seconds + " s");
        }
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (line.startsWith(RESULT)) {
                    return Double.parseDouble(line.substring(RESULT.length()));
                }
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new IllegalStateException("the subscriber ended with " + process.exitValue() + " and no result");
    }

    /// A publisher's sign that the subscriber is gone is the end of its input.
    void finish(final long seconds) throws InterruptedException {
        try {
            process.getOutputStream().close();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the publisher is still running after " + seconds + " s");
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
