package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.lane.LanePort.Placement;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceivedFrames;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import java.util.ArrayDeque;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// A ring of 8 slots of 256 bytes that is filled in order of arrival, with 3 reassembly buffers of 1024 bytes.
final class ArrivalAssemblyTest {
    private final MemoryShape shape = TestShape.of(Kind.BY_ARRIVAL);
    private final RecordedMemory memory = new RecordedMemory(shape);
    private final RecordedLane lane = new RecordedLane(Placement.BY_ARRIVAL);
    private final RecordedRequests requests = new RecordedRequests();
    private final BundleTable table = new BundleTable(TestShape.STREAM);
    private final TestBuffers buffers = new TestBuffers();
    private final Assembly assembly = Assembly.of(shape, memory, buffers);

    private void start() {
        assertEquals(TestShape.RING_SLOTS, assembly.prepare(lane));
        assertEquals(List.of("0+8"), lane.takePosts());
        assembly.start(0);
    }

    private List<String> poll() {
        assertEquals(0, assembly.poll(lane, null));
        return lane.takePosts();
    }

    private long deliver(final long firstSequence, final long bytes) {
        return assembly.deliver(ReceivedFrames.whole(firstSequence, bytes));
    }

    private void locate(final ReceivedFrame frame, final long place, final boolean posted) {
        if (posted) {
            buffers.posted.add(0);
        }
        assertTrue(assembly.locate(frame, place));
    }

    private void assertAt(final Space space, final long offset) {
        assertEquals(space, assembly.space());
        assertEquals(offset, assembly.offset());
    }

    // A frame of one slot that came as a repair.
    private long deliverRepaired(final long sequence) {
        assertTrue(assembly.reserve(sequence, 1, requests, 0));
        assembly.repaired(sequence, 0, 0, 256);
        assertTrue(assembly.canDeliver(sequence, 1));
        return deliver(sequence, 256);
    }

    @Test
    void shouldNeedALaneThatTakesSlotsInOrder() {
        final RecordedLane bySequence = new RecordedLane(Placement.BY_SEQUENCE);
        assertThrows(IllegalStateException.class, () -> assembly.prepare(bySequence));
    }

    @Test
    void shouldExpectNoMoreThanTheLaneHolds() {
        lane.acceptsMax = 5;
        assertEquals(5, assembly.prepare(lane));
        assertEquals(List.of("0+8"), lane.takePosts());
        lane.acceptsMax = 8;
        lane.arrive(0, 1);
        assertEquals(2, assembly.poll(lane, null));
        assertEquals(List.of("5+3"), lane.takePosts());
        assertEquals(List.of(), poll());
    }

    @Test
    void shouldKeepSpareSlotsForWhatComesWithoutCredit() {
        final MemoryShape two = TestShape.of(Kind.BY_ARRIVAL, 2, 0);
        assertEquals(6, Assembly.of(two, new RecordedMemory(two)).prepare(lane));
        final MemoryShape all = TestShape.of(Kind.BY_ARRIVAL, 8, 0);
        assertEquals(1, Assembly.of(all, new RecordedMemory(all)).prepare(lane));
    }

    @Test
    void shouldServeARingOfAnyLength() {
        for (final int slots : new int[] {1, 63, 64, 65, 100, 128, 129}) {
            final MemoryShape ring = new MemoryShape(TestShape.STREAM, Kind.BY_ARRIVAL, slots, 0, 4, 0, 3, 0, 1, 0);
            assertEquals(slots, Assembly.of(ring, new RecordedMemory(ring)).prepare(lane));
        }
    }

    /// Slots before the ring's end are left out where frames have one length, whatever that is.
    @Test
    void shouldCopyNothingBecauseTheRingEnds() {
        final SplittableRandom random = new SplittableRandom(5);
        for (int run = 0; run < 300; run++) {
            final int frame = 1 + random.nextInt(4);
            final int held = random.nextInt(3);
            final int slots = (held + 2) * 4 + random.nextInt(20);
            final MemoryShape ring =
                    new MemoryShape(TestShape.STREAM, Kind.BY_ARRIVAL, slots, 0, 4, 0, 3, 0, held + 2, 1);
            assertTrue(
                    copiedFrames(ring, frame, held, random) <= 1 + 5 + slots / frame,
                    "frames of " + frame + " in " + slots + " slots, " + held + " held");
        }
    }

