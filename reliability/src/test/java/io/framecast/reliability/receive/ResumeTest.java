package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.wire.Delivery;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ResumeTest {
    private final MachinePair pair = new MachinePair();
    private final Checkpoint promised = new Checkpoint();
    private final List<Long> frames = new ArrayList<>();
    private boolean succeeded;
    private final CheckpointLog log = new CheckpointLog() {
        @Override
        public void onCheckpoint(final Checkpoint checkpoint) {
            ResumeTest.this.onCheckpoint(checkpoint);
        }

        @Override
        public boolean isSucceeded() {
            return succeeded;
        }
    };

    @BeforeEach
    void join() {
        pair.receiver.log(log);
        pair.join();
        assertEquals(State.RECEIVING, pair.receiver.state());
    }

    private void onCheckpoint(final Checkpoint checkpoint) {
        promised.copy(checkpoint);
    }

    // Another process takes over with what was promised last, and with nothing else.
    private void takeOver(final long id) {
        final Checkpoint from = new Checkpoint();
        from.copy(promised);
        pair.toSender.clear();
        pair.toReceiver.clear();
        pair.receiver = pair.newSuccessor(id, from);
        pair.receiver.log(log);
        pair.receiver.resume(from, pair.nowNs);
        pair.exchange();
    }

    private void poll() {
        for (ReceivedFrame frame = pair.receiver.pollFrame(); frame != null; frame = pair.receiver.pollFrame()) {
            frames.add(frame.frameId());
            pair.receiver.onCredit(frame.firstSequence() + 300, pair.nowNs);
        }
    }

    private static @Nullable ReceivedFrame next(final ReceiverMachine machine) {
        return machine.pollFrame();
    }

    @Test
    void shouldGoOnWithinAFrame() {
        pair.publish(2);
        pair.publish(6);
        pair.send(0);
        pair.run(1_000_000);
        // The first frame is whole and was not handed out: nothing behind it is promised.
        assertEquals(2, promised.acknowledged);
        assertEquals(0, promised.firstSequence);
        poll();
        pair.run(200_000_000);
        assertEquals(List.of(0L, 1L), frames);
        assertEquals(8, promised.acknowledged);
        pair.publish(8);
        final long first = pair.sender.nextSequence();
        pair.sender.onSent(8, pair.nowNs);
        for (int i = 0; i < 5; i++) {
            pair.data(first + i);
        }
        pair.run(200_000);
        // Acknowledged within the frame.
        pair.receiver.onStandstill(pair.nowNs);
        pair.receiver.onTick(pair.nowNs + 200_000_000);
        pair.exchange();
        assertEquals(first + 5, promised.acknowledged);
        assertEquals(8 * MachinePair.SLOT_BYTES, promised.frameBytes);
        takeOver(6);
        assertEquals(State.RECEIVING, pair.receiver.state());
        assertEquals(first, pair.receiver.startSequence());
        assertEquals(first + 5, pair.receiver.acknowledgedSequence());
        pair.run(500_000_000);
        poll();
        assertEquals(List.of(0L, 1L, 2L), frames);
        assertEquals(1, pair.sender.readyMembers());
    }

    @Test
    void shouldHaveTheMetadataOfTheFrameInProgress() {
        final byte[] metadata = {1, 2, 3};
        pair.publish(4, metadata);
        pair.send(0);
        pair.exchange();
        pair.run(100_000_000);
        assertEquals(4, promised.acknowledged);
        takeOver(6);
        final ReceivedFrame frame = next(pair.receiver);
        assertNotNull(frame);
        assertArrayEquals(metadata, frame.metadata());
    }

    @Test
    void shouldNotSayThatTheStreamIsCompleteBeforeItsLastFrameWasHandedOut() {
        pair.publish(4);
        pair.send(0);
        pair.sender.end(pair.nowNs);
        pair.run(100_000_000);
        assertTrue(!promised.complete && !pair.sender.isDrained());
        takeOver(6);
        poll();
        pair.run(500_000_000);
        assertNull(next(pair.receiver));
        assertEquals(State.ENDED, pair.receiver.state());
        pair.run(500_000_000);
        assertTrue(promised.complete && pair.sender.isDrained());
        assertEquals(List.of(0L), frames);
    }

    @Test
    void shouldAskForEverythingBehindThePromise() {
        pair.publish(3);
        pair.publish(3);
        pair.publish(3);
        // The first three never arrive, the others do; nothing of them is promised.
        pair.send(3);
        pair.receiver.onTick(pair.nowNs);
        takeOver(6);
        pair.run(500_000_000);
        poll();
        assertEquals(List.of(0L, 1L, 2L), frames);
    }

    /// Frames may be handed out before the first ACK.
    @Test
    void shouldLogThatItIsAMemberBeforeItHandsOutAFrame() {
        final List<Long> firsts = new ArrayList<>();
        pair.receiver = pair.newReceiver(9, 256, 32);
        pair.receiver.log(checkpoint -> firsts.add(checkpoint.firstSequence));
        pair.receiver.start(pair.nowNs);
        pair.exchange();
        assertEquals(State.RECEIVING, pair.receiver.state());
        assertEquals(List.of(pair.sender.nextSequence()), firsts.subList(0, 1));
    }

    /// A successor that died before the source heard it has logged already: its successor knows no better.
    @Test
    void shouldGoOnFromASuccessorThatTheSourceNeverHeard() {
        pair.publish(2);
        pair.send(0);
        pair.run(100_000_000);
        final Checkpoint from = new Checkpoint();
        from.copy(promised);
        final ReceiverMachine unheard = pair.newSuccessor(6, from);
        unheard.log(log);
        unheard.resume(from, pair.nowNs);
        assertTrue(promised.secret != from.secret);
        takeOver(7);
        assertEquals(State.RECEIVING, pair.receiver.state());
        poll();
        assertEquals(List.of(0L), frames);
    }

    /// The successor has read what was promised: the source hears nothing beyond.
    @Test
    void shouldTellNothingNewOnceASuccessorGoesOn() {
        pair.publish(2);
        pair.send(0);
        pair.run(100_000_000);
        poll();
        assertEquals(2, pair.sender.releasable());
        succeeded = true;
        pair.publish(2);
        pair.send(2);
        pair.run(100_000_000);
        assertEquals(4, promised.acknowledged);
        assertEquals(2, pair.sender.releasable());
        pair.receiver = pair.newSuccessor(8, promised);
        pair.receiver.log(log);
        pair.receiver.resume(promised, pair.nowNs);
        assertEquals(State.LOST, pair.receiver.state());
    }

    @Test
    void shouldSayForHowManyItStandsUntilTheSourceKnows() {
        assertEquals(1, pair.sender.readySubscribers());
        pair.receiver.standFor(3, Delivery.RELIABLE, pair.nowNs);
        pair.tick();
        // Lost.
        pair.toSender.clear();
        pair.run(100_000_000);
        assertEquals(3, pair.sender.readySubscribers());
        assertEquals(1, pair.sender.readyMembers());
        takeOver(6);
        pair.receiver.standFor(2, Delivery.RELIABLE, pair.nowNs);
        pair.run(100_000_000);
        assertEquals(2, pair.sender.readySubscribers());
    }

    @Test
    void shouldSayWhetherItMustBeWaitedFor() {
        assertTrue(pair.receiver.isWaitedFor());
        pair.receiver.standFor(2, Delivery.LATEST, pair.nowNs);
        assertFalse(pair.receiver.isWaitedFor(), "the source may hear of it at any time");
        pair.run(100_000_000);
        assertFalse(pair.sender.member(0).delivery().isWaitedFor());
        pair.receiver.standFor(2, Delivery.RELIABLE, pair.nowNs);
        assertFalse(pair.receiver.isWaitedFor(), "the source has not said so");
        pair.run(100_000_000);
        assertTrue(pair.receiver.isWaitedFor());
        assertTrue(pair.sender.member(0).delivery().isWaitedFor());
        // A successor says it anew: the source may know of something else.
        takeOver(6);
        pair.receiver.standFor(2, Delivery.RELIABLE, pair.nowNs);
        pair.run(100_000_000);
        assertTrue(pair.receiver.isWaitedFor());
    }

    /// A later membership reports what was missed from that frame on.
    @Test
    void shouldKnowItsNextFrameBeforeTheSourceAnswers() {
        pair.publish(2);
        pair.publish(6);
        pair.send(0);
        pair.run(1_000_000);
        poll();
        pair.run(200_000_000);
        assertEquals(2, promised.frameId);
        pair.receiver = pair.newSuccessor(6, promised);
        pair.receiver.resume(promised, pair.nowNs);
        assertEquals(State.STARTING, pair.receiver.state());
        assertEquals(2, pair.receiver.nextFrameId());
    }

    @Test
    void shouldBeRefusedWithAForgedSecret() {
        promised.secret = 1;
        takeOver(6);
        pair.run(100_000_000);
        assertEquals(State.LOST, pair.receiver.state());
        assertEquals(1, pair.sender.readyMembers());
    }

    @Test
    void shouldEndTheReceiverWhoseMembershipWentOn() {
        final ReceiverMachine former = pair.receiver;
        takeOver(6);
        pair.receiver = former;
        pair.publish(2);
        pair.send(0);
        pair.run(300_000_000);
        assertEquals(State.LOST, former.state());
        assertTrue(former.isEvicted());
    }
}
