package io.framecast.reliability.window;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

final class FrameTableTest {
    private final FrameTable table = new FrameTable(64);

    private static MemorySegment header(final long id, final long bytes, final int metadataBytes) {
        return header(id, bytes, DataLayout.FLAG_KEYFRAME, metadataBytes);
    }

    private static MemorySegment header(final long id, final long bytes, final int flags, final int metadataBytes) {
        final MemorySegment header = MemorySegment.ofArray(new byte[DataLayout.LENGTH]);
        final DataHeader values = new DataHeader().frame(id, bytes, 99).attributes(flags, metadataBytes);
        DataLayout.write(header, 0, values, 5, 0);
        return header;
    }

    @Test
    void shouldKnowAFrameWhenItLearnedOfIt() {
        assertFalse(table.contains(5));
        assertTrue(table.learn(header(3, 100, 0), 0, 5));
        assertTrue(table.contains(5));
        assertFalse(table.contains(5 + 64));
        assertEquals(100, table.frameBytes(5));
        assertEquals(3, table.frameId(5));
        assertEquals(99, table.timestampNs(5));
        assertEquals(1, table.flags(5));
        table.remove(5);
        assertFalse(table.contains(5));
    }

    @Test
    void shouldRefuseWhenALaterHeaderContradicts() {
        table.learn(header(3, 100, 0), 0, 5);
        assertTrue(table.learn(header(3, 100, 0), 0, 5));
        assertFalse(table.learn(header(4, 100, 0), 0, 5));
        assertFalse(table.learn(header(3, 101, 0), 0, 5));
        assertFalse(table.learn(header(3, 100, 1), 0, 5));
    }

    @Test
    void shouldKeepMetadataWhenItComesBeforeItsFrame() {
        table.putMetadata(5, new byte[] {1, 2});
        table.learn(header(3, 100, 2), 0, 5);
        assertTrue(table.hasMetadata(5));
        assertArrayEquals(new byte[] {1, 2}, table.metadata(5));
        table.remove(5);
        assertNull(table.metadata(5));
    }

    @Test
    void shouldLackMetadataWhenItIsAbsentOrOfAnotherLength() {
        table.learn(header(3, 100, 2), 0, 5);
        assertFalse(table.hasMetadata(5));
        table.putMetadata(5, new byte[] {1});
        assertFalse(table.hasMetadata(5));
        table.putMetadata(5 + 64, new byte[] {1, 2});
        assertFalse(table.hasMetadata(5));
    }

    @Test
    void shouldKeepNeighboursApart() {
        table.learn(header(3, 100, 0), 0, 5);
        table.learn(header(4, 200, 0), 0, 6);
        assertTrue(table.contains(5));
        assertTrue(table.contains(6));
        assertEquals(100, table.frameBytes(5));
        assertEquals(200, table.frameBytes(6));
    }

    @Test
    void shouldTellTheFramesOfABundleFromTheLengthOfMetadata() {
        table.learn(header(3, 300, DataLayout.FLAG_BUNDLE, 4), 0, 5);
        assertEquals(4, table.bundleFrames(5));
        assertEquals(0, table.metadataBytes(5));
        assertTrue(table.hasMetadata(5));
        table.learn(header(7, 300, 4), 0, 6);
        assertEquals(0, table.bundleFrames(6));
        assertEquals(4, table.metadataBytes(6));
        assertNull(table.metadata(0));
    }
}
