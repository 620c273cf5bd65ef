package io.framecast.engine.metrics;

import static io.framecast.engine.metrics.CounterLayout.INT;
import static io.framecast.engine.metrics.CounterLayout.INTS;
import static io.framecast.engine.metrics.CounterLayout.LONG;
import static io.framecast.engine.metrics.CounterLayout.LONGS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/// Counters in a memory-mapped file that other processes read without disturbing this one; see [CounterLayout]
/// for the file and [CounterReader] for the other side.
///
/// Threading: all methods from any thread; a [Counter] is written by one thread. Ownership: the table owns its
/// file and deletes it in [#close]; close it after everything that writes counters has stopped. Limits:
/// [#CAPACITY] counters. A full table answers with a sink that nobody sees, and counts that.
public final class CounterTable implements AutoCloseable {
    public static final int CAPACITY = 1024;

    static final int SINK_SLOT = -1;
    private static final int OVERFLOW_SLOT = 0;

    private final CounterFile file;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final int capacity;
    private final ReentrantLock lock = new ReentrantLock();
    private final BitSet used = new BitSet();
    private final EngineCounter[] kinds;
    private final String[] labelTexts;
    private final Set<String> series = new HashSet<>();
    private final Counter sink;
    private final Counter overflows;
    private boolean closed;

    private CounterTable(final CounterFile file, final int capacity) {
        this.file = file;
        this.capacity = capacity;
        kinds = new EngineCounter[capacity];
        labelTexts = new String[capacity];
        try {
            memory = file.map(arena, capacity);
        } catch (final RuntimeException e) {
            arena.close();
            throw e;
        }
        writeHeader();
        sink = new Counter(this, SINK_SLOT, MemorySegment.ofArray(new long[1]), 0);
        overflows = allocate(EngineCounter.TABLE_OVERFLOWS, Labels.NONE);
        assert overflows.slot() == OVERFLOW_SLOT : overflows.slot();
    }

    /// A table in `${java.io.tmpdir}/framecast-<user>/<pid>.counters`. Removes files there whose process is gone.
    ///
    /// @throws ConfigException when the directory is another's, or the file cannot be written
    public static CounterTable create() {
        return new CounterTable(CounterFile.ofProcess(Path.of(System.getProperty("java.io.tmpdir"))), CAPACITY);
    }

    /// A table in a file of its own. A counters file that a dead process left is replaced, anything else is
    /// refused.
    ///
    /// @throws ConfigException when the file is in use, is not a counters file, or cannot be written
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

