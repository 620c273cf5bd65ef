package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.wire.CreditWord;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.EndpointOffer;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// One-sided credit and repairs by RDMA read between the two machines, over a connection that the test carries by
/// hand.
final class SourceConnectionTest {
    private static final long MS = 1_000_000;
    private static final long STEP_NS = 150_000;

    private final MachinePair pair = new MachinePair();

    private void join() {
        join(Delivery.RELIABLE);
    }

    private void join(final Delivery delivery) {
        pair.receiver = pair.newLinkedReceiver(5, delivery);
        pair.join();
        pair.run(25 * MS);
    }

    private void linked() {
        join();
        assertNotNull(pair.link.opened);
        pair.receiver.link().onUp(pair.nowNs);
        carryWords();
    }

    // The device writes, and reports the completion.
    private void carryWords() {
        while (!pair.link.writes.isEmpty()) {
            pair.sender.onWord(0, pair.link.writes.remove());
            pair.receiver.link().onWritten(pair.nowNs);
        }
    }

    private void carryPulls() {
        while (!pair.link.pulls.isEmpty()) {
            pair.repairs.add(pair.link.pulls.remove());
        }
        pair.carryRepairs();
    }

    private void stream(final int frames) {
        for (int i = 0; i < frames; i++) {
            pair.publish(8);
            pair.send(0);
            release();
            carryWords();
            pair.run(STEP_NS);
            carryWords();
        }
    }

    private void release() {
        while (pair.receiver.pollFrame() != null) {
            pair.receiver.onCredit(pair.receiver.nextFrameSequence() + 256, pair.nowNs);
        }
    }

    @Test
    void shouldGiveTheMemberWhatItMustKnow() {
        join();
        final EndpointOffer offer = pair.link.opened;
        assertNotNull(offer);
        assertArrayEquals(FakeSourceConnection.SOURCE, offer.descriptor());
        assertEquals(FakeSourceConnection.WORDS, offer.word().address());
        assertEquals(7, offer.word().key());
        assertEquals(FakeSourceConnection.HEADERS, offer.headers());
        assertEquals(FakeSourceConnection.PAYLOAD, offer.payload());
        assertEquals(FakeSourceConnection.GUARDS, offer.guards());
        assertEquals(1, pair.link.accepted);
        assertEquals(0, pair.sender.counts().get(SenderCount.LINKS));
    }

    /// A successor would grant less than the source may use, where a write was under way.
    @Test
    void shouldLogTheLargestGrantThatTheSourceMayUse() {
        final Checkpoint promised = new Checkpoint();
        final int[] logged = new int[1];
        pair.receiver = pair.newLinkedReceiver(5, Delivery.RELIABLE);
        pair.receiver.log(new CheckpointLog() {
            @Override
            public void onCheckpoint(final Checkpoint checkpoint) {
                promised.copy(checkpoint);
                logged[0] += pair.link.writes.isEmpty() ? 0 : 1;
            }

            @Override
            public boolean isSucceeded() {
                return false;
            }
        });
        pair.join();
        pair.run(25 * MS);
        pair.receiver.link().onUp(pair.nowNs);
        carryWords();
        for (int i = 0; i < 60; i++) {
            pair.publish(8);
            pair.send(0);
            release();
            pair.run(STEP_NS);
            assertTrue(
                    promised.granted >= pair.receiver.grantedSequence(),
                    () -> promised.granted + " of " + pair.receiver.grantedSequence());
            if (i % 10 == 9) {
                // Acknowledgements go out while the write is under way.
                pair.run(50 * MS);
                assertTrue(promised.granted >= pair.receiver.grantedSequence());
                carryWords();
            }
        }
        assertTrue(logged[0] > 5, logged[0] + " checkpoints");
    }

    @Test
    void shouldNotOfferBeforeTheLinkStands() {
        pair.link.up = false;
        join();
        assertEquals(null, pair.link.opened);
        pair.link.up = true;
        pair.run(500 * MS);
        assertNotNull(pair.link.opened);
    }

    @Test
    void shouldWaitTenSecondsForALinkThatIsBeingMade() {
        pair.link.up = false;
        join();
        beatFor(10);
        assertEquals(0, pair.sender.counts().get(SenderCount.LINK_FAILURES));
        pair.link.up = true;
        beatFor(1);
        assertNotNull(pair.link.opened);
    }

    @Test
    void shouldGiveUpALinkThatNeverStands() {
        pair.link.up = false;
        join();
        beatFor(80);
        assertEquals(1, pair.sender.counts().get(SenderCount.LINK_FAILURES));
        pair.link.up = true;
        beatFor(1);
        assertEquals(null, pair.link.opened);
    }

