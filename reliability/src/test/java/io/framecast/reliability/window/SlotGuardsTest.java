package io.framecast.reliability.window;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.SlotGuard;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/// The guards of slots that other processes read: a guard is there in time, and gone before the slot can change.
final class SlotGuardsTest {
    private static final int SLOTS = 8;
    private static final int SLOT_BYTES = 64;
    private static final int ROUNDS = 100_000;

    private final MemorySegment headers = MemorySegment.ofArray(new byte[SLOTS * DataLayout.LENGTH]);
    private final byte[] payloads = new byte[SLOTS * SLOT_BYTES];
    private final MemorySegment payload = MemorySegment.ofArray(payloads);
    private final int[] lengths = new int[SLOTS];
    private final MemorySegment words = MemorySegment.ofArray(new long[SLOTS]);
    private final SlotGuards guards =
            new SlotGuards(words, new WindowMemory(MemorySegment.NULL, payload, lengths, SLOTS, SLOT_BYTES));
    private final SendWindow window = new SendWindow(
                    new WindowMemory(headers, MemorySegment.NULL, lengths, SLOTS, SLOT_BYTES), 5)
            .guardedBy(guards);
    private final RepairStore store =
            new RepairStore(new WindowMemory(headers, payload, lengths, SLOTS, SLOT_BYTES)).guardedBy(guards);

    private long word(final long sequence) {
        return words.getAtIndex(JAVA_LONG, sequence % SLOTS);
    }

    private int crc(final int slot, final int bytes) {
        final CRC32C crc = new CRC32C();
        crc.update(payloads, slot * SLOT_BYTES, bytes);
        return (int) crc.getValue();
    }

    private void publish(final int slots) {
        final long bytes = (long) slots * SLOT_BYTES - 3;
        for (int i = 0; i < slots * SLOT_BYTES; i++) {
            payloads[(int) (window.cursor() * SLOT_BYTES + i) % payloads.length] = (byte) (window.cursor() + i);
        }
        window.beginFrame(bytes, 0, 0, new byte[0]);
        window.commit(bytes, slots);
    }

    @Test
    void shouldVouchForWhatWasSealedAndForNothingElse() {
        publish(4);
        window.seal(0, 3, true);
        for (int i = 0; i < 3; i++) {
            assertTrue(SlotGuard.isOf(word(i), i));
            assertFalse(SlotGuard.isOf(word(i), i + SLOTS));
            assertEquals(crc(i, SLOT_BYTES), SlotGuard.payloadCrc(word(i)));
        }
        assertEquals(SlotGuard.NONE, word(3));
        window.seal(2, 2, true);
        assertTrue(SlotGuard.isOf(word(3), 3));
        assertEquals(crc(3, SLOT_BYTES - 3), SlotGuard.payloadCrc(word(3)), "the datagram's length, not the slot's");
    }

    @Test
    void shouldConfirmNothingFromWhenThePublisherMayClaimTheSlot() {
        publish(6);
        window.seal(0, 6, true);
        assertEquals(1, window.freeSlots());
        window.free(4);
        assertEquals(5, window.freeSlots());
        for (int i = 0; i < 4; i++) {
            assertEquals(SlotGuard.NONE, word(i));
        }
        assertTrue(SlotGuard.isOf(word(4), 4) && SlotGuard.isOf(word(5), 5));
        publish(4);
        window.free(10);
        assertEquals(SlotGuard.NONE, word(5));
    }

    /// Each time the publisher sees one more free slot, the slot's guard is already wiped.
    @Test
    void shouldWipeBeforeThePublisherSeesThatTheSlotIsFree() throws InterruptedException {
        final AtomicBoolean ends = new AtomicBoolean();
        final Thread consumer = Thread.ofPlatform().start(() -> {
            long freed = 0;
            while (!ends.get()) {
                if (window.committed() > freed) {
                    window.seal(freed, 1, true);
                    window.free(++freed);
                }
                Thread.onSpinWait();
            }
        });
        try {
            for (long sequence = 0; sequence < ROUNDS; sequence++) {
                window.beginFrame(SLOT_BYTES, 0, 0, new byte[0]);
                window.commit(SLOT_BYTES, 1);
                while (window.freeSlots() < SLOTS - 1) {
                    Thread.onSpinWait();
                }
                assertEquals(SlotGuard.NONE, word(sequence));
            }
        } finally {
            ends.set(true);
            consumer.join();
        }
    }

