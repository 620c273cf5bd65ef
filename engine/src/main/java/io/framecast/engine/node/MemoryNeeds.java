package io.framecast.engine.node;

import io.framecast.api.FrameOptions;
import io.framecast.engine.sink.SinkConfig;
import io.framecast.reliability.wire.DataLayout;

/// What one end of a session takes, in bytes, allocated when the session opens and constant for its life. Loss,
/// time and the number of peers add nothing.
///
/// @param hostBytes native memory of the host: rings, headers, landing memory
/// @param deviceBytes memory of the subscriber's device; 0 where frames lie in host memory
/// @param heapBytesMax arrays of the protocol, one entry for each slot, and metadata of at most 1024 bytes for
///     each
record MemoryNeeds(long hostBytes, long deviceBytes, long heapBytesMax) {
    // SendWindow: length 4, metadata reference 8, frame id 8. RetransmitScheduler: 4 + 8 + 4 + 8.
    private static final long SOURCE_HEAP_PER_SLOT = 44;
    // NackScheduler 9, FrameTable 48 with its metadata reference, ReceiveWindow and SlotBits a bit each.
    private static final long SUBSCRIBER_HEAP_PER_SLOT = 58;
    private static final long METADATA_PER_SLOT_MAX = 16 + FrameOptions.METADATA_BYTES_MAX;

    /// A source: window slots and the probe's, each with its header, and the control rings. Where memory cannot
    /// be mapped twice, a claim that wraps around the window's end takes as much payload again.
    static MemoryNeeds source(final int windowSlots, final int slotBytes, final int headerReserveBytes) {
        final long payload = (windowSlots + 1L) * slotBytes;
        final long headers = (windowSlots + 1L) * DataLayout.LENGTH;
        return new MemoryNeeds(
                payload + headers + ControlLane.memoryBytes(headerReserveBytes),
                0,
                windowSlots * (SOURCE_HEAP_PER_SLOT + METADATA_PER_SLOT_MAX));
    }

    /// A subscriber that lands frames in place, in host memory: the ring, a header for each slot, scratch and
    /// repair slots, the control rings. `frame-max` more where memory cannot be mapped twice.
    static MemoryNeeds inPlace(final SinkConfig config) {
        final long ring = config.ringSlots() * (long) (config.slotBytes() + config.headerStride());
        final long scratch = (long) config.batchMax() * config.slotBytes();
        return new MemoryNeeds(
                ring + scratch + repairBytes(config) + ControlLane.memoryBytes(config.headerReserveBytes()),
                0,
                heapBytes(config));
    }

    /// A subscriber whose frames are copied on to its device: the ring and one mend buffer there; landing and
    /// repair slots with their headers, and the control rings, in the host.
    static MemoryNeeds staged(final SinkConfig config) {
        final long landing = config.landingSlots() * (long) (config.slotBytes() + config.headerStride());
        return new MemoryNeeds(
                landing + repairBytes(config) + ControlLane.memoryBytes(config.headerReserveBytes()),
                config.ringBytes() + config.stream().frameMaxBytes(),
                heapBytes(config));
    }

    private static long repairBytes(final SinkConfig config) {
        return SinkConfig.REPAIR_SLOTS * (long) (config.slotBytes() + config.headerStride());
    }

    private static long heapBytes(final SinkConfig config) {
        // Tables are a power of two long.
        final long slots = Math.max(64, 2L * Integer.highestOneBit(Math.max(1, config.ringSlots() - 1)));
        return slots * (SUBSCRIBER_HEAP_PER_SLOT + METADATA_PER_SLOT_MAX);
    }
}