    @Test
    void shouldGiveUpALinkAtOnceWhenItIsToldToHaveFailed() {
        pair.link.up = false;
        join(Delivery.LATEST);
        assertTrue(pair.sender.isGuarded());
        pair.link.broken = true;
        // The source checks its members every 20 ms.
        pair.run(40 * MS);
        assertEquals(1, pair.sender.counts().get(SenderCount.LINK_FAILURES));
        assertEquals(1, pair.link.cuts);
        assertFalse(pair.sender.isGuarded(), "no payload is summed up for one that reads nothing");
        beatFor(1);
        assertEquals(1, pair.sender.counts().get(SenderCount.LINK_FAILURES));
    }

    private void beatFor(final long seconds) {
        pair.run(seconds * 1000 * MS);
    }

    @Test
    void shouldGrantByTheWordAndNotByDatagrams() {
        linked();
        assertEquals(1, pair.sender.counts().get(SenderCount.LINKS));
        final long creditBefore = pair.sender.counts().get(SenderCount.CREDIT_DATAGRAMS);
        final long acksBefore = pair.receiver.counts().get(ReceiverCount.ACKS);
        stream(60);
        assertEquals(480, pair.receiver.acknowledgedSequence());
        assertEquals(creditBefore, pair.sender.counts().get(SenderCount.CREDIT_DATAGRAMS));
        assertTrue(
                pair.sender.counts().get(SenderCount.CREDIT_WORDS) >= 10,
                () -> "" + pair.sender.counts().get(SenderCount.CREDIT_WORDS));
        assertEquals(
                pair.sender.counts().get(SenderCount.CREDIT_WORDS),
                pair.receiver.counts().get(ReceiverCount.GRANTS_WRITTEN));
        assertTrue(pair.sender.grantedSequence() > 480);
        final long acks = pair.receiver.counts().get(ReceiverCount.ACKS) - acksBefore;
        // An ACK for a quarter of the window each, not for a frame.
        assertTrue(acks <= 40, () -> acks + " ACKs for 60 frames");
        pair.run(100 * MS);
        assertTrue(pair.sender.isDrained());
    }

    @Test
    void shouldGoOnByDatagramsWhenTheLinkBreaks() {
        linked();
        stream(5);
        pair.link.writable = false;
        pair.receiver.link().onBroken(pair.nowNs);
        assertFalse(pair.receiver.link().isUp());
        final long creditBefore = pair.sender.counts().get(SenderCount.CREDIT_DATAGRAMS);
        stream(60);
        assertEquals(520, pair.receiver.acknowledgedSequence());
        assertTrue(pair.sender.counts().get(SenderCount.CREDIT_DATAGRAMS) > creditBefore);
        assertEquals(1, pair.receiver.counts().get(ReceiverCount.LINK_FAILURES));
    }

    @Test
    void shouldGoOnByDatagramsWhileAWriteIsSlow() {
        linked();
        // The device accepts the write, and never reports its completion.
        for (int i = 0; i < 60; i++) {
            pair.publish(8);
            pair.send(0);
            release();
            pair.run(5 * MS);
        }
        assertEquals(480, pair.receiver.acknowledgedSequence());
        assertTrue(pair.receiver.counts().get(ReceiverCount.SLOW_WRITES) >= 1);
        assertTrue(pair.receiver.link().isUp());
    }

    @Test
    void shouldNotCallSlowWhatIsAsFastAsDatagrams() {
        linked();
        for (int i = 0; i < 20 && pair.link.writes.isEmpty(); i++) {
            pair.publish(8);
            pair.send(0);
            release();
            pair.run(STEP_NS);
        }
        assertFalse(pair.link.writes.isEmpty());
        pair.receiver.link().onRtt(40 * MS);
        final long writtenNs = pair.nowNs;
        pair.receiver.onTick(writtenNs + 150 * MS);
        assertEquals(0, pair.receiver.counts().get(ReceiverCount.SLOW_WRITES));
        pair.receiver.onTick(writtenNs + 170 * MS);
        assertEquals(1, pair.receiver.counts().get(ReceiverCount.SLOW_WRITES));
    }

