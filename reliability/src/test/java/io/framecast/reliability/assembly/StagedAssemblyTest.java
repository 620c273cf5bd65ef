package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.lane.LanePort.Placement;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceivedFrames;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A ring of 8 slots of 256 bytes, filled by copies out of 6 staging slots.
final class StagedAssemblyTest {
    private final MemoryShape shape = TestShape.of(Kind.STAGED);
    private final RecordedMemory memory = new RecordedMemory(shape);
    private final RecordedLane lane = new RecordedLane(Placement.BY_ARRIVAL);
    private final Assembly assembly = Assembly.of(shape, memory);

    @BeforeEach
    void start() {
        assembly.start(0);
    }

    private List<String> endBatch() {
        assembly.endBatch();
        return memory.takeCopies();
    }

    private boolean opens(final ReceivedFrame bundle) {
        assembly.deliver(bundle);
        return assembly.openBundle(bundle, new BundleTable(TestShape.STREAM));
    }

    @Test
    void shouldExpectAsManyDatagramsAsStagingHolds() {
        assertEquals(TestShape.LANDING_SLOTS, assembly.prepare(lane));
    }

    @Test
    void shouldPostStagingSlotsAgainWhenTheirCopiesEnded() {
        lane.arrive(0, 1, 2);
        assertEquals(3, assembly.poll(lane, null));
        assertEquals(List.of("0+6"), lane.takePosts());
        assembly.accept(0, 0, 2, 256);
        assembly.reject(2);
        assertEquals(List.of("STAGING 0 > RING 0 x 512"), endBatch());
        assertEquals(1, memory.flushes());
        assertEquals(0, assembly.poll(lane, null));
        assertEquals(List.of(), lane.takePosts());
        memory.finish();
        assertEquals(0, assembly.poll(lane, null));
        assertEquals(List.of("0+3"), lane.takePosts());
    }

    @Test
    void shouldHaveNoSlotWhileEveryOneIsCopied() {
        lane.arrive(0, 1, 2, 3, 4, 5);
        assertEquals(6, assembly.poll(lane, null));
        assembly.accept(0, 0, 6, 256);
        assembly.endBatch();
        assertEquals(Assembly.NO_SLOT, assembly.poll(lane, null));
        memory.finish();
        assertEquals(0, assembly.poll(lane, null));
    }

    @Test
    void shouldCopyARunAtOnce() {
        assembly.accept(1, 2, 1, 256);
        assembly.accept(2, 3, 2, 256);
        assembly.accept(4, 5, 1, 20);
        assertEquals(List.of("STAGING 256 > RING 512 x 1024"), endBatch());
        assertEquals(List.of(), endBatch());
    }

    @Test
    void shouldBeginARunBehindAGapInSlotsOrSequences() {
        assembly.accept(0, 2, 1, 256);
        assembly.accept(2, 3, 1, 256);
        assembly.accept(3, 6, 1, 256);
        assertEquals(
                List.of("STAGING 0 > RING 512 x 256", "STAGING 512 > RING 768 x 256", "STAGING 768 > RING 1536 x 256"),
                endBatch());
    }

    @Test
    void shouldEndARunAtTheRingsEnd() {
        assembly.accept(0, 6, 4, 256);
        assertEquals(List.of("STAGING 0 > RING 1536 x 512", "STAGING 512 > RING 0 x 512"), endBatch());
    }

    // The frames' lengths in datagrams, which land one behind the other.
    private void land(final int... lengths) {
        int slot = 0;
        for (final int length : lengths) {
            for (int index = 0; index < length; index++) {
                final DataHeader header = new DataHeader().session(DataLayout.TYPE_DATA, TestShape.STREAM.session());
                DataLayout.write(memory.data().headers(), memory.data().headerOffset(slot), header, 0, index);
                slot++;
            }
        }
    }