    // Of 200 frames that arrive in order, those delivered elsewhere than they arrived; 100 where one of the later ones
    // is.
    private static int copiedFrames(
            final MemoryShape ring, final int frameSlots, final int held, final SplittableRandom random) {
        final RecordedMemory memory = new RecordedMemory(ring);
        final FifoLane lane = new FifoLane(ring.ringSlots());
        final Assembly assembly = Assembly.of(ring, memory);
        assembly.prepare(lane);
        assembly.start(0);
        final ArrayDeque<Long> frames = new ArrayDeque<>();
        final DataHeader header = new DataHeader()
                .session(DataLayout.TYPE_DATA, TestShape.STREAM.session())
                .frame(0, frameSlots * 256L, 0);
        int copied = 0;
        long sequence = 0;
        for (int f = 0; f < 200; f++) {
            for (int i = 0; i < frameSlots; i++) {
                while (lane.posted.isEmpty()) {
                    // The user releases what it holds beyond its number: then there is room.
                    assertTrue(frames.size() > held, "no slot is posted");
                    assembly.release(frames.remove());
                    assembly.poll(lane, null);
                }
                final int slot = lane.posted.remove();
                DataLayout.write(memory.data().headers(), memory.data().headerOffset(slot), header, sequence, i);
                assembly.accept(slot, sequence, 1, 256);
                sequence++;
            }
            final long first = sequence - frameSlots;
            assertTrue(assembly.canDeliver(first, frameSlots));
            final ReceivedFrame whole = ReceivedFrames.whole(first, frameSlots * 256L);
            final long place = assembly.deliver(whole);
            assertTrue(assembly.locate(whole, place));
            copied += assembly.isInPlace() ? 0 : f < 100 ? 1 : 100;
            memory.finish();
            frames.add(place);
            while (frames.size() > held && random.nextBoolean()) {
                assembly.release(frames.remove());
            }
            assembly.poll(lane, null);
        }
        return copied;
    }

    /// A receive queue: slots are taken in the order in which they were posted.
    private static final class FifoLane implements LanePort {
        private final ArrayDeque<Integer> posted = new ArrayDeque<>();
        private final int slots;

        private FifoLane(final int slots) {
            this.slots = slots;
        }

        @Override
        public Placement placement() {
            return Placement.BY_ARRIVAL;
        }

        @Override
        public int post(final int firstSlot, final int count) {
            for (int i = 0; i < count; i++) {
                posted.add((firstSlot + i) % slots);
            }
            return count;
        }

        @Override
        public int poll() {
            return 0;
        }

        @Override
        public int batchMax() {
            return TestShape.BATCH_MAX;
        }

        @Override
        public int slot(final int index) {
            throw new IllegalStateException("nothing was polled");
        }

        @Override
        public int bytes(final int index) {
            throw new IllegalStateException("nothing was polled");
        }
    }

    @Test
    void shouldPostRejectedSlotsInTheOrderOfTheirArrival() {
        start();
        assembly.reject(0);
        assembly.reject(1);
        // The lane dropped the datagram in slot 2, and posted that slot again.
        assembly.reject(3);
        assembly.reject(2);
        assertEquals(List.of("0+2", "3+1", "2+1"), poll());
    }

    @Test
    void shouldDeliverWhereDatagramsArrived() {
        start();
        assembly.reject(0);
        assembly.accept(1, 0, 3, 256);
        assembly.endBatch();
        final ReceivedFrame frame = ReceivedFrames.whole(0, 600);
        assertTrue(assembly.canDeliver(0, 3));
        final long place = assembly.deliver(frame);
        locate(frame, place, false);
        assertAt(Space.RING, 256);
        assertTrue(assembly.isInPlace());
        assertEquals(List.of(), memory.takeCopies());
        assertEquals(1, memory.flushes());
        assertEquals(List.of("0+1"), poll());
        assembly.release(place);
        assertEquals(List.of("1+3"), poll());
        assertEquals(0, assembly.reassembledBytes());
    }

    @Test
    void shouldReassembleAFrameThatWasRepaired() {
        start();
        deliverRepaired(0);
        memory.takeCopies();
        assembly.accept(0, 1, 1, 256);
        assertTrue(assembly.reserve(1, 4, requests, 0));
        assembly.repaired(2, 1, 2, 200);
        assertEquals(List.of("REPAIR 512 > REASSEMBLY 1280 x 200"), memory.takeCopies());
        assembly.accept(1, 3, 2, 256);
        final ReceivedFrame frame = ReceivedFrames.whole(1, 1000);
        locate(frame, assembly.deliver(frame), false);
        assertEquals(
                List.of("RING 0 > REASSEMBLY 1024 x 256", "RING 256 > REASSEMBLY 1536 x 512"), memory.takeCopies());
        assertAt(Space.REASSEMBLY, 1024);
        assertFalse(assembly.isInPlace());
        assertEquals(256 + 200 + 3 * 256, assembly.reassembledBytes());
    }

    @Test
    void shouldGrantTheSlotThatARepairDidNotTake() {
        start();
        assertEquals(8, assembly.creditLimit());
        deliverRepaired(0);
        assertEquals(9, assembly.creditLimit());
    }

    @Test
    void shouldPostNoSlotThatACopyReads() {
        start();
        assembly.accept(0, 0, 1, 256);
        assertTrue(assembly.reserve(0, 2, requests, 0));
        assembly.repaired(1, 1, 2, 256);
        deliver(0, 512);
        memory.finish(1);
        assertEquals(List.of(), poll());
        memory.finish(2);
        assertEquals(List.of("0+1"), poll());
    }

    @Test
    void shouldPostSlotsWhileRepairsAreCopied() {
        start();
        assertTrue(assembly.reserve(0, 2, requests, 0));
        assembly.repaired(1, 1, 2, 256);
        assembly.reject(0);
        assertEquals(List.of("0+1"), poll());
    }

