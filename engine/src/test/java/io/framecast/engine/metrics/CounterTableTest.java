package io.framecast.engine.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.framecast.api.error.ConfigException;
import io.framecast.engine.metrics.EngineCounter.Kind;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The table through a second mapping of its file.
final class CounterTableTest {
    private static final int ALLOCATION_ROUNDS = 1_000_000;
    private static final int MUTATIONS = 1_000;

    @TempDir
    private Path directory;

    @Test
    void shouldShowNameLabelsValueAndUnitWhenReadFromTheFile() {
        final String labels = Labels.of("channel", "cäm \"1\"", "lane", "data");
        final long beforeMs = System.currentTimeMillis();
        try (CounterTable table = CounterTable.create(file());
                Counter sent = table.allocate(EngineCounter.SENT_BYTES, labels);
                Counter rtt = table.allocate(EngineCounter.ROUND_TRIP, Labels.NONE);
                CounterReader reader = CounterReader.open(file())) {
            sent.setOrdered(Long.MAX_VALUE);
            sent.setOrdered(1L << 40);
            sent.add(5);
            rtt.setOrdered(-7);
            assertEquals((1L << 40) + 5, sent.get());
            assertEquals(
                    List.of(
                            new CounterSample("framecast_counter_table_overflows_total", "", 0, "events", Kind.COUNTER),
                            new CounterSample(
                                    "framecast_sent_bytes_total", labels, (1L << 40) + 5, "bytes", Kind.COUNTER),
                            new CounterSample("framecast_round_trip_seconds", "", -7, "nanoseconds", Kind.GAUGE)),
                    reader.samples());
            assertEquals(ProcessHandle.current().pid(), reader.pid());
            assertTrue(reader.madeMs() >= beforeMs && reader.madeMs() <= System.currentTimeMillis());
        }
        assertFalse(Files.exists(file()), "the table deletes its file");
    }

    @Test
    void shouldStartAtZeroWhenSlotIsUsedAgain() {
        try (CounterTable table = CounterTable.create(file());
                CounterReader reader = CounterReader.open(file())) {
            final Counter first = table.allocate(EngineCounter.ACKS_SENT, Labels.NONE);
            first.setOrdered(42);
            first.close();
            first.close();
            assertEquals(1, reader.samples().size());
            final Counter second = table.allocate(EngineCounter.NACKS_SENT, Labels.NONE);
            assertEquals(first.slot(), second.slot());
            first.setOrdered(99);
            first.add(1);
            assertEquals(0, second.get(), "a closed counter cannot write into its successor");
            assertEquals("framecast_sent_nacks_total", reader.samples().get(1).name());
            assertEquals(0, reader.samples().get(1).value());
        }
    }