    /// Makes a counter at 0. Two of one kind with equal labels are told apart by a label `series` on the second.
    ///
    /// @param labels from [Labels#of]; at most 352 bytes
    /// @return a counter, or the sink when the table is full
    /// @throws IllegalArgumentException when the labels are malformed or too long
    public Counter allocate(final EngineCounter kind, final String labels) {
        Labels.parse(labels);
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("counter table is closed");
            }
            final int slot = used.nextClearBit(0);
            if (slot >= capacity) {
                overflows.add(1);
                return sink;
            }
            final String unique = uniqueLabels(kind, labels);
            writeMetadata(slot, kind, unique);
            used.set(slot);
            kinds[slot] = kind;
            labelTexts[slot] = unique;
            series.add(seriesOf(kind, unique));
            return new Counter(this, slot, memory, CounterLayout.valueOffset(capacity, slot));
        } finally {
            lock.unlock();
        }
    }

    /// Receives what the table holds.
    interface Visitor {
        void onCounter(EngineCounter kind, String labels, long value);
    }

    /// Visits every counter in order of slots; none after [#close].
    void forEach(final Visitor visitor) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            for (int slot = used.nextSetBit(0); slot >= 0; slot = used.nextSetBit(slot + 1)) {
                visitor.onCounter(kinds[slot], labelTexts[slot], (long)
                        LONGS.getAcquire(memory, CounterLayout.valueOffset(capacity, slot)));
            }
        } finally {
            lock.unlock();
        }
    }

    void free(final Counter counter) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            final int slot = counter.slot();
            final long metadata = CounterLayout.metadataOffset(slot);
            final int generation = beginChange(metadata);
            memory.set(INT, metadata + CounterLayout.STATE_OFFSET, CounterLayout.FREE);
            endChange(metadata, generation);
            series.remove(seriesOf(kinds[slot], labelTexts[slot]));
            used.clear(slot);
        } finally {
            lock.unlock();
        }
    }

    /// Unmaps and deletes the file. Counters must not be written any more. Idempotent.
    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                arena.close();
                file.close();
            }
        } finally {
            lock.unlock();
        }
    }

    private String uniqueLabels(final EngineCounter kind, final String labels) {
        String unique = labels;
        for (int n = 2; series.contains(seriesOf(kind, unique)); n++) {
            unique = Labels.join(labels, "series=\"" + n + "\"");
        }
        if (unique.getBytes(StandardCharsets.UTF_8).length > CounterLayout.LABEL_BYTES_MAX) {
            throw new IllegalArgumentException(
                    "labels: expected at most " + CounterLayout.LABEL_BYTES_MAX + " bytes, got " + unique);
        }
        return unique;
    }

    private static String seriesOf(final EngineCounter kind, final String labels) {
        return kind.exportedName() + "{" + labels + "}";
    }

    private void writeHeader() {
        memory.set(INT, CounterLayout.VERSION_OFFSET, CounterLayout.VERSION);
        memory.set(INT, CounterLayout.HEADER_BYTES_OFFSET, CounterLayout.HEADER_BYTES);
        memory.set(INT, CounterLayout.CAPACITY_OFFSET, capacity);
        memory.set(INT, CounterLayout.METADATA_STRIDE_OFFSET, CounterLayout.METADATA_STRIDE);
        memory.set(INT, CounterLayout.VALUE_STRIDE_OFFSET, CounterLayout.VALUE_STRIDE);
        final ProcessHandle process = ProcessHandle.current();
        memory.set(LONG, CounterLayout.PID_OFFSET, process.pid());
        memory.set(LONG, CounterLayout.MADE_OFFSET, System.currentTimeMillis());
        memory.set(LONG, CounterLayout.PROCESS_START_OFFSET, CounterFile.startMs(process));
        LONGS.setRelease(memory, (long) CounterLayout.MAGIC_OFFSET, CounterLayout.MAGIC);
    }

    private void writeMetadata(final int slot, final EngineCounter kind, final String labels) {
        final long metadata = CounterLayout.metadataOffset(slot);
        final int generation = beginChange(metadata);
        memory.set(INT, metadata + CounterLayout.STATE_OFFSET, CounterLayout.USED);
        memory.set(INT, metadata + CounterLayout.ID_OFFSET, kind.id());
        memory.set(
                INT,
                metadata + CounterLayout.KIND_OFFSET,
                kind.kind() == EngineCounter.Kind.COUNTER ? CounterLayout.COUNTER : CounterLayout.GAUGE);
        writeText(
                metadata + CounterLayout.NAME_BYTES_OFFSET, metadata + CounterLayout.NAME_OFFSET, kind.exportedName());
        writeText(
                metadata + CounterLayout.UNIT_BYTES_OFFSET,
                metadata + CounterLayout.UNIT_OFFSET,
                kind.unit().name().toLowerCase(Locale.ROOT));
        writeText(metadata + CounterLayout.LABEL_BYTES_OFFSET, metadata + CounterLayout.LABEL_OFFSET, labels);
        memory.set(LONG, CounterLayout.valueOffset(capacity, slot), 0);
        endChange(metadata, generation);
    }

    private void writeText(final long lengthOffset, final long offset, final String text) {
        final byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        memory.set(INT, lengthOffset, utf8.length);
        MemorySegment.copy(MemorySegment.ofArray(utf8), 0, memory, offset, utf8.length);
    }

    private int beginChange(final long metadata) {
        final int generation = (int) INTS.get(memory, metadata + CounterLayout.GENERATION_OFFSET);
        INTS.setOpaque(memory, metadata + CounterLayout.GENERATION_OFFSET, generation + 1);
        VarHandle.releaseFence();
        return generation;
    }

    private void endChange(final long metadata, final int generation) {
        INTS.setRelease(memory, metadata + CounterLayout.GENERATION_OFFSET, generation + 2);
    }
}