    @Test
    void shouldPutTheEndOfAFrameThatPassesTheRingsEndIntoTheTail() {
        deliver(0, 6 * 256);
        land(3, 1);
        assembly.accept(0, 6, 4, 256);
        assertEquals(List.of("STAGING 0 > RING 1536 x 768", "STAGING 768 > RING 256 x 256"), endBatch());
        final ReceivedFrame frame = deliver(6, 600);
        assertTrue(assembly.locate(frame, 6, false));
        assertEquals(Space.RING, assembly.space());
        assertEquals(1536, assembly.offset());
        assertTrue(assembly.isInPlace());
        assertTrue(assembly.locate(frame, 6, true));
        assertEquals(List.of("RING 1536 > POSTED 0 x 600"), memory.takeCopies());
    }

    @Test
    void shouldPutARepairIntoTheTail() {
        deliver(0, 6 * 256);
        assembly.repaired(8, 2, 1, 88);
        assembly.repaired(9, 0, 2, 256);
        assertEquals(List.of("REPAIR 256 > RING 2048 x 88", "REPAIR 512 > RING 256 x 256"), memory.takeCopies());
    }

    // All before it was released.
    private ReceivedFrame deliver(final long firstSequence, final long bytes) {
        final ReceivedFrame frame = ReceivedFrames.whole(firstSequence, bytes);
        assembly.release(assembly.deliver(frame));
        return frame;
    }

    @Test
    void shouldBeginARunInEachBatch() {
        assembly.accept(0, 2, 1, 256);
        assertEquals(List.of("STAGING 0 > RING 512 x 256"), endBatch());
        assembly.accept(1, 3, 1, 256);
        assertEquals(List.of("STAGING 256 > RING 768 x 256"), endBatch());
    }

    @Test
    void shouldFindEveryFrameInPlace() {
        assembly.repaired(0, 0, 1, 100);
        assertEquals(List.of("REPAIR 256 > RING 0 x 100"), memory.takeCopies());
        final ReceivedFrame frame = ReceivedFrames.whole(0, 100);
        assertTrue(assembly.locate(frame, assembly.deliver(frame), false));
        assertEquals(Space.RING, assembly.space());
        assertTrue(assembly.isInPlace());
        assertEquals(0, assembly.reassembledBytes());
    }

    @Test
    void shouldKeepTheTableOfABundleThatLanded() {
        final int bytes = TestShape.writeBundle(memory.data(), 4, 0, 3);
        assembly.accept(4, 0, 1, bytes);
        memory.data().payload().fill((byte) 0);
        final ReceivedFrame bundle = ReceivedFrames.bundle(0, bytes, 3);
        final BundleTable table = new BundleTable(TestShape.STREAM);
        assembly.deliver(bundle);
        assertTrue(assembly.openBundle(bundle, table));
        assertEquals(3, table.remaining());
    }

    @Test
    void shouldKeepTheTableOfABundleThatWasRepaired() {
        final int bytes = TestShape.writeBundle(memory.repairs(), 2, 1, 2);
        assembly.repaired(1, 0, 2, bytes);
        assertEquals(List.of("REPAIR 512 > RING 256 x " + bytes), memory.takeCopies());
        memory.repairs().payload().fill((byte) 0);
        assertFalse(opens(ReceivedFrames.bundle(0, bytes, 2)));
        assertTrue(opens(ReceivedFrames.bundle(1, bytes, 2)));
    }

    @Test
    void shouldFindTheTableThatAnEarlierHolderLeftInTheRing() {
        final RecordedMemory host = new RecordedMemory(shape);
        final int bytes = 3 * BundleLayout.ALIGN_BYTES + BundleLayout.tableBytes(3);
        TestShape.writeTable(host.putRing(shape), 256 + bytes, 1, 3);
        final Assembly succeeding = Assembly.of(shape, host);
        succeeding.start(1);
        final ReceivedFrame bundle = ReceivedFrames.bundle(1, bytes, 3);
        final BundleTable table = new BundleTable(TestShape.STREAM);
        succeeding.deliver(bundle);
        assertTrue(succeeding.openBundle(bundle, table));
        assertEquals(3, table.remaining());
        assertFalse(succeeding.openBundle(ReceivedFrames.bundle(1, 7, 3), table));
    }
}
