package io.framecast.reliability.window;

import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;

/// Memory of a window of `slots` datagrams, or of a replica of one; and of one slot behind it, for probes.
///
/// @param headers `[slots + 1][headerBytes]`, host memory
/// @param payload `[slots + 1][slotBytes]`, or longer
/// @param lengths `[slots + 1]`, payload bytes by slot
/// @param slots a power of two
/// @param slotBytes payload bytes of a full slot
/// @param headerBytes length of a header
public record WindowMemory(
        MemorySegment headers, MemorySegment payload, int[] lengths, int slots, int slotBytes, int headerBytes) {
    public WindowMemory {
        if (Integer.bitCount(slots) != 1 || lengths.length < slots) {
            throw new IllegalArgumentException("window: expected a power of two of slots, got " + slots);
        }
    }

    /// Memory of a stream whose datagrams have no seals.
    public WindowMemory(
            final MemorySegment headers,
            final MemorySegment payload,
            final int[] lengths,
            final int slots,
            final int slotBytes) {
        this(headers, payload, lengths, slots, slotBytes, DataLayout.LENGTH);
    }

    /// The slot of a sequence.
    public int slot(final long sequence) {
        return (int) sequence & slots - 1;
    }

    /// Where the header of a slot begins.
    public long headerOffset(final int slot) {
        return (long) slot * headerBytes;
    }

    /// Where the payload of a slot begins.
    public long payloadOffset(final int slot) {
        return (long) slot * slotBytes;
    }
}
