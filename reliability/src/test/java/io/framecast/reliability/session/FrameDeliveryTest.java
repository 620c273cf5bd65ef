package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Frames on their way to a user who gets every frame: they wait for room, memory and devices.
final class FrameDeliveryTest {
    private static final int KEY = DataLayout.FLAG_KEYFRAME;
    private static final int SLOT = SessionWorld.SLOT_BYTES;
    private static final long MS = SessionWorld.MS;

    private final SessionWorld world = new SessionWorld();

    // The table of the next bundle arrives damaged.
    private void damageNextBundle() {
        world.onData = datagram -> {
            if ((datagram[1] & DataLayout.FLAG_BUNDLE) != 0) {
                datagram[datagram.length - 12] ^= 1;
                world.onData = _ -> {};
            }
        };
    }

    private void publishBundle(final int frames) {
        for (int i = 0; i < frames; i++) {
            world.source.publishSmall(50 + i, 0);
        }
        world.source.small.close();
        world.settle();
    }

    @Test
    void shouldWaitForRoomAndKeepTheOrder() {
        final ReceiverFixture receiver = world.member();
        receiver.consumer.room = 1;
        world.publish(1, 2, 1);
        assertTrue(receiver.session.isWaiting());
        assertEquals(List.of("0"), receiver.poll());
        world.settle();
        assertTrue(receiver.session.isWaiting());
        assertEquals(List.of("1"), receiver.poll());
        world.settle();
        assertFalse(receiver.session.isWaiting());
        assertEquals(List.of("2"), receiver.poll());
    }

    @Test
    void shouldHandOverMetadataWithItsFrame() {
        final ReceiverFixture receiver = world.member();
        world.source.publish(300, 0, new byte[] {4, 5, 6});
        world.source.publish(300, 0);
        world.settle();
        assertEquals(List.of("0", "1"), receiver.poll());
        assertArrayEquals(
                new byte[] {4, 5, 6}, receiver.consumer.given.getFirst().metadata());
        assertNull(receiver.consumer.given.getLast().metadata());
    }

    @Test
    void shouldSeparateTheFramesOfABundle() {
        final ReceiverFixture receiver = world.member();
        world.publish(1);
        publishBundle(3);
        world.publish(2);
        assertEquals(List.of("0", "1", "2", "3", "4"), receiver.poll());
        assertEquals(4, world.source.machine.nextSequence());
        receiver.consumer.releaseAll();
        world.settle();
        assertFalse(receiver.session.isHeld());
    }

    @Test
    void shouldNotEndWhileFramesOfABundleWait() {
        final ReceiverFixture receiver = world.member();
        receiver.consumer.room = 1;
        publishBundle(3);
        world.source.session.leave();
        world.run(20 * MS);
        for (int id = 0; id < 3; id++) {
            assertEquals(id == 2, receiver.session.isEnded());
            assertEquals(List.of(String.valueOf(id)), receiver.poll());
            world.run(20 * MS);
        }
    }

    @Test
    void shouldReportTheFramesOfADamagedBundle() {
        final ReceiverFixture receiver = world.member();
        world.publish(1);
        damageNextBundle();
        publishBundle(3);
        publishBundle(2);
        assertEquals(List.of("0", "1+3 DAMAGED", "4", "5"), receiver.poll());
        receiver.consumer.releaseAll();
        world.settle();
        assertFalse(receiver.session.isHeld());
        assertEquals(3 + 128, receiver.session.assembly().creditLimit());
    }

    @Test
    void shouldGatherLossesUntilTheUserHasHeardTheOthers() {
        final ReceiverFixture receiver = world.member();
        damageNextBundle();
        publishBundle(2);
        assertTrue(receiver.consumer.areLossesFlushed(), "no session waits for another");
        damageNextBundle();
        publishBundle(3);
        assertFalse(receiver.consumer.areLossesFlushed());
        assertEquals(List.of("0+2 DAMAGED"), receiver.poll());
        world.settle();
        assertEquals(List.of("2+3 DAMAGED"), receiver.poll());
    }

