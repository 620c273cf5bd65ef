package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.samples.ChildLauncher;
import io.framecast.samples.Console;
import io.framecast.samples.Environment;
import io.framecast.samples.FrameWorkerProvider;
import io.framecast.samples.Stop;
import io.framecast.samples.json.Json;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/// Runs the tool within this process, over a [FakeNetwork].
public final class ToolFixture {
    private static final long PATIENCE_MS = 60_000;

    static final String URI = "framecast:auto?group=224.20.30.39:24326|channel=test";

    final FakeNetwork network = new FakeNetwork();
    final Stop stop = new Stop();
    InputStream in = new ByteArrayInputStream(new byte[0]);
    List<FrameWorkerProvider> workers = List.of();
    ChildLauncher children = new ThreadLauncher(this);
    private final List<Background> backgrounds = new ArrayList<>();

    /// The results of one run.
    public record Run(int status, byte[] out, String err) {
        String outText() {
            return new String(out, StandardCharsets.UTF_8);
        }

        /// Stdout must be one JSON object and nothing else, on one line.
        public Map<?, ?> json() {
            final String text = outText();
            assertTrue(text.endsWith("\n") && text.indexOf('\n') == text.length() - 1, () -> "stdout: " + text);
            return (Map<?, ?>) Json.parse(text);
        }

        /// A failure in one line, without a stack trace, the same on stderr and in JSON.
        void assertFailed(final int expected, final String part) {
            assertEquals(expected, status, () -> outText() + err);
            assertTrue(!err.contains("\tat ") && !err.contains("Exception"), () -> "stack trace: " + err);
            final String last = err.strip().lines().toList().getLast();
            assertTrue(last.startsWith("framecast: ") && last.contains(part), () -> "stderr: " + err);
            final Map<?, ?> json = json();
            // A run that had begun prints its statistics behind these.
            assertEquals(List.of("error", "exit"), List.copyOf(json.keySet()).subList(0, 2));
            assertEquals((long) expected, json.get("exit"));
            assertEquals("framecast: " + json.get("error"), last);
        }
    }

    public Run run(final String... arguments) {
        return run(stop, arguments);
    }

    private Run run(final Stop stop, final String... arguments) {
        final ByteArrayOutputStream err = new ByteArrayOutputStream();
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        final Console console = new Console(new PrintStream(err, true, StandardCharsets.UTF_8), false);
        final Environment environment =
                new Environment(in, out, console, network::launch, children, () -> workers, stop);
        final int status = new Main(environment).run(arguments);
        return new Run(status, out.toByteArray(), err.toString(StandardCharsets.UTF_8));
    }

    /// Runs a command while another runs on a thread of its own.
    static final class Background {
        private final Stop stop;
        private final Thread thread;
        private volatile Run result;

        private Background(final ToolFixture fixture, final Stop stop, final String... arguments) {
            this.stop = stop;
            thread = Thread.ofPlatform().daemon().start(() -> result = fixture.run(stop, arguments));
        }

        Run join() throws InterruptedException {
            thread.join();
            return result;
        }

        boolean isAlive() {
            return thread.isAlive();
        }
    }

    Background start(final String... arguments) {
        return start(stop, arguments);
    }

    /// As a process of its own: [#stop] is not for it.
    Background startApart(final String... arguments) {
        return start(new Stop(), arguments);
    }

    private Background start(final Stop stop, final String... arguments) {
        final Background background = new Background(this, stop, arguments);
        backgrounds.add(background);
        return background;
    }

    /// Waits while the condition holds.
    static void awaitWhile(final BooleanSupplier condition) {
        final long startNs = System.nanoTime();
        while (condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > PATIENCE_MS * 1_000_000) {
                throw new AssertionError("waited in vain");
            }
            LockSupport.parkNanos(20_000);
        }
    }

    /// Ends what still runs: its threads would take the processors from the tests that follow.
    void endAll() throws InterruptedException {
        for (final Background background : backgrounds) {
            background.stop.request();
        }
        for (final Background background : backgrounds) {
            background.thread.join(PATIENCE_MS);
            assertFalse(background.isAlive(), "a command that ends when it is asked to");
        }
    }

    /// The demo's children as threads, which can be stopped but not killed.
    static final class ThreadLauncher implements ChildLauncher {
        final List<List<String>> launched = new ArrayList<>();
        final List<ThreadChild> started = new ArrayList<>();
        private final ToolFixture fixture;
        int killIndex = -1;

        ThreadLauncher(final ToolFixture fixture) {
            this.fixture = fixture;
        }

        @Override
        public Child launch(final List<String> arguments, final boolean stdin, final Consumer<String> lines) {
            launched.add(arguments);
            final boolean killed = launched.size() - 1 == killIndex;
            final ThreadChild child = killed
                    ? new ThreadChild(new Run(137, new byte[0], ""), lines)
                    : new ThreadChild(fixture.startApart(arguments.toArray(String[]::new)), lines);
            started.add(child);
            return child;
        }
    }

    /// A child that runs, or one that was killed before it could.
    static final class ThreadChild implements ChildLauncher.Child {
        private final Background background;
        private final Consumer<String> lines;
        private Run result;
        boolean killed;
        boolean stopped;

        ThreadChild(final Background background, final Consumer<String> lines) {
            this.background = background;
            this.lines = lines;
        }

        ThreadChild(final Run result, final Consumer<String> lines) {
            this.background = null;
            this.lines = lines;
            this.result = result;
        }

        @Override
        public boolean isAlive() {
            if (result == null && !background.isAlive()) {
                result = background.result;
                result.err().lines().forEach(lines);
            }
            return result == null;
        }

        @Override
        public int exitStatus() {
            return result.status();
        }

        @Override
        public String output() {
            return result.outText();
        }

        @Override
        public void stop() {
            stopped = true;
            request();
        }

        @Override
        public void kill() {
            killed = true;
            request();
        }

        private void request() {
            if (background != null) {
                background.stop.request();
            }
        }
    }
}
