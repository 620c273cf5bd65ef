package io.framecast.engine.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.DelayedDevice;
import io.framecast.engine.testing.FifoProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Subscribers and nodes that close while a kernel of the user runs, for any time: a device frees nothing before
/// the kernel's end. On a thread of the test's.
@Tag("campaign")
class BusyDeviceTest {
    private static final int CYCLES_MAX = 5_000_000;
    private static final int FRAME_BYTES = 20_000;
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final String GROUP =
            "framecast:verbs?group=224.20.30.41:5000|window=64k|frame-max=" + FRAME_BYTES + "|device=";

    private final DelayedDevice device = new DelayedDevice();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment sent = arena.allocate(FRAME_BYTES);
    private Framecast node;
    private Publisher publisher;
    private Subscriber subscriber;
    private int cycles;

    @BeforeEach
    void start() {
        final NodeConfig config =
                NodeConfig.DEFAULT.withThreading(Threading.INVOKER).withSeed(11);
        node = TestNode.launch(
                config, List.of(new FifoProvider(FifoNetwork.lossless())), List.of(device, new HostProvider()));
        publisher = node.publish(Channel.parse(GROUP + "host"));
        subscriber = node.subscribe(Channel.parse(GROUP + "emulated"));
        await(1);
    }

    @AfterEach
    void free() {
        arena.close();
    }

    private void await(final int subscribers) {
        while (publisher.readySubscribers() != subscribers) {
            cycle();
        }
    }

    private void cycle() {
        assertTrue(cycles++ < CYCLES_MAX, () -> "no progress: " + subscriber.state() + subscriber.failure());
        node.doWork();
    }

    private DeviceFrame next(final Subscriber from) {
        assertTrue(publisher.offer(sent, FrameOptions.DEFAULT) > 0);
        DeviceFrame frame = from.poll();
        while (frame == null) {
            cycle();
            frame = from.poll();
        }
        return frame;
    }

    // A thread that waits for the kernel would wait for ever.
    private static void within(final Duration longest, final Runnable work) throws InterruptedException {
        final AtomicReference<Throwable> thrown = new AtomicReference<>();
        final Thread thread = Thread.ofPlatform()
                .daemon()
                .uncaughtExceptionHandler((_, e) -> thrown.set(e))
                .start(work);
        assertTrue(thread.join(longest), "waits for the kernel");
        if (thrown.get() != null) {
            throw new AssertionError(thrown.get());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldSayWhatRunsWhenItIsClosedAndFreeItWhenThatHasEnded(final boolean released) throws InterruptedException {
        final DeviceFrame frame = next(subscriber);
        final DeviceStream stream = frame.stream();
        final Runnable kernel = device.launch(stream);
        if (released) {
            frame.release(stream);
        } else {
            // The user closes the frame too early, at its own risk.
            frame.close();
        }
        within(LONG, () -> {
            final DeviceException failure = assertThrows(DeviceException.class, node::close);
            assertEquals(
                    "subscriber of default: a kernel or a copy on delayed:0 has not ended 5 s after it was closed;"
                            + " memory that it may touch is not freed: end it, then close the node again",
                    failure.getMessage());
            assertTrue(device.isOpen());
        });
        kernel.run();
        within(LONG, node::close);
        assertFalse(device.isOpen());
        // The engine has freed everything; the stream for the user's work is freed with the device.
        assertFalse(device.leftAtClose.matches(".*(region|pinned|event).*"), device.leftAtClose);
        within(LONG, node::close);
    }

    @Test
    void shouldServeOthersWhileAKernelOfAClosedSubscriberRuns() throws InterruptedException {
        final DeviceFrame frame = next(subscriber);
        final Runnable kernel = device.launch(frame.stream());
        frame.close();
        within(LONG, () -> {
            subscriber.close();
            await(0);
            final Subscriber other = node.subscribe(Channel.parse(GROUP + "host"));
            await(1);
            for (int i = 0; i < 20; i++) {
                next(other).close();
            }
            assertTrue(device.isOpen());
            kernel.run();
            while (device.isOpen()) {
                cycle();
            }
            node.close();
        });
    }
}
