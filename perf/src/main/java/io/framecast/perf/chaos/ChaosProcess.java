package io.framecast.perf.chaos;

import io.framecast.api.error.FramecastException;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.perf.harness.Child;
import io.framecast.perf.harness.Records;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// A child, from the run's side.
final class ChaosProcess extends Child {
    private static final long UNKNOWN = -1;
    private static final int LINES_MAX = 20;

    // Heap and threads of a fixed size, so that growth shows; one compiler, for eight processes start and warm
    // up on two cores.
    private static final List<String> FLAGS =
            List.of("-XX:TieredStopAtLevel=1", "-Xms32m", "-Xmx32m", "-XX:+AlwaysPreTouch");

    private final Path counters;
    private final StreamLog log;
    private final List<String> lines;
    private volatile boolean doomed;

    /// @param prefix the command that runs the process on its host
    ChaosProcess(final String name, final List<String> prefix, final ChaosSettings settings) {
        this(
                name,
                start(prefix, FLAGS, ChaosRole.class, List.of(Records.write(settings))),
                settings.counters(),
                new StreamLog(),
                Collections.synchronizedList(new ArrayList<>()));
    }

    private ChaosProcess(
            final String name,
            final Process process,
            final Path counters,
            final StreamLog log,
            final List<String> lines) {
        super(name, process, line -> note(lines, line), line -> log.onLine(line.kind(), line.text()), _ -> {});
        this.counters = counters;
        this.log = log;
        this.lines = lines;
    }

    private static void note(final List<String> lines, final String line) {
        if (lines.size() < LINES_MAX) {
            lines.add(line);
        }
    }

    /// The first lines that are no events.
    List<String> lines() {
        return List.copyOf(lines);
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

    /// Why it ended, for a message.
    String lastWords() {
        return log.over().orElse("it said nothing");
    }

    /// The sum over all labels of one of its counters; −1 when they cannot be read.
    long counter(final EngineCounter counter) {
        if (!Files.exists(counters)) {
            return UNKNOWN;
        }
        try (CounterReader reader = CounterReader.open(counters)) {
            final long sum = reader.samples().stream()
                    .filter(sample -> sample.name().equals(counter.exportedName()))
                    .mapToLong(CounterSample::value)
                    .sum();
            return reader.pid() == pid() ? sum : UNKNOWN;
        } catch (final FramecastException e) {
            // The file is just being made.
            return UNKNOWN;
        }
    }

    /// Ends it now, also when it is stopped.
    @Override
    public void close() {
        super.close();
        try {
            Files.deleteIfExists(counters);
        } catch (final IOException e) {
            note(lines, "its counters file stays behind: " + e.getMessage());
        }
    }
}
