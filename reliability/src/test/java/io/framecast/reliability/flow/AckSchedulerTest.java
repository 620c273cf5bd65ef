package io.framecast.reliability.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The time of acknowledgements where credit travels apart from them, at a co-root, and what is counted.
final class AckSchedulerTest {
    private static final long IDLE_NS = 1_000_000_000;
    private static final long NOW_NS = 7_000;
    private static final long SOON_NS = NOW_NS + AckScheduler.DELAY_MAX_NS;
    private static final long GRANT = 1_000;

    // A quarter of the grant is 100 datagrams, half of that counts for a group.
    private final AckScheduler acks = new AckScheduler(400, 0, IDLE_NS);

    private void advertise(final long grant, final long highest) {
        acks.onSent(grant, highest, 0);
    }

    private void assertPending(final long dueNs, final AckTrigger trigger) {
        assertEquals(dueNs, acks.nextDeadlineNs());
        final long before = acks.sent(trigger);
        acks.onSent(GRANT, 0, dueNs);
        assertEquals(before + 1, acks.sent(trigger));
    }

    private void creditApart(final long windowSlots, final long frameMaxSlots) {
        acks.apart(windowSlots, frameMaxSlots);
        acks.creditApart(true);
        advertise(GRANT, 0);
    }

    @Test
    void shouldAcknowledgeAQuarterOfTheWindowWhenCreditTravelsApart() {
        creditApart(64, 8);
        acks.onReceived(15, 15, false, NOW_NS);
        assertFalse(acks.isDue(NOW_NS));
        acks.onReceived(1, 16, false, NOW_NS);
        assertPending(NOW_NS, AckTrigger.DATAGRAMS);
    }

    @Test
    void shouldNotHurryForHalfTheGrantWhenCreditTravelsApart() {
        creditApart(64, 8);
        acks.onReceived(1, GRANT - 1, false, NOW_NS);
        assertPending(NOW_NS + 4 * AckScheduler.DELAY_MAX_NS, AckTrigger.TIMER);
        acks.onGrant(GRANT + 500, GRANT, NOW_NS);
        assertFalse(acks.isPending());
    }

    @ParameterizedTest
    @CsvSource({"32, 300000", "33, 100000"})
    void shouldAcknowledgeAFramesEndSoonerWhereTwoDoNotFitTheWindow(final long frameMaxSlots, final long delayNs) {
        creditApart(64, frameMaxSlots);
        acks.onReceived(1, 1, true, NOW_NS);
        assertPending(NOW_NS + delayNs, AckTrigger.FRAME_END);
    }

    @Test
    void shouldAcknowledgeEachDatagramOfAWindowOfOne() {
        creditApart(1, 1);
        acks.onReceived(1, 1, false, NOW_NS);
        assertPending(NOW_NS, AckTrigger.DATAGRAMS);
    }

    @Test
    void shouldKeepTheEarliestCause() {
        advertise(GRANT, 0);
        acks.onRequest(NOW_NS);
        acks.onGrant(GRANT + 500, 0, NOW_NS);
        assertPending(NOW_NS, AckTrigger.REQUEST);
    }

    @Test
    void shouldAdvertiseAGrantAtOnceWhenTheSourceWaitsOrItIsWorthADatagram() {
        advertise(GRANT, 0);
        acks.onGrant(GRANT, GRANT, NOW_NS);
        assertFalse(acks.isPending(), "nothing was freed");
        acks.onGrant(GRANT + 1, GRANT - 1, NOW_NS);
        assertPending(SOON_NS, AckTrigger.CREDIT);
        acks.onGrant(GRANT + 1, GRANT, NOW_NS);
        assertPending(NOW_NS, AckTrigger.CREDIT);
        acks.onGrant(GRANT + 99, 0, NOW_NS);
        assertPending(SOON_NS, AckTrigger.CREDIT);
        acks.onGrant(GRANT + 100, 0, NOW_NS);
        assertPending(NOW_NS, AckTrigger.CREDIT);
    }

    @Test
    void shouldPassAGroupsGrantOnWhenItIsWorthHalfAsMuchOrTheSourceWaits() {
        advertise(GRANT, 0);
        acks.onAggregate(0, GRANT, GRANT, NOW_NS);
        assertFalse(acks.isPending(), "nothing has changed");
        acks.onAggregate(0, GRANT + 49, 0, NOW_NS);
        assertPending(SOON_NS, AckTrigger.TIMER);
        acks.onAggregate(0, GRANT + 50, 0, NOW_NS);
        assertPending(NOW_NS, AckTrigger.CREDIT);
        acks.onAggregate(0, GRANT + 1, GRANT, NOW_NS);
        assertPending(NOW_NS, AckTrigger.CREDIT);
    }

    @Test
    void shouldWaitForMoreOfAGroupWhenItsAcknowledgementAloneGrew() {
        advertise(GRANT, 0);
        acks.onAggregate(1, GRANT, GRANT, NOW_NS);
        assertPending(SOON_NS, AckTrigger.TIMER);
        acks.onAggregate(1, GRANT - 1, GRANT, NOW_NS);
        assertPending(SOON_NS, AckTrigger.TIMER);
    }

    @Test
    void shouldCountAnAcknowledgementBeforeItsTimeAsOneOfTheTimer() {
        advertise(GRANT, 0);
        final long before = acks.sent(AckTrigger.TIMER);
        acks.onReceived(1, 1, true, NOW_NS);
        acks.onSent(GRANT, 1, NOW_NS + AckScheduler.FRAME_DELAY_NS - 1);
        assertEquals(0, acks.sent(AckTrigger.FRAME_END));
        assertEquals(before + 1, acks.sent(AckTrigger.TIMER));
        acks.onPiggyback(GRANT, 1, NOW_NS);
        assertEquals(1, acks.sent(AckTrigger.PIGGYBACK));
        assertEquals(NOW_NS + IDLE_NS, acks.nextDeadlineNs());
        assertTrue(acks.isDue(NOW_NS + IDLE_NS));
        assertFalse(acks.isDue(NOW_NS + IDLE_NS - 1));
    }
}
