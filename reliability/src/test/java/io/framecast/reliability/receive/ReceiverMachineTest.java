package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.flow.AckScheduler;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AdmitLayout;
import io.framecast.reliability.wire.AssignLayout;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.StartLayout;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/// The times of a receiver's datagrams. Its grant is 32 datagrams, data may be late by two.
final class ReceiverMachineTest {
    private final MachinePair pair = new MachinePair();
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private final ControlWriter ids = new ControlWriter(MachinePair.SESSION);

    private Verdict deliver(final int bytes) {
        return pair.receiver.onControl(scratch, 0, bytes, pair.nowNs);
    }

    // A member without a datagram left to send.
    private void join() {
        pair.join();
        pair.run(20_000_000);
        pair.toSender.clear();
    }

    private void sent(final int slots) {
        pair.publish(slots);
        pair.sender.onSent(slots, pair.nowNs);
    }

    /// The receiver's next datagram of this type; null when there is none.
    private MemorySegment said(final int type) {
        pair.toSender.clear();
        pair.receiver.onTick(pair.nowNs);
        for (final MemorySegment datagram : pair.toSender) {
            if (ControlLayout.type(datagram, 0) == type) {
                return datagram;
            }
        }
        return null;
    }

    @Test
    void shouldAskAtOnceWhenMoreThanTheAllowanceCameBehindAGap() {
        join();
        sent(10);
        pair.data(0);
        pair.data(2);
        pair.data(3);
        assertNull(said(ControlLayout.TYPE_NACK));
        pair.data(4);
        final MemorySegment nack = said(ControlLayout.TYPE_NACK);
        assertEquals(1, NackLayout.ranges(nack, 0));
        assertEquals(1, NackLayout.first(nack, 0, 0));
        assertEquals(1, NackLayout.count(nack, 0, 0));
        assertEquals(1, pair.receiver.missing());
    }

    @Test
    void shouldAskAfterAWhileWhenFewCameBehindAGap() {
        join();
        sent(10);
        pair.data(0);
        pair.data(2);
        pair.nowNs += 400_000;
        assertNull(said(ControlLayout.TYPE_NACK));
        pair.nowNs += 600_000;
        assertTrue(pair.receiver.nextDeadlineNs() <= pair.nowNs);
        assertEquals(1, NackLayout.first(said(ControlLayout.TYPE_NACK), 0, 0));
    }

    @Test
    void shouldAskForATailOnlyWhenTheLaneIsEmpty() {
        join();
        sent(3);
        pair.receiver.onDrained(pair.nowNs);
        pair.heartbeat(3, 0);
        assertEquals(3, pair.receiver.missing());
        pair.nowNs += 3_000_000;
        assertNull(said(ControlLayout.TYPE_NACK));
        pair.receiver.onDrained(pair.nowNs);
        pair.nowNs += 100_000;
        assertEquals(3, NackLayout.count(said(ControlLayout.TYPE_NACK), 0, 0));
    }

    @Test
    void shouldAnswerADuplicateSoonAndNotAtOnce() {
        join();
        sent(2);
        pair.data(0);
        pair.data(1);
        pair.nowNs += AckScheduler.DELAY_MAX_NS;
        assertEquals(2, AckLayout.ACKNOWLEDGED.get(said(ControlLayout.TYPE_ACK), 0));
        assertTrue(pair.receiver.nextDeadlineNs() > pair.nowNs + AckScheduler.DELAY_MAX_NS);
        pair.data(1);
        assertEquals(pair.nowNs + AckScheduler.DELAY_MAX_NS, pair.receiver.nextDeadlineNs());
    }

    @Test
    void shouldAcknowledgeAtOnceWhenAQuarterOfTheGrantCame() {
        join();
        sent(12);
        for (int i = 0; i < 6; i++) {
            pair.data(i);
        }
        assertNull(said(ControlLayout.TYPE_ACK));
        pair.data(6);
        pair.data(7);
        assertEquals(8, AckLayout.ACKNOWLEDGED.get(said(ControlLayout.TYPE_ACK), 0));
    }

    @Test
    void shouldAcknowledgeSoonerWhenAFrameEnds() {
        join();
        sent(2);
        pair.data(0);
        // Asks for the source's clock.
        pair.receiver.onTick(pair.nowNs);
        assertEquals(pair.nowNs + AckScheduler.DELAY_MAX_NS, pair.receiver.nextDeadlineNs());
        pair.data(1);
        assertEquals(pair.nowNs + AckScheduler.FRAME_DELAY_NS, pair.receiver.nextDeadlineNs());
    }

