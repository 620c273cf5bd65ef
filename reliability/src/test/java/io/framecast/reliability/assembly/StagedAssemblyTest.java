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
    private final TestBuffers buffers = new TestBuffers();
    private final Assembly assembly = Assembly.of(shape, memory, buffers);

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
        assertEquals(TestShape.STAGING_SLOTS, assembly.prepare(lane));
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
        arrive(2, 2);
        assembly.accept(0, 6, 2, 256);
        assembly.accept(2, 8, 2, 256);
        assertEquals(List.of("STAGING 0 > RING 1536 x 512", "STAGING 512 > RING 0 x 512"), endBatch());
    }

    // The frames' lengths in datagrams, which land one behind the other.
    private void arrive(final int... lengths) {
        int slot = 0;
        for (final int length : lengths) {
            for (int index = 0; index < length; index++) {
                final DataHeader header = new DataHeader()
                        .session(DataLayout.TYPE_DATA, TestShape.STREAM.session())
                        .frame(0, length * 256L - 156, 0);
                DataLayout.write(memory.data().headers(), memory.data().headerOffset(slot), header, 0, index);
                slot++;
            }
        }
    }

    @Test
    void shouldPutTheEndOfAFrameThatPassesTheRingsEndIntoTheTail() {
        deliver(0, 6 * 256);
        arrive(3, 1);
        assembly.accept(0, 6, 3, 256);
        assembly.accept(3, 9, 1, 256);
        assertEquals(List.of("STAGING 0 > RING 1536 x 768", "STAGING 768 > RING 256 x 256"), endBatch());
        final ReceivedFrame frame = deliver(6, 600);
        assertTrue(assembly.locate(frame, 6));
        assertEquals(Space.RING, assembly.space());
        assertEquals(1536, assembly.offset());
        assertTrue(assembly.isInPlace());
        post(0);
        assertTrue(assembly.locate(frame, 6));
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

    private void post(final Integer... numbers) {
        buffers.posted.addAll(List.of(numbers));
    }

    private boolean isPosted() {
        return ((PostedAssembly) assembly).isPosted();
    }

    private static String posted(final int number, final long offset) {
        return "POSTED " + (PostedOffset.of(number) + offset);
    }

    @Test
    void shouldCopyAFrameStraightToTheUsersBuffer() {
        post(5, 2);
        arrive(3, 2, 1);
        assembly.accept(0, 0, 3, 256);
        assembly.accept(3, 3, 1, 256);
        assertEquals(
                List.of("STAGING 0 > " + posted(5, 0) + " x 768", "STAGING 768 > " + posted(2, 0) + " x 256"),
                endBatch());
        // No buffer is left, and the second frame goes on in its own.
        assembly.accept(4, 4, 1, 100);
        assembly.accept(5, 5, 1, 100);
        assertEquals(
                List.of("STAGING 1024 > " + posted(2, 256) + " x 100", "STAGING 1280 > RING 1280 x 256"), endBatch());
        final ReceivedFrame first = ReceivedFrames.whole(0, 612);
        final long place = assembly.deliver(first);
        assertTrue(isPosted());
        assertTrue(assembly.locate(first, place));
        assertEquals(Space.POSTED, assembly.space());
        assertEquals(PostedOffset.of(5), assembly.offset());
        assertTrue(assembly.isInPlace());
        assembly.deliver(ReceivedFrames.whole(3, 356));
        assertTrue(isPosted());
        assembly.deliver(ReceivedFrames.whole(5, 100));
        assertFalse(isPosted());
        assertEquals(0, assembly.reassembledBytes());
    }

    @Test
    void shouldNotCopyPastTheEndOfAFrameInTheUsersBuffer() {
        post(0);
        arrive(2);
        assembly.accept(1, 1, 1, 100);
        assertEquals(List.of("STAGING 256 > " + posted(0, 256) + " x 100"), endBatch());
    }

    @Test
    void shouldLeaveInTheRingWhatBeganThere() {
        arrive(3, 2);
        assembly.accept(0, 0, 1, 256);
        buffers.posted.add(7);
        assembly.accept(1, 1, 2, 256);
        assertEquals(List.of("STAGING 0 > RING 0 x 768"), endBatch());
        // Its first datagram is a repair: a later frame may have taken a buffer.
        assembly.repaired(4, 1, 0, 100);
        assembly.accept(3, 3, 1, 256);
        assertEquals(List.of("REPAIR 0 > RING 1024 x 100", "STAGING 768 > RING 768 x 256"), endBatch());
        assertEquals(List.of(7), List.copyOf(buffers.posted));
    }

    @Test
    void shouldPutRepairsOfAFrameIntoItsBuffer() {
        post(1);
        arrive(3);
        assembly.accept(0, 0, 1, 256);
        assertEquals(List.of("STAGING 0 > " + posted(1, 0) + " x 256"), endBatch());
        assembly.repaired(1, 1, 2, 256);
        assertEquals(List.of("REPAIR 512 > " + posted(1, 256) + " x 256"), memory.takeCopies());
    }

    @Test
    void shouldKeepABundleInTheRing() {
        post(1);
        final int bytes = TestShape.writeBundle(memory.data(), 4, 0, 3);
        assembly.accept(4, 0, 1, bytes);
        assertEquals(List.of("STAGING 1024 > RING 0 x 256"), endBatch());
        assertEquals(1, buffers.posted.size());
    }

    @Test
    void shouldGiveBackTheBufferOfAFrameThatIsDropped() {
        post(0, 1, 2);
        arrive(2, 1, 1);
        assembly.accept(0, 0, 1, 256);
        assembly.accept(2, 2, 1, 100);
        assembly.accept(3, 3, 1, 100);
        assembly.skip(0, 2);
        assertEquals(List.of(0), buffers.returned);
        assembly.drop(assembly.deliver(ReceivedFrames.whole(2, 100)));
        assertEquals(List.of(0, 1), buffers.returned);
        assembly.leave();
        assertEquals(List.of(0, 1, 2), buffers.returned);
        assembly.leave();
        assertEquals(3, buffers.returned.size());
    }

    @Test
    void shouldGiveUpAFrameWhoseBufferIsFreed() {
        post(0);
        arrive(2);
        assembly.accept(0, 0, 1, 256);
        endBatch();
        memory.failNext();
        assembly.accept(1, 1, 1, 100);
        assertThrows(IllegalStateException.class, assembly::endBatch);
        buffers.gone = true;
        memory.failNext();
        assembly.repaired(1, 1, 0, 100);
        assembly.repaired(1, 1, 0, 100);
        assertEquals(List.of(), memory.takeCopies());
        final long place = assembly.deliver(ReceivedFrames.whole(0, 356));
        assertTrue(assembly.isGone());
        assertFalse(isPosted());
        assembly.drop(place);
        assertEquals(List.of(), buffers.returned);
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
        assertTrue(assembly.locate(frame, assembly.deliver(frame)));
        assertEquals(Space.RING, assembly.space());
        assertTrue(assembly.isInPlace());
        assertEquals(0, assembly.reassembledBytes());
    }

    @Test
    void shouldKeepTheTableOfABundleThatArrived() {
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
