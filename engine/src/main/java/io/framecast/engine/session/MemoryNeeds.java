package io.framecast.engine.session;

import io.framecast.api.FrameOptions;
import io.framecast.api.PlacementOptions.Kind;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.sink.DirectReceiveMemory;
import io.framecast.engine.sink.NicCopyEngine;
import io.framecast.reliability.assembly.MemoryShape;
import org.jspecify.annotations.Nullable;

/// The memory of one end of a session, in bytes, allocated when the session opens and constant for its life. Loss,
/// time and the number of peers add nothing.
///
/// @param hostBytes native memory of the host: rings, headers, receive buffers
/// @param deviceBytes memory of the subscriber's device; 0 where frames lie in host memory
/// @param tableBytes arrays of the protocol on the heap, one entry for each slot
/// @param metadataBytesMax metadata on the heap, at most 1024 bytes for each slot; and, where frames are copied on
///     to a device, the tables of bundles
public record MemoryNeeds(long hostBytes, long deviceBytes, long tableBytes, long metadataBytesMax) {
    // SendWindow: length 4, metadata reference 8, frame id 8. RetransmitScheduler: 4 + 8 + 4 + 8.
    private static final long SOURCE_HEAP_PER_SLOT = 44;
    // NackScheduler 9, FrameTable 48 with its metadata reference, RingLedger 9, ReceiveWindow and SlotBits a
    // bit each.
    private static final long SUBSCRIBER_HEAP_PER_SLOT = 67;
    // ArrivalPlacement: receive buffer 8, slot 4, busy 1; ArrivalLedger instead of RingLedger 21 − 9.
    private static final long ARRIVAL_HEAP_PER_SLOT = 25;
    // A transport's scatter or gather list of a slot: two iovecs on udp, less elsewhere.
    private static final long LIST_BYTES = 32;
    // SlotGuards: a guard of 8 bytes for each slot, where peers may read the window.
    private static final long GUARD_BYTES = Long.BYTES;
    // Datagrams of a batch: udp repeats their lists behind the list of the last slot, so that a batch may wrap.
    private static final long LISTS_REPEATED = 64;
    private static final long METADATA_PER_SLOT_MAX = 16 + FrameOptions.METADATA_BYTES_MAX;

    /// A source: the slots of the window and of the probe, each with header and guard, and the control rings. Where
    /// memory cannot be mapped twice, a claim that wraps around the window's end takes as much payload again.
    public static MemoryNeeds source(
            final int windowSlots, final int slotBytes, final int headerBytes, final int headerReserveBytes) {
        final long payload = (windowSlots + 1L) * slotBytes;
        final long headers = (windowSlots + 1L) * (headerBytes + GUARD_BYTES);
        return new MemoryNeeds(
                payload + headers + 2 * listBytes(windowSlots + 1L) + ControlLane.memoryBytes(headerReserveBytes),
                0,
                windowSlots * SOURCE_HEAP_PER_SLOT,
                windowSlots * METADATA_PER_SLOT_MAX);
    }

    /// A subscriber: its rings in the host, and the frame memory in the host or on its device. It takes `frame-max`
    /// more where frames are received in place and memory cannot be mapped twice.
    ///
    /// @param kind how payloads get into the device's memory; null where frames lie in host memory
    public static MemoryNeeds subscriber(
            final MemoryShape shape, final @Nullable Kind kind, final int headerReserveBytes) {
        final int header = headerReserveBytes + shape.stream().headerBytes();
        final boolean staged = shape.kind() == MemoryShape.Kind.STAGED;
        final boolean byArrival = shape.kind() == MemoryShape.Kind.BY_ARRIVAL;
        final int lanePostSlots = staged ? shape.stagingSlots() : shape.ringSlots();
        final long repairs =
                shape.allRepairSlots() * (long) (shape.slotBytes() + header) + listBytes(shape.repairSlots());
        final long lane = lanePostSlots * (long) header + listBytes(lanePostSlots);
        final long ring = shape.ringBytes() + (kind == null ? 0 : shape.tailBytes());
        final boolean exported = kind == Kind.DIRECT || kind == Kind.LOOPBACK;
        final long frames = exported ? DirectReceiveMemory.exportBytes(ring) : ring;
        final long buffers = shape.kind() == MemoryShape.Kind.IN_RING ? 0 : shape.buffersBytes();
        final long scratch = shape.kind() == MemoryShape.Kind.IN_RING ? (long) shape.batchMax() * shape.slotBytes() : 0;
        final long staging = (long) shape.stagingSlots() * shape.slotBytes();
        final long onDevice = kind == null ? 0 : frames + buffers;
        return new MemoryNeeds(
                frames
                        + buffers
                        - onDevice
                        + scratch
                        + staging
                        + lane
                        + repairs
                        + ControlLane.memoryBytes(headerReserveBytes),
                onDevice,
                tableSlots(shape) * (SUBSCRIBER_HEAP_PER_SLOT + (byArrival ? ARRIVAL_HEAP_PER_SLOT : 0))
                        + (kind == Kind.LOOPBACK ? NicCopyEngine.runsMax(shape) * (long) NicCopyEngine.RUN_BYTES : 0),
                tableSlots(shape) * METADATA_PER_SLOT_MAX
                        + (staged && kind != null ? shape.ringSlots() * (long) shape.bundleTableBytes() : 0));
    }

    /// Everything but metadata: the memory of a session before the first datagram.
    public long totalBytes() {
        return hostBytes + deviceBytes + tableBytes;
    }

    /// Lists of one lane over a ring of `slots` slots.
    public static long listBytes(final long slots) {
        return (slots + LISTS_REPEATED) * LIST_BYTES;
    }

    // The lengths of tables are powers of two.
    private static long tableSlots(final MemoryShape shape) {
        return Math.max(64, 2L * Integer.highestOneBit(Math.max(1, shape.ringSlots() - 1)));
    }
}
