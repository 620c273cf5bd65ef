package io.framecast.reliability.assembly;

import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The tables of bundles whose payload goes on to a device, kept in the host until their frames are delivered: one
/// place for each slot of the ring. Places are made, some hundred at a time, when a bundle first needs one, and are
/// kept. One thread.
final class BundleTables {
    private static final int CHUNK_SLOTS = 256;

    private final int tableBytes;
    private final @Nullable MemorySegment[] chunks;

    BundleTables(final int ringSlots, final int slotBytes) {
        tableBytes = bytesPerSlot(slotBytes);
        chunks = new MemorySegment[(ringSlots + CHUNK_SLOTS - 1) / CHUNK_SLOTS];
    }

    /// Host memory per slot once bundles came.
    static int bytesPerSlot(final int slotBytes) {
        return BundleLayout.tableBytes(BundleLayout.framesMax(slotBytes));
    }

    /// Keeps the table of an accepted datagram, if it is a bundle.
    ///
    /// @param payload host memory
    /// @param end end of the datagram's payload there
    void keep(
            final int ringSlot,
            final MemorySegment headers,
            final long headerOffset,
            final MemorySegment payload,
            final long end) {
        if (!DataLayout.isBundle(headers, headerOffset)) {
            return;
        }
        // Its header was checked: no more frames than a slot has room for.
        final int bytes = BundleLayout.tableBytes(DataLayout.bundleFrames(headers, headerOffset));
        MemorySegment.copy(payload, end - bytes, chunk(ringSlot), endOffset(ringSlot) - bytes, bytes);
    }

    /// Opens the table kept for a bundle.
    boolean open(final int ringSlot, final ReceivedFrame bundle, final BundleTable table) {
        return table.open(chunk(ringSlot), endOffset(ringSlot), bundle);
    }

    private MemorySegment chunk(final int ringSlot) {
        final int index = ringSlot / CHUNK_SLOTS;
        MemorySegment chunk = chunks[index];
        if (chunk == null) {
            chunk = MemorySegment.ofArray(new byte[CHUNK_SLOTS * tableBytes]);
            chunks[index] = chunk;
        }
        return chunk;
    }

    private long endOffset(final int ringSlot) {
        return (ringSlot % CHUNK_SLOTS + 1L) * tableBytes;
    }
}
