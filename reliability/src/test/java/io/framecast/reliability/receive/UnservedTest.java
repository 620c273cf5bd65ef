package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/// A receiver that lacks what its source does not hold any more, and one that its source does not count any more.
final class UnservedTest {
    private static final long HEARTBEAT_NS = 20_000_000;

    private final MachinePair pair = new MachinePair();

    /// The source hears that the receiver has everything, and frees what the receiver lacks.
    private void free(final long below) {
        final MemorySegment ack = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final AckValues values =
                new AckValues().progress(below, below + 32, below).echo(AckLayout.NO_ECHO, 0);
        final int bytes = AckLayout.write(
                new ControlWriter(MachinePair.SESSION).receiver(5).in(ack), values);
        pair.sender.onControl(ack, 0, bytes, pair.nowNs);
        pair.window.free(pair.sender.releasable());
        assertEquals(below, pair.window.freed());
    }

    private void lackTheSecondFrame() {
        pair.join();
        pair.publish(2);
        pair.send(0);
        pair.publish(3);
        pair.send(1);
        pair.publish(3);
        pair.send(0);
    }

    // Nothing of the receiver reaches the source.
    private void hear(final long forNs) {
        final long endNs = pair.nowNs + forNs;
        while (pair.nowNs < endNs) {
            pair.nowNs += HEARTBEAT_NS;
            pair.heartbeat(8, 3, 0, 8 - pair.window.freed());
            pair.receiver.onTick(pair.nowNs);
            pair.toSender.clear();
        }
    }

    @Test
    void shouldBeEvictedWhenItAsksForWhatIsFreed() {
        lackTheSecondFrame();
        free(8);
        pair.run(MachinePair.ALIVE_NS);
        assertEquals(State.LOST, pair.receiver.state());
        assertEquals(Reason.UNREPAIRABLE, pair.receiver.lostReason());
        assertTrue(pair.receiver.isEvicted());
        assertEquals(Reason.UNREPAIRABLE, pair.sender.pollEviction().reason());
        assertEquals(0, pair.sender.readyMembers());
        assertEquals(0, pair.receiver.pollFrame().frameId(), "what is whole is delivered");
    }

    @Test
    void shouldEndByItselfWhenItsSourceDoesNotHearIt() {
        lackTheSecondFrame();
        free(8);
        hear(MachinePair.ALIVE_NS / 2 - HEARTBEAT_NS);
        assertEquals(State.RECEIVING, pair.receiver.state());
        hear(3 * HEARTBEAT_NS);
        assertEquals(State.LOST, pair.receiver.state());
        assertEquals(Reason.UNREPAIRABLE, pair.receiver.lostReason());
    }

    @Test
    void shouldEndWhenTheMetadataOfAFrameIsFreed() {
        pair.join();
        pair.publish(2, new byte[] {1, 2, 3});
        pair.sender.onSent(2, pair.nowNs);
        pair.data(0);
        pair.data(1);
        pair.publish(6);
        pair.send(0);
        free(8);
        hear(MachinePair.ALIVE_NS / 2 + 2 * HEARTBEAT_NS);
        assertEquals(Reason.UNREPAIRABLE, pair.receiver.lostReason());
        assertEquals(State.LOST, pair.receiver.state());
    }

    @Test
    void shouldGoOnWhenWhatItLacksComesAfterAll() {
        lackTheSecondFrame();
        free(8);
        hear(MachinePair.ALIVE_NS / 4);
        pair.receiver.onRepair(
                pair.headers, (long) pair.window.slot(2) * 40, 40 + pair.lengths[pair.window.slot(2)], pair.nowNs);
        hear(2 * MachinePair.ALIVE_NS);
        assertEquals(State.RECEIVING, pair.receiver.state());
        assertEquals(8, pair.receiver.acknowledgedSequence());
    }

    /// As one sends them who knows the session: the source's own come between them.
    @Test
    void shouldNotEndByForgedHeartbeatsWhileItsSourceServesIt() {
        lackTheSecondFrame();
        for (int i = 0; i < 200; i++) {
            pair.nowNs += HEARTBEAT_NS / 2;
            pair.heartbeat(8, 3, 0, 0);
            pair.receiver.onTick(pair.nowNs);
            pair.nowNs += HEARTBEAT_NS / 2;
            pair.heartbeat(8, 3, 0, 8);
            pair.receiver.onTick(pair.nowNs);
        }
        assertEquals(State.RECEIVING, pair.receiver.state());
    }

    @Test
    void shouldEndWhenItsSourceGoesPastItsCreditAndDoesNotHearIt() {
        pair.join();
        for (int i = 0; i < 60 && pair.receiver.state() == State.RECEIVING; i++) {
            pair.nowNs += HEARTBEAT_NS;
            pair.heartbeat(33, 1, 0, 33);
            pair.receiver.onTick(pair.nowNs);
            pair.toSender.clear();
        }
        assertEquals(State.LOST, pair.receiver.state());
        assertEquals(Reason.UNKNOWN, pair.receiver.lostReason());
        assertTrue(pair.nowNs < MachinePair.ALIVE_NS);
    }

    @Test
    void shouldGiveTheReasonOfItsSourceWhereThatSaysIt() {
        lackTheSecondFrame();
        free(8);
        hear(4 * HEARTBEAT_NS);
        final MemorySegment evict = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final int bytes = LeaveLayout.writeEvict(
                new ControlWriter(MachinePair.SESSION).receiver(5).in(evict), Reason.SILENT);
        pair.receiver.onControl(evict, 0, bytes, pair.nowNs);
        hear(4 * HEARTBEAT_NS);
        assertEquals(State.LOST, pair.receiver.state());
        assertEquals(Reason.SILENT, pair.receiver.lostReason());
    }

    @Test
    void shouldDropWhatIsFreedWhereTheSourceDoesNotWait() {
        pair.receiver = pair.newReceiver(5, 256, 32, Delivery.LATEST);
        lackTheSecondFrame();
        free(8);
        for (int i = 0; i < 100; i++) {
            pair.nowNs += HEARTBEAT_NS;
            pair.heartbeat(8, 3, 0, 0);
            pair.drop();
            pair.receiver.onTick(pair.nowNs);
        }
        assertEquals(State.RECEIVING, pair.receiver.state());
        assertNotNull(pair.receiver.pollFrame());
    }

    @Test
    void shouldJoinAnew() {
        lackTheSecondFrame();
        free(8);
        pair.run(MachinePair.ALIVE_NS);
        assertEquals(State.LOST, pair.receiver.state());
        pair.receiver = pair.newReceiver(6, 256, 32);
        pair.join();
        assertEquals(State.RECEIVING, pair.receiver.state());
        pair.publish(4);
        pair.send(0);
        assertEquals(3, pair.receiver.pollFrame().frameId());
        assertEquals(ControlLayout.TYPE_ACK, ControlLayout.type(ackSaid(), 0));
    }

    private MemorySegment ackSaid() {
        pair.nowNs += HEARTBEAT_NS;
        pair.receiver.onTick(pair.nowNs);
        return pair.toSender.stream()
                .filter(datagram -> ControlLayout.type(datagram, 0) == ControlLayout.TYPE_ACK)
                .findFirst()
                .orElseThrow();
    }
}
