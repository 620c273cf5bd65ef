package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;

/// The shape of a receiver's memory.
///
/// @param stream the session
/// @param ringSlots slots of the ring, a multiple of 64
/// @param spareSlots of these, as many as are never granted to the source, and so always empty: what it sends
///     without credit lands there. 0 where it sends no such
/// @param headerReserveBytes what the transport writes before each header
/// @param readsWindows whether repairs may be read out of a window: then there are slots for them
/// @param device where frames land
/// @param loss injected losses
public record SinkConfig(
        StreamInfo stream,
        int ringSlots,
        int spareSlots,
        int headerReserveBytes,
        boolean readsWindows,
        DeviceBackend device,
        LossInjector loss) {
    /// Repairs taken per poll of a lane.
    public static final int REPAIR_BATCH_MAX = 64;
    /// Repairs that may wait for their copy.
    public static final int REPAIR_SLOTS = 128;
    /// Repairs that may wait to be taken, where a transport has no room but what is posted: two turns of a
    /// source.
    public static final int REPAIR_SLOTS_POSTED = 512;

    private static final long LANDING_BYTES = 16L << 20;
    private static final int BATCH_MIN = 64;
    private static final int BATCH_MAX = 512;
    // More than the kernel joins into one message.
    private static final int BATCH_BYTES = 128 << 10;

    public int headerStride() {
        return headerReserveBytes + DataLayout.LENGTH;
    }

    public int slotBytes() {
        return stream.slotBytes();
    }

    /// Datagrams taken per poll of the data lane.
    public int batchMax() {
        return batchMax(slotBytes());
    }

    /// Datagrams taken per poll of a data lane whose slots are that long.
    public static int batchMax(final int slotBytes) {
        return Math.clamp(BATCH_BYTES / slotBytes, BATCH_MIN, BATCH_MAX);
    }

    /// Slots of staged placement's landing memory: enough to keep copies and arrivals apart, never more than
    /// the ring itself needs.
    public int landingSlots() {
        final long wanted = Math.max(4L * batchMax(), LANDING_BYTES / slotBytes());
        return (int) Math.min(Math.max(ringSlots, batchMax()), wanted);
    }

    /// Slots for what is read out of windows, behind those of the repair lane.
    public int pullSlots() {
        return readsWindows ? PullSlots.SLOTS : 0;
    }

    /// Slots of staged placement in the host, of either lane, and of reads.
    public int stagedSlots() {
        return landingSlots() + REPAIR_SLOTS + pullSlots();
    }

    /// What runs of slots take of the heap that wait for a NIC to copy them on.
    public long nicRunsBytes() {
        return (long) stagedSlots() * NicCopies.RUN_BYTES;
    }

    /// What the table of one slot's frames takes of the host, where the payload goes on to a device.
    public int bundleTableBytes() {
        return BundleTables.bytesPerSlot(slotBytes());
    }

    public long ringBytes() {
        return (long) ringSlots * stream.slotBytes();
    }
}
