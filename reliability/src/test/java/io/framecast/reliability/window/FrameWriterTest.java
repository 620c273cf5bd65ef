package io.framecast.reliability.window;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class FrameWriterTest {
    private static final int SLOTS = 16;
    private static final int SLOT_BYTES = 128;
    private static final byte[] NONE = {};

    private final BundleFixture fixture = new BundleFixture(SLOTS, SLOT_BYTES);
    private final SendWindow window = fixture.window;
    private final Readers readers = new Readers();
    private final FrameWriter writer = new FrameWriter(window, readers);

    /// Readers with limited room, which notes what it was shown.
    private static final class Readers implements FrameReaders {
        private final List<String> shown = new ArrayList<>();
        private Runnable onReclaim = () -> {};
        private boolean room = true;
        private boolean roomForFormat = true;
        private int reclaims;

        @Override
        public boolean hasRoom() {
            return room;
        }

        @Override
        public boolean hasRoomForFormat() {
            return roomForFormat;
        }

        @Override
        public void begin(
                final long sequence,
                final long frameId,
                final int flags,
                final long timestampNs,
                final byte[] metadata,
                final StreamFormat format) {
            shown.add("begin " + frameId + " at " + sequence + (format == null ? "" : " " + format.bytes()[0]));
        }

        @Override
        public void publish(final long offset, final long length) {
            shown.add("publish " + offset + " " + length);
        }

        @Override
        public boolean reclaim() {
            reclaims++;
            onReclaim.run();
            return true;
        }
    }

    private void write(final long place, final long number, final int bytes) {
        MemorySegment.copy(BundleFixture.content(number, bytes), 0, fixture.payload, JAVA_BYTE, place, bytes);
    }

    private void publishWhole(final int slots) {
        final long place = writer.claim((long) slots * SLOT_BYTES);
        assertTrue(place >= 0);
        writer.commit(0, 7, NONE);
    }

    @Test
    void shouldBundleSmallFramesAndShowEach() {
        for (int i = 0; i < 2; i++) {
            final long place = writer.claim(8);
            write(place, i, 8);
            writer.commit(0, 7, NONE);
        }
        assertEquals(List.of("begin 0 at 0", "publish 0 8", "begin 1 at 0", "publish 64 8"), readers.shown);
        assertEquals(0, window.committed());
        writer.flush();
        assertEquals(1, window.committed());
        assertEquals(2, fixture.frames(0).size());
    }

    @Test
    void shouldPutAFrameWithSlotsOfItsOwnBehindTheSmallOnes() {
        write(writer.claim(8), 1, 8);
        writer.commit(0, 7, NONE);
        final long place = writer.claim(3 * SLOT_BYTES);
        assertEquals(SLOT_BYTES, place, "the bundle before it is complete");
        writer.commit(DataLayout.FLAG_KEYFRAME, 7, NONE);
        assertEquals(4, window.committed());
        assertEquals(List.of("begin 0 at 0", "publish 0 8", "begin 1 at 1", "publish 128 384"), readers.shown);
        assertTrue(writer.isIdle());
    }

    @Test
    void shouldForgetAClaimThatIsGivenBack() {
        writer.claim(8);
        writer.abort();
        writer.claim(2 * SLOT_BYTES);
        writer.abort();
        writer.abort();
        assertEquals(List.of(), readers.shown);
        publishWhole(1);
        assertEquals(1, window.committed());
    }

    @Test
    void shouldAskReadersToFreeBeforeItRefuses() {
        publishWhole(SLOTS - 2);
        assertEquals(FrameWriter.NO_ROOM, writer.claim(3 * SLOT_BYTES));
        assertEquals(1, readers.reclaims);
        assertEquals(3, writer.refusedSlots());
        readers.onReclaim = () -> window.free(4);
        assertTrue(writer.claim(3 * SLOT_BYTES) >= 0);
        assertEquals(0, writer.refusedSlots());
        writer.abort();
        readers.room = false;
        assertEquals(FrameWriter.NO_ROOM, writer.claim(8));
        readers.onReclaim = () -> readers.room = true;
        assertTrue(writer.claim(8) >= 0);
    }

    @Test
    void shouldCommitInPartsAsTheWindowFrees() {
        publishWhole(SLOTS - 3);
        assertTrue(writer.reserve(2));
        assertEquals(5, writer.begin(5 * SLOT_BYTES - 1, 0, 7, NONE));
        assertEquals(2, writer.roomForPart());
        assertFalse(writer.commitPart(2));
        assertEquals(0, writer.roomForPart());
        assertThrows(IllegalStateException.class, writer::abort, "a part is on its way");
        window.free(10);
        assertEquals(3, writer.roomForPart());
        assertEquals(3, readers.shown.size(), "it is not whole");
        assertTrue(writer.commitPart(3));
        assertEquals("publish " + (SLOTS - 3) * SLOT_BYTES + " " + (5 * SLOT_BYTES - 1), readers.shown.getLast());
        assertTrue(writer.isIdle());
    }

    @Test
    void shouldGiveUpAFrameOfWhichNothingIsCommitted() {
        assertTrue(writer.reserve(2));
        writer.begin(2 * SLOT_BYTES, 0, 7, NONE);
        writer.abort();
        publishWhole(1);
        assertEquals(List.of("begin 0 at 0", "begin 0 at 0", "publish 0 128"), readers.shown);
        assertEquals(1, window.nextFrameId());
    }

    @Test
    void shouldWaitWithAFrameUntilItsFormatHasRoom() {
        readers.roomForFormat = false;
        writer.format(new byte[] {5});
        assertEquals(FrameWriter.NO_ROOM, writer.claim(8));
        assertTrue(window.isFormatBlocked());
        assertEquals(SLOTS - 1, writer.awaitedSlots(1), "only an empty window is sure to have a number");
        readers.onReclaim = () -> readers.roomForFormat = true;
        assertTrue(writer.claim(8) >= 0);
        assertFalse(window.isFormatBlocked());
        assertEquals(1, writer.awaitedSlots(1));
        writer.commit(0, 7, NONE);
        assertEquals("begin 0 at 0 5", readers.shown.getFirst());
    }

    @Test
    void shouldRefuseWhatItsStateDoesNotAllow() {
        assertThrows(IllegalStateException.class, () -> writer.commit(0, 7, NONE));
        assertThrows(IllegalStateException.class, () -> writer.commitPart(1));
        writer.claim(8);
        assertThrows(IllegalStateException.class, () -> writer.claim(8));
        assertThrows(IllegalStateException.class, () -> writer.reserve(1));
        assertThrows(IllegalStateException.class, () -> writer.begin(8, 0, 7, NONE));
        assertThrows(IllegalStateException.class, () -> writer.format(null));
        assertThrows(IllegalStateException.class, writer::flush);
        assertThrows(IllegalStateException.class, () -> writer.commitPart(1));
    }
}
