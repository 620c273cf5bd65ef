package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.lane.LanePort.Placement;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceivedFrames;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A ring of 8 slots of 256 bytes, in which payloads land where they belong.
final class RingAssemblyTest {
    private final MemoryShape shape = TestShape.of(Kind.IN_RING);
    private final RecordedMemory memory = new RecordedMemory(shape);
    private final Assembly assembly = Assembly.of(shape, memory);

    @BeforeEach
    void start() {
        assembly.start(0);
    }

    private long deliver(final long firstSequence, final long bytes) {
        return assembly.deliver(ReceivedFrames.whole(firstSequence, bytes));
    }

    private boolean isInPlace(final ReceivedFrame frame) {
        assertTrue(assembly.locate(frame, assembly.deliver(frame)));
        return assembly.isInPlace();
    }

    private boolean isInPlace(final long firstSequence, final long bytes) {
        return isInPlace(ReceivedFrames.whole(firstSequence, bytes));
    }

    // Delivers frames of one slot, and releases each.
    private void pass(final long from, final long to) {
        for (long sequence = from; sequence < to; sequence++) {
            assembly.release(deliver(sequence, 1));
        }
    }

    @Test
    void shouldNeedALaneThatPlacesBySequence() {
        assertEquals(TestShape.RING_SLOTS, assembly.prepare(new RecordedLane(Placement.BY_SEQUENCE)));
        final RecordedLane byArrival = new RecordedLane(Placement.BY_ARRIVAL);
        assertThrows(IllegalStateException.class, () -> assembly.prepare(byArrival));
    }

    @Test
    void shouldCopyNothingWhenPayloadsLandInTheirPlaces() {
        assembly.accept(0, 0, 3, 100);
        assembly.accept(3, 3, 1, 100);
        assembly.endBatch();
        assertEquals(List.of(), memory.takeCopies());
        final ReceivedFrame second = ReceivedFrames.whole(1, 600);
        deliver(0, 100);
        assertTrue(assembly.locate(second, assembly.deliver(second)));
        assertEquals(Space.RING, assembly.space());
        assertEquals(256, assembly.offset());
        assertTrue(assembly.isInPlace());
        assertEquals(0, assembly.reassembledBytes());
    }

    @Test
    void shouldPutMisplacedPayloadsInOrderThroughScratchSlots() {
        assembly.accept(4, 2, 3, 100);
        assembly.accept(7, 6, 1, 30);
        assertEquals(
                List.of(
                        "RING 1024 > SCRATCH 0 x 100",
                        "RING 1280 > SCRATCH 256 x 256",
                        "RING 1536 > SCRATCH 512 x 256",
                        "RING 1792 > SCRATCH 768 x 30"),
                memory.takeCopies());
        assembly.endBatch();
        assertEquals(
                List.of(
                        "SCRATCH 0 > RING 512 x 100",
                        "SCRATCH 256 > RING 768 x 256",
                        "SCRATCH 512 > RING 1024 x 256",
                        "SCRATCH 768 > RING 1536 x 30"),
                memory.takeCopies());
        assertEquals(642, assembly.reassembledBytes());
        assembly.endBatch();
        assertEquals(List.of(), memory.takeCopies());
        assembly.accept(1, 0, 1, 20);
        assertEquals(List.of("RING 256 > SCRATCH 0 x 20"), memory.takeCopies());
    }

    @Test
    void shouldTellWhichFramesWereMoved() {
        assembly.accept(4, 2, 2, 256);
        assembly.endBatch();
        assertTrue(isInPlace(0, 512));
        assertFalse(isInPlace(2, 512));
        assertTrue(isInPlace(4, 256));
    }

    @Test
    void shouldTellOfAMoveInAnySlotOfAFrame() {
        assembly.repaired(1, 1, 0, 256);
        assembly.repaired(6, 0, 0, 256);
        assertFalse(isInPlace(0, 768));
        assertTrue(isInPlace(3, 768));
        assertFalse(isInPlace(6, 256));
    }

    @Test
    void shouldForgetAMoveWithItsFrame() {
        assembly.repaired(0, 0, 0, 256);
        final ReceivedFrame moved = ReceivedFrames.whole(0, 256);
        final long place = assembly.deliver(moved);
        assertTrue(assembly.locate(moved, place));
        assertFalse(assembly.isInPlace());
        assembly.release(place);
        pass(1, 8);
        // The same slot, a round later.
        assembly.repaired(9, 0, 0, 256);
        assertTrue(isInPlace(8, 256));
    }

