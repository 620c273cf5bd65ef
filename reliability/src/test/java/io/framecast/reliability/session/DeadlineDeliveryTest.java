package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.Delivery;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Frames on their way to a user who wants none that is older than 10 ms.
final class DeadlineDeliveryTest {
    private static final long MS = SessionWorld.MS;

    private final SessionWorld world = new SessionWorld();
    private final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.of(Delivery.deadline(10)));

    @Test
    void shouldDropAFrameThatExpiresWhileItWaits() {
        receiver.consumer.room = 0;
        world.publish(1);
        world.nowNs += 5 * MS;
        world.publish(1);
        world.nowNs += 6 * MS;
        receiver.consumer.room = 2;
        receiver.cycle();
        assertEquals(List.of("0+1 EXPIRED", "1"), receiver.poll());
        receiver.consumer.releaseAll();
        world.settle();
        assertFalse(receiver.session.isHeld());
    }

    @Test
    void shouldHandOverAFrameThatHasNotExpiredWhileItWaits() {
        receiver.consumer.room = 0;
        world.publish(1);
        world.nowNs += 10 * MS - 1;
        receiver.consumer.room = 1;
        receiver.cycle();
        assertEquals(List.of("0"), receiver.poll());
    }

    @Test
    void shouldKeepAnExpiredFrameUntilItsLossCanBeReported() {
        receiver.consumer.room = 0;
        receiver.consumer.lossRoom = 0;
        world.publish(1);
        world.nowNs += 20 * MS;
        receiver.consumer.room = 1;
        receiver.cycle();
        assertTrue(receiver.session.isWaiting());
        receiver.consumer.lossRoom = 1;
        receiver.cycle();
        assertFalse(receiver.session.isWaiting());
        assertEquals(List.of("0+1 EXPIRED"), receiver.poll());
    }

    @Test
    void shouldDropWhatExpiredAndHandOverWhatDidNotInOneCycle() {
        world.dataLost = (_, sequence) -> sequence == 2;
        world.repairsLost = (_, _) -> true;
        world.source.publish(1);
        world.source.publish(2);
        world.source.cycle();
        world.nowNs += 11 * MS;
        world.source.publish(1);
        world.source.cycle();
        receiver.cycle();
        assertEquals(List.of("0+2 EXPIRED", "2"), receiver.poll());
    }

    @Test
    void shouldFreeTheSlotsOfExpiredFrames() {
        world.dataLost = (_, sequence) -> sequence == 1;
        world.repairsLost = (_, _) -> true;
        world.publish(4);
        world.run(15 * MS);
        assertEquals(List.of("0+1 EXPIRED"), receiver.poll());
        assertEquals(4 + 112, receiver.session.assembly().creditLimit());
        assertEquals(4 + 112, receiver.machine.grantedSequence());
    }

    @Test
    void shouldDropAnExpiredFrameBehindOneThatWaits() {
        receiver.consumer.room = 0;
        world.publish(1);
        world.dataLost = (_, sequence) -> sequence == 2;
        world.repairsLost = (_, _) -> true;
        world.publish(2);
        world.run(15 * MS);
        receiver.consumer.room = 1;
        world.settle();
        assertEquals(List.of("0+1 EXPIRED"), receiver.poll());
        world.settle();
        assertEquals(List.of("1+1 EXPIRED"), receiver.poll());
        assertEquals(2, receiver.session.nextFrameId());
    }

    @Test
    void shouldHandOverAFreshFrameBehindAnExpiredPartInOneCycle() {
        world.dataLost = (_, sequence) -> sequence == 1;
        world.repairsLost = (_, _) -> true;
        world.source.publish(2);
        world.source.cycle();
        world.nowNs += 11 * MS;
        world.source.publish(1);
        world.source.cycle();
        receiver.cycle();
        assertEquals(List.of("0+1 EXPIRED", "1"), receiver.poll());
    }
}
