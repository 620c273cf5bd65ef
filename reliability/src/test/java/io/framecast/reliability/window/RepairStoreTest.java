package io.framecast.reliability.window;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class RepairStoreTest {
    private static final int SLOTS = 8;
    private static final int SLOT_BYTES = 64;

    private final MemorySegment headers = MemorySegment.ofArray(new byte[SLOTS * DataLayout.LENGTH]);
    private final MemorySegment payloads = MemorySegment.ofArray(new byte[SLOTS * SLOT_BYTES]);
    private final int[] lengths = new int[SLOTS];
    private final RepairStore store = new RepairStore(new WindowMemory(headers, payloads, lengths, SLOTS, SLOT_BYTES));

    // Header and payload of a datagram, different from those of any other.
    private static byte[] datagram(final long sequence, final int payloadBytes) {
        final byte[] bytes = new byte[DataLayout.LENGTH + payloadBytes];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (sequence * 37 + i);
        }
        return bytes;
    }

    private void put(final long sequence, final int payloadBytes) {
        final MemorySegment datagram = MemorySegment.ofArray(datagram(sequence, payloadBytes));
        store.putPayload(sequence, datagram, DataLayout.LENGTH, payloadBytes);
        assertFalse(store.holds(sequence));
        store.putHeader(sequence, datagram, 0);
    }

    @Test
    void shouldGiveBackEachDatagramWhole() {
        for (long sequence = 5; sequence < 5 + SLOTS; sequence++) {
            put(sequence, (int) (SLOT_BYTES - sequence));
        }
        for (long sequence = 5; sequence < 5 + SLOTS; sequence++) {
            assertTrue(store.holds(sequence));
            assertArrayEquals(datagram(sequence, (int) (SLOT_BYTES - sequence)), store.datagram(sequence));
            final byte[] header = Arrays.copyOf(datagram(sequence, 0), DataLayout.LENGTH);
            assertArrayEquals(
                    header,
                    headers.asSlice((long) store.slot(sequence) * DataLayout.LENGTH, DataLayout.LENGTH)
                            .toArray(JAVA_BYTE));
            assertEquals(SLOT_BYTES - sequence, lengths[store.slot(sequence)]);
        }
    }

    @Test
    void shouldHoldOnlyTheNewestOfASlot() {
        assertFalse(store.holds(0));
        put(1, 10);
        put(1 + SLOTS, 20);
        assertFalse(store.holds(1));
        assertTrue(store.holds(1 + SLOTS));
        assertFalse(store.holds(1 + 2 * SLOTS));
    }

    @Test
    void shouldGiveMetadataOfItsOwnFrameOnly() {
        assertNull(store.metadata(0));
        store.putMetadata(2, new byte[] {7});
        assertArrayEquals(new byte[] {7}, store.metadata(2));
        assertNull(store.metadata(2 + SLOTS));
        assertNull(store.metadata(3));
    }

    @Test
    void shouldWantEveryDatagramWhileTheSourceWritesNone() {
        assertEquals(SLOTS, store.slots());
        put(5, 10);
        assertTrue(store.wants(5), "a repair may be newer than what is held");
        assertTrue(store.wants(6));
        assertFalse(store.awaits(6));
    }

    @Test
    void shouldLeaveToTheSourceWhatItWrites() {
        put(5, 10);
        store.feedFrom(7);
        assertFalse(store.wants(5), "held already");
        assertTrue(store.wants(6));
        assertFalse(store.awaits(6));
        assertFalse(store.wants(7));
        assertTrue(store.awaits(7));
        store.unfed();
        assertTrue(store.wants(5));
        assertTrue(store.wants(7));
        assertFalse(store.awaits(7));
    }

    @Test
    void shouldRefuseWhenSlotsAreNoPowerOfTwo() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new RepairStore(new WindowMemory(headers, payloads, lengths, 6, SLOT_BYTES)));
        assertThrows(
                IllegalArgumentException.class,
                () -> new RepairStore(new WindowMemory(headers, payloads, new int[7], 8, SLOT_BYTES)));
    }
}