    @Test
    void shouldExpectDataBehindTheHighestThatCame() {
        join();
        sent(10);
        assertEquals(0, pair.receiver.expectedSequence());
        assertEquals(5, pair.receiver.expectedRun(0, 5));
        pair.data(0);
        pair.data(3);
        assertEquals(4, pair.receiver.expectedSequence());
        assertEquals(2, pair.receiver.expectedRun(1, 5));
        assertEquals(0, pair.receiver.expectedRun(3, 5));
        assertEquals(1, pair.receiver.acknowledgedSequence());
    }

    private MemorySegment forged(final long sequence) {
        final MemorySegment header = MemorySegment.ofArray(new byte[DataLayout.LENGTH]);
        DataLayout.write(
                header,
                0,
                new DataHeader()
                        .session(DataLayout.TYPE_DATA, MachinePair.SESSION)
                        .frame(3, 64, 0),
                sequence,
                0);
        checksum.seal(header, 0, MachinePair.SESSION);
        return header;
    }

    private Verdict data(final long sequence) {
        return pair.receiver.onData(forged(sequence), 0, DataLayout.LENGTH + 64, pair.nowNs);
    }

    @Test
    void shouldTakeNothingBeyondItsGrant() {
        join();
        assertEquals(32, pair.receiver.grantedSequence());
        assertFalse(pair.receiver.wantsRepair(forged(32), 0, DataLayout.LENGTH + 64));
        assertTrue(pair.receiver.wantsRepair(forged(31), 0, DataLayout.LENGTH + 64));
        assertEquals(Verdict.IMPOSSIBLE, data(32));
        assertEquals(Verdict.GOOD, data(31));
        assertFalse(pair.receiver.wantsRepair(forged(31), 0, DataLayout.LENGTH + 64));
        assertEquals(31, pair.receiver.acceptedSequence());
        assertEquals(Verdict.DUPLICATE, data(31));
    }

    @Test
    void shouldGoOnBehindWhatFoundNoRoomWhenNobodyWaits() {
        pair.receiver = pair.newReceiver(5, 256, 32, Delivery.LATEST);
        join();
        assertEquals(Verdict.OVERRUN, data(40));
        assertEquals(Verdict.OVERRUN, data(41));
        assertFalse(pair.drop(), "all of it may still be repaired");
        assertEquals(0, pair.receiver.nextFrameSequence());
        pair.heartbeat(42, 0, 0, 0);
        assertTrue(pair.drop());
        assertEquals(42, pair.receiver.nextFrameSequence());
        assertEquals(4, pair.receiver.nextFrameId());
        assertEquals(4, pair.receiver.counts().get(ReceiverCount.DROPPED_FRAMES));
        assertEquals(42, pair.receiver.acknowledgedSequence());
    }

    @Test
    void shouldReportAtOnceWhatIsDroppedForANewerFrame() {
        pair.receiver = pair.newReceiver(5, 256, 32, Delivery.LATEST);
        join();
        sent(1);
        sent(1);
        pair.data(0);
        pair.data(1);
        assertTrue(pair.drop());
        assertEquals(1, pair.receiver.nextFrameId());
        assertEquals(1, pair.receiver.nextFrameSequence());
        assertTrue(pair.receiver.nextDeadlineNs() <= pair.nowNs);
        assertEquals(1, pair.receiver.pollFrame().frameId());
    }

    @Test
    void shouldRefuseControlThatCannotBe() {
        pair.receiver.start(0);
        assertEquals(Verdict.IMPOSSIBLE, deliver(AdmitLayout.writeAdmit(ids.in(scratch), 1, 2)));
        assertEquals(Verdict.EARLY, deliver(FrameLayout.write(ids.in(scratch), 0, new byte[1])));
        ids.receiver(5).epoch(1);
        assertEquals(Verdict.EARLY, deliver(AssignLayout.writeDirect(ids.in(scratch))));
        pair.exchange();
        assertEquals(State.RECEIVING, pair.receiver.state());
        assertEquals(Verdict.IMPOSSIBLE, deliver(StartLayout.write(ids.in(scratch), -1, 0, 0)));
        assertEquals(Verdict.IMPOSSIBLE, deliver(FrameLayout.write(ids.in(scratch), 0, new byte[0])));
        assertEquals(Verdict.GOOD, deliver(AssignLayout.writeDirect(ids.in(scratch))));
        assertEquals(Verdict.UNKNOWN_MEMBER, deliver(FrameLayout.writeRequest(ids.in(scratch), 0)));
        ids.receiver(77);
        assertEquals(Verdict.UNKNOWN_MEMBER, deliver(AdmitLayout.writeAdmit(ids.in(scratch), 1, 2)));
    }

