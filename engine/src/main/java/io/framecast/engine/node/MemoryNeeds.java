package io.framecast.engine.node;

import io.framecast.api.FrameOptions;
import io.framecast.engine.sink.FifoSink;
import io.framecast.engine.sink.SinkConfig;
import io.framecast.reliability.wire.DataLayout;

/// What one end of a session takes, in bytes, allocated when the session opens and constant for its life.
/// Loss, time and the number of peers add nothing.
///
/// @param hostBytes native memory of the host: rings, headers, landing memory
/// @param deviceBytes memory of the subscriber's device; 0 where frames lie in host memory
/// @param tableBytes arrays of the protocol on the heap, one entry for each slot
/// @param metadataBytesMax metadata on the heap, at most 1024 bytes for each slot; and, where frames are
///     copied on to a device, the tables of bundles
record MemoryNeeds(long hostBytes, long deviceBytes, long tableBytes, long metadataBytesMax) {
    // SendWindow: length 4, metadata reference 8, frame id 8. RetransmitScheduler: 4 + 8 + 4 + 8.
    private static final long SOURCE_HEAP_PER_SLOT = 44;
    // NackScheduler 9, FrameTable 48 with its metadata reference, RingLedger 9, ReceiveWindow and SlotBits a bit
    // each.
    private static final long SUBSCRIBER_HEAP_PER_SLOT = 67;
    // FifoPlacement: landing 8, slot 4, busy 1; FifoLedger instead of RingLedger 21 − 9.
    private static final long ARRIVAL_HEAP_PER_SLOT = 25;
    // A transport's scatter or gather list of a slot: two iovecs on udp, less elsewhere.
    private static final long LIST_BYTES = 32;
    // SlotGuards: a word for each slot, where peers may read the window.
    private static final long GUARD_BYTES = Long.BYTES;
    // Datagrams of a batch, whose lists udp repeats behind the last slot's, so that a batch may wrap.
    private static final long LISTS_REPEATED = 64;
    private static final long METADATA_PER_SLOT_MAX = 16 + FrameOptions.METADATA_BYTES_MAX;

    /// A source: window slots and the probe's, each with its header and guard, and the control rings. Where
    /// memory cannot be mapped twice, a claim that wraps around the window's end takes as much payload again.
    static MemoryNeeds source(final int windowSlots, final int slotBytes, final int headerReserveBytes) {
        final long payload = (windowSlots + 1L) * slotBytes;
        final long headers = (windowSlots + 1L) * (DataLayout.LENGTH + GUARD_BYTES);
        return new MemoryNeeds(
                payload + headers + 2 * listBytes(windowSlots + 1L) + ControlLane.memoryBytes(headerReserveBytes),
                0,
                windowSlots * SOURCE_HEAP_PER_SLOT,
                windowSlots * METADATA_PER_SLOT_MAX);
    }

    /// A subscriber that lands frames in place, in host memory: the ring, a header for each slot, scratch and
    /// repair slots, the control rings. `frame-max` more where memory cannot be mapped twice.
    static MemoryNeeds inPlace(final SinkConfig config) {
        final long ring = config.ringSlots() * (long) (config.slotBytes() + config.headerStride());
        final long scratch = (long) config.batchMax() * config.slotBytes();
        return new MemoryNeeds(
                ring
                        + scratch
                        + listBytes(config.ringSlots())
                        + repairBytes(config)
                        + ControlLane.memoryBytes(config.headerReserveBytes()),
                0,
                tableSlots(config) * SUBSCRIBER_HEAP_PER_SLOT,
                tableSlots(config) * METADATA_PER_SLOT_MAX);
    }

    /// A subscriber whose datagrams land in order of arrival, in host memory: as [#inPlace], with mend
    /// buffers of `frame-max` each in place of scratch slots.
    ///
    /// @param framesHeld that the user may hold
    static MemoryNeeds byArrival(final SinkConfig config, final int framesHeld) {
        final long ring = config.ringSlots() * (long) (config.slotBytes() + config.headerStride());
        return new MemoryNeeds(
                ring
                        + FifoSink.mendBytes(config, framesHeld)
                        + listBytes(config.ringSlots())
                        + repairBytes(config, SinkConfig.REPAIR_SLOTS_POSTED)
                        + ControlLane.memoryBytes(config.headerReserveBytes()),
                0,
                tableSlots(config) * (SUBSCRIBER_HEAP_PER_SLOT + ARRIVAL_HEAP_PER_SLOT),
                tableSlots(config) * METADATA_PER_SLOT_MAX);
    }

    /// A subscriber whose datagrams land in its device's memory in order of arrival: as [#byArrival], with
    /// ring and mend buffers there.
    static MemoryNeeds direct(final SinkConfig config, final int framesHeld) {
        return new MemoryNeeds(
                config.ringSlots() * (long) config.headerStride()
                        + listBytes(config.ringSlots())
                        + repairBytes(config, SinkConfig.REPAIR_SLOTS_POSTED)
                        + ControlLane.memoryBytes(config.headerReserveBytes()),
                FifoSink.deviceRingBytes(config) + FifoSink.mendBytes(config, framesHeld),
                tableSlots(config) * (SUBSCRIBER_HEAP_PER_SLOT + ARRIVAL_HEAP_PER_SLOT),
                tableSlots(config) * METADATA_PER_SLOT_MAX);
    }

    /// A subscriber whose frames are copied on to its device: the ring and one mend buffer there; landing and
    /// repair slots with their headers, and the control rings, in the host.
    static MemoryNeeds staged(final SinkConfig config) {
        final long landing = config.landingSlots() * (long) (config.slotBytes() + config.headerStride());
        return new MemoryNeeds(
                landing
                        + listBytes(config.landingSlots())
                        + repairBytes(config)
                        + ControlLane.memoryBytes(config.headerReserveBytes()),
                config.ringBytes() + config.stream().frameMaxBytes(),
                tableSlots(config) * SUBSCRIBER_HEAP_PER_SLOT,
                tableSlots(config) * METADATA_PER_SLOT_MAX + config.ringSlots() * (long) config.bundleTableBytes());
    }

    /// A subscriber whose frames a NIC copies on to its device: as [#staged], with the ring there in whole
    /// pages of the device, and an entry for each run that may wait.
    static MemoryNeeds loopback(final SinkConfig config) {
        final MemoryNeeds staged = staged(config);
        return new MemoryNeeds(
                staged.hostBytes,
                FifoSink.deviceRingBytes(config) + config.stream().frameMaxBytes(),
                staged.tableBytes + config.nicRunsBytes(),
                staged.metadataBytesMax);
    }

    /// Everything but metadata: what a session takes before the first datagram.
    long totalBytes() {
        return hostBytes + deviceBytes + tableBytes;
    }

    /// Lists of one lane over a ring of `slots` slots.
    static long listBytes(final long slots) {
        return (slots + LISTS_REPEATED) * LIST_BYTES;
    }

    /// The repair lane's slots with their headers and lists, and those for what is read out of windows.
    static long repairBytes(final SinkConfig config) {
        return repairBytes(config, SinkConfig.REPAIR_SLOTS);
    }

    private static long repairBytes(final SinkConfig config, final int slots) {
        return (slots + config.pullSlots()) * (long) (config.slotBytes() + config.headerStride()) + listBytes(slots);
    }

    // Tables are a power of two long.
    private static long tableSlots(final SinkConfig config) {
        return Math.max(64, 2L * Integer.highestOneBit(Math.max(1, config.ringSlots() - 1)));
    }
}
