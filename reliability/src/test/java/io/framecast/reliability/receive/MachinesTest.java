package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.repair.RequestLimit;
import io.framecast.reliability.send.JoinBudget;
import io.framecast.reliability.send.MemberTable;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

final class MachinesTest {
    private static int type(final MemorySegment datagram) {
        return ControlLayout.type(datagram, 0);
    }

    @Test
    void shouldCountAsMemberWhenTheHandshakeIsDone() {
        final MachinePair pair = new MachinePair();
        pair.join();
        assertEquals(State.RECEIVING, pair.receiver.state());
        assertEquals(1, pair.sender.readyMembers());
        assertEquals(32, pair.sender.grantedSequence());
        assertEquals(32, pair.receiver.grantedSequence());
    }

    @Test
    void shouldBoundTheClockThoughDutyCyclesAreOlderThanTheirDatagrams() {
        final MachinePair pair = new MachinePair();
        pair.nowNs = 50_000_000;
        pair.receiver.start(pair.nowNs);
        pair.exchange();
        pair.publish(1);
        pair.send(0);
        pair.receiver.onTick(pair.nowNs);
        pair.toSender.removeIf(datagram -> type(datagram) != ControlLayout.TYPE_SOLICIT);
        final MemorySegment question = pair.toSender.remove();
        // Both read a datagram in a cycle that began before the question left.
        pair.staleNs = 4_000_000;
        pair.sender.onControl(question, 0, (int) question.byteSize(), pair.nowNs - 3_000_000);
        final MemorySegment answer = pair.toReceiver.removeLast();
        pair.receiver.onControl(answer, 0, (int) answer.byteSize(), pair.nowNs - 1_000_000);
        assertEquals(-500_000, pair.receiver.clock().offsetNs());
        assertEquals(1_500_001, pair.receiver.clock().boundNs(pair.nowNs + 3_000_000));
    }