    @Test
    void shouldReportLossesBeforeTheFrameBehindThem() {
        final ReceiverFixture receiver = world.member();
        receiver.consumer.lossRoom = 1;
        damageNextBundle();
        publishBundle(2);
        damageNextBundle();
        publishBundle(2);
        assertFalse(receiver.consumer.areLossesFlushed());
        world.publish(2);
        assertEquals(0, receiver.consumer.given.size(), "there is no room to report the loss before it");
        assertTrue(receiver.session.isWaiting());
        receiver.consumer.lossRoom = 2;
        world.settle();
        assertFalse(receiver.session.isWaiting());
        assertEquals(List.of("0+2 DAMAGED", "2+2 DAMAGED", "4"), receiver.poll());
    }

    @Test
    void shouldReportLossesAtTheEndOfTheStream() {
        final ReceiverFixture receiver = world.member();
        receiver.consumer.lossRoom = 1;
        damageNextBundle();
        publishBundle(2);
        damageNextBundle();
        publishBundle(2);
        world.source.session.end();
        world.run(50 * MS);
        assertFalse(receiver.session.isEnded(), "a loss is not reported");
        receiver.consumer.lossRoom = 2;
        world.settle();
        assertTrue(receiver.session.isEnded());
        assertEquals(List.of("0+2 DAMAGED", "2+2 DAMAGED"), receiver.poll());
    }

    @Test
    void shouldReportLossesInTheCycleInWhichTheStreamEnds() {
        final ReceiverFixture receiver = world.member();
        damageNextBundle();
        publishBundle(2);
        damageNextBundle();
        world.source.publishSmall(50, 0);
        world.source.small.close();
        world.source.session.end();
        world.source.cycle();
        receiver.cycle();
        assertTrue(receiver.session.isEnded());
    }

    @Test
    void shouldHandOverInTheUsersOwnBuffer() {
        final ReceiverFixture receiver =
                world.member(ReceiverFixture.Terms.PLAIN.in(Kind.BY_ARRIVAL).buffers(2));
        receiver.buffers.posts = true;
        world.publish(3);
        assertEquals(List.of("0"), receiver.poll());
        assertEquals(Space.POSTED, receiver.consumer.given.getFirst().space());
        receiver.buffers.posts = false;
        world.publish(3);
        assertEquals(List.of("1"), receiver.poll());
        assertEquals(Space.RING, receiver.consumer.given.getLast().space());
    }

    // Frames of equal length, then one that is shorter and one that is longer, in one batch each.
    @ParameterizedTest
    @EnumSource(Kind.class)
    void shouldReceiveFramesOfAnyLengthInTheUsersBuffers(final Kind kind) {
        final ReceiverFixture receiver =
                world.member(ReceiverFixture.Terms.PLAIN.in(kind).buffers(4));
        receiver.buffers.posts = true;
        world.publish(3, 3, 3);
        world.publish(3, 1, 3);
        world.publish(2, 2, 8, 1);
        world.publish(1, 1, 1, 4);
        assertEquals(14, receiver.poll().size());
        for (final TestConsumer.Given frame : receiver.consumer.given) {
            assertEquals(Space.POSTED, frame.space(), "frame " + frame.id());
        }
        final long reassembled = receiver.session.assembly().reassembledBytes();
        if (kind == Kind.STAGED) {
            assertEquals(0, reassembled);
        } else if (kind == Kind.IN_RING) {
            assertTrue(reassembled > 0 && reassembled < 30L * SLOT, () -> reassembled + " bytes were misplaced");
        }
    }

    @Test
    void shouldCopyNothingOfFramesAsLongAsTheOneBefore() {
        final ReceiverFixture receiver = world.member();
        receiver.buffers.posts = true;
        world.publish(3);
        world.publish(3, 3, 3, 3, 3);
        assertEquals(6, receiver.poll().size());
        assertEquals(0, receiver.session.assembly().reassembledBytes());
    }

