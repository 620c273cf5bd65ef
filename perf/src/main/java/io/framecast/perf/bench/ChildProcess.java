package io.framecast.perf.bench;

import io.framecast.perf.rivals.StockAeronSystem;
import io.framecast.perf.rivals.StreamSpec;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// One end of measured streams in a JVM of its own, the same flags for every system.
public final class ChildProcess implements AutoCloseable {
    private static final long END_MAX_MS = 5_000;

    private final String name;
    private final Process process;

    /// @param name that its failures are told by
    /// @param console takes what it writes to stderr, on a thread of its own
    /// @param answers takes one answer per round, and one when it has ended, on another
    public ChildProcess(
            final String name, final Process process, final Consumer<String> console, final Consumer<Answer> answers) {
        this.name = name;
        this.process = process;
        Thread.ofPlatform().daemon().name("child-stdout").start(() -> {
            read(process.getInputStream(), line -> onLine(line, answers));
            answers.accept(new Answer(this, Kind.FAILURE, name + ": ended with status " + status()));
        });
        Thread.ofPlatform()
                .daemon()
                .name("child-stderr")
                .start(() -> read(process.getErrorStream(), line -> console.accept("[" + name + "] " + line)));
    }

    /// What a process of a stream is.
    ///
    /// @param prefix command that the process is run by, such as one that enters a network namespace
    record Role(String role, BenchSystem system, List<String> prefix) {
        String text() {
            return system.name() + " " + role;
        }
    }

    public enum Kind {
        REPORT,
        FAILURE,
        /// Frames arrived that are not what was published.
        DIFFERENCE
    }

    /// What a process has to say of a round.
    ///
    /// @param text the report, or why there is none
    public record Answer(ChildProcess child, Kind kind, String text) {}

    static ChildProcess start(final Role role, final Consumer<String> console, final Consumer<Answer> answers) {
        final Program program = new Program(
                BenchChild.class,
                List.of(
                        role.role,
                        role.system.name(),
                        Long.toString(ProcessHandle.current().pid())));
        return new ChildProcess(role.text(), program.start(role.prefix), console, answers);
    }

    /// What a JVM is to run.
    public record Program(Class<?> main, List<String> words) {
        public Process start(final List<String> prefix) {
            final List<String> command = new ArrayList<>(prefix);
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
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
            command.addAll(words);
            try {
                return new ProcessBuilder(command).start();
            } catch (final IOException e) {
                throw new UncheckedIOException(e);
            }
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

    private void onLine(final String line, final Consumer<Answer> answers) {
        if (line.startsWith(ChildRounds.REPORT)) {
            answers.accept(new Answer(this, Kind.REPORT, line.substring(ChildRounds.REPORT.length())));
        } else if (line.startsWith(ChildRounds.FAILURE)) {
            answers.accept(new Answer(this, Kind.FAILURE, name + ": " + line.substring(ChildRounds.FAILURE.length())));
        } else if (line.startsWith(ChildRounds.DIFFERENCE)) {
            answers.accept(
                    new Answer(this, Kind.DIFFERENCE, name + ": " + line.substring(ChildRounds.DIFFERENCE.length())));
        }
    }

    private String status() {
        try {
            return process.waitFor(END_MAX_MS, TimeUnit.MILLISECONDS)
                    ? Integer.toString(process.exitValue())
                    : "unknown";
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            return "unknown";
        }
    }

    public String name() {
        return name;
    }

    void begin(final StreamSpec spec) {
        write(ChildRounds.beginning(spec));
    }

    void begin(final TailSpec spec) {
        begin(spec.words());
    }

    /// Begins a round.
    ///
    /// @param words what the process knows its stream by
    public void begin(final List<String> words) {
        write(ChildRounds.ROUND + ChildRounds.BETWEEN_WORDS + String.join(ChildRounds.BETWEEN_WORDS, words));
    }

    /// Tells a publisher that its receivers have left.
    void sayGone() {
        write(ChildRounds.GONE);
    }

    /// Has it go on if it was stopped with SIGSTOP.
    void resume() throws InterruptedException {
        try {
            new ProcessBuilder("sh", "-c", "kill -CONT " + process.pid())
                    .start()
                    .waitFor();
        } catch (final IOException e) {
            // Without a shell it was not stopped.
        }
    }

    private void write(final String line) {
        try {
            final OutputStream stream = process.getOutputStream();
            stream.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            stream.flush();
        } catch (final IOException e) {
            // It has ended, and its answer says so.
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(END_MAX_MS, TimeUnit.MILLISECONDS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        StockAeronSystem.deleteAbandoned(process.pid());
    }
}
