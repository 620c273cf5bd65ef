package io.framecast.perf.rivals;

import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.metrics.EngineCounter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// The traffic of an engine, from its counters.
final class EngineTraffic implements AutoCloseable {
    private static final long DRAIN_MAX_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long DRAIN_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Path directory;
    private long framesBefore;

    private EngineTraffic(final Path directory) {
        this.directory = directory;
    }

    static EngineTraffic create() {
        try {
            return new EngineTraffic(Files.createTempDirectory("framecast-bench"));
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Path file() {
        return directory.resolve("counters");
    }

    /// The measured part begins.
    ///
    /// @param frames published by now
    void begin(final long frames) {
        framesBefore = frames;
    }

    /// Waits, not for long, until the window is empty: what was published has been sent and acknowledged.
    void awaitDrained() {
        final long endNs = System.nanoTime() + DRAIN_MAX_NS;
        while (sum(EngineCounter.WINDOW_USED) > 0 && System.nanoTime() < endNs) {
            LockSupport.parkNanos(DRAIN_PAUSE_NS);
        }
    }

    /// On every lane, for the frames since [#begin]: their share of the whole stream, joins included. What
    /// counters said at the beginning would be too little, for they are written every 10 ms.
    ///
    /// @param frames published in all, and sent
    FrameSource.Traffic sent(final long frames) {
        final double share = frames == 0 ? 0 : (double) (frames - framesBefore) / frames;
        return FrameSource.Traffic.ofDatagrams(
                Math.round(sum(EngineCounter.SENT_DATAGRAMS) * share),
                Math.round(sum(EngineCounter.SENT_BYTES) * share));
    }

    private long sum(final EngineCounter counter) {
        try (CounterReader reader = CounterReader.open(file())) {
            return reader.samples().stream()
                    .filter(sample -> sample.name().equals(counter.exportedName()))
                    .mapToLong(CounterSample::value)
                    .sum();
        }
    }

    @Override
    public void close() {
        try {
            Files.deleteIfExists(file());
            Files.deleteIfExists(directory);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
