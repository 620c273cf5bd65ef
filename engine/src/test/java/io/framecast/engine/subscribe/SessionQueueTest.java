package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.NodeConfig;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.node.FramecastNode;
import io.framecast.engine.sink.HostReceiveMemory;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.BufferQueue;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.session.FrameConsumer;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SessionQueueTest {
    private static final long PLACE = 7;

    private final Channel channel = StreamFixture.channel("udp", "");
    private final DeviceBackend device = new HostProvider().open(0);
    private final DeviceRegion region = device.allocate(64);
    private final FramecastNode node = new FramecastNode(NodeConfig.DEFAULT);
    private final MemoryShape shape = MemoryShape.of(
            new StreamInfo(1, channel.name(), 1408, 64, 64, 50, new byte[1], new byte[1]),
            MemoryShape.Kind.IN_RING,
            64,
            0,
            false,
            1);
    private final ReceiveMemory memory =
            new HostReceiveMemory(shape, device, 0, MirroredMemory.allocate(shape.ringBytes(), 0));
    private final EngineSubscriber subscriber = new EngineSubscriber(channel, device, node, _ -> {});
    private final PostedTargets targets = new PostedTargets(subscriber.posted(), memory);
    private final SessionQueue queue =
            subscriber.openQueue(shape.stream(), everyFrameInOneRegion(), Assembly.of(shape, memory, targets), targets);

    private ReceiveMemory everyFrameInOneRegion() {
        return (ReceiveMemory) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ReceiveMemory.class},
                (_, method, arguments) ->
                        "region".equals(method.getName()) ? region : method.invoke(memory, arguments));
    }

    @AfterEach
    void close() {
        queue.close();
        memory.close();
        device.close();
        node.close();
    }

    private void deliver() {
        assertEquals(BufferQueue.NONE, targets.take(64));
        queue.onFrame(new ReceivedFrame(), PLACE);
    }

    private EngineFrame poll() {
        final EngineFrame frame = queue.poll(node);
        assertNotNull(frame);
        return frame;
    }

    @Test
    void shouldGiveBackOnceWhenReleasedAndClosed() {
        deliver();
        final EngineFrame frame = poll();
        frame.release(device.openStream());
        frame.close();
        assertEquals(PLACE, queue.nextReleased());
        assertEquals(FrameConsumer.NO_PLACE, queue.nextReleased());
    }

    @Test
    void shouldNotGiveBackNextFrameWhenClosedAgainAfterItsObjectWasReused() {
        deliver();
        final EngineFrame frame = poll();
        frame.release(device.openStream());
        assertEquals(PLACE, queue.nextReleased());
        deliver();
        // The end of `try (frame) { frame.release(stream); }`, when the receiver was fast.
        frame.close();
        assertEquals(FrameConsumer.NO_PLACE, queue.nextReleased(), "the frame behind it was never polled");
        assertSame(frame, poll());
        frame.close();
        assertEquals(PLACE, queue.nextReleased());
    }

    @Test
    void shouldWithholdFramesWhenAllObjectsAreOut() {
        for (int i = 0; i < SessionQueue.FRAMES_MAX; i++) {
            deliver();
        }
        assertFalse(queue.hasRoom());
        int drained = 0;
        while (queue.takeBack() != FrameConsumer.NO_PLACE) {
            drained++;
        }
        assertEquals(SessionQueue.FRAMES_MAX, drained);
        assertTrue(queue.hasRoom());
    }
}
