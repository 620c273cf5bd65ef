package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.wire.Verdict;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A receiver's cycle: it begins, takes datagrams and released frames, and grants credit.
final class ReceiveSessionTest {
    private static final long MS = SessionWorld.MS;

    private final SessionWorld world = new SessionWorld();

    @Test
    void shouldBeginWithTheFirstFrameOfItsMembership() {
        world.publish(3, 1);
        final ReceiverFixture receiver = world.receiver(ReceiverFixture.Terms.PLAIN);
        receiver.cycle();
        assertFalse(receiver.session.isStarted());
        receiver.machine.start(world.nowNs);
        world.settle();
        assertSame(receiver.machine, receiver.session.machine());
        assertTrue(receiver.session.isStarted());
        assertEquals(2, receiver.session.firstFrameId());
        assertEquals(2, receiver.session.firstReportedId());
        world.publish(1);
        assertEquals(List.of("2"), receiver.poll());
        assertEquals(3, receiver.session.nextFrameId());
    }

    @Test
    void shouldReportTheFramesBetweenTwoMemberships() {
        world.publish(1, 1, 1, 1, 1);
        final ReceiverFixture receiver = world.receiver(ReceiverFixture.Terms.PLAIN);
        receiver.session.resumeFrom(2);
        receiver.machine.start(world.nowNs);
        world.settle();
        assertEquals(2, receiver.session.firstReportedId());
        world.publish(1);
        assertEquals(List.of("2+3 NOT_A_MEMBER", "5"), receiver.poll());
    }

