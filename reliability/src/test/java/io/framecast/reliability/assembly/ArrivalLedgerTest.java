package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class ArrivalLedgerTest {
    private static final int RING = 8;
    private static final int BUFFERS = 2;

    private final ArrivalPlacement placement = new ArrivalPlacement(RING, BUFFERS, 64);
    private final List<String> copies = new ArrayList<>();
    private final ArrivalLedger ledger = new ArrivalLedger(placement, RING + BUFFERS);

    @BeforeEach
    void start() {
        ledger.copyBy((from, buffer, index, slots) -> copies.add(from + ">" + index + "x" + slots));
        placement.repost(RING);
        ledger.start(100);
    }

    private void arrive(final long... sequences) {
        for (final long sequence : sequences) {
            placement.arrive();
            placement.accept(sequence);
        }
    }

    private void repair(final long first, final long sequence) {
        assertTrue(placement.placeRepair(first, 2) >= 0);
        placement.repaired(sequence);
    }

    @Test
    void shouldFreeTheSlotsOfFramesThatShareThemWithTheLast() {
        arrive(100, 101);
        final long place = ledger.deliver(100, 2, 3);
        assertEquals(0, ledger.lastHandle());
        assertEquals(3, ledger.framesHeld());
        assertEquals(100, ledger.releasedSequence());
        assertFalse(ledger.release(place));
        assertFalse(ledger.release(place));
        assertEquals(0, placement.repostable());
        assertTrue(ledger.release(place));
        assertEquals(2, placement.repostable());
        assertEquals(0, ledger.framesHeld());
        assertEquals(102, ledger.releasedSequence());
        assertThrows(IllegalStateException.class, () -> ledger.release(place));
    }

    @Test
    void shouldHoldReassembledFramesWhileTheRingGoesRound() {
        arrive(100);
        repair(100, 101);
        assertTrue(ledger.canDeliver(100, 2));
        final long reassembled = ledger.deliver(100, 2, 1);
        assertTrue(ledger.lastHandle() < 0);
        assertEquals(List.of("0>0x1"), copies);
        for (long first = 102; first < 200; first += 2) {
            placement.repost(placement.repostable());
            // A frame that passes the ring's end takes the other buffer.
            arrive(first, first + 1);
            assertTrue(ledger.canDeliver(first, 2));
            ledger.release(ledger.deliver(first, 2, 1));
        }
        assertEquals(198, ledger.releasedSequence());
        assertEquals(1, placement.freeBuffers());
        assertTrue(ledger.release(reassembled));
        assertEquals(BUFFERS, placement.freeBuffers());
        assertEquals(200, ledger.releasedSequence());
    }

    @Test
    void shouldNotDeliverWhenEveryBufferIsHeld() {
        final long[] places = new long[BUFFERS];
        for (int i = 0; i < BUFFERS; i++) {
            repair(100 + i, 100 + i);
            places[i] = ledger.deliver(100 + i, 1, 1);
        }
        assertEquals(ArrivalPlacement.NONE, placement.placeRepair(102, 2));
        assertEquals(ArrivalPlacement.NONE, placement.takeRoom());
        ledger.release(places[1]);
        assertEquals(102, placement.takeRoom());
    }

    @Test
    void shouldGoOnBehindWhatWasGivenUp() {
        arrive(100, 102);
        assertEquals(0, ledger.skip(100, 110));
        assertEquals(2, placement.repostable());
        assertEquals(110, ledger.releasedSequence());
        assertThrows(IllegalStateException.class, () -> ledger.skip(111, 112));
        assertThrows(IllegalStateException.class, () -> ledger.deliver(109, 1, 1));
        arrive(110);
        assertTrue(ledger.canDeliver(110, 1));
        ledger.deliver(110, 1, 1);
        assertEquals(2, ledger.lastHandle());
        assertEquals(placement.creditLimit(), ledger.creditLimit());
    }

    @Test
    void shouldGrantTheWholeRingFromItsStartOn() {
        assertEquals(100 + RING, ledger.creditLimit());
        assertEquals(100, ledger.releasedSequence());
    }

    @Test
    void shouldHoldNoMoreThanItHasPlacesFor() {
        final ArrivalLedger one = new ArrivalLedger(placement, 1);
        one.start(100);
        arrive(100, 101);
        assertTrue(one.canDeliver(100, 1));
        final long place = one.deliver(100, 1, 1);
        assertFalse(one.canDeliver(101, 1));
        assertThrows(IllegalStateException.class, () -> one.deliver(101, 1, 1));
        one.release(place);
        assertTrue(one.canDeliver(101, 1));
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        arrive(100, 101);
        assertThrows(IllegalStateException.class, () -> ledger.deliver(100, 1, 0));
        assertThrows(IllegalStateException.class, () -> ledger.deliver(100, 1, 128));
        assertThrows(IllegalStateException.class, () -> ledger.release(0));
        assertThrows(IllegalStateException.class, () -> ledger.release(-1));
        assertThrows(IllegalStateException.class, () -> ledger.release(RING + BUFFERS));
        assertThrows(IllegalStateException.class, () -> ledger.skip(100, 100));
        ledger.deliver(100, 1, 127);
        assertEquals(127, ledger.framesHeld());
    }
}
