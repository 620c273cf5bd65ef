package io.framecast.reliability.repair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class RepairBudgetTest {
    private static final int WINDOW = 1000;
    private static final long MS = 1_000_000;

    private final RepairBudget budget = new RepairBudget();

    private int takeAll() {
        int taken = 0;
        while (budget.take()) {
            taken++;
        }
        assertTrue(budget.isUsedUp());
        return taken;
    }

    @Test
    void shouldAllowHalfOfTheStream() {
        budget.begin(WINDOW, 50, 0);
        assertEquals(RepairBudget.FLOOR, takeAll());
        budget.refill(250, 0);
        assertEquals(100, takeAll());
    }

    @Test
    void shouldKeepAWindowAndNoMore() {
        budget.begin(WINDOW, 0, 0);
        budget.refill(100 * WINDOW, 0);
        assertEquals(WINDOW, takeAll());
        // The stream does not come twice.
        budget.refill(100 * WINDOW, 0);
        assertEquals(0, takeAll());
    }

    @Test
    void shouldAllowAFewWhereNothingIsSent() {
        budget.begin(WINDOW, 0, 0);
        takeAll();
        budget.refill(0, MS / 8);
        assertEquals(0, takeAll());
        budget.refill(0, MS);
        assertEquals(4, takeAll());
        budget.refill(0, 1_000 * MS);
        assertEquals(WINDOW, takeAll());
    }

    @Test
    void shouldKeepAFewOfASmallWindow() {
        budget.begin(1, 0, 0);
        takeAll();
        budget.refill(1_000, 0);
        assertEquals(RepairBudget.FLOOR, takeAll());
    }

    /// A fifth of the datagrams and of their repairs is lost.
    @Test
    void shouldNotLimitAMemberThatLosesAFifth() {
        budget.begin(WINDOW, 0, 0);
        for (int sent = 5; sent <= 100_000; sent += 5) {
            budget.refill(sent, 0);
            assertTrue(budget.take());
            if (sent % 20 == 0) {
                assertTrue(budget.take());
            }
        }
    }
}
