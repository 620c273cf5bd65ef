package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class ReadSlotsTest {
    private static final int FIRST = 512;

    @Test
    void shouldShowEachDatagramOnceAndKeepItsSlotUntilItIsCopied() {
        final LandingSlots memory = new LandingSlots(MemorySegment.NULL, 0, MemorySegment.NULL, 1408, FIRST);
        final ReadSlots slots = new ReadSlots(memory, FIRST, ReadSlots.SLOTS);
        final int first = slots.take();
        final int second = slots.take();
        slots.land(first, 100);
        assertTrue(slots.hasNext());
        assertEquals(FIRST + first, slots.next());
        assertFalse(slots.hasNext());
        slots.land(second, 200);
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
}
