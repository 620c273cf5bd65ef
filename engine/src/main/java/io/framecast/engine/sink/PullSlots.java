package io.framecast.engine.sink;

import io.framecast.api.spi.Completions;
import java.lang.foreign.MemorySegment;

/// Where datagrams land that a receiver reads out of its source's window: slots behind those of the repair
/// lane, in the same memory, so that a sink takes them as it takes repairs. A slot is taken by the reader,
/// given to the sink with what landed in it, and free again once the sink has copied that.
///
/// One thread.
public final class PullSlots {
    /// Datagrams on their way, or not copied yet.
    public static final int SLOTS = 64;

    private final MemorySegment headers;
    private final MemorySegment payload;
    private final SinkConfig config;
    private final int firstSlot;
    private final int[] free = new int[SLOTS];
    private final Completions landed = new Completions(SLOTS);
    private int freeSlots = SLOTS;
    // Of those landed, how many the sink was shown: their copies may be under way.
    private int waiting;
    private long settled;

    PullSlots(final SinkConfig config, final int firstSlot, final MemorySegment headers, final MemorySegment payload) {
        this.config = config;
        this.firstSlot = firstSlot;
        this.headers = headers;
        this.payload = payload;
        java.util.Arrays.setAll(free, i -> SLOTS - 1 - i);
    }

    /// All of the memory.
    public MemorySegment headers() {
        return headers;
    }

    /// All of the memory.
    public MemorySegment payload() {
        return payload;
    }

    public int slotBytes() {
        return config.slotBytes();
    }

    public long headerOffset(final int slot) {
        return (long) (firstSlot + slot) * config.headerStride() + config.headerReserveBytes();
    }

    public long payloadOffset(final int slot) {
        return (long) (firstSlot + slot) * config.slotBytes();
    }

    public boolean isEmpty() {
        return freeSlots == 0;
    }

    /// Takes a slot; there is one.
    public int take() {
        return free[--freeSlots];
    }

    /// Nothing of use landed in it.
    public void giveBack(final int slot) {
        free[freeSlots++] = slot;
    }

    /// A datagram of so many bytes lies in it, header and payload.
    public void land(final int slot, final int datagramBytes) {
        landed.add(slot, datagramBytes);
    }

    // Appends what has landed, as far as there is room; says how many that were.
    int show(final Completions completions) {
        final int before = completions.count();
        while (waiting < landed.count() && !completions.isFull()) {
            completions.add(firstSlot + landed.slot(waiting), landed.bytes(waiting));
            waiting++;
        }
        return completions.count() - before;
    }

    // Shown since the beginning.
    long shown() {
        return settled + waiting;
    }

    // So many of those shown have been copied.
    void settle(final long count) {
        while (settled < count) {
            giveBack(landed.slot(0));
            landed.remove(0);
            waiting--;
            settled++;
        }
    }
}
