package io.framecast.engine.metrics;

import java.lang.foreign.MemorySegment;

/// One 64-bit value in a [CounterTable].
///
/// Threading: written by one thread at a time; read from anywhere. Writing takes no lock and allocates nothing.
public final class Counter implements AutoCloseable {
    private final CounterTable table;
    private final int slot;
    private final MemorySegment memory;
    private final long offset;
    private boolean closed;

    Counter(final CounterTable table, final int slot, final MemorySegment memory, final long offset) {
        this.table = table;
        this.slot = slot;
        this.memory = memory;
        this.offset = offset;
    }

    /// Publishes a value: whoever reads it sees all that was written before. No effect after [#close].
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

    /// Whether others can see it: false for the sink that a full table gives.
    public boolean isVisible() {
        return slot != CounterTable.SINK_SLOT;
    }

    int slot() {
        return slot;
    }

    /// Frees the slot for another counter. By the thread that writes, or after it stopped. Idempotent.
    @Override
    public void close() {
        if (!closed && isVisible()) {
            closed = true;
            table.free(this);
        }
    }
}
