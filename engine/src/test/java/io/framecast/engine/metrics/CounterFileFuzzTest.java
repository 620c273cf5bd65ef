package io.framecast.engine.metrics;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireAllocation;
import static io.framecast.fuzz.FuzzLimits.requireEqual;

import io.framecast.api.error.ConfigException;
import io.framecast.fuzz.FuzzCorpus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// A counters file of another process, as it is and again with a header that fits its length: it is refused in one
/// line,
/// or read as counters with names, units and labels.
public final class CounterFileFuzzTest {
    private static final long ALLOCATED_MAX = 8 << 20;
    private static final Path FILE = file();

    private static Path file() {
        try {
            final Path made = Files.createTempFile("framecast-fuzz", ".counters");
            made.toFile().deleteOnExit();
            return made;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @TestFactory
    Stream<DynamicTest> shouldReadOrRefuse() throws IOException {
        final Path made = FILE.resolveSibling(FILE.getFileName() + ".seed");
        try (CounterTable table = CounterTable.create(made, 3)) {
            table.allocate(EngineCounter.FRAMES_PUBLISHED, Labels.of("channel", "a\"\\\nb", "lane", "data"))
                    .setOrdered(7);
            table.allocate(EngineCounter.FRAMES_PUBLISHED, Labels.NONE).setOrdered(1);
            return FuzzCorpus.of(
                    CounterFileFuzzTest.class,
                    Map.of("table", Files.readAllBytes(made)),
                    CounterFileFuzzTest::fuzzerTestOneInput);
        }
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        requireAllocation(ALLOCATED_MAX, () -> {
            read(input);
            final int slots = (input.length - CounterLayout.HEADER_BYTES)
                    / (CounterLayout.METADATA_STRIDE + CounterLayout.VALUE_STRIDE);
            if (slots > 0) {
                read(fitting(input, slots));
            }
        });
    }

    private static byte[] fitting(final byte[] input, final int slots) {
        final byte[] whole = java.util.Arrays.copyOf(input, (int) CounterLayout.fileBytes(slots));
        ByteBuffer.wrap(whole)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(CounterLayout.MAGIC_OFFSET, CounterLayout.MAGIC)
                .putInt(CounterLayout.VERSION_OFFSET, CounterLayout.VERSION)
                .putInt(CounterLayout.HEADER_BYTES_OFFSET, CounterLayout.HEADER_BYTES)
                .putInt(CounterLayout.CAPACITY_OFFSET, slots)
                .putInt(CounterLayout.METADATA_STRIDE_OFFSET, CounterLayout.METADATA_STRIDE)
                .putInt(CounterLayout.VALUE_STRIDE_OFFSET, CounterLayout.VALUE_STRIDE)
                .putLong(CounterLayout.PID_OFFSET, 1);
        return whole;
    }

    private static void read(final byte[] content) {
        try {
            Files.write(FILE, content);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        try (CounterReader reader = CounterReader.open(FILE)) {
            require(reader.pid() > 0, "a process");
            for (final CounterSample sample : reader.samples()) {
                require(!sample.name().isEmpty() && !sample.unit().isEmpty(), "a name and a unit");
                // Escaped and parsed again: what an exporter writes is what was read.
                final String again = Labels.of(Labels.parse(sample.labels()).entrySet().stream()
                        .flatMap(label -> Stream.of(label.getKey(), label.getValue()))
                        .toArray(String[]::new));
                requireEqual(sample.labels(), again);
            }
        } catch (final ConfigException e) {
            requireEqual(1L, String.valueOf(e.getMessage()).lines().count());
        }
    }
}