    @Test
    void shouldAnnounceNothingLessWhenProbesWaitBehindTheData() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(3);
        pair.send(0);
        pair.sender.onWaiting(1, pair.nowNs);
        assertEquals(2, pair.sender.announced());
        pair.sender.onWaiting(0, pair.nowNs);
        assertEquals(3, pair.sender.announced());
        pair.sender.onWaiting(2, pair.nowNs);
        assertEquals(3, pair.sender.announced());
    }

    @Test
    void shouldJoinWhenTheProbeOvertakesItsAdmit() {
        final MachinePair pair = new MachinePair();
        pair.receiver.start(0);
        final MemorySegment join = pair.toSender.remove();
        pair.sender.onControl(join, 0, (int) join.byteSize(), 0);
        pair.probe(pair.probes.remove());
        assertEquals(State.JOINING, pair.receiver.state());
        pair.exchange();
        assertEquals(State.RECEIVING, pair.receiver.state());
    }

    @Test
    void shouldJoinWhenEveryFirstDatagramOfTheHandshakeIsLost() {
        final MachinePair pair = new MachinePair();
        pair.receiver.start(0);
        pair.toSender.clear();
        pair.run(1);
        while (pair.receiver.state() != State.RECEIVING && pair.nowNs < 900_000_000) {
            pair.nowNs = Math.max(pair.nowNs + 1, pair.receiver.nextDeadlineNs());
            final State before = pair.receiver.state();
            pair.tick();
            if (pair.nowNs < 100_000_000) {
                pair.toReceiver.clear();
                pair.probes.clear();
            }
            pair.exchange();
            assertTrue(pair.receiver.state().ordinal() >= before.ordinal());
        }
        assertEquals(State.RECEIVING, pair.receiver.state());
    }

    @Test
    void shouldBeRefusedWhenTheProbeNeverArrives() {
        final MachinePair pair = new MachinePair();
        pair.probesLost = true;
        pair.receiver.start(0);
        for (int i = 0; i < 1000 && pair.receiver.state() != State.REFUSED; i++) {
            pair.nowNs = Math.max(pair.nowNs + 1, pair.receiver.nextDeadlineNs());
            pair.tick();
            pair.exchange();
        }
        assertEquals(State.REFUSED, pair.receiver.state());
        assertEquals(0, pair.sender.readyMembers());
    }

    @Test
    void shouldBeRefusedWhenTheRingIsTooSmall() {
        final MachinePair pair = new MachinePair(95, 32, 4);
        pair.join();
        assertEquals(State.REFUSED, pair.receiver.state());
        assertEquals(Reason.RING_TOO_SMALL, pair.receiver.lostReason());
        assertEquals(1, pair.sender.counts().get(SenderCount.REFUSALS));
        assertEquals(0, pair.sender.readyMembers());
    }

    @Test
    void shouldBeRefusedWhenTheTableIsFull() {
        final MachinePair pair = new MachinePair(256, 32, 1);
        pair.join();
        final ReceiverMachine second = pair.newReceiver(6, 256, 32);
        second.start(pair.nowNs);
        final MemorySegment join = pair.toSender.remove();
        pair.nowNs += 10_000_000;
        pair.sender.onControl(join, 0, (int) join.byteSize(), pair.nowNs);
        final MemorySegment evict = pair.toReceiver.remove();
        second.onControl(evict, 0, (int) evict.byteSize(), pair.nowNs);
        assertEquals(State.REFUSED, second.state());
        assertEquals(Reason.FULL, second.lostReason());
        pair.receiver.onControl(evict, 0, (int) evict.byteSize(), pair.nowNs);
        assertEquals(State.RECEIVING, pair.receiver.state());
    }

    @Test
    void shouldNotAdmitWhenAddressesMeanNothing() {
        final MachinePair pair = new MachinePair();
        pair.reachable = false;
        pair.join();
        assertEquals(State.JOINING, pair.receiver.state());
        assertEquals(1, pair.sender.verdicts().get(Verdict.IMPOSSIBLE));
    }

    @Test
    void shouldStartAtTheNextFrameWhenJoiningWithinOne() {
        final MachinePair pair = new MachinePair();
        pair.window.beginFrame(10 * 64, 0, 0, new byte[0]);
        pair.window.commit(10 * 64, 4);
        pair.sender.onSent(4, 0);
        pair.join();
        assertEquals(10, pair.receiver.startSequence());
        pair.window.commit(10 * 64, 6);
        pair.publish(2);
        pair.send(0);
        final ReceivedFrame frame = pair.receiver.pollFrame();
        assertNotNull(frame);
        assertEquals(1, frame.frameId());
        assertEquals(10, frame.firstSequence());
    }

    @Test
    void shouldDeliverInOrderWhenTheFirstDatagramIsRepaired() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(3);
        pair.publish(2);
        pair.send(1);
        assertNull(pair.receiver.pollFrame());
        assertEquals(1, pair.receiver.missing());
        pair.run(10_000_000);
        assertEquals(1, pair.receiver.counts().get(ReceiverCount.REPAIRED_DATAGRAMS));
        assertEquals(0, pair.receiver.pollFrame().frameId());
        assertEquals(1, pair.receiver.pollFrame().frameId());
        assertNull(pair.receiver.pollFrame());
        assertEquals(0, pair.sender.counts().get(SenderCount.TIMEOUTS));
    }

    @Test
    void shouldRepairTheTailWhenEverythingIsLost() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(5);
        pair.send(5);
        pair.run(20_000_000);
        assertEquals(5, pair.receiver.acknowledgedSequence());
        assertNotNull(pair.receiver.pollFrame());
    }

    @Test
    void shouldResendTheOldestWhenNobodyAsks() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(1);
        pair.send(1);
        for (int i = 0; i < 200 && pair.repairs.isEmpty(); i++) {
            pair.nowNs = Math.max(pair.nowNs + 1, pair.sender.nextDeadlineNs());
            pair.sender.onTick(pair.nowNs);
            pair.toReceiver.clear();
        }
        assertEquals(1, pair.sender.counts().get(SenderCount.TIMEOUTS));
        assertEquals(0L, pair.repairs.peek());
    }

    @Test
    void shouldNotAcknowledgeAFrameWhoseMetadataIsMissing() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(2, new byte[] {1, 2, 3});
        pair.publish(2);
        pair.send(0);
        pair.toReceiver.clear();
        pair.nowNs += 2_000_000;
        pair.receiver.onTick(pair.nowNs);
        while (!pair.toSender.isEmpty() && type(pair.toSender.peek()) == ControlLayout.TYPE_ACK) {
            final MemorySegment ack = pair.toSender.remove();
            pair.sender.onControl(ack, 0, (int) ack.byteSize(), pair.nowNs);
        }
        assertEquals(0, pair.sender.releasable());
        assertNull(pair.receiver.pollFrame());
        pair.run(20_000_000);
        assertArrayEquals(new byte[] {1, 2, 3}, pair.receiver.pollFrame().metadata());
        assertNull(pair.receiver.pollFrame().metadata());
        pair.run(20_000_000);
        assertEquals(4, pair.sender.releasable());
    }

    @Test
    void shouldNotPassTheGrantWhenTheUserKeepsFrames() {
        final MachinePair pair = new MachinePair(96, 96, 4);
        pair.join();
        for (int i = 0; i < 40; i++) {
            if (pair.window.freeSlots() >= 4) {
                pair.publish(4);
            }
            pair.send(0);
            pair.receiver.pollFrame();
            pair.run(1_000_000);
        }
        assertEquals(96, pair.sender.nextSequence());
        assertEquals(0, pair.sender.sendable());
        pair.receiver.onCredit(100, pair.nowNs);
        pair.run(1_000_000);
        assertEquals(100, pair.sender.grantedSequence());
    }

    @Test
    void shouldEndAndDrainWhenTheStreamIsOver() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(3);
        pair.send(0);
        pair.sender.end(pair.nowNs);
        assertFalse(pair.sender.isDrained());
        pair.receiver.pollFrame();
        pair.run(5_000_000);
        pair.receiver.pollFrame();
        assertEquals(State.ENDED, pair.receiver.state());
        assertTrue(pair.sender.isDrained());
    }

    @Test
    void shouldNotCountAsDrainedWhenAMemberHasNotHeardTheEnd() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(3);
        pair.send(0);
        pair.run(5_000_000);
        assertTrue(pair.sender.isDrained());
        pair.sender.end(pair.nowNs);
        assertFalse(pair.sender.isDrained());
        pair.run(5_000_000);
        assertTrue(pair.sender.isDrained());
    }

    @Test
    void shouldAnswerAgainWhenTheLastAckOfAnEndedReceiverIsLost() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(3);
        pair.send(0);
        pair.sender.end(pair.nowNs);
        pair.sender.onTick(pair.nowNs);
        while (!pair.toReceiver.isEmpty()) {
            final MemorySegment datagram = pair.toReceiver.remove();
            pair.receiver.onControl(datagram, 0, (int) datagram.byteSize(), pair.nowNs);
        }
        pair.receiver.pollFrame();
        pair.receiver.pollFrame();
        assertEquals(State.ENDED, pair.receiver.state());
        pair.receiver.onTick(pair.nowNs);
        pair.toSender.clear();
        assertFalse(pair.sender.isDrained());
        pair.run(30_000_000);
        assertTrue(pair.sender.isDrained());
    }

    @Test
    void shouldKeepWhatItHasWhenTheSourceClosesAfterTheEnd() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(3);
        pair.send(0);
        pair.sender.end(pair.nowNs);
        pair.run(5_000_000);
        pair.sender.close();
        pair.exchange();
        assertNotNull(pair.receiver.pollFrame());
        assertNull(pair.receiver.pollFrame());
        assertEquals(State.ENDED, pair.receiver.state());
    }

    @Test
    void shouldEndWhenOnlyAGoodbyeBroughtTheEnd() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(3);
        pair.send(0);
        pair.run(5_000_000);
        pair.sender.end(pair.nowNs);
        pair.sender.onTick(pair.nowNs);
        pair.sender.close();
        assertEquals(3, pair.toReceiver.size());
        // Of the end and of the first goodbye nothing arrives but EVICT.
        pair.toReceiver.removeFirst();
        pair.toReceiver.removeFirst();
        pair.exchange();
        assertNotNull(pair.receiver.pollFrame());
        assertEquals(State.RECEIVING, pair.receiver.state());
        pair.sender.close();
        pair.exchange();
        assertNull(pair.receiver.pollFrame());
        pair.run(5_000_000);
        assertEquals(State.ENDED, pair.receiver.state());
    }

    @Test
    void shouldNotEndWhenTheSourceClosesWithinAFrame() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(3);
        pair.window.beginFrame(10 * 64, 0, 0, new byte[0]);
        pair.window.commit(10 * 64, 4);
        pair.send(0);
        pair.sender.end(pair.nowNs);
        assertFalse(pair.sender.isSettled());
        pair.run(50_000_000);
        assertEquals(State.RECEIVING, pair.receiver.state());
        assertFalse(pair.sender.isDrained());
        assertTrue(pair.sender.isSettled());
        pair.sender.close();
        pair.exchange();
        pair.run(5_000_000);
        assertEquals(State.LOST, pair.receiver.state());
        assertEquals(Reason.CLOSED, pair.receiver.lostReason());
        assertEquals(3 * 64, pair.receiver.pollFrame().bytes());
        assertNull(pair.receiver.pollFrame());
    }

    @Test
    void shouldRejectAnEndThatFallsWithinAFrame() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.window.beginFrame(10 * 64, 0, 0, new byte[0]);
        pair.window.commit(10 * 64, 4);
        pair.send(0);
        pair.heartbeat(4, HeartbeatLayout.FLAG_END_OF_STREAM);
        assertEquals(1, pair.receiver.verdicts().get(Verdict.INCONSISTENT));
        // The frame goes on, and the true end is taken.
        pair.window.commit(10 * 64, 6);
        pair.send(0);
        assertNotNull(pair.receiver.pollFrame());
        pair.heartbeat(10, HeartbeatLayout.FLAG_END_OF_STREAM);
        assertNull(pair.receiver.pollFrame());
        assertEquals(State.ENDED, pair.receiver.state());
    }

    @Test
    void shouldRejectWhatLiesBehindTheEnd() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(3);
        pair.publish(2);
        pair.send(1);
        pair.heartbeat(4, HeartbeatLayout.FLAG_END_OF_STREAM);
        pair.heartbeat(5, HeartbeatLayout.FLAG_END_OF_STREAM);
        pair.heartbeat(6, HeartbeatLayout.FLAG_END_OF_STREAM);
        pair.heartbeat(6, 0);
        assertEquals(3, pair.receiver.verdicts().get(Verdict.INCONSISTENT));
        pair.publish(1);
        pair.send(0);
        assertEquals(4, pair.receiver.verdicts().get(Verdict.INCONSISTENT));
        assertEquals(1, pair.receiver.missing());
    }

    @Test
    void shouldDeliverWhatArrivesRightBehindTheGoodbye() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(3);
        pair.publish(2);
        pair.send(5);
        pair.sender.end(pair.nowNs);
        pair.sender.onTick(pair.nowNs);
        pair.sender.close();
        pair.exchange();
        assertEquals(State.RECEIVING, pair.receiver.state(), "END and EVICT overtook the data");
        for (long sequence = 0; sequence < 5; sequence++) {
            pair.nowNs += SourceWatch.GRACE_MIN_NS / 2;
            pair.data(sequence);
            pair.receiver.onTick(pair.nowNs);
        }
        assertEquals(0, pair.receiver.pollFrame().frameId());
        assertEquals(1, pair.receiver.pollFrame().frameId());
        assertNull(pair.receiver.pollFrame());
        assertEquals(State.ENDED, pair.receiver.state());
    }

    @Test
    void shouldDeliverWholeFramesWhenTheSourceIsLost() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(3);
        pair.publish(2);
        pair.publish(2);
        pair.send(0);
        pair.publish(2);
        pair.send(1);
        pair.nowNs += 2 * MachinePair.ALIVE_NS;
        pair.receiver.onTick(pair.nowNs);
        assertEquals(State.LOST, pair.receiver.state());
        for (int id = 0; id < 3; id++) {
            assertEquals(id, pair.receiver.pollFrame().frameId());
        }
        assertNull(pair.receiver.pollFrame());
        assertEquals(State.LOST, pair.receiver.state());
    }

    @Test
    void shouldGiveUpAStepOfTheJoinThatIsNeverAnswered() {
        final MachinePair pair = new MachinePair();
        pair.receiver.start(0);
        while (pair.receiver.state() == State.JOINING) {
            pair.nowNs = Math.max(pair.nowNs + 1, pair.receiver.nextDeadlineNs());
            // The source is alive, or an attacker pretends so.
            pair.heartbeat(0, 0);
            pair.receiver.onTick(pair.nowNs);
        }
        assertEquals(State.LOST, pair.receiver.state());
        assertEquals(Handshake.ATTEMPTS_MAX, pair.toSender.size());
        assertTrue(pair.nowNs < 10_000_000_000L);
    }

    @Test
    void shouldAnswerFewJoinsWhenManyCome() {
        final MachinePair pair = new MachinePair(256, 32, 256);
        pair.receiver.start(0);
        final MemorySegment join = pair.toSender.remove();
        for (int i = 0; i < 50; i++) {
            pair.sender.onControl(join, 0, (int) join.byteSize(), i * 100_000L);
        }
        assertEquals(1, pair.probes.size(), "to one receiver");
        for (int id = 10; id < 210; id++) {
            pair.newReceiver(id, 256, 32).start(0);
        }
        for (final MemorySegment other : pair.toSender) {
            pair.sender.onControl(other, 0, (int) other.byteSize(), 5_000_000);
        }
        assertEquals(1 + JoinBudget.BURST_MAX, pair.probes.size());
        pair.sender.onControl(join, 0, (int) join.byteSize(), 20_000_000);
        assertEquals(2 + JoinBudget.BURST_MAX, pair.probes.size(), "later they are");
        assertEquals(49 + 200 - JoinBudget.BURST_MAX, pair.sender.verdicts().get(Verdict.LIMITED));
    }

    @Test
    void shouldAdmitARealReceiverWhenStrangersFilledTheTable() {
        final MachinePair pair = new MachinePair(256, 32, 4);
        for (int id = 10; id < 14; id++) {
            pair.newReceiver(id, 256, 32).start(0);
        }
        while (!pair.toSender.isEmpty()) {
            final MemorySegment join = pair.toSender.remove();
            pair.sender.onControl(join, 0, (int) join.byteSize(), 0);
        }
        pair.toReceiver.clear();
        pair.probes.clear();
        pair.nowNs = MemberTable.JOIN_STALLED_NS + 1;
        pair.join();
        assertEquals(State.RECEIVING, pair.receiver.state());
    }

    @Test
    void shouldLookAtFewSequencesWhenNacksNameTheWholeWindow() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(16);
        pair.send(16);
        final MemorySegment nack = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        NackLayout.range(nack, false, 0, 0, 16);
        final int bytes = NackLayout.write(
                new ControlWriter(MachinePair.SESSION).receiver(5).in(nack), 1);
        for (int i = 0; i < 2 * RequestLimit.SEQUENCES_MAX / 16; i++) {
            pair.sender.onControl(nack, 0, bytes, 7);
        }
        assertEquals(RequestLimit.SEQUENCES_MAX / 16, pair.sender.verdicts().get(Verdict.LIMITED));
        final long before = pair.sender.verdicts().get(Verdict.GOOD);
        pair.sender.onControl(nack, 0, bytes, 8);
        assertEquals(before + 1, pair.sender.verdicts().get(Verdict.GOOD));
    }

    @Test
    void shouldBeLostWhenTheSourceClosesWithoutEnd() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.sender.close();
        pair.exchange();
        pair.run(5_000_000);
        assertEquals(State.LOST, pair.receiver.state());
        assertEquals(Reason.CLOSED, pair.receiver.lostReason());
    }

    @Test
    void shouldBeLostWhenTheSourceIsSilent() {
        final MachinePair pair = new MachinePair();
        pair.join();
        while (pair.receiver.nextDeadlineNs() < Long.MAX_VALUE) {
            pair.nowNs = Math.max(pair.nowNs, pair.receiver.nextDeadlineNs());
            pair.receiver.onTick(pair.nowNs);
        }
        assertEquals(State.LOST, pair.receiver.state());
        assertEquals(Reason.SILENT, pair.receiver.lostReason());
        assertEquals(MachinePair.ALIVE_NS + 1, pair.nowNs);
    }

    @Test
    void shouldEvictAndTellWhenAMemberIsSilent() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(3);
        pair.send(0);
        pair.toSender.clear();
        while (pair.sender.readyMembers() > 0) {
            pair.nowNs = Math.max(pair.nowNs + 1, pair.sender.nextDeadlineNs());
            pair.sender.onTick(pair.nowNs);
        }
        assertTrue(pair.nowNs > MachinePair.ALIVE_NS);
        assertEquals(1, pair.sender.counts().get(SenderCount.EVICTIONS));
        assertEquals(3, pair.sender.releasable());
        pair.exchange();
        pair.run(5_000_000);
        assertEquals(State.LOST, pair.receiver.state());
        assertEquals(Reason.SILENT, pair.receiver.lostReason());
    }

    @Test
    void shouldTellAStrangerWhenItsPlaceWasGivenAway() {
        final MachinePair pair = new MachinePair(256, 32, 1);
        pair.join();
        pair.nowNs += 2 * MachinePair.ALIVE_NS;
        pair.sender.onTick(pair.nowNs);
        pair.toReceiver.clear();
        final ReceiverMachine second = pair.newReceiver(6, 256, 32);
        second.start(pair.nowNs);
        final MemorySegment join = pair.toSender.removeLast();
        pair.sender.onControl(join, 0, (int) join.byteSize(), pair.nowNs);
        assertEquals(1, pair.disconnects);
        pair.toReceiver.clear();
        pair.receiver.onTick(pair.nowNs - MachinePair.ALIVE_NS - 1);
        assertEquals(ControlLayout.TYPE_ACK, type(pair.toSender.peekLast()));
        pair.exchange();
        pair.nowNs += 5_000_000;
        pair.receiver.onTick(pair.nowNs);
        assertEquals(State.LOST, pair.receiver.state());
        assertEquals(Reason.UNKNOWN, pair.receiver.lostReason());
    }

    @Test
    void shouldStopWaitingWhenAMemberLeaves() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(3);
        pair.send(0);
        assertEquals(0, pair.sender.releasable());
        pair.toSender.clear();
        pair.receiver.leave();
        pair.exchange();
        assertEquals(0, pair.sender.readyMembers());
        assertEquals(3, pair.sender.releasable());
        assertEquals(Long.MAX_VALUE, pair.sender.grantedSequence());
    }

    @Test
    void shouldDropRepairsWhenTheirRequesterIsGone() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(6);
        pair.send(2);
        pair.receiver.onTick(pair.nowNs);
        pair.receiver.leave();
        while (!pair.toSender.isEmpty()) {
            final MemorySegment datagram = pair.toSender.remove();
            pair.sender.onControl(datagram, 0, (int) datagram.byteSize(), pair.nowNs);
        }
        pair.sender.onTick(pair.nowNs);
        assertEquals(0, pair.repairs.size());
        assertTrue(pair.sender.nextDeadlineNs() > pair.nowNs);
    }

    @Test
    void shouldAnswerWithStartWhenReadyComesTwice() {
        final MachinePair pair = new MachinePair();
        pair.receiver.start(0);
        MemorySegment datagram = pair.toSender.remove();
        pair.sender.onControl(datagram, 0, (int) datagram.byteSize(), 0);
        datagram = pair.toReceiver.remove();
        pair.receiver.onControl(datagram, 0, (int) datagram.byteSize(), 0);
        pair.probe(pair.probes.remove());
        final MemorySegment ready = pair.toSender.remove();
        assertEquals(ControlLayout.TYPE_READY, type(ready));
        for (int i = 0; i < 2; i++) {
            pair.sender.onControl(ready, 0, (int) ready.byteSize(), 0);
            assertEquals(ControlLayout.TYPE_START, type(pair.toReceiver.removeLast()));
        }
        assertEquals(1, pair.sender.readyMembers());
    }

    @Test
    void shouldPlaceNothingTwiceWhenTheOriginalComesAfterItsRepair() {
        final MachinePair pair = new MachinePair();
        pair.join();
        pair.publish(6);
        pair.send(1);
        pair.run(10_000_000);
        assertEquals(6, pair.receiver.acknowledgedSequence());
        pair.publish(1);
        pair.send(0);
        final long duplicates = pair.receiver.verdicts().get(Verdict.DUPLICATE);
        pair.data(6);
        assertEquals(duplicates + 1, pair.receiver.verdicts().get(Verdict.DUPLICATE));
        assertEquals(ReceiverMachine.NO_SEQUENCE, pair.receiver.acceptedSequence());
    }
}
