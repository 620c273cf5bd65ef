package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;

/// A session with short slots, memory of few slots for it, and bundles of its datagrams.
final class TestShape {
    static final int SLOT_BYTES = 256;
    static final int RING_SLOTS = 8;
    static final int STAGING_SLOTS = 6;
    static final int BATCH_MAX = 4;
    static final int REPAIR_SLOTS = 3;
    /// Four slots: the longest frame.
    static final int BUFFER_BYTES = 1024;

    static final StreamInfo STREAM =
            new StreamInfo(77, "assembly", SLOT_BYTES, 64, BUFFER_BYTES, 1000, new byte[] {1}, new byte[] {2});

    private TestShape() {}

    static MemoryShape of(final Kind kind) {
        return of(kind, 0, 0);
    }

    static MemoryShape of(final Kind kind, final int spareSlots, final int readSlots) {
        final int stagingSlots = kind == Kind.STAGED ? STAGING_SLOTS : 0;
        return new MemoryShape(
                STREAM, kind, RING_SLOTS, spareSlots, BATCH_MAX, stagingSlots, REPAIR_SLOTS, readSlots, 3, 1);
    }

    /// Writes a datagram that holds that many frames of 10 bytes.
    ///
    /// @return bytes of its payload, which ends with the table
    static int writeBundle(final SlotMemory slots, final int slot, final long sequence, final int frames) {
        final int bytes = frames * BundleLayout.ALIGN_BYTES + BundleLayout.tableBytes(frames);
        final DataHeader header = new DataHeader()
                .session(DataLayout.TYPE_DATA, STREAM.session())
                .attributes(DataLayout.FLAG_BUNDLE, frames);
        DataLayout.write(slots.headers(), slots.headerOffset(slot), header, sequence, 0);
        writeTable(slots.payload(), slots.payloadOffset(slot) + bytes, sequence, frames);
        return bytes;
    }

    /// Writes a table of frames of 10 bytes, up to `end`.
    static void writeTable(final MemorySegment memory, final long end, final long sequence, final int frames) {
        final long table = end - BundleLayout.tableBytes(frames);
        for (int i = 0; i < frames; i++) {
            BundleLayout.write(memory, table, i, BundleLayout.entry(10, 0, 0));
        }
        final int checksum = new HeaderChecksum().ofBundle(memory, table, frames, STREAM.session(), sequence);
        BundleLayout.seal(memory, table, frames, checksum);
    }
}
