package io.framecast.perf.harness;

import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.metrics.EngineCounter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.LongStream;

/// A file that a node of this process writes its counters to, in a folder of its own; deleted when it is closed.
public record CountersFile(Path folder) implements AutoCloseable {
    private static final String DATA = "data";
    private static final String CONTROL = "control";

    public static CountersFile create() throws IOException {
        return new CountersFile(Files.createTempDirectory("framecast-bench"));
    }

    public Path path() {
        return folder.resolve("counters");
    }

    /// The sum over all labels.
    public long sum(final EngineCounter counter) {
        try (CounterReader reader = CounterReader.open(path())) {
            return values(reader, counter).sum();
        }
    }

    /// Control datagrams that came or went for each datagram of data that went, as written at most 10 ms ago;
    /// negative where none went.
    public double controlPerDatagram() {
        try (CounterReader reader = CounterReader.open(path())) {
            final long data = values(reader, EngineCounter.SENT_DATAGRAMS, DATA).sum();
            final long control = values(reader, EngineCounter.SENT_DATAGRAMS, CONTROL)
                            .sum()
                    + values(reader, EngineCounter.RECEIVED_DATAGRAMS, CONTROL).sum();
            return data == 0 ? -1 : (double) control / data;
        }
    }

    private static LongStream values(final CounterReader reader, final EngineCounter counter, final String lane) {
        return reader.samples().stream()
                .filter(sample -> sample.name().equals(counter.exportedName())
                        && lane.equals(sample.labelMap().get("lane")))
                .mapToLong(CounterSample::value);
    }

    /// The values of one counter, by its labels.
    public static LongStream values(final CounterReader reader, final EngineCounter counter) {
        return reader.samples().stream()
                .filter(sample -> sample.name().equals(counter.exportedName()))
                .mapToLong(CounterSample::value);
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(path());
        Files.deleteIfExists(folder);
    }
}
