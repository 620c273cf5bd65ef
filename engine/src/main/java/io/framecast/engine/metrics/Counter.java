package io.framecast.engine.metrics;

import io.framecast.reliability.count.Metric;
import java.lang.foreign.MemorySegment;

/// One 64-bit value in a [CounterTable].
///
/// Threading: one thread at a time writes; any thread reads. A write takes no lock and allocates nothing.
public final class Counter implements AutoCloseable {
    private final CounterTable table;
    private final Metric metric;
    private final String labels;
    private final int slot;
    private final MemorySegment memory;
    private final long offset;
    private boolean closed;

    Counter(
            final CounterTable table,
            final Metric metric,
            final String labels,
            final int slot,
            final MemorySegment memory,
            final long offset) {
        this.table = table;
        this.metric = metric;
        this.labels = labels;
        this.slot = slot;
        this.memory = memory;
        this.offset = offset;
    }

    /// Publishes a value: a thread that reads it sees all that was written before. No effect after [#close].
    ///
    /// @throws IllegalStateException when the table is closed
    public void setOrdered(final long value) {
        if (!closed) {
            CounterLayout.LONGS.setRelease(memory, offset, value);
        }
    }

    /// Adds, by the one thread that writes.
    public void add(final long delta) {
        if (!closed) {
            CounterLayout.LONGS.setRelease(memory, offset, (long) CounterLayout.LONGS.get(memory, offset) + delta);
        }
    }

    /// The value; 0 after [#close].
    public long get() {
        return closed ? 0 : (long) CounterLayout.LONGS.getAcquire(memory, offset);
    }

    /// Whether readers see it: false where the table was full.
    public boolean isVisible() {
        return slot != CounterTable.NO_SLOT;
    }

    Metric metric() {
        return metric;
    }

    String labels() {
        return labels;
    }

    int slot() {
        return slot;
    }

    /// Frees the slot for another counter. The thread that writes calls it, or any thread after that one
    /// stopped. Idempotent.
    @Override
    public void close() {
        if (!closed && isVisible()) {
            table.free(this);
            closed = true;
        }
    }
}
