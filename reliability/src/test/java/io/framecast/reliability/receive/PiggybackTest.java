package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.flow.AckTrigger;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/// Acknowledgements that ride on NACKs.
final class PiggybackTest {
    private static final int SLOTS = 12;

    private final MachinePair pair = new MachinePair();

    // The receiver has all of a frame but the two datagrams in its middle.
    private void loseTwo() {
        pair.join();
        pair.run(2_000_000);
        pair.publish(SLOTS);
        final int count = pair.sender.sendable();
        pair.sender.onSent(count, pair.nowNs);
        for (long sequence = 0; sequence < count; sequence++) {
            if (sequence != 5 && sequence != 6) {
                pair.data(sequence);
            }
        }
    }

    private MemorySegment onlyNack() {
        pair.receiver.onTick(pair.nowNs);
        assertEquals(1, pair.toSender.size());
        final MemorySegment datagram = pair.toSender.remove();
        assertEquals(ControlLayout.TYPE_NACK, ControlLayout.type(datagram, 0));
        return datagram;
    }

    @Test
    void shouldTakeAlongTheAcknowledgementThatIsDueSoonWhenANackGoes() {
        loseTwo();
        final long acks = pair.receiver.counts().get(ReceiverCount.ACKS);
        final MemorySegment nack = onlyNack();
        assertTrue(NackLayout.acknowledges(nack, 0));
        assertEquals(5, AckLayout.ACKNOWLEDGED.get(nack, 0));
        assertEquals(SLOTS, AckLayout.HIGHEST.get(nack, 0));
        assertEquals(pair.receiver.grantedSequence(), AckLayout.GRANT.get(nack, 0));
        assertEquals(1, NackLayout.ranges(nack, 0));
        assertEquals(5, NackLayout.first(nack, 0, 0));
        assertEquals(2, NackLayout.count(nack, 0, 0));
        assertEquals(acks + 1, pair.receiver.counts().get(ReceiverCount.ACKS));
        assertEquals(1, pair.receiver.acks(AckTrigger.PIGGYBACK));
        // No other ACK is due within the time that an ACK would have taken.
        pair.receiver.onTick(pair.nowNs + 200_000);
        assertTrue(pair.toSender.isEmpty());
    }

    @Test
    void shouldFreeAndRepairWhenANackThatAcknowledgesComes() {
        loseTwo();
        final MemorySegment nack = onlyNack();
        final long acks = pair.sender.counts().get(SenderCount.ACKS);
        final long nacks = pair.sender.counts().get(SenderCount.NACKS);
        assertEquals(Verdict.GOOD, pair.sender.onControl(nack, 0, (int) nack.byteSize(), pair.nowNs));
        assertEquals(5, pair.sender.releasable());
        // Datagrams are counted, and this is one.
        assertEquals(acks, pair.sender.counts().get(SenderCount.ACKS));
        assertEquals(nacks + 1, pair.sender.counts().get(SenderCount.NACKS));
        pair.sender.onTick(pair.nowNs);
        assertEquals(2, pair.repairs.size());
        pair.carryRepairs();
        assertEquals(SLOTS, pair.receiver.acknowledgedSequence());
    }

    @Test
    void shouldNotRideWhenNothingIsToBeSaid() {
        loseTwo();
        onlyNack();
        pair.nowNs += 100_000_000;
        // The repetition follows an acknowledgement that has just gone by itself.
        pair.heartbeat(SLOTS, 0);
        pair.receiver.onTick(pair.nowNs);
        boolean alone = false;
        while (!pair.toSender.isEmpty()) {
            final MemorySegment datagram = pair.toSender.remove();
            alone |=
                    ControlLayout.type(datagram, 0) == ControlLayout.TYPE_NACK && !NackLayout.acknowledges(datagram, 0);
        }
        assertTrue(alone);
        assertEquals(1, pair.receiver.acks(AckTrigger.PIGGYBACK));
    }

    @Test
    void shouldRejectTheWholeNackWhenItsAcknowledgementCannotBe() {
        loseTwo();
        final MemorySegment nack = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        NackLayout.range(nack, true, 0, 5, 2);
        final AckValues unsent =
                new AckValues().progress(SLOTS + 1, 100, SLOTS + 1).echo(AckLayout.NO_ECHO, 0);
        final ControlWriter ids = new ControlWriter(MachinePair.SESSION).receiver(5);
        final int bytes = NackLayout.write(ids.in(nack), 1, unsent);
        assertEquals(Verdict.IMPOSSIBLE, pair.sender.onControl(nack, 0, bytes, pair.nowNs));
        pair.sender.onTick(pair.nowNs);
        assertEquals(0, pair.repairs.size());
    }

    @Test
    void shouldBeInvalidWhenAnAcknowledgementOnANackSpeaksForOthersOrEndsMidFrame() {
        final MemorySegment nack = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final ControlWriter ids = new ControlWriter(MachinePair.SESSION).receiver(5);
        for (int i = 0; i < NackLayout.rangesMax(true); i++) {
            NackLayout.range(nack, true, i, 100 + 2L * i, 1);
        }
        final AckValues values = new AckValues().progress(100, 200, 300).echo(AckLayout.NO_ECHO, 0);
        final int most = NackLayout.rangesMax(true);
        assertTrue(NackLayout.write(ids.in(nack), most, values) <= Wire.CONTROL_BYTES_MAX);
        assertTrue(NackLayout.isValid(nack, 0));
        assertEquals(98 + 2L * most, NackLayout.first(nack, 0, most - 1));
        for (int flags = 0; flags < 256; flags++) {
            nack.set(java.lang.foreign.ValueLayout.JAVA_BYTE, 28, (byte) flags);
            assertEquals(flags == NackLayout.FLAG_ACKNOWLEDGES, NackLayout.isValid(nack, 0), "flags " + flags);
        }
        NackLayout.write(ids.in(nack), 1, new AckValues().progress(100, 99, 300).echo(0, 0));
        assertFalse(NackLayout.isValid(nack, 0));
    }
}