    @Test
    void shouldKeepMetadataOfFramesThatMayCome() {
        join();
        sent(2);
        pair.data(0);
        pair.data(1);
        assertEquals(0, pair.receiver.pollFrame().frameId());
        assertEquals(2, pair.receiver.nextFrameSequence());
        assertEquals(1, pair.receiver.nextFrameId());
        assertEquals(Verdict.DUPLICATE, deliver(FrameLayout.write(ids.in(scratch), 1, new byte[1])));
        assertEquals(Verdict.GOOD, deliver(FrameLayout.write(ids.in(scratch), 2, new byte[1])));
        final long granted = pair.receiver.grantedSequence();
        assertEquals(Verdict.GOOD, deliver(FrameLayout.write(ids.in(scratch), granted - 1, new byte[1])));
        assertEquals(Verdict.IMPOSSIBLE, deliver(FrameLayout.write(ids.in(scratch), granted, new byte[1])));
    }

    @Test
    void shouldTellOfFreedSlotsAtOnceWhenTheSourceWaits() {
        pair.receiver = pair.newReceiver(5, 96, 96);
        join();
        for (int i = 0; i < 6; i++) {
            pair.publish(16);
            pair.send(0);
            assertNotNull(pair.receiver.pollFrame());
            pair.run(3_000_000);
        }
        assertEquals(96, pair.sender.nextSequence());
        pair.toSender.clear();
        pair.receiver.onCredit(96, pair.nowNs);
        assertTrue(pair.receiver.nextDeadlineNs() > pair.nowNs);
        pair.receiver.onCredit(97, pair.nowNs);
        assertTrue(pair.receiver.nextDeadlineNs() <= pair.nowNs);
        assertEquals(97, AckLayout.GRANT.get(said(ControlLayout.TYPE_ACK), 0));
    }

    @Test
    void shouldAnswerForAWhileWhenTheStreamIsOver() {
        join();
        sent(1);
        pair.data(0);
        pair.heartbeat(1, HeartbeatLayout.FLAG_END_OF_STREAM);
        assertEquals(State.RECEIVING, pair.receiver.state());
        assertNotNull(pair.receiver.pollFrame());
        assertNull(pair.receiver.pollFrame());
        assertEquals(State.ENDED, pair.receiver.state());
        assertTrue(pair.receiver.onTick(pair.nowNs) > 0);
        assertEquals(0, pair.receiver.onTick(pair.nowNs));
        pair.heartbeat(1, HeartbeatLayout.FLAG_END_OF_STREAM);
        final MemorySegment ack = said(ControlLayout.TYPE_ACK);
        assertTrue(AckLayout.isComplete(ack, 0));
        assertEquals(1, AckLayout.ACKNOWLEDGED.get(ack, 0));
        final long endNs = pair.nowNs + 2 * MachinePair.ALIVE_NS;
        while (pair.receiver.nextDeadlineNs() < endNs) {
            pair.nowNs = pair.receiver.nextDeadlineNs();
            pair.receiver.onTick(pair.nowNs);
        }
        assertEquals(Long.MAX_VALUE, pair.receiver.nextDeadlineNs());
        assertEquals(State.ENDED, pair.receiver.state());
    }

    @Test
    void shouldCountTheLossOfItsSourceAsWork() {
        join();
        pair.nowNs += 2 * MachinePair.ALIVE_NS;
        assertEquals(1, pair.receiver.onTick(pair.nowNs));
        assertEquals(State.LOST, pair.receiver.state());
        assertEquals(0, pair.receiver.onTick(pair.nowNs));
        pair.toSender.clear();
        pair.receiver.leave();
        assertTrue(pair.toSender.isEmpty());
    }

    private int run(final long behind, final int max) {
        final long offset = (long) pair.window.slot(behind) * DataLayout.LENGTH;
        return pair.receiver.onRun(pair.headers, offset, DataLayout.LENGTH, max, pair.nowNs);
    }

