package io.framecast.engine.publish;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.DelayedDevice;
import io.framecast.engine.testing.FifoProvider;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Frames that lie in the memory of a device whose work is late: published from there, received in host memory.
/// All on the test's thread.
class DeviceSourceTest {
    private static final int CYCLES_MAX = 5_000_000;
    private static final int LENGTH_MAX = 150_000;
    private static final String GROUP = "framecast:verbs?group=224.20.30.41:5000|window=64k";
    // Longer than any window: taken in parts.
    private static final int LONG = 4 << 20;

    private final DelayedDevice device = new DelayedDevice();
    private final Arena arena = Arena.ofShared();
    private Framecast node;
    private Publisher publisher;
    private Subscriber subscriber;

    private void start(final int frameMax, final String settings) {
        final NodeConfig config =
                NodeConfig.DEFAULT.withThreading(Threading.INVOKER).withSeed(11);
        node = TestNode.launch(
                config,
                List.of(new FifoProvider(new FifoNetwork(5, new FifoNetwork.Faults(0.01, 0.01, 0.01)))),
                List.of(device, new HostProvider()));
        publisher = node.publish(Channel.parse(GROUP + "|frame-max=" + frameMax + "|device=emulated" + settings));
        subscriber = node.subscribe(Channel.parse(GROUP + "|device=host"));
        for (int i = 0; publisher.readySubscribers() == 0; i++) {
            cycle(i);
        }
    }

    @AfterEach
    void close() {
        node.close();
        arena.close();
    }

    private void cycle(final int count) {
        assertTrue(
                count < CYCLES_MAX,
                () -> "no progress: " + subscriber.stats() + publisher.stats() + subscriber.failure());
        node.doWork();
    }

    // Small ones that share datagrams, some of one datagram, and longer ones than the window.
    private static long length(final int id) {
        return id % 3 == 0 ? 1 + id % 200 : 1 + (id * 48_611L) % LENGTH_MAX;
    }

