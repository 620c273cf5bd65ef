package io.framecast.reliability.window;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.reliability.wire.SlotGuard;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/// A word for each slot of a window, by which those who read the window from afar tell what they read from
/// what took its place meanwhile: they read the word, the payload, the header, and the word again. It is
/// written behind the datagram and wiped before the slot is used again, so that two equal words of the right
/// sequence enclose one payload; and its checksum proves that, whatever order a device read in.
///
/// One thread writes, or a device on behalf of another process; devices read.
public final class SlotGuards {
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private final MemorySegment words;
    private final PayloadChecksum checksum;
    private final int[] payloadLengths;

    /// @param words `[slots]` of 8 bytes, aligned, all 0; the caller's, as the rest
    /// @param payloads `[slots][slotBytes]` or more
    /// @param payloadLengths `[slots]` or more
    /// @param slots a power of two
    public SlotGuards(
            final MemorySegment words,
            final MemorySegment payloads,
            final int[] payloadLengths,
            final int slots,
            final int slotBytes) {
        this.words = words;
        this.payloadLengths = payloadLengths;
        checksum = new PayloadChecksum(payloads, slots, slotBytes);
    }

    /// The datagram in this slot is complete.
    void seal(final int slot, final long sequence) {
        final long word = SlotGuard.of(sequence, checksum.of(slot, payloadLengths[slot]));
        WORD.setRelease(words, (long) slot * Long.BYTES, word);
    }

    /// Whether the word says that this sequence lies in its slot, and the checksum that it is whole.
    boolean vouches(final int slot, final long sequence) {
        final long word = (long) WORD.getAcquire(words, (long) slot * Long.BYTES);
        return SlotGuard.isOf(word, sequence) && SlotGuard.payloadCrc(word) == checksum.of(slot, payloadLengths[slot]);
    }

    /// From when this returns whoever reads the slot learns that it is nobody's before it changes.
    void wipe(final int slot) {
        WORD.setRelease(words, (long) slot * Long.BYTES, SlotGuard.NONE);
        VarHandle.storeStoreFence();
    }
}
