package io.framecast.engine.metrics;

import static io.framecast.engine.metrics.CounterLayout.INT;
import static io.framecast.engine.metrics.CounterLayout.INTS;
import static io.framecast.engine.metrics.CounterLayout.LONG;
import static io.framecast.engine.metrics.CounterLayout.LONGS;

import io.framecast.reliability.count.Metric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Counters in a memory-mapped file that other processes read without disturbing this one; see [CounterLayout]
/// for the file and [CounterReader] for the other side.
///
/// Threading: all methods from any thread; one thread writes a [Counter]. Ownership: the table owns its file
/// and deletes it in [#close]; close it after everything that writes counters has stopped. Limits: [#CAPACITY]
/// counters. A full table answers with a counter that no reader sees, and counts that.
public final class CounterTable implements AutoCloseable {
    public static final int CAPACITY = 1024;

    static final int NO_SLOT = -1;

    private final CounterFile file;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final @Nullable Counter[] counters;
    private final Counter overflows;
    private boolean closed;

    private CounterTable(final CounterFile file, final int capacity) {
        this.file = file;
        counters = new Counter[capacity];
        try {
            memory = file.map(arena, capacity);
        } catch (final RuntimeException e) {
            arena.close();
            throw e;
        }
        writeHeader();
        overflows = allocate(EngineCounter.TABLE_OVERFLOWS, Labels.NONE);
    }

    /// A table in `${java.io.tmpdir}/framecast-<user>/<pid>.counters`. Removes files there whose process is
    /// gone.
    ///
    /// @throws io.framecast.api.error.ConfigException when the directory is another user's, or the file cannot
    ///     be written
    public static CounterTable create() {
        return createBelow(Path.of(System.getProperty("java.io.tmpdir")));
    }

    /// A table in a file of its own. It replaces a counters file that a dead process left, and refuses any
    /// other file.
    ///
    /// @throws io.framecast.api.error.ConfigException when the file is in use, is not a counters file, or
    ///     cannot be written
    public static CounterTable create(final Path path) {
        return create(path, CAPACITY);
    }

    static CounterTable create(final Path path, final int capacity) {
        return new CounterTable(CounterFile.at(path), capacity);
    }

    /// As [#create()], with the temporary directory given.
    static CounterTable createBelow(final Path temporary) {
        return new CounterTable(CounterFile.ofProcess(temporary), CAPACITY);
    }

    public Path path() {
        return file.path();
    }

    /// Makes a counter at 0. A second one of the same kind and labels gets a label `series`.
    ///
    /// @param labels from [Labels#of]; at most 352 bytes
    /// @return a counter, which no reader sees when the table is full
    /// @throws IllegalArgumentException when the labels are malformed or too long
    public Counter allocate(final EngineCounter kind, final String labels) {
        return allocate(kind.metric(), labels);
    }

    /// As [#allocate(EngineCounter, String)], of any metric.
    public synchronized Counter allocate(final Metric metric, final String labels) {
        Labels.parse(labels);
        if (closed) {
            throw new IllegalStateException("counter table is closed");
        }
        final String unique = uniqueLabels(metric, labels);
        final int slot = Arrays.asList(counters).indexOf(null);
        if (slot < 0) {
            overflows.add(1);
            return new Counter(this, metric, unique, NO_SLOT, MemorySegment.ofArray(new long[1]), 0);
        }
        final long valueOffset = CounterLayout.valueOffset(counters.length, slot);
        final MemorySegment metadata = metadata(slot);
        final int generation = beginChange(metadata);
        metadata.set(INT, CounterLayout.STATE_OFFSET, CounterLayout.USED);
        metadata.set(INT, CounterLayout.KIND_OFFSET, CounterLayout.number(EngineCounter.Kind.of(metric)));
        CounterLayout.NAME.write(metadata, metric.exportedName());
        CounterLayout.UNIT.write(metadata, metric.unit().name().toLowerCase(Locale.ROOT));
        CounterLayout.LABELS.write(metadata, unique);
        memory.set(LONG, valueOffset, 0);
        endChange(metadata, generation);
        final Counter counter = new Counter(this, metric, unique, slot, memory, valueOffset);
        counters[slot] = counter;
        return counter;
    }

    /// Visits every counter in order of slots; none after [#close].
    synchronized void forEach(final Consumer<Counter> visitor) {
        if (!closed) {
            Arrays.stream(counters).filter(Objects::nonNull).forEach(visitor);
        }
    }

    synchronized void free(final Counter counter) {
        if (closed) {
            return;
        }
        final MemorySegment metadata = metadata(counter.slot());
        final int generation = beginChange(metadata);
        metadata.set(INT, CounterLayout.STATE_OFFSET, CounterLayout.FREE);
        endChange(metadata, generation);
        counters[counter.slot()] = null;
    }

    /// Unmaps and deletes the file. Counters must not be written any more. Idempotent.
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            arena.close();
            file.close();
        }
    }

    private String uniqueLabels(final Metric metric, final String labels) {
        String unique = labels;
        for (int n = 2; isTaken(metric, unique); n++) {
            unique = Labels.join(labels, Labels.of("series", String.valueOf(n)));
        }
        if (unique.getBytes(StandardCharsets.UTF_8).length > CounterLayout.LABELS.bytesMax()) {
            throw new IllegalArgumentException(
                    "labels: expected at most " + CounterLayout.LABELS.bytesMax() + " bytes, got " + unique);
        }
        return unique;
    }

    private boolean isTaken(final Metric metric, final String labels) {
        for (final Counter counter : counters) {
            if (counter != null
                    && counter.metric().equals(metric)
                    && counter.labels().equals(labels)) {
                return true;
            }
        }
        return false;
    }

    private void writeHeader() {
        memory.set(INT, CounterLayout.VERSION_OFFSET, CounterLayout.VERSION);
        memory.set(INT, CounterLayout.HEADER_BYTES_OFFSET, CounterLayout.HEADER_BYTES);
        memory.set(INT, CounterLayout.CAPACITY_OFFSET, counters.length);
        memory.set(INT, CounterLayout.METADATA_STRIDE_OFFSET, CounterLayout.METADATA_STRIDE);
        memory.set(INT, CounterLayout.VALUE_STRIDE_OFFSET, CounterLayout.VALUE_STRIDE);
        final ProcessHandle process = ProcessHandle.current();
        memory.set(LONG, CounterLayout.PID_OFFSET, process.pid());
        memory.set(LONG, CounterLayout.MADE_OFFSET, System.currentTimeMillis());
        memory.set(LONG, CounterLayout.PROCESS_START_OFFSET, CounterFile.startMs(process));
        LONGS.setRelease(memory, (long) CounterLayout.MAGIC_OFFSET, CounterLayout.MAGIC);
    }

    private MemorySegment metadata(final int slot) {
        return memory.asSlice(CounterLayout.metadataOffset(slot), CounterLayout.METADATA_STRIDE);
    }

    private static int beginChange(final MemorySegment metadata) {
        final int generation = metadata.get(INT, CounterLayout.GENERATION_OFFSET);
        INTS.setOpaque(metadata, (long) CounterLayout.GENERATION_OFFSET, generation + 1);
        VarHandle.releaseFence();
        return generation;
    }

    private static void endChange(final MemorySegment metadata, final int generation) {
        INTS.setRelease(metadata, (long) CounterLayout.GENERATION_OFFSET, generation + 2);
    }
}
