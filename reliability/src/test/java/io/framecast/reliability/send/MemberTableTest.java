package io.framecast.reliability.send;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.flow.RttEstimator;
import io.framecast.reliability.send.Member.State;
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
        table.admit(member, id, new JoinLayout.Terms(9, delivery, 1, ADDRESSES, new CoRootOffer(5, true)), 77, nowNs);
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
        assertEquals(4, table.of(member).id);
        assertEquals(77, table.of(member).token);
        assertEquals(State.ADMITTED, table.of(member).state);
        assertEquals(3_000_000_000L, table.of(member).heardNs);
        assertEquals(3_000_000_000L - JoinBudget.MEMBER_INTERVAL_NS, table.of(member).answeredNs);
        assertEquals(ADDRESSES, table.of(member).terms.addresses());
        assertEquals(new CoRootOffer(5, true), table.of(member).terms.offer());
        assertEquals(Delivery.RELIABLE, table.of(member).terms.delivery());
        assertEquals(0, table.active());
        table.activate(member, 10, 2, 40);
        assertEquals(1, table.active());
        assertEquals(10, table.of(member).startSequence);
        assertEquals(2, table.of(member).startFrameId);
        assertEquals(40, table.of(member).grant);
        assertEquals(10, table.of(member).acknowledged);
        table.of(member).answeredNs = 8;
        table.of(member).heardNs = 9;
        assertEquals(8, table.of(member).answeredNs);
        assertEquals(9, table.of(member).heardNs);
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
        table.of(member).timeouts++;
        assertFalse(table.acknowledge(member, 10, 25));
        assertEquals(25, table.of(member).grant);
        assertEquals(1, table.of(member).timeouts);
        assertTrue(table.acknowledge(member, 12, 15));
        assertEquals(25, table.of(member).grant);
        assertEquals(12, table.of(member).acknowledged);
        assertEquals(0, table.of(member).timeouts);
        assertFalse(table.acknowledge(member, 11, 0));
        assertEquals(12, table.of(member).acknowledged);
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
        table.of(first).complete = true;
        assertFalse(table.isCompleteForAll());
        table.of(second).complete = true;
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
        table.of(member).started = true;
        assertTrue(table.of(member).started);
        table.of(member).rtt.onSample(5_000_000);
        table.of(member).timeouts++;
        table.of(member).timeoutNs = 7;
        assertEquals(7, table.of(member).timeoutNs);
        table.remove(member, State.FREE);
        assertEquals(member, join(2, Delivery.RELIABLE, 20));
        assertFalse(table.of(member).started);
        assertEquals(0, table.of(member).timeouts);
        assertEquals(Long.MAX_VALUE, table.of(member).timeoutNs);
        assertEquals(RttEstimator.INITIAL_NS, table.rttNs());
    }

    @Test
    void shouldScaleByTheSlowestOfItsMembers() {
        assertEquals(RttEstimator.INITIAL_NS, table.rttNs());
        table.of(join(1, Delivery.RELIABLE, 20)).rtt.onSample(5_000_000);
        table.of(join(2, Delivery.RELIABLE, 20)).rtt.onSample(9_000_000);
        table.of(admit(3, Delivery.RELIABLE, 0)).rtt.onSample(20_000_000);
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