    @Test
    void shouldTakeTheFullDatagramsBehindTheAcceptedOneAtOnce() {
        join();
        pair.window.beginFrame(10 * 64 + 30, 0, 0, new byte[0]);
        pair.window.commit(10 * 64 + 30, 11);
        final long before = pair.receiver.verdicts().get(Verdict.GOOD);
        pair.data(0);
        assertEquals(3, run(0, 3));
        // Asks for the source's clock.
        pair.receiver.onTick(pair.nowNs);
        assertEquals(3, pair.receiver.acceptedSequence());
        assertEquals(4, pair.receiver.acknowledgedSequence());
        assertEquals(pair.nowNs + AckScheduler.DELAY_MAX_NS, pair.receiver.nextDeadlineNs());
        // The last is no full one.
        assertEquals(6, run(3, 20));
        assertEquals(10, pair.receiver.acknowledgedSequence());
        assertEquals(before + 10, pair.receiver.verdicts().get(Verdict.GOOD));
        assertTrue(pair.receiver.nextDeadlineNs() <= pair.nowNs, "a quarter of the grant");
        pair.data(10);
        assertEquals(10 * 64 + 30, pair.receiver.pollFrame().bytes());
    }

    @Test
    void shouldAcknowledgeSoonerWhenARunEndsAFrame() {
        join();
        sent(4);
        pair.data(0);
        pair.receiver.onTick(pair.nowNs);
        assertEquals(3, run(0, 20));
        assertEquals(pair.nowNs + AckScheduler.FRAME_DELAY_NS, pair.receiver.nextDeadlineNs());
        assertNotNull(pair.receiver.pollFrame());
    }

    @Test
    void shouldTakeNoRunBeyondItsGrant() {
        join();
        for (int i = 0; i < 4; i++) {
            pair.publish(10);
        }
        for (int i = 0; i < 31; i++) {
            pair.data(i);
        }
        assertEquals(1, run(30, 20));
        assertEquals(32, pair.receiver.acknowledgedSequence());
    }

    @Test
    void shouldTakeARunOnlyWhereNothingIsKnown() {
        join();
        sent(10);
        pair.data(5);
        pair.data(3);
        assertEquals(0, run(3, 20));
        pair.data(3);
        assertEquals(0, run(3, 20), "a duplicate");
        pair.data(6);
        assertEquals(3, run(6, 20));
        assertEquals(4, pair.receiver.missing());
        assertEquals(0, pair.receiver.acknowledgedSequence());
    }

    @Test
    void shouldSayThatTheSourceWentPastItsGrant() {
        join();
        pair.heartbeat(32, 0);
        assertEquals(0, pair.receiver.verdicts().get(Verdict.IMPOSSIBLE));
        assertNull(said(ControlLayout.TYPE_ACK));
        pair.heartbeat(33, 0);
        assertEquals(1, pair.receiver.verdicts().get(Verdict.IMPOSSIBLE));
        assertNotNull(said(ControlLayout.TYPE_ACK));
    }

    @Test
    void shouldAnswerAStartAgain() {
        join();
        assertNull(said(ControlLayout.TYPE_ACK));
        assertEquals(Verdict.GOOD, deliver(StartLayout.write(ids.in(scratch), 7, 7, 0)));
        assertEquals(0, pair.receiver.startSequence(), "the first one counts");
        assertEquals(0, AckLayout.ACKNOWLEDGED.get(said(ControlLayout.TYPE_ACK), 0));
    }

    @Test
    void shouldKnowThatTheSourceLivesByWhateverItSays() {
        join();
        for (int i = 0; i < 6; i++) {
            pair.nowNs += MachinePair.ALIVE_NS * 2 / 3;
            final int bytes = i % 2 == 0
                    ? FrameLayout.write(ids.in(scratch), 9, new byte[1])
                    : StartLayout.write(ids.in(scratch), 0, 0, 0);
            assertEquals(Verdict.GOOD, deliver(bytes));
            pair.receiver.onTick(pair.nowNs);
            assertEquals(State.RECEIVING, pair.receiver.state());
        }
    }

    @Test
    void shouldAskForMetadataThatDidNotCome() {
        join();
        pair.publish(1, new byte[] {9});
        pair.sender.onSent(1, pair.nowNs);
        pair.data(0);
        assertNull(said(ControlLayout.TYPE_FRAME_REQUEST));
        pair.nowNs += 1_000_000;
        assertTrue(pair.receiver.nextDeadlineNs() <= pair.nowNs);
        assertEquals(0, FrameLayout.FIRST_SEQUENCE.get(said(ControlLayout.TYPE_FRAME_REQUEST), 0));
        assertNull(said(ControlLayout.TYPE_FRAME_REQUEST));
    }
}
