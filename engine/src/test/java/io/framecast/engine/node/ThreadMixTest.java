package io.framecast.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.engine.testing.StreamFixture;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Every threading mode under every mix of threads that the API allows. Each frame arrives once, in order, with
/// each of its bytes, whichever threads run the agents, wait, poll, release or read statistics.
///
/// Each case lasts `-Dframecast.stress.ms`, 400 unless set; `-Dframecast.stress.threading` picks one mode.
@Tag("campaign")
class ThreadMixTest {
    private static final String SETTINGS = "|mtu=1500|window=300k|frame-max=200000|alive-timeout=20000|device=host";
    private static final long STRESS_NS = TimeUnit.MILLISECONDS.toNanos(Long.getLong("framecast.stress.ms", 400));
    private static final Duration SHORT = Duration.ofMillis(2);
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int[] LENGTHS = {64, 200_000, 1_000, 30_011, 1, 90_000, 5_000, 700};

    /// The distribution of work among threads.
    enum Mix {
        /// One thread publishes and subscribes.
        ONE_THREAD(1, 0, false),
        /// One thread publishes, another subscribes.
        TWO_THREADS(2, 0, false),
        /// As above, while a third loops doWork.
        DRIVEN(2, 1, false),
        /// One thread publishes and subscribes, another loops doWork.
        ONE_THREAD_DRIVEN(1, 1, false),
        /// Two loop doWork, frames are released by a thread of their own, and one reads the statistics.
        CROWD(2, 2, true);

        final int users;
        final int drivers;
        final boolean helped;

        Mix(final int users, final int drivers, final boolean helped) {
            this.users = users;
            this.drivers = drivers;
            this.helped = helped;
        }
    }

    static Stream<Arguments> cases() {
        final String only = System.getProperty("framecast.stress.threading", "");
        return Stream.of(Threading.values())
                .filter(threading -> only.isEmpty() || only.equals(threading.name()))
                .flatMap(threading -> Stream.of(Mix.values())
                        .filter(mix -> mix.drivers == 0 || mix.helped || threading == Threading.INVOKER)
                        .flatMap(mix -> Stream.of(false, true).map(two -> Arguments.of(threading, mix, two))));
    }

    @ParameterizedTest(name = "{0}, {1}, two nodes: {2}")
    @MethodSource("cases")
    void shouldDeliverEveryByteWhoeverRunsTheAgents(final Threading threading, final Mix mix, final boolean twoNodes)
            throws Exception {
        try (Stress stress = new Stress(threading, mix, twoNodes)) {
            stress.run();
        }
    }

    /// One stream, from its first frame to its end.
    private static final class Stress implements AutoCloseable {
        private final Mix mix;
        private final boolean invoked;
        private final List<Framecast> nodes = new ArrayList<>();
        private final Publisher publisher;
        private final Subscriber subscriber;
        private final Arena arena = Arena.ofShared();
        private final MemorySegment pattern = arena.allocate(512 * 1024, 64);
        private final List<FutureTask<?>> helpers = new ArrayList<>();
        private final ArrayBlockingQueue<DeviceFrame> toRelease = new ArrayBlockingQueue<>(16);
        private final FrameClaim claim = new FrameClaim();
        private volatile boolean over;
        private volatile long published;
        private int lossesHeard;
        private long taken;
        // When a frame was taken last, or the stream began.
        private long progressNs;

