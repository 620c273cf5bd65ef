package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/// A receiver's cycle.
final class ReceiveSessionTest {
    private final SessionWorld world = new SessionWorld();
    private final ReceiverFixture receiver = world.member();

    @Test
    void shouldDeliverFramesInOrder() {
        world.publish(3, 1, 8);
        assertEquals(List.of("0", "1", "2"), receiver.poll());
    }
}