    @Test
    void shouldForgetAMoveWhenItsFrameGoesToAPostedBuffer() {
        final TestBuffers buffers = new TestBuffers();
        final Assembly posted = Assembly.of(shape, memory, buffers);
        posted.start(0);
        posted.repaired(0, 0, 0, 256);
        buffers.posted.add(0);
        final ReceivedFrame moved = ReceivedFrames.whole(0, 256);
        final long place = posted.deliver(moved);
        assertTrue(posted.locate(moved, place));
        assertEquals(Space.POSTED, posted.space());
        posted.release(place);
        for (long sequence = 1; sequence < 8; sequence++) {
            posted.release(posted.deliver(ReceivedFrames.whole(sequence, 1)));
        }
        final ReceivedFrame next = ReceivedFrames.whole(8, 256);
        assertTrue(posted.locate(next, posted.deliver(next)));
        assertTrue(posted.isInPlace());
    }

    @Test
    void shouldForgetMovesOfDroppedFramesOnly() {
        assembly.repaired(2, 0, 0, 256);
        assembly.repaired(3, 1, 0, 256);
        assembly.repaired(5, 1, 0, 256);
        pass(0, 2);
        assembly.skip(2, 4);
        assertFalse(isInPlace(4, 512));
        assembly.release(4);
        pass(6, 10);
        assembly.repaired(15, 0, 0, 256);
        assertTrue(isInPlace(10, 512));
    }

    @Test
    void shouldForgetMovesOfDroppedFramesAcrossTheEnd() {
        pass(0, 7);
        assembly.repaired(8, 1, 0, 256);
        assembly.repaired(14, 1, 0, 256);
        assembly.skip(7, 9);
        pass(9, 13);
        assertFalse(isInPlace(13, 512));
        assembly.release(13);
        pass(15, 16);
        assembly.repaired(17, 0, 0, 256);
        assertTrue(isInPlace(16, 256));
    }

    @Test
    void shouldTellForEachFrameOfABundleWhetherItWasMoved() {
        assembly.repaired(1, 0, 0, 256);
        final long first = assembly.deliver(ReceivedFrames.bundle(0, 200, 2));
        assertTrue(assembly.locate(ReceivedFrames.part(0, 0, 10, false), first));
        assertTrue(assembly.isInPlace());
        assertTrue(assembly.locate(ReceivedFrames.part(0, 64, 10, true), first));
        assertTrue(assembly.isInPlace());
        assertEquals(64, assembly.offset());
        final long second = assembly.deliver(ReceivedFrames.bundle(1, 200, 2));
        assertTrue(assembly.locate(ReceivedFrames.part(1, 0, 10, false), second));
        assertFalse(assembly.isInPlace());
        assertTrue(assembly.locate(ReceivedFrames.part(1, 64, 10, true), second));
        assertFalse(assembly.isInPlace());
        assertEquals(256 + 64, assembly.offset());
        assembly.repaired(2, 0, 0, 256);
        assertFalse(isInPlace(2, 256));
    }

    @Test
    void shouldOpenABundleWhereItArrived() {
        final int bytes = TestShape.writeBundle(memory.data(), 1, 1, 3);
        deliver(0, 1);
        final ReceivedFrame bundle = ReceivedFrames.bundle(1, bytes, 3);
        assembly.deliver(bundle);
        assertEquals(4, assembly.framesHeld());
        final BundleTable table = new BundleTable(TestShape.STREAM);
        assertTrue(assembly.openBundle(bundle, table));
        assertEquals(3, table.remaining());
        memory.data().payload().fill((byte) 0);
        assertFalse(assembly.openBundle(ReceivedFrames.bundle(1, bytes, 3), table));
    }

    @Test
    void shouldPlaceARepairAtOnce() {
        assembly.repaired(5, 1, 2, 99);
        assertEquals(List.of("REPAIR 512 > RING 1280 x 99"), memory.takeCopies());
        assertEquals(99, assembly.reassembledBytes());
    }

    @Test
    void shouldBeginAgainAtTheFirstSlotWhenNothingIsThere() {
        pass(0, 3);
        assembly.rewind(3);
        assembly.accept(0, 3, 1, 256);
        assembly.endBatch();
        assertEquals(List.of(), memory.takeCopies());
        final ReceivedFrame frame = ReceivedFrames.whole(3, 256);
        assertTrue(assembly.locate(frame, assembly.deliver(frame)));
        assertEquals(0, assembly.offset());
    }
}
