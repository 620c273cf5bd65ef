package io.framecast.engine.node;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.testing.StreamFixture;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// A subscriber's thread that sleeps until there is a frame.
class AwaitFrameTest {
    private static final String SETTINGS = "|mtu=1500|window=300k|frame-max=100000|alive-timeout=20000|device=host";
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int FRAMES = 200;

    private static NodeConfig config(final Threading threading) {
        return NodeConfig.DEFAULT.withThreading(threading);
    }

    private static <T> FutureTask<T> inThread(final Callable<T> work) {
        final FutureTask<T> task = new FutureTask<>(work);
        Thread.ofPlatform().start(task);
        return task;
    }

    private static <T> T within(final FutureTask<T> task)
            throws InterruptedException, ExecutionException, TimeoutException {
        return task.get(LONG.toSeconds(), TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @CsvSource({"udp, SHARED", "udp, DEDICATED", "aeron, SHARED"})
    void shouldGiveEveryFrameToOneWhoAwaitsThem(final String transport, final Threading threading) throws Exception {
        try (StreamFixture stream = new StreamFixture(config(threading), transport, SETTINGS)) {
            final FutureTask<Integer> taken = inThread(() -> {
                int frames = 0;
                while (stream.subscriber.awaitFrame(LONG)) {
                    final DeviceFrame frame = stream.subscriber.poll();
                    assertNotNull(frame);
                    assertEquals(-1, frame.region().host().mismatch(stream.frame(frames, 10_000)));
                    frames++;
                    frame.close();
                }
                return frames;
            });
            for (int i = 0; i < FRAMES; i++) {
                final int id = i;
                stream.await(
                        () -> stream.publisher.offer(stream.frame(id, 10_000), FrameOptions.DEFAULT) > 0,
                        "frame taken");
            }
            assertTrue(stream.publisher.close(Duration.ofSeconds(30)));
            assertEquals(FRAMES, within(taken));
            assertEquals(Subscriber.State.END_OF_STREAM, stream.subscriber.state());
        }
    }

    @Test
    void shouldRunTheAgentsWhereThatIsTheCallersTask() {
        try (StreamFixture stream = new StreamFixture(config(Threading.INVOKER), "udp", SETTINGS)) {
            stream.await(
                    () -> stream.publisher.offer(stream.frame(0, 50_000), FrameOptions.DEFAULT) > 0, "frame taken");
            assertEquals(1, stream.source.doWork() > 0 ? 1 : 0);
            assertTrue(stream.subscriber.awaitFrame(LONG));
            try (DeviceFrame frame = stream.subscriber.poll()) {
                assertNotNull(frame);
            }
        }
    }

    @Test
    void shouldEndWithTheTime() {
        try (StreamFixture stream = new StreamFixture(config(Threading.SHARED), "udp", SETTINGS)) {
            assertFalse(stream.subscriber.awaitFrame(Duration.ofMillis(5)));
            assertFalse(stream.subscriber.awaitFrame(Duration.ZERO));
        }
    }

    @Test
    void shouldEndWhenAnotherThreadClosesTheSubscriber() throws Exception {
        try (StreamFixture stream = new StreamFixture(config(Threading.SHARED), "udp", SETTINGS)) {
            final FutureTask<Boolean> waiting = inThread(() -> stream.subscriber.awaitFrame(LONG));
            stream.subscriber.close();
            assertFalse(within(waiting));
        }
    }

    @Test
    void shouldEndWhenTheSourceIsLost() throws Exception {
        try (StreamFixture stream = new StreamFixture(config(Threading.SHARED), "udp", SETTINGS)) {
            // A subscriber that has not seen its membership confirmed has lost nothing.
            stream.await(() -> stream.subscriber.state() == Subscriber.State.READY, "a member");
            final FutureTask<Boolean> waiting = inThread(() -> stream.subscriber.awaitFrame(LONG));
            stream.publisher.abandon();
            assertFalse(within(waiting));
            assertEquals(Subscriber.State.SOURCE_LOST, stream.subscriber.state());
        }
    }

    @Test
    void shouldWakeAPublisherWhenThereIsRoom() throws Exception {
        try (StreamFixture stream = new StreamFixture(config(Threading.SHARED), "udp", SETTINGS)) {
            assertTrue(stream.publisher.awaitRoom(100_000, LONG));
            final FutureTask<Integer> published = inThread(() -> {
                int frames = 0;
                while (frames < FRAMES) {
                    if (stream.publisher.offer(stream.frame(frames, 90_000), FrameOptions.DEFAULT) > 0) {
                        frames++;
                    } else if (!stream.publisher.awaitRoom(90_000, LONG)) {
                        break;
                    }
                }
                return frames;
            });
            for (int frames = 0; frames < FRAMES; frames++) {
                assertTrue(stream.subscriber.awaitFrame(LONG));
                try (DeviceFrame frame = stream.subscriber.poll()) {
                    assertNotNull(frame);
                    assertEquals(-1, frame.region().host().mismatch(stream.frame(frames, 90_000)));
                }
            }
            assertEquals(FRAMES, within(published));
        }
    }

    @Test
    void shouldEndThePublishersWaitWithTheTimeOrTheNode() throws Exception {
        try (StreamFixture stream = new StreamFixture(config(Threading.SHARED), "udp", SETTINGS)) {
            stream.subscriber.close();
            stream.await(() -> stream.publisher.readySubscribers() == 0, "no subscriber is ready");
            assertFalse(stream.publisher.awaitRoom(1, Duration.ofMillis(5)));
            final FutureTask<Boolean> waiting = inThread(() -> stream.publisher.awaitRoom(1, LONG));
            stream.source.close();
            assertTrue(within(waiting));
        }
    }

    @ParameterizedTest
    @EnumSource(Threading.class)
    void shouldSleepThoughTheThreadWasInterruptedBefore(final Threading threading) {
        final Duration time = Duration.ofMillis(30);
        try (StreamFixture stream = new StreamFixture(config(threading), "udp", SETTINGS)) {
            stream.subscriber.close();
            stream.await(() -> stream.publisher.readySubscribers() == 0, "no subscriber is ready");
            for (final Callable<Boolean> wait : List.<Callable<Boolean>>of(
                    () -> stream.sink
                            .subscribe(StreamFixture.channel("udp", SETTINGS))
                            .awaitFrame(time),
                    () -> stream.publisher.awaitRoom(1, time))) {
                Thread.currentThread().interrupt();
                final long startNs = System.nanoTime();
                assertFalse(assertDoesNotThrow(wait::call));
                assertTrue(System.nanoTime() - startNs >= time.toNanos(), "it would spin in a loop");
                assertTrue(Thread.interrupted(), "left to the caller");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Threading.class)
    void shouldEndTheWaitOfAThreadThatIsInterrupted(final Threading threading) throws Exception {
        try (StreamFixture stream = new StreamFixture(config(threading), "udp", SETTINGS)) {
            final Thread waiting = new Thread(() -> stream.subscriber.awaitFrame(LONG));
            waiting.start();
            boolean ended = false;
            // The thread may not have begun to wait when it was interrupted; then it is interrupted again. The wait
            // itself would last far longer.
            for (int i = 0; i < 500 && !ended; i++) {
                waiting.interrupt();
                ended = waiting.join(Duration.ofMillis(20));
            }
            stream.subscriber.close();
            assertTrue(ended);
        }
    }

    @ParameterizedTest
    @EnumSource(Threading.class)
    void shouldRefuseASecondThreadAtTheSameTime(final Threading threading) throws Exception {
        try (StreamFixture stream = new StreamFixture(config(threading), "udp", SETTINGS)) {
            final FutureTask<Boolean> waiting = inThread(admitted(() -> stream.subscriber.awaitFrame(LONG)));
            final String refused = awaitRefusal(stream, stream.subscriber::poll);
            assertTrue(
                    refused.startsWith("subscriber of default: thread "
                            + Thread.currentThread().getName()),
                    refused);
            assertTrue(refused.endsWith("let one thread use it at a time, or make one for each thread"), refused);
            awaitRefusal(stream, () -> stream.subscriber.poll(DeviceFrame::close, 1));
            awaitRefusal(stream, () -> stream.subscriber.awaitFrame(Duration.ZERO));
            awaitRefusal(stream, () -> stream.subscriber.post(DeviceRegion.ofHost(stream.frame(0, 100_000))));
            stream.subscriber.close();
            assertFalse(within(waiting));
        }
        try (StreamFixture stream = new StreamFixture(config(threading), "udp", SETTINGS)) {
            stream.subscriber.close();
            stream.await(() -> stream.publisher.readySubscribers() == 0, "no subscriber is ready");
            final FutureTask<Boolean> waiting = inThread(admitted(() -> stream.publisher.awaitRoom(1, LONG)));
            awaitRefusal(stream, () -> stream.publisher.offer(stream.frame(0, 10), FrameOptions.DEFAULT));
            awaitRefusal(stream, () -> stream.publisher.tryClaim(10, new FrameClaim()));
            awaitRefusal(stream, () -> stream.publisher.awaitRoom(1, Duration.ZERO));
            stream.publisher.close();
            assertTrue(within(waiting));
        }
    }

    // The test's thread may be the one at it: then the other is refused, and tries again.
    private static <T> Callable<T> admitted(final Callable<T> use) {
        return () -> {
            while (true) {
                try {
                    return use.call();
                } catch (final IllegalStateException _) {
                    Thread.onSpinWait();
                }
            }
        };
    }

    // The other thread may not have begun to wait yet: until then no use is refused.
    private static String awaitRefusal(final StreamFixture stream, final Runnable use) {
        final AtomicReference<String> refusal = new AtomicReference<>("");
        stream.await(
                () -> {
                    try {
                        use.run();
                        return false;
                    } catch (final IllegalStateException e) {
                        refusal.set(e.getMessage());
                        return true;
                    }
                },
                "refused");
        return refusal.get();
    }

    @Test
    void shouldRefuseToRunAgentsWithinAnAgent() {
        final AtomicReference<Framecast> node = new AtomicReference<>();
        final AtomicReference<RuntimeException> thrown = new AtomicReference<>();
        final NodeConfig config = config(Threading.INVOKER).withNotices(_ -> {
            try {
                if (node.get() != null) {
                    node.get().doWork();
                }
            } catch (final IllegalStateException e) {
                thrown.set(e);
            }
        });
        try (StreamFixture stream = new StreamFixture(config, "udp", SETTINGS)) {
            node.set(stream.sink);
            stream.publisher.abandon();
            final Subscriber refused = stream.sink.subscribe(StreamFixture.channel("udp", SETTINGS + "|ring-max=4k"));
            stream.source.publish(refused.channel());
            stream.await(() -> thrown.get() != null, "a notice of the subscriber's agent");
        }
    }
}
