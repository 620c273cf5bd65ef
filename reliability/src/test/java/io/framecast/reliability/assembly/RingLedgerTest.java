package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class RingLedgerTest {
    private record Frame(long first, long slots) {}

    @Test
    void shouldGrantTheWholeRingWhenNothingIsHeld() {
        final RingLedger ledger = new RingLedger(100);
        ledger.start(7);
        assertEquals(107, ledger.creditLimit());
        assertEquals(7, ledger.slot(107));
    }

    @Test
    void shouldWithholdCreditWhenAnEarlierFrameIsStillHeld() {
        final RingLedger ledger = new RingLedger(100);
        ledger.start(0);
        ledger.deliver(0, 10, 1);
        ledger.deliver(10, 5, 1);
        assertFalse(ledger.release(10));
        assertEquals(100, ledger.creditLimit());
        assertTrue(ledger.release(0));
        assertEquals(115, ledger.creditLimit());
        assertEquals(0, ledger.framesHeld());
    }

    @Test
    void shouldRefuseWhenAFrameIsReleasedTwiceOrNeverDelivered() {
        final RingLedger ledger = new RingLedger(100);
        ledger.start(0);
        ledger.deliver(0, 10, 1);
        ledger.deliver(10, 10, 1);
        ledger.release(10);
        assertThrows(IllegalStateException.class, () -> ledger.release(10));
        assertThrows(IllegalStateException.class, () -> ledger.release(5));
        assertThrows(IllegalStateException.class, () -> ledger.release(20));
        assertThrows(IllegalStateException.class, () -> ledger.deliver(25, 1, 1));
        assertThrows(IllegalStateException.class, () -> ledger.deliver(20, 101, 1));
    }

    @Test
    void shouldFreeSlotsInOrderWhenFramesAreGivenUpThatHaveSome() {
        final RingLedger ledger = new RingLedger(100);
        ledger.start(0);
        final long held = ledger.deliver(0, 10, 1);
        assertEquals(0, ledger.skip(10, 40));
        assertEquals(100, ledger.creditLimit());
        assertEquals(40, ledger.slot(40));
        ledger.release(held);
        assertEquals(140, ledger.creditLimit());
        assertThrows(IllegalStateException.class, () -> ledger.skip(10, 50));
        assertThrows(IllegalStateException.class, () -> ledger.skip(40, 40));
    }

    @Test
    void shouldJumpWhenMoreIsGivenUpThanHasSlots() {
        final RingLedger ledger = new RingLedger(100);
        ledger.start(7);
        final long held = ledger.deliver(7, 60, 1);
        assertEquals(1_000_000 - 67, ledger.skip(67, 1_000_000));
        // The next frame lies behind the held one, and has the free slots.
        assertEquals(67, ledger.slot(1_000_000));
        assertEquals(1_000_040, ledger.creditLimit());
        assertThrows(IllegalStateException.class, () -> ledger.deliver(1_000_000, 41, 1));
        final long next = ledger.deliver(1_000_000, 40, 1);
        assertTrue(ledger.release(held));
        assertEquals(1_000_100, ledger.creditLimit());
        ledger.release(next);
        assertEquals(1_000_140, ledger.creditLimit());
        assertEquals(0, ledger.framesHeld());
    }

    @Test
    void shouldGoOnAtTheFirstSlotWhenAFramePassesTheEnd() {
        final RingLedger ledger = new RingLedger(10);
        assertEquals(9, ledger.slot(9));
        assertEquals(0, ledger.slot(10));
        assertEquals(9, ledger.slot(19));
        assertEquals(0, ledger.slot(20));
    }

    @Test
    void shouldGiveUpToTheLimitWithoutAJump() {
        final RingLedger ledger = new RingLedger(100);
        ledger.start(7);
        assertEquals(0, ledger.skip(7, 107));
        assertEquals(107, ledger.releasedSequence());
        assertEquals(207, ledger.creditLimit());
        // Two jumps, one behind the other, and the frames behind them.
        final long held = ledger.deliver(107, 90, 1);
        assertEquals(100, ledger.skip(197, 297));
        assertEquals(50, ledger.skip(297, 347));
        assertThrows(IllegalStateException.class, () -> ledger.skip(297, 400));
        assertEquals(0, ledger.skip(347, 350));
        assertEquals(107 + 150, ledger.releasedSequence());
        assertTrue(ledger.release(held));
        assertEquals(350, ledger.releasedSequence());
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        assertThrows(IllegalArgumentException.class, () -> new RingLedger(0));
        assertThrows(IllegalArgumentException.class, () -> new RingLedger(-1));
        final RingLedger ledger = new RingLedger(10);
        ledger.start(0);
        assertThrows(IllegalArgumentException.class, () -> ledger.deliver(0, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> ledger.deliver(0, 1, 128));
        assertThrows(IllegalStateException.class, () -> ledger.deliver(0, 0, 1));
        final long place = ledger.deliver(0, 1, 127);
        for (int i = 0; i < 126; i++) {
            assertFalse(ledger.release(place));
        }
        assertTrue(ledger.release(place));
        assertThrows(IllegalStateException.class, () -> ledger.release(place));
    }

    @Test
    void shouldAgreeWithANaiveModelWhenFramesAreReleasedInAnyOrder() {
        for (long seed = 1; seed <= 200; seed++) {
            final SplittableRandom random = new SplittableRandom(seed);
            final int slots = 1 + random.nextInt(100);
            final RingLedger ledger = new RingLedger(slots);
            final long start = random.nextLong(1000);
            ledger.start(start);
            final List<Frame> held = new ArrayList<>();
            long next = start;
            for (int step = 0; step < 500; step++) {
                final long length = 1L + random.nextInt(slots);
                if (random.nextBoolean() && next + length <= ledger.creditLimit()) {
                    ledger.deliver(next, length, 1);
                    held.add(new Frame(next, length));
                    next += length;
                } else if (!held.isEmpty()) {
                    ledger.release(held.remove(random.nextInt(held.size())).first());
                }
                final long oldest = held.stream().mapToLong(Frame::first).min().orElse(next);
                assertEquals(oldest, ledger.releasedSequence(), "seed " + seed);
                assertEquals(oldest + slots, ledger.creditLimit());
                assertEquals(held.size(), ledger.framesHeld());
            }
        }
    }

    @Test
    void shouldBeginAgainAtTheFirstSlotBehindAJump() {
        final RingLedger ledger = new RingLedger(10);
        ledger.start(0);
        ledger.release(ledger.deliver(0, 3, 1));
        assertEquals(1004, ledger.skip(3, 1007));
        assertEquals(3, ledger.slot(1007));
        ledger.rewind(1007);
        assertEquals(0, ledger.slot(1007));
        assertEquals(9, ledger.slot(1016));
        assertEquals(1017, ledger.creditLimit());
    }
}
