package io.framecast.reliability.send;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.receive.MachinePair;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.AdmitLayout;
import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.FormatLayout;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.PolicyLayout;
import io.framecast.reliability.wire.ResumeLayout;
import io.framecast.reliability.wire.SolicitLayout;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A stranger names any address in JOIN and RESUME: until ADMIT's value comes back, ADMIT alone goes there.
final class AddressProofTest {
    private static final long HONEST = 5;
    private static final long STRANGER = 9;
    private static final int SLOTS = 40;
    private static final long TICK_NS = 20_000_000;

    private final MachinePair pair = new MachinePair();
    private final SenderMachine sender = pair.sender;
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private int token;
    private long value;

    private static ControlWriter ids(final long receiver) {
        return new ControlWriter(MachinePair.SESSION).receiver(receiver);
    }

    private Verdict deliver(final int bytes) {
        return sender.onControl(scratch, 0, bytes, pair.nowNs);
    }

    private Verdict requestJoin(final long id) {
        final JoinLayout.Terms terms = new JoinLayout.Terms(
                256, Delivery.RELIABLE, MachinePair.SECRET, MachinePair.ADDRESSES, new CoRootOffer(0, false));
        return deliver(JoinLayout.write(ids(id).in(scratch), terms));
    }

    private Verdict resume(final long id, final long secret) {
        final byte[] elsewhere = {7};
        final JoinLayout.Terms terms = new JoinLayout.Terms(
                256, Delivery.RELIABLE, secret, new LaneAddresses(elsewhere, elsewhere), new CoRootOffer(0, false));
        return deliver(ResumeLayout.write(ids(id).in(scratch), 0, terms));
    }

    private void takeAdmit() {
        final MemorySegment admit = pair.toReceiver.removeLast();
        assertEquals(ControlLayout.TYPE_ADMIT, ControlLayout.type(admit, 0));
        token = AdmitLayout.TOKEN.get(admit, 0);
        value = AdmitLayout.VALUE.get(admit, 0);
    }

    private Verdict ready(final long id, final long returned) {
        return deliver(AdmitLayout.writeReady(ids(id).in(scratch), token, returned, SLOTS));
    }

    private Verdict nack(final long id, final long first, final int count) {
        NackLayout.range(scratch, false, 0, first, count);
        return deliver(NackLayout.write(ids(id).in(scratch), 1));
    }

    private void joinAndStream() {
        requestJoin(HONEST);
        takeAdmit();
        assertEquals(Verdict.GOOD, ready(HONEST, value));
        send(SLOTS);
    }

    private void send(final int slots) {
        for (int left = slots; left > 0; left -= 10) {
            pair.publish(Math.min(10, left));
        }
        sender.onSent(sender.sendable(), pair.nowNs);
        pair.toReceiver.clear();
    }

    // Every type of datagram.
    private void ask(final long id) {
        final AckValues values = new AckValues().progress(0, SLOTS, 0).echo(AckLayout.NO_ECHO, 0);
        deliver(AckLayout.write(ids(id).in(scratch), values));
        nack(id, 0, SLOTS);
        deliver(FrameLayout.writeRequest(ids(id).in(scratch), 0));
        deliver(FormatLayout.writeRequest(ids(id).in(scratch), 1));
        deliver(PolicyLayout.write(ids(id).in(scratch), 1, Delivery.LATEST, 1));
        deliver(SolicitLayout.write(ids(id).in(scratch), 1));
    }

    // Types of what went to that receiver alone, by unicast or not.
    private List<Integer> sentTo(final long id) {
        final List<Integer> types = new ArrayList<>();
        for (final MemorySegment sent : pair.toReceiver) {
            if (ControlLayout.RECEIVER.get(sent, 0) == id) {
                types.add(ControlLayout.type(sent, 0));
            }
        }
        return types;
    }

    /// A NACK of 60 bytes made the source send its window to any host that a JOIN named.
    @Test
    void shouldRepairNothingForWhoHasHeardTheProbeAlone() {
        joinAndStream();
        pair.nowNs += TICK_NS;
        requestJoin(STRANGER);
        takeAdmit();
        pair.toReceiver.clear();
        assertEquals(Verdict.IMPOSSIBLE, ready(STRANGER, 0));
        ask(STRANGER);
        for (int i = 0; i < 20; i++) {
            pair.nowNs += TICK_NS;
            sender.onTick(pair.nowNs);
        }
        assertEquals(List.of(), sentTo(STRANGER));
        // The last resort for the member, which acknowledged nothing.
        assertTrue(pair.repairs.stream().allMatch(sequence -> sequence == 0), pair.repairs::toString);
        assertEquals(1, sender.readyMembers());
    }

