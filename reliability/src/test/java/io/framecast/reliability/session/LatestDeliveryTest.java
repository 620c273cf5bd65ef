package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Frames on their way to a user who wants the newest.
final class LatestDeliveryTest {
    private static final int KEY = DataLayout.FLAG_KEYFRAME;
    private static final int SLOT = SessionWorld.SLOT_BYTES;
    private static final long MS = SessionWorld.MS;

    private final SessionWorld world = new SessionWorld();
    private final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.of(Delivery.LATEST));

    private List<Long> given() {
        return receiver.consumer.given.stream().map(TestConsumer.Given::id).toList();
    }

    // The table of the next bundle arrives damaged.
    private void publishDamagedBundle(final int frames) {
        world.onData = datagram -> datagram[datagram.length - 12] ^= 1;
        for (int i = 0; i < frames; i++) {
            world.source.publishSmall(50, 0);
        }
        world.source.small.close();
        world.settle();
        world.onData = _ -> {};
    }

    @Test
    void shouldTakeBackTheFrameThatTheUserHasNotPolled() {
        world.publish(1);
        world.publish(2);
        assertEquals(List.of(0L, 1L), given());
        assertEquals(List.of("0+1 SUPERSEDED", "1"), receiver.poll());
        world.publish(1);
        assertEquals(List.of("2"), receiver.poll());
        receiver.consumer.releaseAll();
        world.settle();
        assertFalse(receiver.session.isHeld());
    }

    @Test
    void shouldHandOverOnlyTheNewestOfSeveralWholeFrames() {
        world.source.publish(1);
        world.source.publish(3);
        world.publish(2);
        assertEquals(List.of(2L), given());
        assertEquals(List.of("0+2 SUPERSEDED", "2"), receiver.poll());
    }

    @Test
    void shouldNotTakeBackWithoutRoomToReportIt() {
        world.publish(1);
        receiver.consumer.lossRoom = 0;
        world.publish(1);
        assertEquals(List.of("0", "1"), receiver.poll());
    }

    @Test
    void shouldDropAFrameThatWaitsWhenANewerOneIsWhole() {
        receiver.consumer.room = 0;
        world.publish(1);
        assertTrue(receiver.session.isWaiting());
        world.source.publish(2);
        world.source.cycle();
        receiver.cycle();
        receiver.consumer.room = 1;
        world.settle();
        assertEquals(List.of(1L), given());
        assertEquals(List.of("0+1 SUPERSEDED", "1"), receiver.poll());
    }

    @Test
    void shouldKeepAFrameThatWaitsUntilANewerOneIsWhole() {
        receiver.consumer.room = 0;
        world.publish(1);
        world.source.begin(2 * SLOT, 0, new byte[0]);
        world.source.commit(2 * SLOT, 1);
        world.settle();
        receiver.consumer.room = 1;
        world.settle();
        assertEquals(List.of("0"), receiver.poll());
    }

    @Test
    void shouldKeepAFrameThatWaitsWhenItsLossCannotBeReported() {
        receiver.consumer.room = 0;
        receiver.consumer.lossRoom = 0;
        world.publish(1);
        world.publish(1);
        receiver.consumer.room = 2;
        world.settle();
        assertEquals(List.of("0", "1"), receiver.poll());
    }

    @Test
    void shouldHandOverTheLastFrameOfABundleThatWaits() {
        receiver.consumer.room = 0;
        for (int i = 0; i < 3; i++) {
            world.source.publishSmall(50, 0);
        }
        world.source.small.close();
        world.settle();
        for (int cycle = 0; cycle < 3; cycle++) {
            receiver.cycle();
        }
        receiver.consumer.room = 1;
        receiver.cycle();
        assertEquals(List.of(2L), given());
        assertEquals(List.of("0+1 SUPERSEDED", "1+1 SUPERSEDED", "2"), receiver.poll());
    }

    @Test
    void shouldNotDropAFrameThatIsBeingCopiedForANewerOne() {
        final ReceiverFixture staged =
                world.member(ReceiverFixture.Terms.of(Delivery.LATEST).in(Kind.STAGED));
        staged.memory.late = true;
        world.publish(1);
        world.publish(1);
        staged.memory.finish();
        world.settle();
        assertEquals(0, staged.consumer.given.getFirst().id());
    }

    @Test
    void shouldFindTheNewerFrameBehindOneThatCannotBecomeWhole() {
        receiver.consumer.room = 0;
        world.dataLost = (_, sequence) -> sequence == 2 || sequence > 3;
        world.repairsLost = (_, _) -> true;
        world.publish(1, 2, 1);
        for (int frame = 0; frame < 12; frame++) {
            world.source.publish(8);
            world.nowNs += MS;
            world.source.cycle();
            world.nowNs += MS;
            world.source.cycle();
        }
        // The last heartbeat says that the source does not hold the second frame any more.
        receiver.consumer.room = 1;
        receiver.cycle();
        assertEquals(List.of(2L), given());
        assertEquals(List.of("0+1 SUPERSEDED", "1+1 UNREPAIRABLE", "2"), receiver.poll());
    }

    @Test
    void shouldReportFramesThatTheSourceNoLongerHolds() {
        world.dataLost = (_, sequence) -> sequence == 1;
        world.repairsLost = (_, _) -> true;
        world.publish(1, 2, 1);
        assertEquals(List.of("0"), receiver.poll());
        for (int i = 0; i < 12; i++) {
            world.publish(8);
            world.run(2 * MS);
        }
        final List<String> seen = receiver.poll();
        assertEquals("1+1 UNREPAIRABLE", seen.getFirst());
        assertEquals("14", seen.getLast());
    }

    @Test
    void shouldSupersedeByKeyframesOnlyWhenTheStreamHasThem() {
        world.source.publish(SLOT, KEY);
        world.settle();
        world.publish(1);
        world.publish(1);
        assertEquals(List.of("0", "1", "2"), receiver.poll());
        world.publish(1);
        world.publish(1);
        world.source.publish(SLOT, KEY);
        world.settle();
        assertEquals(List.of("3+2 SUPERSEDED", "5"), receiver.poll());
    }

    @Test
    void shouldNotDropAFrameThatContinuesAKeyframe() {
        world.source.publish(SLOT, KEY);
        world.settle();
        receiver.consumer.room = 1;
        world.publish(1);
        world.publish(1);
        assertEquals(List.of("0"), receiver.poll());
        world.settle();
        assertEquals(List.of("1"), receiver.poll());
        world.settle();
        assertEquals(List.of("2"), receiver.poll());
    }

    @Test
    void shouldAwaitAKeyframeBehindADamagedBundle() {
        world.source.publish(SLOT, KEY);
        world.settle();
        publishDamagedBundle(2);
        world.publish(1);
        world.publish(1);
        world.source.publish(SLOT, KEY);
        world.settle();
        world.publish(1);
        assertEquals(
                List.of("0+1 SUPERSEDED", "1+2 DAMAGED", "3+1 AWAITS_KEYFRAME", "4+1 AWAITS_KEYFRAME", "5", "6"),
                receiver.poll());
        receiver.consumer.releaseAll();
        world.settle();
        assertFalse(receiver.session.isHeld());
    }

    @Test
    void shouldWaitForRoomToReportThatItAwaitsAKeyframe() {
        world.source.publish(SLOT, KEY);
        world.settle();
        publishDamagedBundle(2);
        assertEquals(List.of("0", "1+2 DAMAGED"), receiver.poll());
        receiver.consumer.lossRoom = 0;
        world.publish(1);
        assertTrue(receiver.session.isWaiting());
        receiver.consumer.lossRoom = 1;
        world.settle();
        assertFalse(receiver.session.isWaiting());
        assertEquals(List.of("3+1 AWAITS_KEYFRAME"), receiver.poll());
    }

    @Test
    void shouldReportApartTheFramesThatItTookBackOnBothSidesOfALoss() {
        world.source.publish(SLOT, KEY);
        world.settle();
        publishDamagedBundle(2);
        receiver.consumer.lossRoom = 1;
        world.source.publish(SLOT, KEY);
        world.publish(1);
        receiver.consumer.lossRoom = 10;
        world.source.publish(SLOT, KEY);
        world.settle();
        assertEquals(List.of("0+1 SUPERSEDED", "1+2 DAMAGED", "3+2 SUPERSEDED", "5"), receiver.poll());
    }

    @Test
    void shouldDropAllThatAwaitsAKeyframeInOneCycle() {
        world.source.publish(SLOT, KEY);
        world.settle();
        publishDamagedBundle(2);
        receiver.poll();
        world.source.publishSmall(50, 0);
        world.source.publishSmall(50, 0);
        world.source.small.close();
        world.source.cycle();
        receiver.cycle();
        assertEquals(List.of("3+1 AWAITS_KEYFRAME", "4+1 AWAITS_KEYFRAME"), receiver.poll());
    }
}