    @Test
    void shouldCutTheLinkOfOneWhoseWordCannotBe() {
        final SplittableRandom random = new SplittableRandom(4);
        for (int i = 0; i < 40; i++) {
            final MachinePair other = new MachinePair();
            other.receiver = other.newLinkedReceiver(5, Delivery.RELIABLE);
            other.join();
            other.run(25 * MS);
            other.receiver.link().onUp(other.nowNs);
            final long word = other.link.writes.remove();
            other.sender.onWord(0, word);
            final long granted = other.sender.grantedSequence();
            final int epoch = CreditWord.epoch(word);
            final long lie = switch (i % 4) {
                case 0 -> CreditWord.of(epoch ^ 1 + random.nextInt(0xfffe), granted + 1);
                case 1 -> CreditWord.of(epoch, granted - 1 - random.nextInt(20));
                case 2 -> CreditWord.of(epoch, 256 + 16 + 1 + random.nextLong(1L << 40));
                default -> 0;
            };
            other.sender.onWord(0, lie);
            assertEquals(granted, other.sender.grantedSequence());
            assertEquals(1, other.sender.counts().get(SenderCount.IMPOSSIBLE_WORDS), "lie " + i);
            assertEquals(1, other.link.cuts);
            assertEquals(0, other.sender.counts().get(SenderCount.LINKS));
            other.sender.onWord(0, CreditWord.of(epoch, granted + 5));
            assertEquals(granted, other.sender.grantedSequence());
        }
    }

    @Test
    void shouldCutTheLinkBeforeTheMemberIsForgotten() {
        linked();
        pair.receiver.leave();
        pair.exchange();
        assertEquals(1, pair.link.cuts);
        assertEquals(0, pair.sender.counts().get(SenderCount.LINKS));
    }

    @Test
    void shouldReadWhatIsMissingAndAskNobody() {
        linked();
        pair.publish(8);
        pair.send(3);
        pair.receiver.onTick(pair.nowNs);
        assertEquals(List.of(0L, 1L, 2L), List.copyOf(pair.link.pulls));
        carryPulls();
        assertEquals(8, pair.receiver.acknowledgedSequence());
        assertEquals(0, pair.receiver.counts().get(ReceiverCount.NACKS));
        assertEquals(3, pair.receiver.counts().get(ReceiverCount.PULL_REQUESTS));
        assertEquals(0, pair.receiver.counts().get(ReceiverCount.OVERDUE_PULLS));
        assertEquals(0, pair.sender.counts().get(SenderCount.REPAIRED_DATAGRAMS));
    }

    @Test
    void shouldReadTheRestLaterWhenThereIsNoRoom() {
        linked();
        pair.link.pullRoom = 1;
        pair.publish(8);
        pair.send(3);
        for (int i = 0; i < 3; i++) {
            pair.nowNs += 100_000;
            pair.receiver.onTick(pair.nowNs);
            assertEquals(1, pair.link.pulls.size());
            carryPulls();
        }
        assertEquals(8, pair.receiver.acknowledgedSequence());
        assertEquals(0, pair.receiver.counts().get(ReceiverCount.NACKS));
    }

    @Test
    void shouldAskForWhatWasReadInVain() {
        linked();
        pair.publish(8);
        pair.send(3);
        pair.receiver.onTick(pair.nowNs);
        pair.link.pulls.clear();
        pair.receiver.repairRequests().escalate(1, pair.nowNs);
        pair.nowNs++;
        pair.receiver.onTick(pair.nowNs);
        assertEquals(1, pair.receiver.counts().get(ReceiverCount.NACKS));
        pair.link.pulls.clear();
        pair.run(20 * MS);
        assertEquals(8, pair.receiver.acknowledgedSequence());
    }

    @Test
    void shouldAskForEverythingWhenReadsNeverEnd() {
        linked();
        pair.publish(8);
        pair.send(3);
        pair.run(50 * MS);
        assertEquals(8, pair.receiver.acknowledgedSequence());
        assertTrue(pair.receiver.counts().get(ReceiverCount.NACKS) > 0);
        assertEquals(3, pair.receiver.counts().get(ReceiverCount.OVERDUE_PULLS));
    }

    @Test
    void shouldReadUnderGuardWhereItsSlotsMayBeUsedAgain() {
        assertFalse(pair.sender.isGuarded());
        join(Delivery.LATEST);
        assertTrue(pair.sender.isGuarded());
        pair.receiver.link().onUp(pair.nowNs);
        carryWords();
        pair.publish(8);
        pair.send(3);
        pair.receiver.onTick(pair.nowNs);
        assertEquals(List.of(0L, 1L, 2L), List.copyOf(pair.link.pulls));
        pair.receiver.leave();
        pair.exchange();
        assertFalse(pair.sender.isGuarded());
    }

    @Test
    void shouldNotHaveTheSourceGuardAnythingForThoseItWaitsFor() {
        linked();
        assertFalse(pair.sender.isGuarded());
    }
}
