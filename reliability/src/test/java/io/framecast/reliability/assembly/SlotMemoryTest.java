package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

final class SlotMemoryTest {
    private static final MemorySegment HEADERS = MemorySegment.ofArray(new byte[4 * (24 + DataLayout.LENGTH)]);

    @Test
    void shouldFindHeadersBehindWhatTheTransportWrites() {
        final SlotMemory slots = new SlotMemory(HEADERS, 24, MemorySegment.NULL, 1408, 4);
        assertEquals(64, slots.headerStride());
        assertEquals(24, slots.headerOffset(0));
        assertEquals(3 * 64 + 24, slots.headerOffset(3));
    }

    @Test
    void shouldFindPayloadsOneBehindTheOther() {
        final SlotMemory slots = new SlotMemory(HEADERS, 0, MemorySegment.NULL, 1 << 16, 1 << 17);
        assertEquals(0, slots.payloadOffset(0));
        assertEquals(1L << 32, slots.payloadOffset(1 << 16));
    }

    @Test
    void shouldKnowWhetherTheHostSeesPayloads() {
        final MemorySegment host = MemorySegment.ofArray(new byte[4 * 64]);
        assertTrue(new SlotMemory(HEADERS, 0, host, 64, 4).hostAddressable());
        assertFalse(new SlotMemory(HEADERS, 0, MemorySegment.NULL, 64, 4).hostAddressable());
    }
}
