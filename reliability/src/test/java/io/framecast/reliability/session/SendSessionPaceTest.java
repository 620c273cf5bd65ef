package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.repair.RetransmitScheduler;
import io.framecast.reliability.wire.DataLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The pace of a source with a rate of 10 MB/s: a datagram takes 29.6 µs.
final class SendSessionPaceTest {
    private static final long RATE = 10_000_000;
    private static final int DATAGRAM = DataLayout.LENGTH + SessionWorld.SLOT_BYTES;
    private static final long DATAGRAM_NS = DATAGRAM * 1_000_000_000L / RATE;
    private static final long MS = SessionWorld.MS;

    private final SessionWorld world = new SessionWorld(SessionWorld.Setup.PLAIN.rate(RATE));
    private final SourceFixture source = world.source;
    private final ReceiverFixture receiver = world.member();

    // Nothing may be made up for any more: from now on only the rate counts.
    private void exhaust() {
        while (source.pacer.nextNs() <= world.nowNs) {
            source.pacer.onSent(DATAGRAM, world.nowNs);
        }
    }

    @Test
    void shouldSendNoMoreThanTheRateAllows() {
        exhaust();
        final long beginNs = world.nowNs;
        for (int frame = 0; frame < 7; frame++) {
            source.publish(8);
        }
        while (source.machine.nextSequence() < 56) {
            world.nowNs += 10_000;
            source.cycle();
            receiver.cycle();
            final long bytes = source.data.sent.size() * (long) DATAGRAM;
            final long due = (world.nowNs - beginNs) * RATE / 1_000_000_000;
            assertTrue(bytes <= due + 5_000 + DATAGRAM, "a quantum and a datagram more");
        }
        final long takenNs = world.nowNs - beginNs;
        assertTrue(takenNs > 50 * DATAGRAM_NS - MS, "took " + takenNs);
        assertTrue(takenNs < 60 * DATAGRAM_NS + MS, "took " + takenNs);
        assertEquals(7, receiver.poll().size());
    }

    @Test
    void shouldChargeHeadersAndPayloads() {
        exhaust();
        world.nowNs = source.pacer.nextNs();
        source.publish(3 * SessionWorld.SLOT_BYTES - 156, 0);
        source.cycle();
        assertEquals(3, source.data.sent.size());
        assertEquals(world.nowNs + (3 * DATAGRAM - 156) * 100L, source.pacer.nextNs());
    }

    @Test
    void shouldComeBackWhenTheNextDatagramIsDue() {
        exhaust();
        source.publish(1);
        source.cycle();
        assertEquals(0, source.data.sent.size());
        assertEquals(source.pacer.nextNs(), source.session.nextDeadlineNs());
        assertFalse(source.session.isHeldBack(), "time holds it back, which needs no transport");
        world.nowNs = source.session.nextDeadlineNs();
        source.cycle();
        assertEquals(1, source.data.sent.size());
    }

    @Test
    void shouldComeBackForItsTimersWhenNothingIsToBeSent() {
        exhaust();
        source.cycle();
        assertEquals(source.machine.nextDeadlineNs(), source.session.nextDeadlineNs());
    }

    @Test
    void shouldComeBackForATimerThatIsDueBeforeTheNextDatagram() {
        source.pacer.onSent(5_000_000, world.nowNs);
        source.publish(1);
        source.cycle();
        assertTrue(source.machine.nextDeadlineNs() < source.pacer.nextNs());
        assertEquals(source.machine.nextDeadlineNs(), source.session.nextDeadlineNs());
    }

    @Test
    void shouldNotSleepWhenTheNextDatagramIsDueSoon() {
        exhaust();
        source.publish(1);
        assertTrue(source.pacer.nextNs() - world.nowNs < 60_000);
        assertEquals(1, source.cycle(), "counts as work");
        assertEquals(0, source.data.sent.size());
        source.pacer.onSent(1_000, world.nowNs);
        assertEquals(0, source.cycle());
    }

