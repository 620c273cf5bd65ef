package io.framecast.reliability.send;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.flow.RttEstimator;
import io.framecast.reliability.send.MemberTable.State;
import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LaneAddresses;
import org.junit.jupiter.api.Test;

final class MemberTableTest {
    private static final LaneAddresses ADDRESSES = new LaneAddresses(new byte[] {1}, new byte[] {2});

    private final MemberTable table = new MemberTable(3);

    private int admit(final long id, final Delivery delivery, final long nowNs) {
        final int member = table.vacancy(nowNs);
        table.admit(member, id, new JoinLayout.Terms(9, delivery, ADDRESSES, new CoRootOffer(5, true)), 77, nowNs);
        return member;
    }

    private int join(final long id, final Delivery delivery, final long grant) {
        final int member = admit(id, delivery, 0);
        table.activate(member, 10, 2, grant);
        return member;
    }

    @Test
    void shouldKnowWhoJoined() {
        assertEquals(MemberTable.NONE, table.find(0));
        final int member = admit(4, Delivery.RELIABLE, 3_000_000_000L);
        assertEquals(member, table.find(4));
        assertEquals(4, table.id(member));
        assertEquals(77, table.token(member));
        assertEquals(State.ADMITTED, table.state(member));
        assertEquals(3_000_000_000L, table.heardNs(member));
        assertEquals(3_000_000_000L - JoinBudget.MEMBER_INTERVAL_NS, table.answeredNs(member));
        assertEquals(ADDRESSES, table.addresses(member));
        assertEquals(new CoRootOffer(5, true), table.offer(member));
        assertEquals(Delivery.RELIABLE, table.delivery(member));
        assertEquals(0, table.active());
        table.activate(member, 10, 2, 40);
        assertEquals(1, table.active());
        assertEquals(10, table.startSequence(member));
        assertEquals(2, table.startFrameId(member));
        assertEquals(40, table.grant(member));
        assertEquals(10, table.acknowledged(member));
        table.answered(member, 8);
        table.heard(member, 9);
        assertEquals(8, table.answeredNs(member));
        assertEquals(9, table.heardNs(member));
        table.remove(member, State.GONE);
        assertEquals(0, table.active());
        assertEquals(member, table.find(4));
        table.remove(member, State.FREE);
        assertEquals(0, table.active());
        assertEquals(MemberTable.NONE, table.find(4));
    }

    @Test
    void shouldGiveAwayWhoIsGoneAndThenWhoStalled() {
        final int first = admit(1, Delivery.RELIABLE, 0);
        final int second = join(2, Delivery.RELIABLE, 5);
        final int third = join(3, Delivery.RELIABLE, 5);
        assertEquals(MemberTable.NONE, table.vacancy(MemberTable.JOIN_STALLED_NS));
        assertEquals(first, table.vacancy(MemberTable.JOIN_STALLED_NS + 1));
        table.remove(second, State.GONE);
        assertEquals(second, table.vacancy(MemberTable.JOIN_STALLED_NS + 1));
        assertEquals(second, table.vacancy(0));
        table.remove(third, State.FREE);
        assertEquals(third, table.vacancy(0));
    }

    @Test
    void shouldNeverMoveBackWhenAcksAreOvertaken() {
        final int member = join(1, Delivery.RELIABLE, 20);
        table.onTimeout(member);
        assertFalse(table.acknowledge(member, 10, 25));
        assertEquals(25, table.grant(member));
        assertEquals(1, table.timeouts(member));
        assertTrue(table.acknowledge(member, 12, 15));
        assertEquals(25, table.grant(member));
        assertEquals(12, table.acknowledged(member));
        assertEquals(0, table.timeouts(member));
        assertFalse(table.acknowledge(member, 11, 0));
        assertEquals(12, table.acknowledged(member));
    }

