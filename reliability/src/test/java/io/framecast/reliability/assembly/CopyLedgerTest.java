package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class CopyLedgerTest {
    private final CopyLedger ledger = new CopyLedger();

    @Test
    void shouldFreeSlotsAtOnceWhenNothingWasCopied() {
        assertEquals(7, ledger.free(7, 0));
    }

    @Test
    void shouldFreeSlotsInOrderAsTheirCopiesEnd() {
        ledger.mark(4, 1);
        ledger.mark(9, 3);
        assertEquals(0, ledger.free(9, 0));
        assertEquals(4, ledger.free(9, 2));
        assertEquals(9, ledger.free(9, 3));
        assertEquals(12, ledger.free(12, 3));
    }

    @Test
    void shouldFreeSlotsOfRejectedDatagramsWithTheCopiesBeforeThem() {
        ledger.mark(4, 1);
        ledger.mark(6, 1);
        assertEquals(0, ledger.free(6, 0));
        assertEquals(6, ledger.free(6, 1));
    }

    @Test
    void shouldFreeNothingTooEarlyWhenThereAreMoreMarksThanPlaces() {
        for (int mark = 1; mark <= 100; mark++) {
            ledger.mark(mark, mark);
        }
        assertEquals(31, ledger.free(100, 99));
        assertEquals(100, ledger.free(100, 100));
    }

    @Test
    void shouldFreeSlotsTakenSinceTheLastMarkOnlyWhenNoMarkIsLeft() {
        ledger.mark(4, 1);
        ledger.mark(9, 2);
        assertEquals(4, ledger.free(12, 1));
        assertEquals(12, ledger.free(12, 2));
    }

    @Test
    void shouldWaitForNoCopyWhenAllEndedBeforeTheMark() {
        ledger.mark(3, 2);
        assertEquals(3, ledger.free(3, 2));
        // Rejected datagrams, and not one copy more.
        ledger.mark(5, 2);
        assertEquals(5, ledger.free(5, 2));
        ledger.mark(7, 3);
        assertEquals(5, ledger.free(7, 2));
    }

    @Test
    void shouldKeepEachMarkApartWhenMarksGoRound() {
        long taken = 0;
        for (int round = 1; round <= 100; round++) {
            ledger.mark(taken + 1, 2L * round - 1);
            ledger.mark(taken + 2, 2L * round);
            assertEquals(taken, ledger.free(taken + 2, 2L * round - 2));
            assertEquals(taken + 1, ledger.free(taken + 2, 2L * round - 1));
            assertEquals(taken + 2, ledger.free(taken + 2, 2L * round));
            taken += 2;
        }
    }

    @Test
    void shouldKeepThirtyTwoMarksApart() {
        for (int mark = 1; mark <= 32; mark++) {
            ledger.mark(mark, mark);
        }
        for (int ended = 0; ended <= 32; ended++) {
            assertEquals(ended, ledger.free(32, ended));
        }
    }

    @Test
    void shouldFreeThoseBeforeTheNextMarkWhenMarksWereMerged() {
        ledger.mark(4, 1);
        ledger.mark(6, 1);
        ledger.mark(9, 2);
        assertEquals(6, ledger.free(9, 1));
    }

    @Test
    void shouldTakeOneMarkForAnyNumberOfBatchesWithoutACopy() {
        for (int batch = 1; batch <= 40; batch++) {
            ledger.mark(batch, 1);
        }
        ledger.mark(50, 2);
        ledger.mark(60, 3);
        assertEquals(40, ledger.free(60, 1));
        assertEquals(50, ledger.free(60, 2));
    }
}
