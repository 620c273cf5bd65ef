package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.AssignLayout;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.RemotePlace;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A member's connection to its co-root's replica: when it is made, closed and used, and the way of repairs without
/// it.
final class CoRootConnectionTest {
    private static final long MS = 1_000_000;
    private static final EndpointOffer OFFER = new EndpointOffer(
            new byte[] {8},
            RemotePlace.NONE,
            FakeSourceConnection.HEADERS,
            FakeSourceConnection.PAYLOAD,
            FakeSourceConnection.GUARDS);

    private final MachinePair pair = new MachinePair();
    private final FakeCoRootConnection fake = pair.coRootConnection;
    private final MemorySegment datagram = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);

    private static ControlWriter ids(final int epoch) {
        return new ControlWriter(MachinePair.SESSION).receiver(5).epoch(epoch);
    }

    private void assign(final int epoch, final long coRoot) {
        final int bytes = AssignLayout.write(ids(epoch).in(datagram), coRoot, new byte[] {9});
        assertEquals(Verdict.GOOD, pair.receiver.onControl(datagram, 0, bytes, pair.nowNs));
    }

    private Verdict answer(final int epoch) {
        final int bytes = RcConnectLayout.writeOfSet(ids(epoch).in(datagram), OFFER);
        return pair.receiver.onControl(datagram, 0, bytes, pair.nowNs);
    }

    private void join() {
        pair.receiver = pair.newLinkedReceiver(5, Delivery.RELIABLE);
        // The source offers nothing, so that all reads go to the co-root.
        pair.link.up = false;
        pair.join();
    }

    private void linked() {
        join();
        assign(3, 77);
        pair.run(5 * MS);
        answer(3);
        pair.receiver.coRootConnection().onUp();
        assertTrue(pair.receiver.coRootConnection().isUp());
        fake.toCoRoot.clear();
    }

    private void carryPulls() {
        while (!fake.pulls.isEmpty()) {
            pair.repairs.add(fake.pulls.remove());
        }
        pair.carryRepairs();
    }

    private long toCoRoot(final int type) {
        return fake.toCoRoot.stream()
                .filter(sent -> ControlLayout.type(sent, 0) == type)
                .count();
    }

    @Test
    void shouldTellItsCoRootUntilThatAnswers() {
        join();
        assertEquals(List.of(), fake.done);
        fake.descriptor = null;
        assign(3, 77);
        pair.run(5 * MS);
        assertEquals(0, toCoRoot(ControlLayout.TYPE_RC_CONNECT), "there is no endpoint yet");
        fake.descriptor = FakeCoRootConnection.MEMBER;
        pair.run(200 * MS);
        final List<MemorySegment> notices = fake.toCoRoot.stream()
                .filter(sent -> ControlLayout.type(sent, 0) == ControlLayout.TYPE_RC_CONNECT)
                .toList();
        assertTrue(notices.size() >= 2 && notices.size() <= 4, () -> notices.size() + " times");
        for (final MemorySegment sent : notices) {
            assertTrue(RcConnectLayout.isValid(sent, 0) && RcConnectLayout.isOfSet(sent, 0));
            assertEquals(3, ControlLayout.EPOCH.get(sent, 0));
            assertEquals(5, ControlLayout.RECEIVER.get(sent, 0));
            assertArrayEquals(
                    FakeCoRootConnection.MEMBER, RcConnectLayout.offer(sent, 0).descriptor());
        }
        assertEquals(Verdict.GOOD, answer(3));
        assertNotNull(fake.opened);
        assertEquals(FakeSourceConnection.GUARDS, fake.opened.guards());
        fake.toCoRoot.clear();
        pair.run(2_000 * MS);
        assertEquals(0, toCoRoot(ControlLayout.TYPE_RC_CONNECT));
    }

    @Test
    void shouldTakeNoAnswerToAnEarlierAssignment() {
        join();
        assign(3, 77);
        assign(4, 78);
        assertEquals(Verdict.GOOD, answer(3));
        assertNull(fake.opened);
        answer(4);
        assertNotNull(fake.opened);
    }

    @Test
    void shouldCutItsLinkBeforeItObeysAnotherAssignment() {
        linked();
        fake.done.clear();
        assign(5, 78);
        pair.run(5 * MS);
        assertEquals(List.of("cut", "make", "said 5"), fake.done.subList(0, 3));
        assertFalse(pair.receiver.coRootConnection().isUp());
        answer(5);
        pair.receiver.coRootConnection().onUp();
        fake.done.clear();
        assign(6, 0);
        pair.run(5 * MS);
        assertEquals(List.of("cut", "said 6"), fake.done.subList(0, 2), "the source repairs: nothing is made");
    }

    @Test
    void shouldReadOutOfTheCopyAndAskNobody() {
        linked();
        pair.publish(8);
        pair.send(3);
        pair.receiver.onTick(pair.nowNs);
        assertEquals(List.of(0L, 1L, 2L), List.copyOf(fake.pulls));
        assertEquals(0, pair.link.pulls.size());
        carryPulls();
        assertEquals(8, pair.receiver.acknowledgedSequence());
        assertEquals(0, pair.receiver.counts().get(ReceiverCount.NACKS));
    }

    @Test
    void shouldAskItsCoRootForWhatWasReadInVain() {
        linked();
        pair.publish(8);
        pair.send(3);
        pair.receiver.onTick(pair.nowNs);
        fake.pulls.clear();
        pair.receiver.repairRequests().ask(1, pair.nowNs);
        pair.receiver.onTick(pair.nowNs + 1);
        assertEquals(1, toCoRoot(ControlLayout.TYPE_NACK), "and not its source");
        assertTrue(fake.pulls.isEmpty());
        assertEquals(1, pair.receiver.counts().get(ReceiverCount.NACKED_DATAGRAMS));
    }

    @Test
    void shouldAskItsCoRootWhileReadsAreSlow() {
        linked();
        fake.slow = true;
        pair.publish(8);
        pair.send(3);
        pair.receiver.onTick(pair.nowNs);
        assertEquals(1, toCoRoot(ControlLayout.TYPE_NACK));
    }

    @Test
    void shouldAskItsCoRootWhenTheLinkBreaksUnderAPull() {
        linked();
        pair.publish(8);
        pair.send(3);
        pair.receiver.onTick(pair.nowNs);
        assertEquals(3, fake.pulls.size());
        fake.done.clear();
        pair.receiver.coRootConnection().onBroken();
        assertEquals(List.of("cut"), fake.done);
        assertEquals(1, pair.receiver.counts().get(ReceiverCount.CO_ROOT_CONNECTION_FAILURES));
        fake.pulls.clear();
        pair.run(50 * MS);
        assertTrue(toCoRoot(ControlLayout.TYPE_NACK) >= 1);
        assertTrue(fake.pulls.isEmpty());
        // From the third time on the NACK goes to the source.
        assertEquals(8, pair.receiver.acknowledgedSequence());
    }

    @Test
    void shouldReadOfTheSourceWhileThereIsNoLinkToItsCoRoot() {
        pair.receiver = pair.newLinkedReceiver(5, Delivery.RELIABLE);
        pair.join();
        pair.run(25 * MS);
        pair.receiver.link().onUp(pair.nowNs);
        pair.sender.onWord(0, pair.link.writes.remove());
        pair.receiver.link().onWritten(pair.nowNs);
        assign(3, 77);
        pair.publish(8);
        pair.send(3);
        pair.receiver.onTick(pair.nowNs);
        assertEquals(3, pair.link.pulls.size());
        assertTrue(fake.pulls.isEmpty());
    }

    @Test
    void shouldDoWithoutWhenNobodyAnswers() {
        join();
        assign(3, 77);
        pair.run(20_000 * MS);
        assertEquals(20, toCoRoot(ControlLayout.TYPE_RC_CONNECT));
        assertEquals(1, pair.receiver.counts().get(ReceiverCount.CO_ROOT_CONNECTION_FAILURES));
        pair.publish(8);
        pair.send(3);
        pair.run(50 * MS);
        assertEquals(8, pair.receiver.acknowledgedSequence());
    }

    @Test
    void shouldDoWithoutWhenTheDescriptorCannotBe() {
        join();
        assign(3, 77);
        fake.opens = false;
        answer(3);
        assertEquals(1, pair.receiver.counts().get(ReceiverCount.CO_ROOT_CONNECTION_FAILURES));
        assertEquals("cut", fake.done.getLast());
        answer(3);
        assertEquals(1, fake.done.stream().filter("open"::equals).count());
    }

    @Test
    void shouldNotTakeItsCoRootsWordForALifeOfItsSource() {
        linked();
        final long silentFrom = pair.nowNs;
        while (pair.receiver.state() == ReceiverMachine.State.RECEIVING && pair.nowNs < silentFrom + 10_000 * MS) {
            pair.nowNs += 50 * MS;
            answer(3);
            pair.receiver.onTick(pair.nowNs);
        }
        assertEquals(ReceiverMachine.State.LOST, pair.receiver.state());
    }

    @Test
    void shouldMakeNothingWhereItCannotRead() {
        pair.join();
        assign(3, 77);
        pair.run(100 * MS);
        assertFalse(fake.done.contains("make"));
        assertEquals(Verdict.GOOD, answer(3));
        assertFalse(fake.done.contains("open"));
    }
}