    @Test
    void shouldWaitOnlyForWhoIsWaitedFor() {
        final int slow = join(1, Delivery.RELIABLE, 20);
        final int late = join(2, Delivery.LATEST, 30);
        table.acknowledge(slow, 14, 20);
        table.acknowledge(late, 12, 30);
        assertEquals(12, table.acknowledgedByAll(100));
        assertEquals(14, table.acknowledgedByWaitedFor(100));
        assertEquals(12, table.acknowledgedByOthers(100));
        assertEquals(11, table.acknowledgedByAll(11));
        assertEquals(20, table.granted());
        assertTrue(table.isAnyWaitedFor());
        table.remove(slow, State.GONE);
        assertEquals(100, table.acknowledgedByWaitedFor(100));
        assertEquals(30, table.granted());
        assertFalse(table.isAnyWaitedFor());
        join(3, Delivery.LATEST, 33);
        assertEquals(33, table.granted());
        table.remove(late, State.GONE);
        table.remove(table.find(3), State.GONE);
        assertEquals(Long.MAX_VALUE, table.granted());
    }

    @Test
    void shouldHaveServedWhoHasAllOrIsBeyondHelp() {
        assertTrue(table.areServed(50, 30));
        final int waitedFor = join(1, Delivery.RELIABLE, 20);
        assertFalse(table.areServed(50, 30));
        table.acknowledge(waitedFor, 50, 50);
        assertTrue(table.areServed(50, 30));
        final int other = join(2, Delivery.LATEST, 20);
        assertTrue(table.areServed(50, 30), "what it lacks is held no more");
        table.acknowledge(other, 30, 50);
        assertFalse(table.areServed(50, 30));
        table.acknowledge(other, 50, 50);
        assertTrue(table.areServed(50, 30));
        assertFalse(table.areServed(51, 30));
    }

    @Test
    void shouldBeCompleteWhenEveryMemberSaidSo() {
        assertTrue(table.isCompleteForAll());
        final int first = join(1, Delivery.RELIABLE, 20);
        final int second = join(2, Delivery.RELIABLE, 20);
        table.complete(first);
        assertFalse(table.isCompleteForAll());
        table.complete(second);
        assertTrue(table.isCompleteForAll());
        table.remove(first, State.FREE);
        admit(3, Delivery.RELIABLE, 0);
        assertTrue(table.isCompleteForAll(), "who is not active does not count");
        table.activate(first, 0, 0, 0);
        assertFalse(table.isCompleteForAll(), "a newcomer has nothing");
    }

    @Test
    void shouldStartEachNewcomerAfresh() {
        final int member = join(1, Delivery.RELIABLE, 20);
        table.started(member);
        assertTrue(table.isStarted(member));
        table.rtt(member).onSample(5_000_000);
        table.onTimeout(member);
        table.timeoutNs(member, 7);
        assertEquals(7, table.timeoutNs(member));
        table.remove(member, State.FREE);
        assertEquals(member, join(2, Delivery.RELIABLE, 20));
        assertFalse(table.isStarted(member));
        assertEquals(0, table.timeouts(member));
        assertEquals(Long.MAX_VALUE, table.timeoutNs(member));
        assertEquals(RttEstimator.INITIAL_NS, table.rttNs());
    }

    @Test
    void shouldScaleByTheSlowestOfItsMembers() {
        assertEquals(RttEstimator.INITIAL_NS, table.rttNs());
        table.rtt(join(1, Delivery.RELIABLE, 20)).onSample(5_000_000);
        table.rtt(join(2, Delivery.RELIABLE, 20)).onSample(9_000_000);
        table.rtt(admit(3, Delivery.RELIABLE, 0)).onSample(20_000_000);
        assertEquals(9_000_000, table.rttNs());
    }

    @Test
    void shouldFindAMemberTooSlowWhenItsPatienceIsUsedUp() {
        final int member = join(1, Delivery.evict(5), 20);
        assertFalse(table.isTooSlow(member, true, 5_000_000));
        assertTrue(table.isTooSlow(member, true, 1));
        // A fiftieth of the time that it keeps up is forgiven.
        assertTrue(table.isTooSlow(member, false, 49));
        assertFalse(table.isTooSlow(member, false, 50));
        assertFalse(table.isTooSlow(member, false, 1_000_000_000_000L));
        assertFalse(table.isTooSlow(member, true, 5_000_000), "a member saves nothing up");
        assertTrue(table.isTooSlow(member, true, 1));
        final int reliable = join(2, Delivery.RELIABLE, 20);
        assertFalse(table.isTooSlow(reliable, true, 1_000_000_000));
    }
}