    @Test
    void shouldNotStayAwakeForAPacerWhenNothingIsToBeSent() {
        exhaust();
        assertEquals(0, source.cycle());
    }

    @Test
    void shouldSendRepairsAheadOfNewData() {
        world.publish(2);
        final int sent = source.data.sent.size();
        exhaust();
        source.pacer.onSent(10_000, world.nowNs);
        source.publish(1);
        source.cycle();
        assertEquals(sent, source.data.sent.size());
        final long dueNs = source.pacer.nextNs();
        assertEquals(2, source.session.repair(RetransmitScheduler.EVERYBODY, 0, 2));
        assertEquals(List.of(0L, 1L), source.repair.sent);
        assertEquals(dueNs + 2 * DATAGRAM_NS, source.pacer.nextNs(), "repairs count");
        source.pacer.onSent(20_000, world.nowNs);
        assertEquals(0, source.session.repair(RetransmitScheduler.EVERYBODY, 0, 2), "too far ahead");
        assertEquals(2, source.repair.sent.size());
    }

    @Test
    void shouldSendRepairsWhileNewDataWaitsForTheKernelsQueue() {
        final SessionWorld slow = new SessionWorld(SessionWorld.Setup.PLAIN);
        final SourceFixture from = slow.source;
        final ReceiverFixture to = slow.member();
        // A queue that stands, and drains as fast as this source sends: 6 MB/s.
        from.data.queuedBytes = 4 << 20;
        while (from.machine.sendable() == 0) {
            from.publish(8);
            from.cycle();
            slow.run(MS / 5);
            to.poll();
            to.consumer.releaseAll();
            slow.run(MS / 5);
            assertTrue(from.data.sent.size() < 10_000, "it never looked");
        }
        final int sent = from.data.sent.size();
        assertTrue((long) sent * DATAGRAM >= 512 << 10, () -> "it has looked twice, after " + sent);
        assertTrue(from.session.nextDeadlineNs() > slow.nowNs);
        assertFalse(from.session.isHeldBack(), "time holds it back, which needs no transport");
        final long first = from.machine.nextSequence() - 2;
        assertEquals(2, from.session.repair(RetransmitScheduler.EVERYBODY, first, 2));
        slow.nowNs += 2 * MS;
        from.cycle();
        assertEquals(sent, from.data.sent.size(), "the queue still stands");
        from.data.queuedBytes = 0;
        slow.nowNs += 2 * MS;
        from.cycle();
        assertEquals(sent + 8, from.data.sent.size());
    }

    @Test
    void shouldNotPaceWithoutMembers() {
        final SessionWorld lonely = new SessionWorld(SessionWorld.Setup.PLAIN.rate(RATE));
        for (int frame = 0; frame < 7; frame++) {
            lonely.source.publish(8);
        }
        lonely.source.pacer.onSent(5_000_000, lonely.nowNs);
        lonely.source.cycle();
        assertEquals(56, lonely.source.machine.nextSequence());
        assertEquals(lonely.source.machine.nextDeadlineNs(), lonely.source.session.nextDeadlineNs());
    }

    @Test
    void shouldWatchItsLaneWhenNothingButTheLaneHoldsItBack() {
        exhaust();
        world.nowNs = source.pacer.nextNs();
        source.data.acceptsAtOnce = 0;
        source.publish(1);
        source.cycle();
        assertTrue(source.session.isHeldBack());
    }

    @Test
    void shouldGoOnAtOnceWithoutMembersWhateverItsRate() {
        final SessionWorld lonely =
                new SessionWorld(SessionWorld.Setup.PLAIN.slots(1 << 15, 128).rate(RATE));
        for (int frame = 0; frame < 12; frame++) {
            lonely.source.publish(8);
        }
        lonely.source.pacer.onSent(5_000_000, lonely.nowNs);
        lonely.source.cycle();
        assertEquals(32, lonely.source.machine.sendable());
        assertTrue(lonely.source.session.isHeldBack());
    }
}
