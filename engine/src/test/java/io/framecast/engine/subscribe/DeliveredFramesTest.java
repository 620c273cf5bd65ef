package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.session.UseGuard;
import io.framecast.engine.session.Waiter;
import io.framecast.reliability.receive.ReceivedFrame;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeliveredFramesTest {
    private final DeviceBackend device = new HostProvider().open(0);
    private final DeviceRegion region = device.allocate(64);
    private final DeliveredFrames exchange =
            new DeliveredFrames(1, new ConsumerStream(device, new UseGuard("subscriber")), new Waiter());

    @AfterEach
    void close() {
        exchange.close();
        device.close();
    }

    private EngineFrame deliver() {
        final EngineFrame frame = exchange.take();
        frame.fill(new ReceivedFrame(), region, true);
        exchange.deliver(frame);
        return frame;
    }

    @Test
    void shouldGiveBackOnceWhenReleasedAndClosed() {
        deliver();
        final EngineFrame frame = exchange.poll();
        frame.release(device.openStream());
        frame.close();
        assertSame(frame, exchange.nextReturned());
        assertNull(exchange.nextReturned());
    }

    @Test
    void shouldNotGiveBackNextFrameWhenClosedAgainAfterItsObjectWasReused() {
        deliver();
        final EngineFrame frame = exchange.poll();
        frame.release(device.openStream());
        exchange.recycle(exchange.nextReturned());
        assertSame(frame, deliver());
        // The end of `try (frame) { frame.release(stream); }`, when the receiver was fast.
        frame.close();
        assertNull(exchange.nextReturned(), "the frame behind it was never polled");
        assertSame(frame, exchange.poll());
        frame.close();
        assertSame(frame, exchange.nextReturned());
    }

    @Test
    void shouldWithholdFramesWhenAllObjectsAreOut() {
        for (int i = 0; i < DeliveredFrames.FRAMES_MAX; i++) {
            deliver();
        }
        assertFalse(exchange.hasRoom());
        int drained = 0;
        for (EngineFrame frame = exchange.takeBack(); frame != null; frame = exchange.takeBack()) {
            exchange.recycle(frame);
            drained++;
        }
        assertEquals(DeliveredFrames.FRAMES_MAX, drained);
        assertTrue(exchange.hasRoom());
    }
}
