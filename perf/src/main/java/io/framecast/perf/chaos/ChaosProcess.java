package io.framecast.perf.chaos;

import io.framecast.api.error.FramecastException;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.EngineCounter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A child, from the run's side.
final class ChaosProcess implements AutoCloseable {
    private static final long END_MAX_MS = 5_000;
    private static final long UNKNOWN = -1;
    private static final int SAID_MAX = 20;

    // Heap and threads of a fixed size, so that what grows shows; one compiler, for eight processes start and warm up
    // on what may be two cores.
    private static final List<String> FLAGS = List.of(
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            "-XX:-UsePerfData",
            "-XX:TieredStopAtLevel=1",
            "-Xms32m",
            "-Xmx32m",
            "-XX:+AlwaysPreTouch");

    private final String name;
    private final Path counters;
    private final Process process;
    private final StreamLog log = new StreamLog();
    private final List<String> said = new ArrayList<>();
    private final Thread reader;
    private volatile boolean doomed;

    private ChaosProcess(final String name, final Path counters, final Process process) {
        this.name = name;
        this.counters = counters;
        this.process = process;
        reader = Thread.ofPlatform().daemon().name(name + "-stdout").start(() -> read(process.getInputStream()));
        Thread.ofPlatform().daemon().name(name + "-stderr").start(() -> read(process.getErrorStream()));
    }

    /// Starts one.
    ///
    /// @param prefix the command that runs it on its host
    static ChaosProcess start(final String name, final List<String> prefix, final ChildSettings settings)
            throws IOException {
        final List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ChaosChild.class.getName()));
        command.addAll(settings.words());
        return new ChaosProcess(name, settings.counters(), new ProcessBuilder(command).start());
    }

    private void read(final InputStream stream) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!log.onLine(line)) {
                    note(line);
                }
            }
        } catch (final IOException e) {
            // It was killed.
        }
    }

    private void note(final String line) {
        synchronized (said) {
            if (said.size() < SAID_MAX) {
                said.add(line);
            }
        }
    }

    /// What else it said, the first lines.
    List<String> said() {
        synchronized (said) {
            return List.copyOf(said);
        }
    }

    String name() {
        return name;
    }

    long pid() {
        return process.pid();
    }

    StreamLog log() {
        return log;
    }

    /// From now on its end is expected.
    void doom() {
        doomed = true;
    }

    boolean isDoomed() {
        return doomed;
    }

    /// Whether it runs, or something that it said has not been read yet.
    boolean isAlive() {
        return process.isAlive() || reader.isAlive();
    }

    void tell(final String order) {
        try {
            final OutputStream stream = process.getOutputStream();
            stream.write((order + "\n").getBytes(StandardCharsets.UTF_8));
            stream.flush();
        } catch (final IOException e) {
            // It has ended, and that is found where it matters.
        }
    }

    void signal(final Signal signal) throws IOException {
        signal.send(process);
    }

    /// The sum over all labels of one of its counters; −1 when they cannot be read.
    long counter(final EngineCounter counter) {
        if (!Files.exists(counters)) {
            return UNKNOWN;
        }
        try (CounterReader counterReader = CounterReader.open(counters)) {
            long sum = 0;
            for (final var sample : counterReader.samples()) {
                sum += sample.name().equals(counter.exportedName()) ? sample.value() : 0;
            }
            return counterReader.pid() == process.pid() ? sum : UNKNOWN;
        } catch (final FramecastException e) {
            // Just being made.
            return UNKNOWN;
        }
    }

    /// Ends it now; one that was stopped, too.
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            if (process.waitFor(END_MAX_MS, TimeUnit.MILLISECONDS)) {
                reader.join(END_MAX_MS);
            }
            Files.deleteIfExists(counters);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (final IOException e) {
            note("its counters file stays behind: " + e.getMessage());
        }
    }
}
