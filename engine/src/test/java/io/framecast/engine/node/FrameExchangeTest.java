package io.framecast.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.sink.PayloadSink;
import io.framecast.reliability.ReceivedFrame;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FrameExchangeTest {
    private final DeviceBackend device = new HostProvider().open(0);
    private final DeviceRegion region = device.allocate(64);
    private final FrameExchange exchange =
            new FrameExchange(1, new ConsumerStream(device, new UseGuard("subscriber")), new Sleeper());

    @AfterEach
    void close() {
        exchange.close();
        device.close();
    }

    private EngineFrame deliver() {
        final EngineFrame frame = exchange.take();
        assertNotNull(frame);
        frame.fill(new ReceivedFrame(), region, PayloadSink.Delivery.IN_PLACE);
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
        // The end of `try (frame) { frame.release(stream); }`, when the receiver was quick.
        frame.close();
        assertNull(exchange.nextReturned(), "the frame behind it was never polled");
        assertSame(frame, exchange.poll());
        frame.close();
        assertSame(frame, exchange.nextReturned());
    }

    @Test
    void shouldWithholdFramesWhenAllObjectsAreOut() {
        for (int i = 0; i < FrameExchange.FRAMES_MAX; i++) {
            deliver();
        }
        assertNull(exchange.take());
        int drained = 0;
        for (EngineFrame frame = exchange.takeBack(); frame != null; frame = exchange.takeBack()) {
            exchange.recycle(frame);
            drained++;
        }
        assertEquals(FrameExchange.FRAMES_MAX, drained);
        assertNotNull(exchange.take());
    }
}
