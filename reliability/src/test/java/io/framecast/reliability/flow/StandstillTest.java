package io.framecast.reliability.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.receive.MachinePair;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import org.junit.jupiter.api.Test;

/// A process that was stopped and goes on: it asks its peers before it takes them for lost.
class StandstillTest {
    private static final long CYCLE_NS = 5_000_000;
    private static final long STOP_NS = 3 * MachinePair.ALIVE_NS;

    private final MachinePair pair = new MachinePair();

    // Both run for a while.
    private void run(final long ns) {
        final long untilNs = pair.nowNs + ns;
        while (pair.nowNs < untilNs) {
            pair.nowNs += CYCLE_NS;
            cycleSender();
            pair.exchange();
            cycleReceiver();
            pair.exchange();
        }
    }

    private long cycleReceiver() {
        final long stoodNs = pair.receiver.onCycle(pair.nowNs);
        if (pair.receiver.nextDeadlineNs() <= pair.nowNs) {
            pair.receiver.onTick(pair.nowNs);
        }
        return stoodNs;
    }

    private long cycleSender() {
        final long stoodNs = pair.sender.onCycle(pair.nowNs);
        if (pair.sender.nextDeadlineNs() <= pair.nowNs) {
            pair.sender.onTick(pair.nowNs);
        }
        return stoodNs;
    }

    @Test
    void shouldNotTakeTheSourceForLostWhenTheReceiverItselfStoodStill() {
        pair.join();
        run(MachinePair.ALIVE_NS);
        pair.nowNs += STOP_NS;
        assertEquals(STOP_NS, cycleReceiver());
        assertEquals(State.RECEIVING, pair.receiver.state());
        assertFalse(pair.toSender.isEmpty(), "it asks");
        pair.sender.onCycle(pair.nowNs);
        run(3 * MachinePair.ALIVE_NS);
        assertEquals(State.RECEIVING, pair.receiver.state());
        assertEquals(0, pair.receiver.stoodStillNs(pair.nowNs), "long ago");
    }

    @Test
    void shouldTakeTheSourceForLostWhenItDoesNotAnswerBehindAStandstill() {
        pair.join();
        run(MachinePair.ALIVE_NS);
        pair.nowNs += STOP_NS;
        final long wokeNs = pair.nowNs;
        while (pair.receiver.state() == State.RECEIVING) {
            cycleReceiver();
            pair.nowNs += CYCLE_NS;
        }
        assertEquals(State.LOST, pair.receiver.state());
        assertEquals(Reason.SILENT, pair.receiver.lostReason());
        assertFalse(pair.receiver.isEvicted());
        assertEquals(STOP_NS, pair.receiver.stoodStillNs(pair.nowNs));
        assertTrue(pair.nowNs - wokeNs >= MachinePair.ALIVE_NS / 2, "the source has time to answer");
        assertTrue(pair.nowNs - wokeNs <= MachinePair.ALIVE_NS, "and no longer than its silence takes");
    }

    @Test
    void shouldSayThatItWasEvictedWhenTheSourceFoundItSilent() {
        pair.join();
        run(MachinePair.ALIVE_NS);
        final long untilNs = pair.nowNs + STOP_NS;
        while (pair.nowNs < untilNs) {
            pair.nowNs += CYCLE_NS;
            cycleSender();
        }
        assertEquals(0, pair.sender.readyMembers());
        // The source's datagrams from that time still wait, the eviction among them.
        pair.exchange();
        cycleReceiver();
        pair.nowNs += CYCLE_NS;
        cycleReceiver();
        assertEquals(State.LOST, pair.receiver.state());
        assertTrue(pair.receiver.isEvicted());
        assertTrue(pair.receiver.stoodStillNs(pair.nowNs) >= STOP_NS);
    }

    @Test
    void shouldNotEvictItsMembersWhenTheSourceItselfStoodStill() {
        pair.join();
        run(MachinePair.ALIVE_NS);
        pair.nowNs += STOP_NS;
        pair.receiver.onCycle(pair.nowNs);
        assertEquals(STOP_NS, cycleSender());
        assertEquals(1, pair.sender.readyMembers());
        assertFalse(pair.toReceiver.isEmpty(), "it asks");
        run(3 * MachinePair.ALIVE_NS);
        assertEquals(1, pair.sender.readyMembers());
        assertEquals(0, pair.sender.counts().get(SenderCount.EVICTIONS));
    }

    @Test
    void shouldEvictAMemberThatDoesNotAnswerBehindAStandstill() {
        pair.join();
        run(MachinePair.ALIVE_NS);
        pair.nowNs += STOP_NS;
        final long wokeNs = pair.nowNs;
        while (pair.sender.readyMembers() == 1) {
            cycleSender();
            pair.nowNs += CYCLE_NS;
        }
        assertTrue(pair.nowNs - wokeNs >= MachinePair.ALIVE_NS / 2, "the member has time to answer");
        assertTrue(pair.nowNs - wokeNs <= MachinePair.ALIVE_NS, "and no longer than its silence takes");
    }

    @Test
    void shouldMissADeadPeerThoughItStandsStillAgainAndAgain() {
        final long pauseNs = MachinePair.ALIVE_NS / 3;
        pair.join();
        run(MachinePair.ALIVE_NS);
        final long deadNs = pair.nowNs;
        while (pair.receiver.state() == State.RECEIVING) {
            pair.nowNs += pauseNs;
            assertEquals(pauseNs, cycleReceiver());
            assertTrue(pair.nowNs - deadNs <= 2 * MachinePair.ALIVE_NS, "the source is gone");
        }
        pair.nowNs = deadNs;
        while (pair.sender.readyMembers() == 1) {
            pair.nowNs += pauseNs;
            assertEquals(pauseNs, cycleSender());
            assertTrue(pair.nowNs - deadNs <= 2 * MachinePair.ALIVE_NS, "the member is gone");
        }
    }

    @Test
    void shouldBelieveNoMoreFramesThanDatagramsCanHold() {
        pair.join();
        pair.publish(3);
        pair.send(0);
        pair.heartbeat(3, 1, 0);
        assertEquals(1, pair.receiver.knownFrames());
        pair.heartbeat(3, Long.MAX_VALUE, 0);
        pair.heartbeat(3, -1, 0);
        assertEquals(1, pair.receiver.knownFrames());
    }

    @Test
    void shouldNotTakeAHiccupForAStandstill() {
        pair.join();
        run(MachinePair.ALIVE_NS);
        pair.nowNs += MachinePair.ALIVE_NS / 5;
        assertEquals(0, cycleReceiver());
        assertEquals(0, cycleSender());
        assertEquals(0, pair.receiver.stoodStillNs(pair.nowNs));
    }
}
