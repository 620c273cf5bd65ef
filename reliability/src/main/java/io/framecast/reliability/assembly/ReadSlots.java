package io.framecast.reliability.assembly;

import io.framecast.reliability.window.RepairStore;
import java.lang.foreign.MemorySegment;

/// Slots behind those of the repair lane, in the same memory, for datagrams that a receiver reads out of a window
/// by RDMA or copies out of its own replica. The reader takes a slot and announces the datagram in it. The session
/// then treats it like a repair and frees the slot when its payload was copied on.
///
/// One thread.
public final class ReadSlots {
    /// Datagrams under way, or not copied on yet.
    public static final int SLOTS = 64;

    private final SlotMemory memory;
    private final int firstSlot;
    private final int[] free;
    private int freeCount;
    // [slots], rings of datagrams that were read: slot and length.
    private final int[] readySlots;
    private final int[] readyBytes;
    private long ready;
    private long shown;
    private long freed;

    /// @param memory of the repair lane and of these
    /// @param firstSlot the first of these
    /// @param slots how many
    ReadSlots(final SlotMemory memory, final int firstSlot, final int slots) {
        this.memory = memory;
        this.firstSlot = firstSlot;
        free = new int[slots];
        readySlots = new int[slots];
        readyBytes = new int[slots];
        java.util.Arrays.setAll(free, i -> slots - 1 - i);
        freeCount = slots;
    }

    public int slots() {
        return free.length;
    }

    /// Their memory, with the slots of the repair lane before them.
    public SlotMemory memory() {
        return memory;
    }

    public long headerOffset(final int slot) {
        return memory.headerOffset(firstSlot + slot);
    }

    public long payloadOffset(final int slot) {
        return memory.payloadOffset(firstSlot + slot);
    }

    /// Whether all are taken.
    public boolean isEmpty() {
        return freeCount == 0;
    }

    /// Takes a slot; there is one.
    public int take() {
        return free[--freeCount];
    }

    /// No useful datagram arrived in it.
    public void giveBack(final int slot) {
        free[freeCount++] = slot;
    }

    /// A datagram lies in it, header and payload.
    public void arrive(final int slot, final int datagramBytes) {
        final int index = (int) (ready++ % free.length);
        readySlots[index] = slot;
        readyBytes[index] = datagramBytes;
    }

    /// Copies datagrams out of this receiver's own replica of the window.
    ///
    /// @return how many, from the first on; -1 where other reads hold all slots
    public int copy(final RepairStore replica, final long firstSequence, final int count) {
        if (isEmpty()) {
            return -1;
        }
        int copied = 0;
        while (copied < count && !isEmpty()) {
            copy(replica, firstSequence + copied++);
        }
        return copied;
    }

    private void copy(final RepairStore replica, final long sequence) {
        final int slot = take();
        final int from = replica.slot(sequence);
        final int bytes = replica.payloadBytes(sequence);
        MemorySegment.copy(
                replica.headers(),
                (long) from * replica.headerBytes(),
                memory.headers(),
                headerOffset(slot),
                replica.headerBytes());
        MemorySegment.copy(
                replica.payloads(), (long) from * replica.slotBytes(), memory.payload(), payloadOffset(slot), bytes);
        arrive(slot, replica.headerBytes() + bytes);
    }

    /// Session: whether there is a datagram to take.
    boolean hasNext() {
        return shown < ready;
    }

    /// Session: takes the next datagram.
    ///
    /// @return its slot in [#memory]
    int next() {
        return firstSlot + readySlots[(int) (shown++ % free.length)];
    }

    /// Session: length of the datagram that [#next] returned last.
    int bytes() {
        return readyBytes[(int) ((shown - 1) % free.length)];
    }

    /// Session: datagrams given by [#next] so far.
    long shown() {
        return shown;
    }

    /// Session: the slots of the first `count` given are free.
    void freeUpTo(final long count) {
        while (freed < count) {
            giveBack(readySlots[(int) (freed++ % free.length)]);
        }
    }
}
