package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.lane.LanePort.Placement;
import io.framecast.reliability.receive.MachinePair;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The slots of a ring of 8 that are posted for the sequences expected next; 4 datagrams are taken at a time.
final class RingRedirectTest {
    private final MachinePair pair = new MachinePair();
    private final RecordedLane lane = new RecordedLane(Placement.BY_SEQUENCE);
    private final Assembly assembly = assembly(0);
    // The last two slots are never granted.
    private final Assembly spare = assembly(2);

    private static Assembly assembly(final int spareSlots) {
        final MemoryShape shape = TestShape.of(Kind.IN_RING, spareSlots, 0);
        final Assembly assembly = Assembly.of(shape, new RecordedMemory(shape));
        assembly.start(0);
        return assembly;
    }

    @BeforeEach
    void join() {
        pair.join();
    }

    private void receive(final int datagrams) {
        pair.publish(datagrams);
        assertEquals(datagrams, pair.send(0));
    }

    private void repair(final long sequence) {
        final int slot = pair.window.slot(sequence);
        pair.receiver.onRepair(
                pair.window.memory().headers(),
                (long) slot * DataLayout.LENGTH,
                DataLayout.LENGTH + pair.window.memory().slotBytes(),
                pair.nowNs);
    }

    @Test
    void shouldPostABatchAnywhereBeforeItIsAMember() {
        lane.arrive(0);
        assertEquals(1, assembly.poll(lane, null));
        assertEquals(List.of("0+4"), lane.takePosts());
    }

    @Test
    void shouldPostTheSlotsOfTheSequencesExpectedNext() {
        receive(3);
        lane.arrive(3, 4);
        assertEquals(2, assembly.poll(lane, pair.receiver));
        assertEquals(0, assembly.poll(lane, pair.receiver));
        assertEquals(List.of("3+4", "3+4"), lane.takePosts());
    }

    @Test
    void shouldPostNoSlotOfAFrameThatIsHeld() {
        receive(6);
        assembly.poll(lane, pair.receiver);
        assertEquals(List.of("6+2"), lane.takePosts());
        receive(2);
        assertEquals(Assembly.NO_SLOT, assembly.poll(lane, pair.receiver));
    }

    @Test
    void shouldPostSpareSlotsWhereTheSourceSendsWithoutCredit() {
        assertEquals(6, spare.creditLimit());
        receive(5);
        spare.poll(lane, pair.receiver);
        assertEquals(List.of("5+3"), lane.takePosts());
        receive(2);
        lane.arrive(6);
        assertEquals(1, spare.poll(lane, pair.receiver));
        // Sequence 7 lies beyond the limit, and may land in any spare slot.
        assertEquals(List.of("6+2"), lane.takePosts());
    }

    @Test
    void shouldPostNoMoreSpareSlotsThanOneBatchTakes() {
        final Assembly wide = assembly(7);
        receive(2);
        wide.poll(lane, pair.receiver);
        assertEquals(List.of("1+4"), lane.takePosts());
    }

    @Test
    void shouldNotPostTheSlotOfARepairThatCameAhead() {
        receive(6);
        pair.publish(3);
        repair(7);
        spare.poll(lane, pair.receiver);
        assembly.poll(lane, pair.receiver);
        assertEquals(List.of("6+1", "6+1"), lane.takePosts());
    }

    @Test
    void shouldTakeAFrameOutOfTheRingWhenItsBufferWasPostedBehindThePoll() {
        final MemoryShape shape = TestShape.of(Kind.IN_RING);
        final RecordedMemory memory = new RecordedMemory(shape);
        final TestBuffers buffers = new TestBuffers();
        final Assembly ring = Assembly.of(shape, memory, buffers);
        lane.redirects = true;
        ring.prepare(lane);
        ring.start(0);
        lane.arrive(0);
        assertEquals(1, ring.poll(lane, pair.receiver));
        buffers.posted.add(3);
        final DataHeader header = new DataHeader()
                .session(DataLayout.TYPE_DATA, TestShape.STREAM.session())
                .frame(0, 100, 0);
        DataLayout.write(memory.data().headers(), memory.data().headerOffset(0), header, 0, 0);
        ring.accept(0, 0, 1, 100);
        ring.endBatch();
        final long buffer = PostedOffset.of(3);
        assertEquals(
                List.of("RING 0 > SCRATCH 0 x 100", "SCRATCH 0 > POSTED " + buffer + " x 100"), memory.takeCopies());
    }
}