        Stress(final Threading threading, final Mix mix, final boolean twoNodes) {
            this.mix = mix;
            invoked = threading == Threading.INVOKER;
            for (long i = 0; i < pattern.byteSize(); i++) {
                pattern.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + (i >>> 9) * 7));
            }
            final NodeConfig config = NodeConfig.DEFAULT.withThreading(threading);
            final Channel channel = StreamFixture.channel("udp", SETTINGS);
            final Framecast source = launch(config);
            final Framecast sink = twoNodes ? launch(config) : source;
            subscriber = sink.subscribe(channel);
            subscriber.onLoss((_, _, _) -> lossesHeard++);
            publisher = source.publish(channel);
        }

        private Framecast launch(final NodeConfig config) {
            final Framecast node = Framecast.launch(config.withCountersFile(StreamFixture.countersFile()));
            nodes.add(node);
            return node;
        }

        void run() throws InterruptedException, ExecutionException, TimeoutException {
            if (invoked) {
                for (int i = 0; i < mix.drivers; i++) {
                    nodes.forEach(node -> help(() -> drive(node)));
                }
            }
            if (mix.helped) {
                help(this::release);
                help(this::lookOn);
            }
            awaitMember();
            progressNs = System.nanoTime();
            final FutureTask<?> publishing = mix.users == 1 ? null : inThread(this::publishAll);
            if (publishing == null) {
                publishAndSubscribe();
            } else {
                subscribeAll();
                publishing.get(LONG.toSeconds(), TimeUnit.SECONDS);
            }
            assertEquals(published, taken);
            assertEquals(0, lossesHeard);
            assertEquals(Subscriber.State.END_OF_STREAM, subscriber.state());
            assertTrue(taken > 0);
            end();
        }

        // The first session of a process may take longer to open than the stream lasts.
        private void awaitMember() {
            final long startNs = System.nanoTime();
            while (publisher.readySubscribers() == 0) {
                if (System.nanoTime() - startNs > LONG.toNanos()) {
                    throw new AssertionError(
                            "no subscriber joined: " + subscriber.state() + " " + subscriber.failure());
                }
                subscriber.awaitFrame(SHORT);
                if (invoked) {
                    nodes.forEach(Framecast::doWork);
                }
            }
        }

        private void help(final Runnable task) {
            helpers.add(inThread(task));
        }

        private static FutureTask<?> inThread(final Runnable task) {
            final FutureTask<?> future = new FutureTask<>(task, null);
            Thread.ofPlatform().daemon().start(future);
            return future;
        }

        private void drive(final Framecast node) {
            while (!over) {
                if (node.doWork() == 0) {
                    Thread.onSpinWait();
                }
            }
        }

        private void release() {
            try {
                while (!over || !toRelease.isEmpty()) {
                    final DeviceFrame frame = toRelease.poll(10, TimeUnit.MILLISECONDS);
                    if (frame != null) {
                        frame.close();
                    }
                }
            } catch (final InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private void lookOn() {
            boolean ready = false;
            while (!over) {
                assertTrue(publisher.stats().frames() >= 0 && publisher.readySubscribers() <= 1);
                assertTrue(subscriber.stats().frames() >= 0);
                // A busy machine may take long to join, and says so meanwhile.
                ready |= subscriber.state() == Subscriber.State.READY;
                assertTrue(!ready || subscriber.failure().isEmpty(), () -> "" + subscriber.failure());
                assertEquals(publisher.channel().name(), subscriber.channel().name());
                subscriber.state();
                Thread.onSpinWait();
            }
        }

        private void publishAll() {
            final long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < STRESS_NS) {
                while (publish() < 0) {
                    publisher.awaitRoom(length(published), SHORT);
                }
            }
            finish();
        }

        private void finish() {
            assertTrue(publisher.close(LONG));
        }

        // By a claim and by an offer in turns.
        private long publish() {
            final long id = published;
            final long code;
            if (id % 3 == 0) {
                code = publisher.tryClaim(length(id), claim);
                if (code > 0) {
                    claim.segment().copyFrom(frame(id));
                    claim.commit(FrameOptions.DEFAULT);
                }
            } else {
                code = publisher.offer(frame(id), FrameOptions.DEFAULT);
            }
            if (code == Publisher.CLOSED) {
                throw new AssertionError(publisher.failure().orElse("closed"));
            }
            if (code > 0) {
                published = id + 1;
            }
            return code;
        }

        private static long length(final long id) {
            return LENGTHS[(int) (id % LENGTHS.length)];
        }

        private MemorySegment frame(final long id) {
            return pattern.asSlice(id * 37 % 4_099 * 64, length(id));
        }

        private void subscribeAll() {
            while (subscriber.state() != Subscriber.State.END_OF_STREAM) {
                requireProgress();
                if (subscriber.awaitFrame(SHORT)) {
                    takeAll();
                }
            }
        }

        private void publishAndSubscribe() throws InterruptedException, ExecutionException, TimeoutException {
            final long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < STRESS_NS) {
                if (publish() < 0) {
                    subscriber.awaitFrame(SHORT);
                }
                if (invoked) {
                    nodes.forEach(Framecast::doWork);
                }
                takeAll();
            }
            while (taken < published) {
                requireProgress();
                subscriber.awaitFrame(SHORT);
                takeAll();
            }
            // On one node the caller's thread runs the subscriber's agents meanwhile; else another thread must.
            final FutureTask<?> closing = inThread(this::finish);
            subscribeAll();
            closing.get(LONG.toSeconds(), TimeUnit.SECONDS);
        }

        private void requireProgress() {
            if (subscriber.state() == Subscriber.State.SOURCE_LOST
                    || subscriber.state() == Subscriber.State.FAILED
                    || helpers.stream().anyMatch(FutureTask::isDone)
                    || System.nanoTime() - progressNs > LONG.toNanos()) {
                throw new AssertionError(subscriber.state() + " after " + taken + " of " + published + " frames: "
                        + subscriber.failure() + helperFailures());
            }
        }

        private String helperFailures() {
            return helpers.stream()
                    .filter(FutureTask::isDone)
                    .map(helper -> helper.state() == FutureTask.State.FAILED ? "" + helper.exceptionNow() : "ended")
                    .toList()
                    .toString();
        }

        private void takeAll() {
            DeviceFrame frame = subscriber.poll();
            while (frame != null) {
                take(frame);
                frame = subscriber.poll();
            }
        }

        private void take(final DeviceFrame frame) {
            final long id = taken++;
            progressNs = System.nanoTime();
            assertEquals(id, frame.frameId());
            assertEquals(length(id), frame.length());
            frame.awaitReady();
            assertEquals(-1, frame.region().host().mismatch(frame(id)), () -> "frame " + id);
            if (!mix.helped || !toRelease.offer(frame)) {
                frame.close();
            }
        }

        private void end() throws InterruptedException, ExecutionException, TimeoutException {
            over = true;
            for (final FutureTask<?> helper : helpers) {
                helper.get(LONG.toSeconds(), TimeUnit.SECONDS);
            }
        }

        @Override
        public void close() {
            over = true;
            nodes.forEach(Framecast::close);
            arena.close();
        }
    }
}