    private MemorySegment frame(final int id) {
        return FrameBytes.write(id, arena.allocate(length(id)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "|chunk=4k", "|chunk=1m"})
    void shouldPublishEveryByteWhenFramesAreWrittenLateAndOverwrittenAtOnce(final String settings) {
        start(LENGTH_MAX, settings);
        final DeviceRegion memory = publisher.device().allocate(LENGTH_MAX);
        final DeviceStream stream = publisher.device().openStream();
        final DeviceEvent written = publisher.device().openEvent();
        final int frames = 90;
        int offered = 0;
        boolean writing = false;
        for (int polled = 0, i = 0; polled < frames; i++) {
            cycle(i);
            if (offered < frames && !writing) {
                final MemorySegment next = frame(offered);
                // The memory may be written again as soon as the offer before was accepted.
                stream.copyToDevice(memory.address(), next, 0, next.byteSize());
                stream.record(written);
                writing = true;
            }
            if (writing && publisher.offer(memory.slice(0, length(offered)), written, FrameOptions.DEFAULT) > 0) {
                offered++;
                writing = false;
            }
            final DeviceFrame frame = subscriber.poll();
            if (frame != null) {
                final int id = polled;
                assertEquals(id, frame.frameId());
                assertEquals(-1, frame.region().host().mismatch(frame(id)), () -> "frame " + id);
                frame.close();
                polled++;
            }
        }
        assertEquals(frames, publisher.stats().frames());
        stream.close();
    }

    @Test
    void shouldRefuseOtherFramesWhileOneIsUnderWay() {
        start(LONG, "");
        final DeviceRegion memory = publisher.device().allocate(LONG);
        final DeviceEvent written = publisher.device().openEvent();
        assertEquals(Publisher.BACK_PRESSURED, publisher.offer(memory, written, FrameOptions.DEFAULT));
        assertThrows(
                IllegalStateException.class,
                () -> publisher.offer(memory.slice(0, 5000), written, FrameOptions.DEFAULT));
        assertThrows(IllegalStateException.class, () -> publisher.offer(frame(1), FrameOptions.DEFAULT));
    }

    @Test
    void shouldWriteNothingIntoTheWindowLateWhenAFrameIsLongerThanItsMemory() {
        start(40_000, "|chunk=4k");
        // The first chunk is memory of the device, the rest is not.
        final DeviceRegion memory = publisher.device().allocate(6_000);
        final DeviceStream stream = publisher.device().openStream();
        final DeviceEvent written = publisher.device().openEvent();
        stream.fill(memory.address(), (byte) 99, 6_000);
        stream.record(written);
        final DeviceRegion tooLong = DeviceRegion.ofDevice(memory.address(), 30_000);
        assertThrows(DeviceException.class, () -> publisher.offer(tooLong, written, FrameOptions.DEFAULT));
        final MemorySegment sent = frame(1);
        assertTrue(publisher.offer(sent.asSlice(0, 30_000), FrameOptions.DEFAULT) > 0);
        // Lets the device finish its remaining work.
        for (int asked = 0; asked < 10_000; asked++) {
            written.isComplete();
        }
        DeviceFrame frame = null;
        for (int i = 0; frame == null; i++) {
            cycle(i);
            frame = subscriber.poll();
        }
        assertEquals(-1, frame.region().host().mismatch(sent.asSlice(0, 30_000)));
        frame.close();
        stream.close();
    }

    @Test
    void shouldSayThatItIsClosedAndLeaveNothingWhenItIsClosedWhileItsDeviceIsOpened() throws InterruptedException {
        start(5_000, "");
        final Thread closing = Thread.ofPlatform().daemon().unstarted(publisher::close);
        final MemorySegment any = arena.allocate(100);
        device.onOpen = () -> {
            closing.start();
            while (publisher.offer(any, FrameOptions.DEFAULT) != Publisher.CLOSED) {
                Thread.onSpinWait();
            }
            // The closing thread goes as far as it can.
            try {
                closing.join(Duration.ofMillis(500));
            } catch (final InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        final IllegalStateException failure = assertThrows(IllegalStateException.class, publisher::device);
        assertEquals("publisher: closed; make another", failure.getMessage());
        assertTrue(closing.join(Duration.ofSeconds(60)));
        assertFalse(device.isOpen(), "the device is closed with its publisher");
        assertEquals("", device.leftAtClose);
        assertEquals(0, device.allocatedBytes());
        assertThrows(IllegalStateException.class, publisher::device);
        final DeviceRegion nowhere = DeviceRegion.ofDevice(4096, 100);
        assertEquals(Publisher.CLOSED, publisher.offer(nowhere, device.openEvent(), FrameOptions.DEFAULT));
    }

    @Test
    void shouldLoseTheSourceInOneLineWhenTheDeviceFailsWithinAFrame() {
        start(LONG, "");
        final DeviceRegion memory = publisher.device().allocate(LONG);
        final DeviceEvent written = publisher.device().openEvent();
        assertEquals(Publisher.BACK_PRESSURED, publisher.offer(memory, written, FrameOptions.DEFAULT));
        device.failure = "copy: CUDA_ERROR_LAUNCH_FAILED (719), start the process again";
        int cycles = 0;
        while (publisher.failure().isEmpty()) {
            cycle(cycles++);
            try {
                publisher.offer(memory, written, FrameOptions.DEFAULT);
            } catch (final DeviceException e) {
                assertEquals(device.failure, e.getMessage());
            }
        }
        assertTrue(publisher.failure().orElseThrow().endsWith(device.failure), () -> "" + publisher.failure());
        assertEquals(Publisher.CLOSED, publisher.offer(frame(1), FrameOptions.DEFAULT));
        while (subscriber.state() != Subscriber.State.SOURCE_LOST) {
            cycle(cycles++);
            assertNull(subscriber.poll());
        }
        assertEquals(1, subscriber.stats().lost().unrepairable(), "the frame that had begun");
        device.failure = "";
    }
}
