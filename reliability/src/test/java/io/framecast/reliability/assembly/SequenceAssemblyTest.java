package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceivedFrames;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Where frames are found in a ring of 8 slots of 256 bytes that is addressed by sequence.
final class SequenceAssemblyTest {
    // A frame of 600 bytes in the slots 6, 7 and 0.
    private final ReceivedFrame wrapping = ReceivedFrames.whole(6, 600);

    private record Ring(RecordedMemory memory, TestBuffers buffers, Assembly assembly) {
        // Everything before the wrapping frame was released.
        static Ring of(final Kind kind, final boolean mappedTwice) {
            final MemoryShape shape = TestShape.of(kind);
            final RecordedMemory memory = new RecordedMemory(shape, mappedTwice);
            final TestBuffers buffers = new TestBuffers();
            final Ring ring = new Ring(memory, buffers, Assembly.of(shape, memory, buffers));
            ring.assembly.start(0);
            ring.assembly.release(ring.deliver(0, 6 * 256));
            return ring;
        }

        long deliver(final long firstSequence, final long bytes) {
            return assembly.deliver(ReceivedFrames.whole(firstSequence, bytes));
        }

        // Into the buffer that the user posts just before.
        boolean locatePosted(final ReceivedFrame frame, final long place) {
            buffers.posted.add(0);
            return assembly.locate(frame, place);
        }

        void assertAt(final Space space, final long offset) {
            assertEquals(space, assembly.space());
            assertEquals(offset, assembly.offset());
        }
    }

    @Test
    void shouldMakeAFrameContiguousThatPassesTheEnd() {
        final Ring ring = Ring.of(Kind.IN_RING, false);
        final long place = ring.assembly.deliver(wrapping);
        assertTrue(ring.assembly.locate(wrapping, place));
        assertEquals(List.of("RING 1536 > REASSEMBLY 0 x 600"), ring.memory.takeCopies());
        assertEquals(1, ring.memory.flushes());
        ring.assertAt(Space.REASSEMBLY, 0);
        assertFalse(ring.assembly.isInPlace());
        assertEquals(600, ring.assembly.reassembledBytes());
    }

    @ParameterizedTest
    @EnumSource(names = {"IN_RING", "STAGED"})
    void shouldLeaveAFrameThatEndsAtTheEnd(final Kind kind) {
        final Ring ring = Ring.of(kind, false);
        final ReceivedFrame last = ReceivedFrames.whole(6, 512);
        assertTrue(ring.assembly.locate(last, ring.assembly.deliver(last)));
        assertEquals(List.of(), ring.memory.takeCopies());
        ring.assertAt(Space.RING, 1536);
        assertTrue(ring.assembly.isInPlace());
    }

    @ParameterizedTest
    @EnumSource(names = {"IN_RING", "STAGED"})
    void shouldLeaveAFrameThatPassesTheEndOfARingThatIsMappedTwice(final Kind kind) {
        final Ring ring = Ring.of(kind, true);
        assertTrue(ring.assembly.locate(wrapping, ring.assembly.deliver(wrapping)));
        assertEquals(List.of(), ring.memory.takeCopies());
        ring.assertAt(Space.RING, 1536);
        assertTrue(ring.assembly.isInPlace());
    }

    @Test
    void shouldKeepTheReassemblyBufferUntilItsFrameIsReleased() {
        final Ring ring = Ring.of(Kind.IN_RING, false);
        final long place = ring.assembly.deliver(wrapping);
        assertTrue(ring.assembly.locate(wrapping, place));
        assertFalse(ring.assembly.locate(wrapping, place));
        ring.assembly.release(place);
        ring.deliver(9, 5 * 256);
        final ReceivedFrame next = ReceivedFrames.whole(14, 513);
        assertTrue(ring.assembly.locate(next, ring.assembly.deliver(next)));
        ring.assertAt(Space.REASSEMBLY, 0);
    }

    @Test
    void shouldKeepTheReassemblyBufferWhenAnotherFrameIsReleased() {
        final Ring ring = Ring.of(Kind.IN_RING, false);
        final long other = ring.deliver(6, 256);
        final ReceivedFrame frame = ReceivedFrames.whole(7, 257);
        final long place = ring.assembly.deliver(frame);
        assertTrue(ring.assembly.locate(frame, place));
        ring.assembly.release(other);
        assertFalse(ring.assembly.locate(frame, place));
    }

    @ParameterizedTest
    @EnumSource(names = {"IN_RING", "STAGED"})
    void shouldCopyAFrameIntoThePostedBuffer(final Kind kind) {
        final Ring ring = Ring.of(kind, false);
        final ReceivedFrame frame = ReceivedFrames.whole(6, 300);
        assertTrue(ring.locatePosted(frame, ring.assembly.deliver(frame)));
        assertEquals(List.of("RING 1536 > POSTED 0 x 300"), ring.memory.takeCopies());
        assertEquals(1, ring.memory.flushes());
        ring.assertAt(Space.POSTED, 0);
        assertFalse(ring.assembly.isInPlace());
        assertEquals(300, ring.assembly.reassembledBytes());
    }

    @Test
    void shouldNotTakeTheReassemblyBufferForAPostedFrame() {
        final Ring ring = Ring.of(Kind.IN_RING, false);
        final long place = ring.assembly.deliver(wrapping);
        assertTrue(ring.locatePosted(wrapping, place));
        assertEquals(List.of("RING 1536 > POSTED 0 x 600"), ring.memory.takeCopies());
        assertTrue(ring.assembly.locate(wrapping, place));
        // And the posted buffer is another one than that.
        assertTrue(ring.locatePosted(wrapping, place));
        ring.assertAt(Space.POSTED, 0);
        assertFalse(ring.assembly.locate(wrapping, place));
    }

    @ParameterizedTest
    @EnumSource(names = {"IN_RING", "STAGED"})
    void shouldFindAFrameOfABundleBehindTheOnesBefore(final Kind kind) {
        final Ring ring = Ring.of(kind, false);
        final long place = ring.assembly.deliver(ReceivedFrames.bundle(6, 200, 2));
        assertTrue(ring.assembly.locate(ReceivedFrames.part(6, 64, 10, true), place));
        ring.assertAt(Space.RING, 1536 + 64);
        assertTrue(ring.locatePosted(ReceivedFrames.part(6, 64, 10, true), place));
        assertEquals(List.of("RING 1600 > POSTED 0 x 10"), ring.memory.takeCopies());
    }
}