    @Test
    void shouldPostNoSlotThatACopyToAPostedBufferReads() {
        start();
        assembly.accept(0, 0, 1, 256);
        final ReceivedFrame frame = ReceivedFrames.whole(0, 200);
        final long place = assembly.deliver(frame);
        locate(frame, place, true);
        assertEquals(List.of("RING 0 > POSTED 0 x 200"), memory.takeCopies());
        assertEquals(2, memory.flushes());
        assertAt(Space.POSTED, 0);
        assertFalse(assembly.isInPlace());
        assertEquals(200, assembly.reassembledBytes());
        assembly.release(place);
        assertEquals(List.of(), poll());
        memory.finish();
        assertEquals(List.of("0+1"), poll());
    }

    @Test
    void shouldPostSlotsWhileAReassembledFrameIsCopiedToAPostedBuffer() {
        start();
        deliverRepaired(0);
        final ReceivedFrame frame = ReceivedFrames.whole(1, 200);
        assertTrue(assembly.reserve(1, 1, requests, 0));
        assembly.repaired(1, 0, 1, 200);
        final long place = assembly.deliver(frame);
        memory.takeCopies();
        locate(frame, place, true);
        assertEquals(List.of("REASSEMBLY 1024 > POSTED 0 x 200"), memory.takeCopies());
        assembly.reject(0);
        assertEquals(List.of("0+1"), poll());
    }

    @Test
    void shouldDeferAFrameWithoutABufferAndAskForItWhenThereIsOne() {
        start();
        assertTrue(assembly.reserve(4, 4, requests, 0));
        // One later frame at a time.
        assertFalse(assembly.reserve(8, 2, requests, 1000));
        assertEquals(List.of("defer 8 of 2 to 500001000"), requests.take());
        assertEquals(1, assembly.refusedRepairs());
        assembly.renew(requests, 7);
        assertEquals(List.of("room for 2 frames of 4 at 7"), requests.take());
        assembly.skip(0, 4);
        assembly.renew(requests, 9);
        assertEquals(List.of("retry 8 of 2 at 9", "room for 2 frames of 4 at 9"), requests.take());
        assembly.renew(requests, 11);
        assertEquals(List.of("room for 2 frames of 4 at 11"), requests.take());
    }

    @Test
    void shouldHoldAFrameInEverySlotAndEveryBuffer() {
        start();
        assembly.accept(0, 0, 8, 256);
        for (long sequence = 0; sequence < 8; sequence++) {
            assertTrue(assembly.canDeliver(sequence, 1));
            deliver(sequence, 256);
        }
        final long eighth = deliverRepaired(8);
        deliverRepaired(9);
        deliverRepaired(10);
        assertEquals(11, assembly.framesHeld());
        assertEquals(11, assembly.heldSlots(11));
        assertFalse(assembly.canDeliver(11, 1));
        assembly.release(eighth);
        deliverRepaired(11);
    }

    @Test
    void shouldOpenABundleWhereItArrived() {
        start();
        final int bytes = TestShape.writeBundle(memory.data(), 2, 0, 3);
        assembly.accept(2, 0, 1, bytes);
        final ReceivedFrame bundle = ReceivedFrames.bundle(0, bytes, 3);
        final long place = assembly.deliver(bundle);
        assertTrue(assembly.openBundle(bundle, table));
        assertEquals(3, table.remaining());
        locate(ReceivedFrames.part(0, 128, 10, true), place, false);
        assertAt(Space.RING, 512 + 128);
        locate(ReceivedFrames.part(0, 128, 10, true), place, true);
        assertEquals(List.of("RING 640 > POSTED 0 x 10"), memory.takeCopies());
    }

    @Test
    void shouldOpenABundleThatWasRepaired() {
        start();
        deliverRepaired(0);
        assertTrue(assembly.reserve(1, 1, requests, 0));
        assembly.repaired(1, 0, 2, 200);
        TestShape.writeTable(memory.of(Space.REASSEMBLY), 1024 + 200, 1, 2);
        final ReceivedFrame bundle = ReceivedFrames.bundle(1, 200, 2);
        assembly.deliver(bundle);
        assertTrue(assembly.openBundle(bundle, table));
        assertEquals(2, table.remaining());
    }

    @Test
    void shouldRefuseABundleWhoseTableIsDamaged() {
        start();
        final int bytes = TestShape.writeBundle(memory.data(), 0, 0, 3);
        memory.data().payload().asSlice(bytes - 8, 4).fill((byte) 0);
        assembly.accept(0, 0, 1, bytes);
        final ReceivedFrame bundle = ReceivedFrames.bundle(0, bytes, 3);
        assembly.deliver(bundle);
        assertFalse(assembly.openBundle(bundle, table));
    }

    @Test
    void shouldRefuseABundleThatIsShorterThanItsTable() {
        start();
        assembly.accept(0, 0, 1, 256);
        final ReceivedFrame bundle = ReceivedFrames.bundle(0, 3 * 8 + 7, 3);
        assembly.deliver(bundle);
        assertFalse(assembly.openBundle(bundle, table));
    }
}
