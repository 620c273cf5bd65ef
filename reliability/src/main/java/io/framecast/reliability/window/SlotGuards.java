package io.framecast.reliability.window;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.reliability.wire.SlotGuard;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/// A guard word for each slot of a window that other processes read by RDMA. A reader takes the word, the payload,
/// the header, and the word again, and so notices a slot that was reused meanwhile. The word is written behind the
/// datagram and wiped before the slot is used again, so that two equal words of the right sequence enclose one
/// payload. The word's checksum proves that for any order of a device's reads.
///
/// One thread writes, or a device on behalf of another process; devices read.
public final class SlotGuards {
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private final MemorySegment words;
    private final PayloadChecksum checksum;
    private final int[] lengths;

    /// @param words `[slots]` of 8 bytes, aligned, all 0; the caller's memory, as the window's is
    public SlotGuards(final MemorySegment words, final WindowMemory window) {
        this.words = words;
        lengths = window.lengths();
        checksum = new PayloadChecksum(window.payload(), window.slots(), window.slotBytes());
    }

    /// The datagram in this slot is complete.
    void seal(final int slot, final long sequence) {
        final long word = SlotGuard.of(sequence, checksum.of(slot, lengths[slot]));
        WORD.setRelease(words, (long) slot * Long.BYTES, word);
    }

    /// Whether the guard has this sequence and the checksum of the slot's payload.
    boolean isValid(final int slot, final long sequence) {
        final long word = (long) WORD.getAcquire(words, (long) slot * Long.BYTES);
        return SlotGuard.isOf(word, sequence) && SlotGuard.payloadCrc(word) == checksum.of(slot, lengths[slot]);
    }

    /// When this returns a reader of the slot finds that the slot is free, before its payload changes.
    void wipe(final int slot) {
        WORD.setRelease(words, (long) slot * Long.BYTES, SlotGuard.NONE);
        VarHandle.storeStoreFence();
    }
}