    @Test
    void shouldSayToTheGroupThatItForgotAReceiverWhoseAddressNobodyProved() {
        final List<Integer> unicast = new ArrayList<>();
        pair.onUnicast = sent -> unicast.add(ControlLayout.type(sent, 0));
        requestJoin(STRANGER);
        pair.nowNs += 2 * MachinePair.ALIVE_NS;
        sender.onTick(pair.nowNs);
        ask(STRANGER);
        requestJoin(STRANGER);
        assertTrue(sentTo(STRANGER).contains(ControlLayout.TYPE_EVICT));
        assertEquals(List.of(ControlLayout.TYPE_ADMIT), unicast);
    }

    @Test
    void shouldRefuseAReceiverOfTwoHosts() {
        pair.oneHost = false;
        assertEquals(Verdict.IMPOSSIBLE, requestJoin(STRANGER));
        assertEquals(List.of(ControlLayout.TYPE_EVICT), sentTo(STRANGER));
        assertEquals(1, sender.counts().get(SenderCount.REFUSALS));
        assertEquals(JoinAttempts.Obstacle.TWO_HOSTS, sender.joinAttempts().obstacle(0));
        assertEquals(0, sender.readyMembers());
    }

    @Test
    void shouldSendNothingToWhereAMembershipMovesBeforeItIsProven() {
        joinAndStream();
        assertEquals(Verdict.GOOD, resume(STRANGER, MachinePair.SECRET));
        final long before = value;
        takeAdmit();
        assertNotEquals(before, value);
        assertEquals(Verdict.EARLY, nack(STRANGER, 0, SLOTS));
        ask(STRANGER);
        assertEquals(Verdict.IMPOSSIBLE, ready(STRANGER, before));
        for (int i = 0; i < 20; i++) {
            pair.nowNs += TICK_NS;
            sender.onTick(pair.nowNs);
        }
        assertEquals(List.of(), sentTo(STRANGER));
        assertTrue(pair.repairs.isEmpty());
        // Nothing is freed meanwhile.
        assertEquals(1, sender.readyMembers());
        assertEquals(0, sender.releasable());
        assertEquals(Verdict.GOOD, ready(STRANGER, value));
        assertTrue(sentTo(STRANGER).contains(ControlLayout.TYPE_START));
        assertEquals(Verdict.GOOD, nack(STRANGER, 0, SLOTS));
        sender.onTick(pair.nowNs);
        assertEquals(SLOTS, pair.repairs.size());
    }

    /// All datagrams but the proof.
    @Test
    void shouldKeepNoMembershipThatMovedToNobody() {
        joinAndStream();
        assertEquals(Verdict.GOOD, resume(STRANGER, MachinePair.SECRET));
        for (long ns = 0; ns <= MachinePair.ALIVE_NS; ns += TICK_NS) {
            pair.nowNs += TICK_NS;
            ask(STRANGER);
            resume(STRANGER, MachinePair.SECRET);
            sender.onTick(pair.nowNs);
        }
        sender.onTick(pair.nowNs + TICK_NS);
        assertEquals(0, sender.readyMembers());
        assertEquals(SLOTS, sender.releasable());
    }

    @Test
    void shouldAnswerALostAdmitOfAMoveByTheSameValue() {
        joinAndStream();
        assertEquals(Verdict.GOOD, resume(STRANGER, MachinePair.SECRET));
        takeAdmit();
        final long first = value;
        assertEquals(Verdict.LIMITED, resume(STRANGER, MachinePair.SECRET));
        pair.nowNs += TICK_NS;
        assertEquals(Verdict.GOOD, resume(STRANGER, MachinePair.SECRET));
        takeAdmit();
        assertEquals(first, value);
    }

    @Test
    void shouldMoveNoMembershipToTwoHosts() {
        joinAndStream();
        pair.oneHost = false;
        assertEquals(Verdict.IMPOSSIBLE, resume(STRANGER, MachinePair.SECRET));
        assertEquals(List.of(ControlLayout.TYPE_EVICT), sentTo(STRANGER));
        assertEquals(HONEST, sender.member(0).id());
        assertEquals(Verdict.GOOD, nack(HONEST, 0, 1));
    }

    @Test
    void shouldSendAMemberNoMoreRepairsThanItsShare() {
        joinAndStream();
        long repaired = 0;
        for (int round = 0; round < 100; round++) {
            // Behind the hold-off, so that each asks for all of it again.
            pair.nowNs += 1_000_000;
            nack(HONEST, 0, SLOTS);
            sender.onTick(pair.nowNs);
            repaired += pair.repairs.size();
            pair.repairs.clear();
        }
        final long byTime = 100 * 1_000_000L / 250_000;
        assertTrue(repaired <= 64 + SLOTS / 2 + byTime, repaired + " repairs");
        assertTrue(repaired >= byTime, repaired + " repairs");
        assertTrue(sender.counts().get(SenderCount.LIMITED_REPAIRS) > 0);
    }
}
