package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CopyLedgerTest {
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
}
