package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrames;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class BundleTablesTest {
    private static final int FRAMES_MAX = BundleLayout.framesMax(TestShape.SLOT_BYTES);

    private final SlotMemory memory = new RecordedMemory(TestShape.of(Kind.STAGED)).data();
    private final BundleTable table = new BundleTable(TestShape.STREAM);

    private int keep(final BundleTables tables, final int ringSlot, final long sequence, final int frames) {
        final int bytes = TestShape.writeBundle(memory, 1, sequence, frames);
        keep(tables, ringSlot, bytes);
        return bytes;
    }

    private void keep(final BundleTables tables, final int ringSlot, final int bytes) {
        tables.keep(
                ringSlot, memory.headers(), memory.headerOffset(1), memory.payload(), memory.payloadOffset(1) + bytes);
    }

    private boolean opens(final BundleTables tables, final int ringSlot, final long sequence, final int frames) {
        final int bytes = frames * BundleLayout.ALIGN_BYTES + BundleLayout.tableBytes(frames);
        return tables.open(ringSlot, ReceivedFrames.bundle(sequence, bytes, frames), table);
    }

    @Test
    void shouldHaveRoomForTheMostFramesOfASlot() {
        assertEquals(4, FRAMES_MAX);
        assertEquals(4 * 8 + 8, BundleTables.bytesPerSlot(TestShape.SLOT_BYTES));
    }

    @Test
    void shouldKeepATableForEachSlotOfTheRing() {
        final BundleTables tables = new BundleTables(513, TestShape.SLOT_BYTES);
        for (int slot = 0; slot < 513; slot++) {
            // As many as fit with their table, and fewer.
            keep(tables, slot, 1000 + slot, 2 + slot % 2);
        }
        memory.payload().fill((byte) 0);
        for (int slot = 0; slot < 513; slot++) {
            assertTrue(opens(tables, slot, 1000 + slot, 2 + slot % 2), "slot " + slot);
            assertEquals(2 + slot % 2, table.remaining());
        }
    }

    @Test
    void shouldServeManySlots() {
        final BundleTables tables = new BundleTables(1 << 24, TestShape.SLOT_BYTES);
        keep(tables, (1 << 24) - 1, 100, 3);
        assertTrue(opens(tables, (1 << 24) - 1, 100, 3));
    }

    @Test
    void shouldKeepTheNewestTableOfASlot() {
        final BundleTables tables = new BundleTables(256, TestShape.SLOT_BYTES);
        keep(tables, 7, 100, 3);
        keep(tables, 7, 356, 2);
        assertFalse(opens(tables, 7, 100, 3));
        assertTrue(opens(tables, 7, 356, 2));
    }

    @Test
    void shouldKeepNothingOfADatagramOfOneFrame() {
        final BundleTables tables = new BundleTables(256, TestShape.SLOT_BYTES);
        final int bytes = keep(tables, 7, 100, 3);
        memory.payload().fill((byte) 0);
        // Three bytes of metadata, where a bundle has three frames.
        final DataHeader plain = new DataHeader().attributes(0, 3);
        DataLayout.write(memory.headers(), memory.headerOffset(1), plain, 356, 0);
        keep(tables, 7, bytes);
        assertTrue(opens(tables, 7, 100, 3));
    }

    @Test
    void shouldOpenNothingWhereNoBundleCame() {
        final BundleTables tables = new BundleTables(300, TestShape.SLOT_BYTES);
        assertTrue(IntStream.range(0, 300).noneMatch(slot -> opens(tables, slot, slot, 2)));
    }
}