    @Test
    void shouldGiveAndCountSinkWhenFull() {
        try (CounterTable table = CounterTable.create(file(), 4);
                CounterReader reader = CounterReader.open(file())) {
            final List<Counter> counters = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                counters.add(table.allocate(EngineCounter.ACKS_SENT, Labels.of("n", "" + i)));
                counters.getLast().setOrdered(i);
            }
            assertTrue(counters.get(2).isVisible());
            assertFalse(counters.get(3).isVisible());
            assertEquals(4, reader.samples().size());
            assertEquals(3, reader.samples().getFirst().value());
            counters.get(4).close();
            assertFalse(table.allocate(EngineCounter.ACKS_SENT, Labels.NONE).isVisible(), "a sink frees nothing");
            counters.get(1).close();
            assertTrue(table.allocate(EngineCounter.ACKS_SENT, Labels.NONE).isVisible());
            assertEquals(4, reader.samples().getFirst().value());
        }
    }

    @Test
    void shouldTellSeriesApartWhenLabelsAreEqual() {
        try (CounterTable table = CounterTable.create(file());
                CounterReader reader = CounterReader.open(file())) {
            final String labels = Labels.of("channel", "cam");
            for (int i = 0; i < 3; i++) {
                table.allocate(EngineCounter.ACKS_SENT, labels);
            }
            assertEquals(
                    List.of("", labels, labels + ",series=\"2\"", labels + ",series=\"3\""),
                    reader.samples().stream().map(CounterSample::labels).toList());
        }
    }

    @Test
    void shouldRefuseWhenLabelsCannotBeExported() {
        try (CounterTable table = CounterTable.create(file())) {
            assertThrows(IllegalArgumentException.class, () -> table.allocate(EngineCounter.EARLY, "channel=unquoted"));
            final String longLabels = Labels.of("a", "ä".repeat(CounterLayout.LABELS.bytesMax() / 2));
            assertThrows(IllegalArgumentException.class, () -> table.allocate(EngineCounter.EARLY, longLabels));
            assertEquals(1, table.allocate(EngineCounter.EARLY, Labels.NONE).slot(), "a refusal takes no slot");
        }
    }

    @Test
    void shouldAllocateNothingWhenCounting() {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (CounterTable table = CounterTable.create(file());
                Counter counter = table.allocate(EngineCounter.FRAMES_DELIVERED, Labels.NONE)) {
            count(counter);
            final long before = threads.getCurrentThreadAllocatedBytes();
            count(counter);
            final long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            assertEquals(3L * ALLOCATION_ROUNDS, counter.get());
            // The measuring call may allocate a little, a million stores may not.
            assertTrue(allocated < 4096, allocated + " bytes");
        }
    }

    private static void count(final Counter counter) {
        for (int i = 1; i <= ALLOCATION_ROUNDS; i++) {
            counter.setOrdered(2L * i);
            counter.add(0);
        }
        counter.add(ALLOCATION_ROUNDS);
    }

    @Test
    void shouldNeverMixCountersWhenReadWhileSlotsChange() throws InterruptedException {
        final AtomicBoolean stop = new AtomicBoolean();
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        try (CounterTable table = CounterTable.create(file(), 8);
                CounterReader reader = CounterReader.open(file())) {
            final Thread writer = Thread.ofPlatform().start(() -> {
                try {
                    churn(table, stop);
                } catch (final RuntimeException | Error e) {
                    failure.set(e);
                }
            });
            long seen = 0;
            final Map<String, Long> last = new HashMap<>();
            while (seen < 5_000 && writer.isAlive()) {
                for (final CounterSample sample : reader.samples()) {
                    if (sample.labels().isEmpty()) {
                        continue;
                    }
                    seen++;
                    // The writer's round r holds labels r, a name by r's parity, and 0 or a value that ends in
                    // r.
                    final long round =
                            Long.parseLong(sample.labelMap().values().iterator().next());
                    assertEquals(kindOf(round).exportedName(), sample.name());
                    assertTrue(
                            sample.value() == 0 || sample.value() % 1_000_000 == round % 1_000_000,
                            () -> sample.toString());
                    assertTrue(last.getOrDefault(sample.labels(), 0L) <= sample.value(), "values only grow");
                    last.clear();
                    last.put(sample.labels(), sample.value());
                }
            }
            stop.set(true);
            writer.join();
            assertTrue(seen >= 5_000, seen + " seen");
        }
        assertEquals(null, failure.get());
    }

    private static EngineCounter kindOf(final long round) {
        return round % 2 == 0 ? EngineCounter.ACKS_SENT : EngineCounter.WINDOW_USED;
    }

    private static void churn(final CounterTable table, final AtomicBoolean stop) {
        for (long round = 1; !stop.get(); round++) {
            try (Counter counter = table.allocate(kindOf(round), Labels.of("round", "" + round))) {
                for (long i = 1; i <= 50; i++) {
                    counter.setOrdered(i * 1_000_000 + round % 1_000_000);
                }
            }
        }
    }

    @Test
    void shouldRefuseInOneLineWhenFileIsDamaged() throws IOException {
        final byte[] valid;
        try (CounterTable table = CounterTable.create(file(), 8)) {
            for (int i = 0; i < 7; i++) {
                table.allocate(EngineCounter.REJECTED, Labels.of("reason", "bad_" + i));
            }
            valid = Files.readAllBytes(file());
        }
        final SplittableRandom random = new SplittableRandom(7);
        int refused = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            final byte[] bytes = random.nextInt(4) == 0
                    ? java.util.Arrays.copyOf(valid, random.nextInt(valid.length))
                    : valid.clone();
            for (int j = random.nextInt(4); j >= 0 && bytes.length > 0; j--) {
                bytes[random.nextInt(Math.min(bytes.length, random.nextBoolean() ? 64 : 5000))] =
                        (byte) random.nextInt(256);
            }
            final Path hostile = directory.resolve("hostile");
            Files.write(hostile, bytes);
            try (CounterReader reader = CounterReader.open(hostile)) {
                reader.samples();
            } catch (final ConfigException e) {
                refused++;
                assertTrue(e.getMessage().contains("hostile"), e.getMessage());
                assertFalse(e.getMessage().contains("\n"), e.getMessage());
            }
        }
        assertTrue(refused > MUTATIONS / 4 && refused < MUTATIONS, refused + " refused");
    }

    @Test
    void shouldRefuseWhenFileIsCutWhileOpen() throws IOException {
        Files.write(directory.resolve("copy"), tableBytes());
        try (CounterReader reader = CounterReader.open(directory.resolve("copy"))) {
            assertEquals(1, reader.samples().size());
            Files.write(directory.resolve("copy"), new byte[100]);
            assertThrows(ConfigException.class, reader::samples);
        }
    }

    @Test
    void shouldRefuseWhenVersionIsAnother() throws IOException {
        final byte[] bytes = tableBytes();
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(CounterLayout.VERSION_OFFSET, 2);
        Files.write(directory.resolve("newer"), bytes);
        final ConfigException refused =
                assertThrows(ConfigException.class, () -> CounterReader.open(directory.resolve("newer")));
        assertTrue(refused.getMessage().contains("expected version 1, got 2"), refused.getMessage());
    }

    @Test
    void shouldRefuseWhenThereIsNoFile() {
        assertThrows(ConfigException.class, () -> CounterReader.open(directory.resolve("none")));
        assertThrows(ConfigException.class, () -> CounterReader.open(directory));
    }

    private byte[] tableBytes() throws IOException {
        try (CounterTable table = CounterTable.create(file())) {
            assertEquals(file(), table.path());
            return Files.readAllBytes(file());
        }
    }

    private Path file() {
        return directory.resolve("table.counters");
    }
}