    @Test
    void shouldSealNoSlotTwice() {
        publish(2);
        window.seal(0, 2, true);
        payloads[0] ^= 1;
        window.seal(0, 2, true);
        assertNotEquals(crc(0, SLOT_BYTES), SlotGuard.payloadCrc(word(0)), "read once, however often it is offered");
    }

    @Test
    void shouldTellSequencesApartThatShareASlot() {
        for (final long sequence : new long[] {0, 1, 7, (1L << 31) - 1, 1L << 40, (1L << 62) - 1}) {
            final long word = SlotGuard.of(sequence, -1);
            assertNotEquals(SlotGuard.NONE, word);
            assertTrue(SlotGuard.isOf(word, sequence));
            assertEquals(-1, SlotGuard.payloadCrc(word));
            assertFalse(SlotGuard.isOf(word, sequence + SLOTS) || SlotGuard.isOf(word, sequence + 1));
            assertFalse(SlotGuard.isOf(SlotGuard.NONE, sequence));
        }
    }

    @Test
    void shouldGuardACopyFromWhenSomebodyReadsIt() {
        final MemorySegment datagram = MemorySegment.ofArray(new byte[SLOT_BYTES]);
        store.putPayload(3, datagram, 0, 40);
        store.putHeader(3, datagram, 0);
        assertEquals(SlotGuard.NONE, word(3));
        assertTrue(store.guard());
        store.putPayload(4, datagram, 0, 40);
        assertEquals(SlotGuard.NONE, word(4), "half of it is there");
        store.putHeader(4, datagram, 0);
        assertTrue(SlotGuard.isOf(word(4), 4));
        assertEquals(crc(4, 40), SlotGuard.payloadCrc(word(4)));
        store.putPayload(4 + SLOTS, datagram, 0, 40);
        assertEquals(SlotGuard.NONE, word(4), "wiped before the payload changes");
        assertFalse(new RepairStore(new WindowMemory(headers, payload, lengths, SLOTS, SLOT_BYTES)).guard());
    }

    @Test
    void shouldHoldWhatTheSourceWroteIfItsGuardIsValid() {
        payload.fill((byte) 9);
        lengths[3] = 40;
        guards.seal(3, 3);
        assertTrue(store.take(3, 40));
        assertTrue(store.holds(3));
        assertEquals(40, store.payloadBytes(3));
        assertFalse(store.take(3 + SLOTS, 40), "the guard is of another sequence");
        assertFalse(store.holds(3) || store.holds(3 + SLOTS));
        assertTrue(store.take(3, 40));
        assertFalse(store.take(3, 41), "the guard is of another length");
        assertFalse(store.holds(3));
        payloads[3 * SLOT_BYTES] ^= 1;
        assertFalse(store.take(3, 40), "the payload is another one");
        assertFalse(store.holds(3));
    }

    @Test
    void shouldHoldNothingThatTheSourceWroteWhereThereAreNoGuards() {
        final RepairStore unguarded = new RepairStore(new WindowMemory(headers, payload, lengths, SLOTS, SLOT_BYTES));
        guards.seal(3, 3);
        assertFalse(unguarded.take(3, 0));
        assertFalse(unguarded.holds(3));
    }

    @Test
    void shouldSumSlotsOfMemoryOfAnyKind() {
        try (Arena arena = Arena.ofShared()) {
            final MemorySegment outside = arena.allocate(SLOTS * SLOT_BYTES);
            for (int i = 0; i < payloads.length; i++) {
                payloads[i] = (byte) (i * 31);
            }
            outside.copyFrom(payload);
            final PayloadChecksum sums = new PayloadChecksum(outside, SLOTS, SLOT_BYTES);
            for (int slot = SLOTS - 1; slot >= 0; slot--) {
                assertEquals(crc(slot, SLOT_BYTES - slot), sums.of(slot, SLOT_BYTES - slot));
            }
        }
    }
}
