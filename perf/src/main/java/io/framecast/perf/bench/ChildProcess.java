package io.framecast.perf.bench;

import io.framecast.perf.rivals.StockAeronSystem;
import io.framecast.perf.rivals.StreamSpec;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// One end of a measured stream in a JVM of its own, the same flags for every system.
final class ChildProcess implements AutoCloseable {
    private static final long SHORTLY_MS = 20;
    private static final long READ_MAX_MS = 5_000;

    private final String name;
    private final Process process;
    private final Thread reader;
    private volatile String report = "";
    private volatile String failure = "";

    private ChildProcess(final String name, final Process process, final Consumer<String> lines) {
        this.name = name;
        this.process = process;
        reader = Thread.ofPlatform()
                .daemon()
                .name("child-stdout")
                .start(() -> read(process.getInputStream(), this::onOutput));
        Thread.ofPlatform()
                .daemon()
                .name("child-stderr")
                .start(() -> read(process.getErrorStream(), line -> lines.accept("[" + name + "] " + line)));
    }

    /// What a process of a stream is.
    ///
    /// @param prefix command that the process is run by, such as one that enters a network namespace
    record Role(String role, BenchSystem system, List<String> prefix) {
        String text() {
            return system.name() + " " + role;
        }
    }

    /// @param lines takes what it writes to stderr, on a thread of its own
    static ChildProcess start(final Role role, final StreamSpec spec, final Consumer<String> lines) {
        final List<String> command = new ArrayList<>(role.prefix);
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.addAll(List.of(
                "--add-opens",
                "java.base/jdk.internal.misc=ALL-UNNAMED",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData"));
        final String flags = System.getProperty("framecast.bench.flags", "");
        if (!flags.isEmpty()) {
            command.addAll(List.of(flags.split(" ", -1)));
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), BenchChild.class.getName()));
        command.addAll(List.of(
                role.role,
                role.system.name(),
                Long.toString(ProcessHandle.current().pid())));
        command.addAll(spec.arguments());
        try {
            return new ChildProcess(role.text(), new ProcessBuilder(command).start(), lines);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void read(final InputStream stream, final Consumer<String> lines) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.accept(line);
            }
        } catch (final IOException e) {
            // The child was killed.
        }
    }

    private void onOutput(final String line) {
        if (line.startsWith(BenchChild.REPORT)) {
            report = line.substring(BenchChild.REPORT.length());
        } else if (line.startsWith(BenchChild.FAILURE)) {
            failure = line.substring(BenchChild.FAILURE.length());
        }
    }

    boolean hasEnded() throws InterruptedException {
        return process.waitFor(SHORTLY_MS, TimeUnit.MILLISECONDS);
    }

    /// Whether it has ended otherwise than well.
    boolean hasFailed() {
        return !process.isAlive() && process.exitValue() != 0;
    }

    /// What it measured, once it has ended.
    ///
    /// @throws MeasurementFailedException when it failed
    String report() throws InterruptedException, MeasurementFailedException {
        reader.join(READ_MAX_MS);
        if (process.isAlive() || process.exitValue() != 0 || report.isEmpty()) {
            throw failed();
        }
        return report;
    }

    MeasurementFailedException failed() throws InterruptedException {
        if (process.isAlive()) {
            return new MeasurementFailedException(name + " did not end in time", false);
        }
        reader.join(READ_MAX_MS);
        final String why = failure.isEmpty() ? "ended with status " + process.exitValue() : failure;
        return new MeasurementFailedException(name + ": " + why, process.exitValue() == BenchChild.FRAMES_DIFFER);
    }

    /// A publisher's sign that its receivers are gone is the end of its input.
    void closeInput() {
        try {
            process.getOutputStream().close();
        } catch (final IOException e) {
            // It has ended.
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(READ_MAX_MS, TimeUnit.MILLISECONDS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        StockAeronSystem.deleteAbandoned(process.pid());
    }
}
