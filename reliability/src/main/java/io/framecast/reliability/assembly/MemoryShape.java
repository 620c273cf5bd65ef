package io.framecast.reliability.assembly;

import io.framecast.reliability.wire.StreamInfo;

/// Lengths of a receiver's memory, in slots, for one session.
///
/// @param stream the session
/// @param kind how payloads reach their places
/// @param ringSlots slots of the ring, a multiple of 64
/// @param spareSlots the part of the ring that is never granted to the source and therefore always empty: datagrams
///     that the source sends without credit land there. 0 where it sends none
/// @param batchMax datagrams taken in one poll of the data lane
/// @param stagingSlots slots of the staging space; 0 but for [Kind#STAGED]
/// @param repairSlots slots of the repair lane
/// @param readSlots slots for RDMA reads; 0 where nothing is read
/// @param buffers reassembly buffers, each as long as the longest frame; 0 with [Kind#STAGED]
/// @param laterMax frames behind the oldest incomplete one that are reassembled at a time
public record MemoryShape(
        StreamInfo stream,
        Kind kind,
        int ringSlots,
        int spareSlots,
        int batchMax,
        int stagingSlots,
        int repairSlots,
        int readSlots,
        int buffers,
        int laterMax) {
    /// How payloads reach their places.
    public enum Kind {
        /// Receives are posted for the slots of the sequences expected next.
        IN_RING,
        /// Payloads are copied there from staging memory.
        STAGED,
        /// The ring is filled in order of arrival.
        BY_ARRIVAL
    }

    // Repairs that may wait for their copy.
    private static final int REPAIR_SLOTS = 128;
    // As above, where a transport has room in posted slots only: two turns of a source.
    private static final int REPAIR_SLOTS_POSTED = 512;
    private static final long STAGING_BYTES = 16L << 20;
    private static final int BATCH_MIN = 64;
    private static final int BATCH_MAX = 512;
    // More than the kernel joins into one message.
    private static final int BATCH_BYTES = 128 << 10;
    // Bytes of frames that are reassembled beside the oldest: many frames where they are short, because each waits
    // for a round trip.
    private static final long LATER_BYTES = 2L << 20;
    private static final long LATER_MAX = 16;

    /// The best shape for a session.
    ///
    /// @param reads whether repairs may be read out of a window
    /// @param framesHeld frames that the user may hold while it waits for one more
    public static MemoryShape of(
            final StreamInfo stream,
            final Kind kind,
            final int ringSlots,
            final int spareSlots,
            final boolean reads,
            final int framesHeld) {
        final int batchMax = batchMax(stream.slotBytes());
        final boolean byArrival = kind == Kind.BY_ARRIVAL;
        final long bufferBytes = stream.frameMaxSlots() * stream.slotBytes();
        final int laterMax = byArrival ? (int) Math.clamp(LATER_BYTES / bufferBytes, 1, LATER_MAX) : 0;
        return new MemoryShape(
                stream,
                kind,
                ringSlots,
                spareSlots,
                batchMax,
                kind == Kind.STAGED ? stagingSlots(stream.slotBytes(), ringSlots, batchMax) : 0,
                byArrival ? REPAIR_SLOTS_POSTED : REPAIR_SLOTS,
                reads ? ReadSlots.SLOTS : 0,
                // A user may hold its maximum of frames, all of them reassembled, and wait for one more. It must
                // not wait for a buffer that only it can give back.
                byArrival ? framesHeld + 1 + laterMax : kind == Kind.STAGED ? 0 : 1,
                laterMax);
    }

    /// Datagrams taken in one poll of a data lane whose slots are that long.
    public static int batchMax(final int slotBytes) {
        return Math.clamp(BATCH_BYTES / slotBytes, BATCH_MIN, BATCH_MAX);
    }

    // Enough to keep copies and arrivals apart, never more than the ring itself needs.
    private static int stagingSlots(final int slotBytes, final int ringSlots, final int batchMax) {
        final long wanted = Math.max(4L * batchMax, STAGING_BYTES / slotBytes);
        return (int) Math.min(Math.max(ringSlots, batchMax), wanted);
    }

    public int slotBytes() {
        return stream.slotBytes();
    }

    public long ringBytes() {
        return (long) ringSlots * slotBytes();
    }

    /// Memory behind the ring for the end of a frame that passes the ring's end; 0 but for [Kind#STAGED].
    public long tailBytes() {
        return kind == Kind.STAGED ? bufferBytes() : 0;
    }

    /// Length of one reassembly buffer, in whole slots.
    public long bufferBytes() {
        return stream.frameMaxSlots() * slotBytes();
    }

    /// Length of all reassembly buffers.
    public long buffersBytes() {
        return buffers * bufferBytes();
    }

    /// Slots of the repair lane and of RDMA reads.
    public int allRepairSlots() {
        return repairSlots + readSlots;
    }

    /// Heap bytes for the table of the frames in one slot, where payloads go on to a device.
    public int bundleTableBytes() {
        return BundleTables.bytesPerSlot(slotBytes());
    }
}
