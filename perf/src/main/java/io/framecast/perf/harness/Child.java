package io.framecast.perf.harness;

import io.framecast.samples.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/// A process of a bench, from its parent's side.
///
/// The protocol is lines of UTF-8. The parent writes orders to the child's stdin. The child writes `@kind
/// text` to its stdout; every other line of stdout, and all of stderr, goes to the console.
public class Child implements AutoCloseable {
    /// Kind of the last line, which the harness adds when the process has ended.
    public static final String ENDED = "ended";

    private static final long END_MAX_MS = 5_000;

    private final String name;
    private final Process process;
    private final Thread reader;
    private final LongConsumer afterEnd;

    /// A line of the protocol.
    public record Line(Child child, String kind, String text) {}

    /// @param name of the process in messages
    /// @param console takes the lines that are not of the protocol, on threads of this child
    /// @param lines takes the lines of the protocol, on a thread of this child
    /// @param afterEnd takes the process number when the process was closed
    public Child(
            final String name,
            final Process process,
            final Consumer<String> console,
            final Consumer<Line> lines,
            final LongConsumer afterEnd) {
        this.name = name;
        this.process = process;
        this.afterEnd = afterEnd;
        reader = Thread.ofPlatform().daemon().name(name + "-stdout").start(() -> {
            read(process.inputReader(StandardCharsets.UTF_8), line -> {
                final int space = line.indexOf(' ');
                if (line.startsWith("@")) {
                    final int end = space < 0 ? line.length() : space;
                    lines.accept(new Line(
                            this, line.substring(1, end), line.substring(end).stripLeading()));
                } else {
                    console.accept(line);
                }
            });
            lines.accept(new Line(this, ENDED, "ended with status " + status()));
        });
        Thread.ofPlatform()
                .daemon()
                .name(name + "-stderr")
                .start(() -> read(process.errorReader(StandardCharsets.UTF_8), console));
    }

    /// Starts a JVM that plays a role.
    ///
    /// @param prefix command that runs another, such as one that enters a network namespace
    /// @param flags of the JVM, beside those of every child
    /// @param words of the role
    public static Process start(
            final List<String> prefix,
            final List<String> flags,
            final Class<? extends ChildRole> role,
            final List<String> words) {
        final List<String> all =
                new ArrayList<>(List.of(Long.toString(ProcessHandle.current().pid()), role.getName()));
        all.addAll(words);
        final List<String> command = new ArrayList<>(prefix);
        command.addAll(javaCommand(flags, ChildMain.class.getName(), all));
        try {
            return new ProcessBuilder(command).start();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The command of a JVM with this one's class path and flags.
    ///
    /// @param flags beside this one's
    public static List<String> javaCommand(final List<String> flags, final String main, final List<String> words) {
        final List<String> command = new ArrayList<>(JavaCommand.ofThisProcess(flags.toArray(String[]::new)));
        command.add(main);
        command.addAll(words);
        return command;
    }

    /// Reads until the process has ended or was killed.
    public static void read(final BufferedReader output, final Consumer<String> lines) {
        try (output) {
            output.lines().forEach(lines);
        } catch (final IOException | UncheckedIOException e) {
            // The process was killed.
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

    public long pid() {
        return process.pid();
    }

    /// Whether the process runs, or a line of it has not been read yet.
    public boolean isAlive() {
        return process.isAlive() || reader.isAlive();
    }

    /// Writes an order. A process that has ended does not get it, and its last line is [#ENDED].
    public void order(final String line) {
        try {
            final OutputStream stream = process.getOutputStream();
            stream.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            stream.flush();
        } catch (final IOException e) {
            // The process has ended.
        }
    }

    /// @throws IOException when the process is gone
    public void signal(final Signal signal) throws IOException {
        signal.send(process.pid());
    }

    /// Kills the process, also a stopped one, and waits until its lines were read.
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            if (process.waitFor(END_MAX_MS, TimeUnit.MILLISECONDS)) {
                reader.join(END_MAX_MS);
            }
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        afterEnd.accept(process.pid());
    }
}
