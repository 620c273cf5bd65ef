package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.lane.LanePort.Placement;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// Three slots of the repair lane, and behind them 80 for reads.
final class RepairSlotsTest {
    private static final int READ_SLOTS = 80;

    private final MemoryShape shape = TestShape.of(Kind.IN_RING, 0, READ_SLOTS);
    private final RecordedMemory memory = new RecordedMemory(shape);
    private final RecordedLane lane = new RecordedLane(Placement.BY_ARRIVAL);
    private final RepairSlots slots = new RepairSlots(shape, memory);
    private final ReadSlots reads = Objects.requireNonNull(slots.reads());

    private void arrive(final int datagrams) {
        for (int i = 0; i < datagrams; i++) {
            reads.arrive(reads.take(), 500 + i);
        }
    }

    private void copyOn() {
        memory.copy(Space.REPAIR, 0, Space.RING, 0, 1);
    }

    @Test
    void shouldHaveNoReadSlotsWhereNothingIsRead() {
        final MemoryShape without = TestShape.of(Kind.IN_RING);
        final RepairSlots laneOnly = new RepairSlots(without, new RecordedMemory(without));
        assertNull(laneOnly.reads());
        lane.arrive(0);
        assertEquals(1, laneOnly.poll(lane));
        laneOnly.endBatch();
        assertEquals(0, laneOnly.poll(lane));
        assertEquals(List.of("0+3", "0+1"), lane.takePosts());
    }

    @Test
    void shouldShowWhatTheLaneBroughtAndThenWhatWasRead() {
        assertSame(memory.repairs(), slots.slotMemory());
        assertEquals(READ_SLOTS, reads.slots());
        arrive(2);
        lane.arrive(2, 0);
        assertEquals(4, slots.poll(lane));
        assertEquals(2, slots.slot(0));
        assertEquals(102, slots.bytes(0));
        assertEquals(0, slots.slot(1));
        assertEquals(100, slots.bytes(1));
        assertEquals(3, slots.slot(2));
        assertEquals(500, slots.bytes(2));
        assertEquals(4, slots.slot(3));
        assertEquals(501, slots.bytes(3));
        assertEquals(0, slots.poll(lane));
    }

    @Test
    void shouldTakeOneBatchAtATime() {
        arrive(RepairSlots.BATCH_MAX + 1);
        lane.arrive(0, 1);
        assertEquals(RepairSlots.BATCH_MAX, slots.poll(lane));
        assertEquals(500 + RepairSlots.BATCH_MAX - 3, slots.bytes(RepairSlots.BATCH_MAX - 1));
        assertEquals(3, slots.poll(lane));
        assertEquals(500 + RepairSlots.BATCH_MAX, slots.bytes(2));
    }

    @Test
    void shouldPostTheLanesSlotsAgainWhenTheirCopiesEnded() {
        lane.arrive(0, 1);
        slots.poll(lane);
        copyOn();
        slots.endBatch();
        assertEquals(1, memory.flushes());
        slots.poll(lane);
        assertEquals(List.of("0+3"), lane.takePosts());
        memory.finish();
        slots.poll(lane);
        assertEquals(List.of("0+2"), lane.takePosts());
    }

    @Test
    void shouldGiveReadSlotsBackWhenTheirCopiesEnded() {
        arrive(READ_SLOTS - 1);
        slots.poll(lane);
        copyOn();
        slots.endBatch();
        slots.poll(lane);
        slots.endBatch();
        reads.take();
        assertTrue(reads.isEmpty());
        memory.finish();
        slots.poll(lane);
        assertFalse(reads.isEmpty());
    }

    @Test
    void shouldGiveReadSlotsBackAtTheEndOfABatchThatWasNotCopied() {
        arrive(2);
        reads.take();
        slots.poll(lane);
        slots.endBatch();
        for (int i = 0; i < READ_SLOTS - 1; i++) {
            assertFalse(reads.isEmpty());
            reads.take();
        }
        assertTrue(reads.isEmpty());
    }
}
