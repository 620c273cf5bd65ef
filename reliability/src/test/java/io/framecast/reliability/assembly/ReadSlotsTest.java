package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ReadSlotsTest {
    private static final int FIRST = 512;

    // Three slots behind two of the repair lane.
    private final SlotMemory repairs = new SlotMemory(heap(5 * 64), 24, heap(5 * 64), 64, 5);
    private final ReadSlots replicaReads = new ReadSlots(repairs, 2, 3);
    private final RepairStore replica =
            new RepairStore(new WindowMemory(heap(8 * DataLayout.LENGTH), heap(8 * 64), new int[8], 8, 64));

    private static MemorySegment heap(final int bytes) {
        return MemorySegment.ofArray(new byte[bytes]);
    }

    @Test
    void shouldShowEachDatagramOnceAndKeepItsSlotUntilItIsCopied() {
        final SlotMemory memory = new SlotMemory(MemorySegment.NULL, 0, MemorySegment.NULL, 1408, FIRST);
        final ReadSlots slots = new ReadSlots(memory, FIRST, ReadSlots.SLOTS);
        final int first = slots.take();
        final int second = slots.take();
        slots.arrive(first, 100);
        assertTrue(slots.hasNext());
        assertEquals(FIRST + first, slots.next());
        assertFalse(slots.hasNext());
        slots.arrive(second, 200);
        // The copy out of the first slot is still under way.
        assertEquals(FIRST + second, slots.next());
        assertEquals(200, slots.bytes());
        assertFalse(slots.hasNext());
        for (int i = 2; i < ReadSlots.SLOTS; i++) {
            slots.take();
        }
        assertTrue(slots.isEmpty());
        slots.freeUpTo(slots.shown());
        assertFalse(slots.isEmpty());
        slots.take();
        slots.take();
        assertTrue(slots.isEmpty());
    }

    @Test
    void shouldLieBehindTheSlotsOfTheRepairLane() {
        final SlotMemory memory = new SlotMemory(MemorySegment.NULL, 24, MemorySegment.NULL, 1408, FIRST);
        final ReadSlots slots = new ReadSlots(memory, FIRST, ReadSlots.SLOTS);
        assertSame(memory, slots.memory());
        assertEquals(ReadSlots.SLOTS, slots.slots());
        assertEquals((FIRST + 5) * 64L + 24, slots.headerOffset(5));
        assertEquals((FIRST + 5) * 1408L, slots.payloadOffset(5));
    }

    @Test
    void shouldGiveOutEverySlotOnceAndAgainWhenGivenBack() {
        final Set<Integer> taken = new HashSet<>();
        while (!replicaReads.isEmpty()) {
            taken.add(replicaReads.take());
        }
        assertEquals(Set.of(0, 1, 2), taken);
        replicaReads.giveBack(1);
        assertEquals(1, replicaReads.take());
        assertTrue(replicaReads.isEmpty());
    }

    @Test
    void shouldCopyDatagramsOutOfItsOwnReplica() {
        store(10, 64);
        store(11, 20);
        assertEquals(2, replicaReads.copy(replica, 10, 2));
        for (int i = 0; i < 2; i++) {
            final int slot = replicaReads.next();
            assertTrue(slot >= 2);
            final byte[] datagram = replica.datagram(10 + i);
            assertEquals(datagram.length, replicaReads.bytes());
            assertArrayEquals(datagram, arrived(slot, datagram.length - DataLayout.LENGTH));
        }
        assertFalse(replicaReads.hasNext());
    }

    @Test
    void shouldCopyAsManyAsHaveASlot() {
        for (int sequence = 10; sequence < 14; sequence++) {
            store(sequence, 64);
        }
        assertEquals(3, replicaReads.copy(replica, 10, 4));
        assertEquals(-1, replicaReads.copy(replica, 13, 1));
        replicaReads.next();
        replicaReads.freeUpTo(1);
        assertEquals(1, replicaReads.copy(replica, 13, 1));
    }

    private void store(final long sequence, final int bytes) {
        final byte[] datagram = new byte[DataLayout.LENGTH + bytes];
        for (int i = 0; i < datagram.length; i++) {
            datagram[i] = (byte) (sequence * 37 + i);
        }
        replica.putPayload(sequence, MemorySegment.ofArray(datagram), DataLayout.LENGTH, bytes);
        replica.putHeader(sequence, MemorySegment.ofArray(datagram), 0);
    }

    private byte[] arrived(final int slot, final int payloadBytes) {
        final byte[] datagram = new byte[DataLayout.LENGTH + payloadBytes];
        final MemorySegment to = MemorySegment.ofArray(datagram);
        MemorySegment.copy(repairs.headers(), repairs.headerOffset(slot), to, 0, DataLayout.LENGTH);
        MemorySegment.copy(repairs.payload(), repairs.payloadOffset(slot), to, DataLayout.LENGTH, payloadBytes);
        return datagram;
    }
}