    @Test
    void shouldReportNothingWhenNoFrameWasMissedBetweenTwoMemberships() {
        world.publish(1, 1);
        final ReceiverFixture receiver = world.receiver(ReceiverFixture.Terms.PLAIN);
        receiver.session.resumeFrom(2);
        receiver.machine.start(world.nowNs);
        world.settle();
        world.publish(1);
        assertEquals(List.of("2"), receiver.poll());
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void shouldDeliverFramesInOrderWhateverTheirLength(final Kind kind) {
        final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.PLAIN.in(kind));
        for (int id = 0; id < 60; id++) {
            world.source.publish(1 + id * 331 % (8 * SessionWorld.SLOT_BYTES), 0);
            world.settle();
            assertEquals(List.of(String.valueOf(id)), receiver.poll());
            receiver.consumer.releaseAll();
            world.run(MS);
        }
        assertEquals(0, world.source.machine.sendable());
        assertEquals(0, receiver.count(ReceiverCount.NACKS));
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void shouldDeliverFramesInOrderWhenDatagramsAreLostAndOvertaken(final Kind kind) {
        final ReceiverFixture receiver =
                world.member(ReceiverFixture.Terms.PLAIN.in(kind).buffers(4));
        world.dataLost = (_, sequence) -> sequence % 7 == 3;
        for (int id = 0; id < 60; id += 2) {
            world.source.publish(1 + id * 331 % (8 * SessionWorld.SLOT_BYTES), 0);
            world.source.publish(SessionWorld.SLOT_BYTES * 3, 0);
            world.source.cycle();
            if (id % 4 == 0 && !receiver.data.inbox.isEmpty()) {
                receiver.data.inbox.addFirst(receiver.data.inbox.removeLast());
            }
            world.run(20 * MS);
            assertEquals(List.of(String.valueOf(id), String.valueOf(id + 1)), receiver.poll());
            receiver.consumer.releaseAll();
        }
        assertTrue(receiver.count(ReceiverCount.REPAIRED_DATAGRAMS) > 10);
        assertEquals(0, receiver.verdicts(Verdict.DUPLICATE), "nothing was repaired in vain");
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void shouldGoOnBehindADatagramThatIsNotOfItsSession(final Kind kind) {
        final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.PLAIN.in(kind));
        world.source.publish(5);
        world.source.cycle();
        final byte[] strange =
                Objects.requireNonNull(receiver.data.inbox.peek()).clone();
        strange[8] ^= 1;
        final byte[] third = receiver.data.inbox.removeLast();
        receiver.data.inbox.add(strange);
        receiver.data.inbox.add(third);
        world.settle();
        assertEquals(List.of("0"), receiver.poll());
        assertEquals(1, receiver.verdicts(Verdict.WRONG_SESSION) + receiver.verdicts(Verdict.BAD_CHECKSUM));
        assertEquals(0, receiver.count(ReceiverCount.NACKS));
    }

    @Test
    void shouldTakeNoMoreThanAFewBatchesInOneCycle() {
        final ReceiverFixture receiver = world.member();
        receiver.data.batchMax = 2;
        for (int i = 0; i < 40; i++) {
            world.source.publish(1);
        }
        world.source.cycle();
        final long before = receiver.verdicts(Verdict.GOOD);
        receiver.cycle();
        assertEquals(32, receiver.verdicts(Verdict.GOOD) - before);
        receiver.cycle();
        assertEquals(40, receiver.verdicts(Verdict.GOOD) - before);
    }

    @Test
    void shouldCountDatagramsAndFramesAsWork() {
        final ReceiverFixture receiver = world.member();
        receiver.consumer.room = 0;
        world.source.publish(3);
        world.source.publish(1);
        world.source.cycle();
        assertEquals(0, receiver.session.nextFrameId());
        assertEquals(4, receiver.cycle(), "datagrams");
        receiver.consumer.room = 2;
        assertEquals(2, receiver.cycle(), "frames");
        assertEquals(List.of("0", "1"), receiver.poll());
        assertEquals(0, receiver.cycle());
        receiver.consumer.releaseAll();
        assertEquals(2, receiver.cycle(), "released frames");
        assertEquals(0, receiver.cycle());
        world.nowNs = receiver.session.nextDeadlineNs();
        assertEquals(1, receiver.cycle(), "an acknowledgement");
        assertEquals(0, receiver.cycle());
    }

    @Test
    void shouldDoNothingBeforeItsDeadline() {
        final ReceiverFixture receiver = world.member();
        world.run(5 * MS);
        final long acks = receiver.count(ReceiverCount.ACKS);
        world.nowNs = receiver.session.nextDeadlineNs() - 1;
        receiver.cycle();
        assertEquals(acks, receiver.count(ReceiverCount.ACKS));
        world.nowNs++;
        receiver.cycle();
        assertEquals(acks + 1, receiver.count(ReceiverCount.ACKS));
    }

    @Test
    void shouldGrantTheSlotsOfReleasedFramesInTheSameCycle() {
        final ReceiverFixture receiver = world.member();
        world.publish(8, 8);
        receiver.poll();
        final long before = receiver.session.assembly().creditLimit();
        assertTrue(receiver.session.isHeld());
        receiver.consumer.release(0);
        receiver.cycle();
        assertEquals(before + 8, receiver.session.assembly().creditLimit());
        assertTrue(receiver.session.isHeld());
        receiver.consumer.release(1);
        receiver.cycle();
        assertFalse(receiver.session.isHeld());
        world.run(2 * MS);
        assertEquals(before + 16, receiver.machine.grantedSequence());
        assertEquals(before + 16, world.source.machine.grantedSequence());
    }

    @Test
    void shouldStopTheSourceWhileTheUserHoldsTheRing() {
        final ReceiverFixture receiver = world.member();
        for (int i = 0; i < 20; i++) {
            if (world.source.window.freeSlots() >= 8) {
                world.source.publish(8);
            }
            world.run(5 * MS);
            receiver.poll();
        }
        assertEquals(128, world.source.machine.nextSequence());
        receiver.consumer.release(0);
        world.run(5 * MS);
        assertEquals(136, world.source.machine.nextSequence());
    }

    @Test
    void shouldUseItsMemoryFromTheStartAgainWhenEveryFrameWasReleased() {
        final ReceiverFixture receiver = world.member();
        world.publish(3);
        receiver.poll();
        receiver.consumer.releaseAll();
        world.publish(2);
        assertEquals(List.of("1"), receiver.poll());
        assertEquals(0, receiver.consumer.given.getLast().offset());
    }

    @Test
    void shouldNotUseMemoryAgainWhileAFrameIsHeld() {
        final ReceiverFixture receiver = world.member();
        world.publish(3, 2);
        receiver.poll();
        receiver.consumer.release(0);
        world.publish(1);
        receiver.poll();
        assertEquals(
                5 * SessionWorld.SLOT_BYTES, receiver.consumer.given.getLast().offset());
        receiver.consumer.releaseAll();
    }

    @Test
    void shouldNotUseMemoryAgainWhileAPartOfTheNextFrameIsThere() {
        final ReceiverFixture receiver = world.member();
        world.publish(3);
        receiver.poll();
        world.source.begin(4 * SessionWorld.SLOT_BYTES, 0, new byte[0]);
        world.source.commit(4 * SessionWorld.SLOT_BYTES, 2);
        world.settle();
        receiver.consumer.releaseAll();
        world.settle();
        world.source.commit(4 * SessionWorld.SLOT_BYTES, 2);
        world.settle();
        assertEquals(List.of("1"), receiver.poll());
        assertEquals(
                3 * SessionWorld.SLOT_BYTES, receiver.consumer.given.getLast().offset());
    }

    @Test
    void shouldNotUseMemoryAgainWhileADatagramBehindAGapIsThere() {
        final ReceiverFixture receiver = world.member();
        world.publish(3);
        receiver.poll();
        world.dataLost = (_, sequence) -> sequence == 3;
        world.publish(4);
        receiver.consumer.releaseAll();
        world.settle();
        world.run(20 * MS);
        assertEquals(List.of("1"), receiver.poll());
        assertEquals(
                3 * SessionWorld.SLOT_BYTES, receiver.consumer.given.getLast().offset());
    }

    @Test
    void shouldNotUseMemoryAgainWhileTheNextFrameWaitsForTheUser() {
        final ReceiverFixture receiver = world.member();
        world.publish(3);
        receiver.poll();
        receiver.consumer.lossRoom = 0;
        receiver.consumer.room = 0;
        world.publish(2, 2);
        receiver.consumer.releaseAll();
        world.settle();
        receiver.consumer.room = 4;
        world.settle();
        assertEquals(List.of("1", "2"), receiver.poll());
        assertEquals(
                5 * SessionWorld.SLOT_BYTES, receiver.consumer.given.getLast().offset());
    }

    @Test
    void shouldTellHowLongItsProcessStoodStill() {
        final ReceiverFixture receiver = world.member();
        world.run(5 * MS);
        assertEquals(0, receiver.session.standstillNs());
        world.nowNs += 600 * MS;
        receiver.cycle();
        assertEquals(600 * MS, receiver.session.standstillNs());
        receiver.cycle();
        assertEquals(0, receiver.session.standstillNs());
    }

    @Test
    void shouldEndWhenEveryFrameWasDelivered() {
        final ReceiverFixture receiver = world.member();
        receiver.consumer.room = 1;
        world.publish(1, 1);
        world.source.session.end();
        world.run(50 * MS);
        assertFalse(receiver.session.isEnded());
        assertEquals(List.of("0"), receiver.poll());
        world.run(50 * MS);
        assertEquals(State.ENDED, receiver.machine.state());
        assertTrue(receiver.session.isEnded());
        assertEquals(List.of("1"), receiver.poll());
        assertTrue(world.source.session.isDrained());
    }

    @Test
    void shouldEndAtOnceWhenItNeverBecameAMember() {
        final ReceiverFixture receiver = world.receiver(ReceiverFixture.Terms.PLAIN);
        receiver.mute = true;
        receiver.machine.start(world.nowNs);
        world.controlsLost = true;
        assertFalse(receiver.session.isEnded());
        world.run(3_000 * MS);
        assertEquals(State.LOST, receiver.machine.state());
        assertTrue(receiver.session.isEnded());
        assertFalse(receiver.session.isStarted());
    }

    @Test
    void shouldTakeNoDataWhenItHasEnded() {
        final ReceiverFixture receiver = world.member();
        world.publish(1);
        final byte[] datagram = world.datagram(0);
        world.source.session.end();
        world.run(20 * MS);
        receiver.data.inbox.add(datagram);
        receiver.cycle();
        assertEquals(1, receiver.data.inbox.size());
    }

    @Test
    void shouldLeaveDataInTheTransportUntilItIsAMember() {
        final ReceiverFixture receiver = world.receiver(ReceiverFixture.Terms.PLAIN);
        receiver.machine.start(world.nowNs);
        world.source.cycle();
        receiver.cycle();
        assertEquals(State.STARTING, receiver.machine.state());
        world.source.publish(2);
        receiver.data.inbox.clear();
        world.source.cycle();
        final byte[] start = Objects.requireNonNull(receiver.controlInbox.pollFirst());
        final List<byte[]> later = List.copyOf(receiver.controlInbox);
        receiver.controlInbox.clear();
        receiver.cycle();
        assertEquals(2, receiver.data.inbox.size());
        receiver.controlInbox.add(start);
        receiver.controlInbox.addAll(later);
        world.settle();
        assertEquals(List.of("0"), receiver.poll());
        assertEquals(0, receiver.verdicts(Verdict.EARLY));
    }

    @Test
    void shouldGiveBackEverythingWhenTheUserIsGone() {
        final ReceiverFixture receiver = world.member();
        receiver.consumer.room = 3;
        world.publish(2, 2);
        receiver.poll();
        world.publish(2, 2);
        for (int i = 0; i < 3; i++) {
            world.source.publishSmall(60, 0);
        }
        world.settle();
        assertTrue(receiver.session.isHeld());
        receiver.consumer.releaseAll();
        receiver.session.drain();
        assertFalse(receiver.session.isHeld());
        receiver.session.drain();
    }

    @Test
    void shouldGiveBackAFrameThatWaitsWhenTheUserIsGone() {
        final ReceiverFixture receiver = world.member();
        receiver.consumer.room = 0;
        world.publish(2);
        assertTrue(receiver.session.isHeld());
        receiver.session.drain();
        assertFalse(receiver.session.isHeld());
        receiver.session.drain();
        receiver.consumer.room = 1;
        receiver.cycle();
        assertEquals(List.of(), receiver.poll(), "it was given back");
    }

    @Test
    void shouldGrantTheSlotsOfFramesThatAreTakenBackAlone() {
        final ReceiverFixture receiver = world.member();
        world.publish(8);
        receiver.poll();
        world.run(5 * MS);
        final long before = receiver.machine.grantedSequence();
        receiver.consumer.releaseAll();
        assertEquals(1, receiver.session.takeBack(world.nowNs));
        world.nowNs += 2 * MS;
        receiver.machine.onTick(world.nowNs);
        assertEquals(before + 8, receiver.machine.grantedSequence());
    }
}