    @Test
    void shouldGiveUpAFrameWhoseBufferIsFreedWhileItArrives() {
        final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.PLAIN.in(Kind.STAGED));
        receiver.buffers.posts = true;
        receiver.memory.postedClosed = true;
        world.publish(3);
        receiver.buffers.posts = false;
        world.publish(1);
        assertEquals(List.of("0+1 DAMAGED", "1"), receiver.poll());
    }

    @Test
    void shouldTryAgainWhenTheUserClosedItsBuffer() {
        final ReceiverFixture receiver =
                world.member(ReceiverFixture.Terms.PLAIN.in(Kind.BY_ARRIVAL).buffers(2));
        receiver.buffers.posts = true;
        receiver.memory.postedClosed = true;
        world.publish(3);
        assertEquals(List.of(), receiver.poll());
        assertTrue(receiver.session.isWaiting());
        receiver.memory.postedClosed = false;
        world.settle();
        assertEquals(List.of("0"), receiver.poll());
    }

    @Test
    void shouldFailWhenOtherMemoryIsClosed() {
        final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.PLAIN.mappedOnce());
        receiver.memory.reassemblyBroken = true;
        // The answer about the user's buffer does not matter: the frame needs none.
        receiver.memory.postedClosed = true;
        world.publish(8, 8, 8, 8, 8, 8, 8);
        world.run(5 * MS);
        world.publish(8, 8, 8, 8, 8, 8, 8);
        world.run(5 * MS);
        world.publish(5, 5);
        assertEquals(16, receiver.poll().size());
        receiver.consumer.release(0);
        receiver.consumer.release(1);
        world.run(5 * MS);
        world.source.publish(8);
        assertThrows(IllegalStateException.class, world::settle);
    }

    @Test
    void shouldReassembleAFrameThatPassesTheRingsEnd() {
        final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.PLAIN.mappedOnce());
        world.publish(8, 8, 8, 8, 8, 8, 8);
        world.run(5 * MS);
        world.publish(8, 8, 8, 8, 8, 8, 8);
        world.run(5 * MS);
        world.publish(7, 7);
        receiver.poll();
        receiver.consumer.release(0);
        receiver.consumer.release(1);
        receiver.consumer.release(2);
        world.run(5 * MS);
        world.publish(8);
        assertEquals(List.of("16"), receiver.poll());
        assertEquals(Space.REASSEMBLY, receiver.consumer.given.getLast().space());
        receiver.consumer.releaseAll();
    }

    @Test
    void shouldWaitForTheReassemblyBufferThatTheUserHolds() {
        final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.PLAIN.in(Kind.BY_ARRIVAL));
        world.source.publish(2);
        world.source.publish(2);
        world.source.cycle();
        // Datagrams that overtake each other do not lie in one piece.
        overtake(receiver);
        world.settle();
        assertEquals(List.of("0"), receiver.poll());
        assertTrue(receiver.session.isWaiting());
        receiver.consumer.release(0);
        world.settle();
        assertFalse(receiver.session.isWaiting());
        assertEquals(List.of("1"), receiver.poll());
    }

    // Of two frames of two datagrams, the second datagram of each comes first.
    private static void overtake(final ReceiverFixture receiver) {
        final List<byte[]> datagrams = List.copyOf(receiver.data.inbox);
        receiver.data.inbox.clear();
        receiver.data.inbox.addAll(List.of(datagrams.get(1), datagrams.get(0), datagrams.get(3), datagrams.get(2)));
    }

    @Test
    void shouldWaitForCopiesThatNoEventWaitsFor() {
        final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.PLAIN.in(Kind.STAGED));
        receiver.memory.late = true;
        world.publish(3, 1);
        assertEquals(List.of(), receiver.poll());
        assertTrue(receiver.session.isWaiting());
        receiver.memory.finish();
        world.settle();
        assertEquals(List.of("0", "1"), receiver.poll());
        assertFalse(receiver.session.isWaiting());
    }

    @Test
    void shouldWaitWhileCopiesAreUnderWay() {
        final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.PLAIN.in(Kind.STAGED));
        receiver.memory.late = true;
        world.source.begin(3 * SLOT, 0, new byte[0]);
        world.source.commit(3 * SLOT, 2);
        world.settle();
        assertTrue(receiver.session.isWaiting());
        receiver.memory.finish();
        assertFalse(receiver.session.isWaiting());
    }

    @Test
    void shouldReportFramesThatHadBegunWhenTheSourceClosed() {
        final ReceiverFixture receiver = world.member();
        receiver.consumer.room = 0;
        world.publish(2);
        world.dataLost = (_, sequence) -> sequence == 3 || sequence >= 8;
        world.repairsLost = (_, _) -> true;
        world.publish(2, 2, 2, 1);
        world.run(5 * MS);
        world.source.session.leave();
        world.run(20 * MS);
        assertFalse(receiver.session.isEnded(), "the whole frame comes first");
        assertEquals(List.of(), receiver.poll());
        receiver.consumer.room = 1;
        world.settle();
        assertEquals(List.of("0", "1+4 UNREPAIRABLE"), receiver.poll());
        assertTrue(receiver.session.isEnded());
        assertEquals(5, receiver.session.nextFrameId());
    }

    @Test
    void shouldReportFramesThatBeganWithoutItWhenItWasEvicted() {
        final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.of(Delivery.evict(100)));
        world.dataLost = (_, sequence) -> sequence >= 1;
        world.repairsLost = (_, _) -> true;
        world.source.begin(2 * SLOT, 0, new byte[0]);
        world.source.commit(2 * SLOT, 2);
        world.settle();
        world.publish(1);
        world.run(MS);
        world.source.session.onClaimBlocked(true);
        world.run(300 * MS);
        assertEquals(List.of("0+1 UNREPAIRABLE", "1+1 NOT_A_MEMBER"), receiver.poll());
        assertTrue(receiver.session.isEnded());
    }

    @Test
    void shouldReportNothingWhenTheSourceClosedBehindWholeFrames() {
        final ReceiverFixture receiver = world.member();
        world.publish(2);
        world.source.session.leave();
        world.run(20 * MS);
        assertEquals(List.of("0"), receiver.poll());
        assertTrue(receiver.session.isEnded());
        assertEquals(1, receiver.session.nextFrameId());
    }

    @Test
    void shouldComeBackAtOnceToReportWhatTheLostSourceLeft() {
        final ReceiverFixture receiver = world.member();
        world.dataLost = (_, sequence) -> sequence == 1;
        world.repairsLost = (_, _) -> true;
        world.publish(2);
        world.source.session.leave();
        world.source.cycle();
        receiver.cycle();
        while (receiver.machine.state() == State.RECEIVING) {
            world.nowNs += MS;
            receiver.cycle();
        }
        assertFalse(receiver.session.isEnded());
        assertEquals(0, receiver.session.nextDeadlineNs());
        receiver.cycle();
        assertTrue(receiver.session.isEnded());
        assertEquals(Long.MAX_VALUE, receiver.session.nextDeadlineNs());
        assertEquals(List.of("0+1 UNREPAIRABLE"), receiver.poll());
    }

    @Test
    void shouldNotComeBackAtOnceWhileTheUserOfALostSourceHasNoRoom() {
        final ReceiverFixture receiver = world.member();
        receiver.consumer.room = 0;
        world.publish(1);
        world.source.session.leave();
        world.run(20 * MS);
        assertFalse(receiver.session.isEnded());
        assertEquals(Long.MAX_VALUE, receiver.session.nextDeadlineNs());
    }

    @Test
    void shouldBeginAtTheFirstKeyframe() {
        final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.PLAIN.atKeyframe());
        world.publish(2, 1);
        final long before = receiver.session.assembly().creditLimit();
        assertEquals(128 + 3, before, "slots of dropped frames are free");
        world.source.publish(SLOT, KEY);
        world.publish(1);
        world.source.publish(SLOT, KEY);
        world.settle();
        assertEquals(List.of("0+1 AWAITS_KEYFRAME", "1+1 AWAITS_KEYFRAME", "2", "3", "4"), receiver.poll());
    }

    @Test
    void shouldReportTheFramesBeforeTheFirstKeyframeBeforeIt() {
        final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.PLAIN.atKeyframe());
        receiver.consumer.lossRoom = 0;
        // In one bundle, so that nothing is reported between them.
        world.source.publishSmall(50, 0);
        world.source.publishSmall(50, KEY);
        world.source.small.close();
        world.settle();
        assertEquals(List.of(), receiver.poll());
        assertTrue(receiver.session.isWaiting());
        receiver.consumer.lossRoom = 1;
        world.settle();
        assertEquals(List.of("0+1 AWAITS_KEYFRAME", "1"), receiver.poll());
    }
}
