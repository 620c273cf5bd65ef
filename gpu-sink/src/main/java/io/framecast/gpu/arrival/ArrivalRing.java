package io.framecast.gpu.arrival;

import io.framecast.gpu.SharedWords;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;

/// The host's end of an arrival area: writes entries, takes returns. Returned entries are credit: the entry
/// of a position is overwritten only after the device returned it, so `head − tail ≤ entries` always (Gysi
/// et al., dCUDA, §III-C).
///
/// dCUDA writes an entry by one vector store and assumes that the device sees it whole. Java has no such
/// store, and PTX promises nothing of the kind for vector loads; so the entry is two words, the one with the
/// sequence last and with release order, and the device reads the other behind it. That costs nothing: the
/// record is read behind it anyway.
///
/// Used by one thread. Allocates nothing after its construction.
final class ArrivalRing {
    // Returns mostly come in order; a return out of order may wait for a full look.
    private static final int LOOKS_MAX = 64;
    private static final int FULL_LOOK_EVERY = 64;

    private final MemorySegment area;
    private final int entries;
    private final boolean[] returned;
    private int head;
    private int tail;
    private int looks;

    /// @param area [ArrivalLayout#areaBytes] bytes, zeroed, aligned to 256
    /// @param first position, as if laps had gone before
    ArrivalRing(final MemorySegment area, final int entries, final int first) {
        this.area = area;
        this.entries = entries;
        head = first;
        tail = first;
        returned = new boolean[entries];
        SharedWords.intAt(area, ArrivalLayout.ENTRIES_OFFSET, entries);
        SharedWords.intAt(area, ArrivalLayout.VERSION_OFFSET, ArrivalLayout.VERSION);
    }

    /// Sets the readers and their first entry, before a launch. The readers skip entries that were returned out of
    /// order.
    void resume(final int consumers, final long stateAddress) {
        SharedWords.intAt(area, ArrivalLayout.CONSUMERS_OFFSET, consumers);
        SharedWords.intAt(area, ArrivalLayout.FIRST_OFFSET, tail);
        SharedWords.intAt(area, ArrivalLayout.RESUME_OFFSET, head);
        SharedWords.longAt(area, ArrivalLayout.STATE_OFFSET, stateAddress);
        stop(0);
    }

    /// Sets the order for the kernel: 0, [ArrivalLayout#STOP_DRAIN] or [ArrivalLayout#STOP_NOW].
    void stop(final int wish) {
        SharedWords.intAt(area, ArrivalLayout.STOP_OFFSET, wish);
    }

    int room() {
        return entries - outstanding();
    }

    int outstanding() {
        return head - tail;
    }

    /// The slot of the next entry.
    int nextSlot() {
        return head & (entries - 1);
    }

    /// The sequence of the next entry.
    int nextSequence() {
        return head + 1;
    }

    /// Writes record and entry. There must be room.
    ///
    /// @return the slot, which stays taken until it is returned
    int offer(final ArrivalRecord record) {
        final int slot = writeRecord(record);
        writeEntry(record);
        return slot;
    }

    /// The first half of [#offer].
    int writeRecord(final ArrivalRecord record) {
        if (room() <= 0) {
            throw new IllegalStateException("arrival ring: no credit");
        }
        final int slot = nextSlot();
        record.slot = slot;
        record.sequence = nextSequence();
        record.write(area, ArrivalLayout.recordOffset(entries, slot));
        return slot;
    }

    /// The second half.
    void writeEntry(final ArrivalRecord record) {
        final long at = ArrivalLayout.entryOffset(record.slot);
        SharedWords.LONG.set(area, at + Long.BYTES, ArrivalLayout.word1(record.source, record.channel, record.tag));
        // Release: record, word 1 and this thread's view of the frame come before.
        SharedWords.longAt(area, at, ArrivalLayout.word0(record.sequence, record.slot, record.kind));
        returned[record.slot] = false;
        head++;
    }

    /// Reports the slots that the device returned since the last call.
    ///
    /// @return how many
    int collect(final IntConsumer handler) {
        if (head == tail) {
            return 0;
        }
        final boolean full = looks++ % FULL_LOOK_EVERY == 0;
        final int end = full ? head : tail + Math.min(LOOKS_MAX, head - tail);
        int count = 0;
        for (int position = tail; position != end; position++) {
            final int slot = position & (entries - 1);
            if (!returned[slot] && isReturned(slot, position)) {
                returned[slot] = true;
                count++;
                handler.accept(slot);
            }
        }
        while (tail != head && returned[tail & (entries - 1)]) {
            tail++;
        }
        return count;
    }

    // Acquire: the device's reads of the frame came before.
    private boolean isReturned(final int slot, final int position) {
        return SharedWords.intAt(area, ArrivalLayout.returnOffset(entries, slot)) == position + 1;
    }

    /// Forgets everything outstanding, after the device's end. The area may be gone.
    void abandon(final IntConsumer handler) {
        for (int position = tail; position != head; position++) {
            final int slot = position & (entries - 1);
            if (!returned[slot]) {
                returned[slot] = true;
                handler.accept(slot);
            }
        }
        tail = head;
    }
}
