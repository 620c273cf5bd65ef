package io.framecast.reliability.assembly;

import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;

/// Slots in which a lane lands datagrams, as the host sees them.
///
/// @param headers `[slots][headerStride]`, host memory
/// @param headerReserve bytes that the transport writes before each header
/// @param payload `[slots][slotBytes]`, or longer; `NULL` where the host cannot address it
/// @param slotBytes payload bytes of a slot
/// @param slots number of slots
/// @param headerBytes length of a header
public record SlotMemory(
        MemorySegment headers, int headerReserve, MemorySegment payload, int slotBytes, int slots, int headerBytes) {
    /// Slots of a stream whose datagrams have no seals.
    public SlotMemory(
            final MemorySegment headers,
            final int headerReserve,
            final MemorySegment payload,
            final int slotBytes,
            final int slots) {
        this(headers, headerReserve, payload, slotBytes, slots, DataLayout.LENGTH);
    }

    /// Distance of two headers in bytes.
    public int headerStride() {
        return headerReserve + headerBytes;
    }

    /// Offset of a slot's header in `headers`.
    public long headerOffset(final int slot) {
        return (long) slot * headerStride() + headerReserve;
    }

    /// Offset of a slot's payload in `payload`.
    public long payloadOffset(final int slot) {
        return (long) slot * slotBytes;
    }

    /// Whether the host addresses payloads.
    public boolean hostAddressable() {
        return payload.byteSize() != 0;
    }
}
