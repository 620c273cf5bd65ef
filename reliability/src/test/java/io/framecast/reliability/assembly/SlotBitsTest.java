package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SlotBitsTest {
    private static final int SLOTS = 130;

    private final SlotBits bits = new SlotBits(SLOTS);

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 63, 64, 65, 127, 128, 129})
    void shouldSetAndClearOneSlotOnly(final int slot) {
        bits.set(slot);
        for (int other = 0; other < SLOTS; other++) {
            assertEquals(other == slot, bits.isSet(other), "slot " + other);
            assertTrue(other == slot || !bits.clear(other));
        }
        assertFalse(bits.isEmpty());
        assertTrue(bits.clear(slot));
        assertFalse(bits.isSet(slot));
        assertTrue(bits.isEmpty());
        assertFalse(bits.clear(slot));
        assertTrue(bits.isEmpty());
    }

    @Test
    void shouldKeepTheOthersWhenOneIsCleared() {
        bits.set(3);
        bits.set(5);
        bits.set(69);
        assertTrue(bits.clear(5));
        assertTrue(bits.isSet(3));
        assertTrue(bits.isSet(69));
        assertFalse(bits.isEmpty());
        assertTrue(bits.clear(3));
        assertFalse(bits.isEmpty());
        assertTrue(bits.clear(69));
        assertTrue(bits.isEmpty());
    }

    @Test
    void shouldCountASlotOnceWhenItIsSetTwice() {
        bits.set(7);
        bits.set(7);
        assertTrue(bits.clear(7));
        assertTrue(bits.isEmpty());
    }

    @Test
    void shouldBeEmptyAtFirst() {
        assertTrue(bits.isEmpty());
        assertFalse(bits.isSet(0));
    }

    @Test
    void shouldHaveABitForTheLastSlotOfAWholeWord() {
        final SlotBits word = new SlotBits(64);
        word.set(63);
        assertTrue(word.isSet(63));
    }

    @Test
    void shouldServeManySlots() {
        final SlotBits many = new SlotBits(1 << 26);
        many.set((1 << 26) - 1);
        assertTrue(many.isSet((1 << 26) - 1));
        assertFalse(many.isSet((1 << 26) - 2));
    }
}
