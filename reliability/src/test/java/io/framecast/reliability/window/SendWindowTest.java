package io.framecast.reliability.window;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class SendWindowTest {
    private static final long SESSION = 0x1234_5678_9abc_def0L;
    private static final byte[] NONE = new byte[0];

    private final MemorySegment headers = MemorySegment.ofArray(new byte[8 * DataLayout.LENGTH]);
    private final int[] lengths = new int[8];
    private final SendWindow window =
            new SendWindow(new WindowMemory(headers, MemorySegment.NULL, lengths, 8, 64), SESSION);

    @Test
    void shouldWriteSealedHeadersWhenAFrameIsCommitted() {
        window.beginFrame(130, DataLayout.FLAG_KEYFRAME, 77, NONE);
        window.commit(130, 3);
        final HeaderChecksum checksum = new HeaderChecksum();
        for (int i = 0; i < 3; i++) {
            final long offset = (long) i * DataLayout.LENGTH;
            assertTrue(checksum.isSealed(headers, offset, SESSION));
            assertEquals(i, DataLayout.SEQUENCE.get(headers, offset));
            assertEquals(i, DataLayout.FRAME_INDEX.unsigned(headers, offset));
            assertEquals(130, DataLayout.FRAME_BYTES.unsigned(headers, offset));
            assertEquals(77, DataLayout.TIMESTAMP.get(headers, offset));
            assertEquals(DataLayout.FLAG_KEYFRAME, DataLayout.flags(headers, offset));
        }
        assertArrayEquals(new int[] {64, 64, 2, 0, 0, 0, 0, 0}, lengths);
        assertEquals(3, window.committed());
    }

    @Test
    void shouldWriteHeadersOnBothSidesOfTheEnd() {
        window.beginFrame(64 * 5, 0, 0, NONE);
        window.commit(64 * 5, 5);
        window.free(5);
        window.beginFrame(64 * 7, 0, 0, NONE);
        window.commit(64 * 7, 1);
        window.commit(64 * 7, 5);
        final HeaderChecksum checksum = new HeaderChecksum();
        for (int i = 0; i < 6; i++) {
            final long offset = (5L + i) % 8 * DataLayout.LENGTH;
            assertTrue(checksum.isSealed(headers, offset, SESSION));
            assertEquals(5 + i, DataLayout.SEQUENCE.get(headers, offset));
            assertEquals(i, DataLayout.FRAME_INDEX.unsigned(headers, offset));
        }
    }

    @Test
    void shouldTouchNoHeaderButItsOwn() {
        headers.fill((byte) 0x55);
        window.beginFrame(64 * 3, 0, 0, NONE);
        window.commit(64 * 3, 2);
        final MemorySegment behind = headers.asSlice(2 * DataLayout.LENGTH);
        assertTrue(IntStream.range(0, (int) behind.byteSize()).allMatch(i -> behind.get(JAVA_BYTE, i) == 0x55));
    }

    @Test
    void shouldKeepOneSlotFreeWhenFull() {
        assertEquals(7, window.freeSlots());
        window.beginFrame(64 * 20, 0, 0, NONE);
        window.commit(64 * 20, 7);
        assertEquals(0, window.freeSlots());
        window.free(3);
        assertEquals(3, window.freeSlots());
        window.free(1);
        assertEquals(3, window.freed());
    }

    @Test
    void shouldBeFullWhenNothingMoreFits() {
        window.beginFrame(64 * 20, 0, 0, NONE);
        window.commit(64 * 20, 6);
        assertFalse(window.isFull());
        window.commit(64 * 20, 1);
        assertTrue(window.isFull());
        window.free(6);
        assertFalse(window.isFull());
        window.commit(64 * 20, 5);
        assertFalse(window.isFull());
        assertEquals(1, window.freeSlots());
    }

    @Test
    void shouldHaveNoBundlesWhenNotAskedFor() {
        assertFalse(window.hasBundle());
        assertFalse(window.takeBundle());
        assertEquals(0, window.committed());
    }

    @Test
    void shouldFindTheNextFrameWhenAMemberJoinsWithinOne() {
        window.beginFrame(64 * 20, 0, 0, NONE);
        assertEquals(0, window.boundaryFrom(0));
        window.commit(64 * 20, 5);
        assertEquals(0, window.boundaryFrom(0));
        assertEquals(20, window.boundaryFrom(3));
        assertEquals(20, window.boundaryFrom(5));
        assertEquals(1, window.frameIdFrom(20));
        assertEquals(0, window.frameIdFrom(0));
    }

    @Test
    void shouldStartAtTheEndWhenEverythingIsSent() {
        window.beginFrame(1, 0, 0, NONE);
        window.commit(1, 1);
        window.beginFrame(65, 0, 0, NONE);
        window.commit(65, 2);
        assertEquals(1, window.boundaryFrom(1));
        assertEquals(3, window.boundaryFrom(2));
        assertEquals(3, window.boundaryFrom(3));
        assertEquals(2, window.frameIdFrom(3));
    }

    @Test
    void shouldNumberFramesFromTheGivenOneWhenTheIdWraps() {
        final SendWindow wrapping = new SendWindow(
                        new WindowMemory(headers, MemorySegment.NULL, lengths, 8, 64), SESSION)
                .firstFrameId((1L << 32) - 1);
        assertEquals((1L << 32) - 1, wrapping.frameIdFrom(0));
        wrapping.beginFrame(1, 0, 0, NONE);
        wrapping.commit(1, 1);
        wrapping.beginFrame(1, 0, 0, NONE);
        wrapping.commit(1, 1);
        assertEquals(-1, DataLayout.FRAME_ID.get(headers, 0));
        assertEquals(0, DataLayout.FRAME_ID.get(headers, DataLayout.LENGTH));
        assertEquals(1L << 32, wrapping.frameIdFrom(1));
    }

    @Test
    void shouldKeepMetadataOnlyAtTheFirstDatagramWhenSlotsAreReused() {
        window.beginFrame(128, 0, 0, new byte[] {1, 2});
        window.commit(128, 2);
        assertArrayEquals(new byte[] {1, 2}, window.metadata(0));
        assertNull(window.metadata(1));
        window.beginFrame(64 * 8, 0, 0, NONE);
        window.commit(64 * 8, 5);
        window.free(7);
        window.commit(64 * 8, 3);
        assertNull(window.metadata(8));
    }

    @Test
    void shouldRefuseWhenSlotsAreNoPowerOfTwo() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new SendWindow(new WindowMemory(headers, MemorySegment.NULL, lengths, 6, 64), SESSION));
    }
}
