package io.framecast.engine.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.publish.EnginePublisher;
import io.framecast.engine.publish.SourceSession;
import io.framecast.engine.subscribe.SessionQueue;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Frames that share datagrams, between frames that do not: the subscriber sees no difference.
class SmallFrameStreamTest {
    private static final NodeConfig SHARED =
            NodeConfig.DEFAULT.withThreading(Threading.SHARED).withSeed(7);
    private static final NodeConfig INVOKER = SHARED.withThreading(Threading.INVOKER);

    private int aborted;

    private static FrameOptions options(final int id) {
        final FrameOptions options = id % 5 == 0 ? FrameOptions.KEYFRAME : FrameOptions.DEFAULT;
        final FrameOptions timed = options.withSourceTimestampNs(id % 31 == 0 ? id : 1_000_000L * id);
        return id % 23 == 7 ? timed.withMetadata(new byte[] {(byte) id, 1}) : timed;
    }

    private static int length(final SplittableRandom random) {
        return switch (random.nextInt(8)) {
            case 0 -> 1;
            case 1 -> 64;
            case 2 -> 1 + random.nextInt(10_000);
            case 3 -> 600 + random.nextInt(200);
            default -> 1 + random.nextInt(200);
        };
    }

    private static void check(final DeviceFrame frame, final int id, final int length) {
        assertEquals(id, frame.frameId());
        assertEquals(length, frame.length());
        final FrameOptions wanted = options(id);
        assertEquals(wanted.keyframe(), frame.keyframe());
        assertEquals(wanted.sourceTimestampNs(), frame.sourceTimestampNs());
        assertEquals(List.of(wanted.metadata().length), List.of(frame.metadata().length));
        frame.awaitReady();
        FrameBytes.require(id, frame.region().host(), length);
    }

    private boolean publish(final StreamFixture stream, final int id, final int length, final FrameClaim claim) {
        if (id % 2 == 0) {
            return stream.publisher.offer(stream.frame(id, length), options(id)) > 0;
        }
        if (stream.publisher.tryClaim(length, claim) < 0) {
            return false;
        }
        if (aborted != id && id % 13 == 3) {
            aborted = id;
            claim.abort();
            return false;
        }
        // Other sends during an open claim must not damage it.
        stream.idle();
        FrameBytes.write(id, claim.segment().asSlice(0, length));
        claim.commit(options(id));
        return true;
    }

    @ParameterizedTest
    @CsvSource({"udp, 0", "aeron, 0", "udp, 0.02"})
    void shouldDeliverEveryFrameInOrderWhenSmallAndLargeOnesMix(final String transport, final double loss) {
        final int frames = 3000;
        final NodeConfig config = INVOKER.withFaults(new NodeConfig.Faults(loss));
        final String settings = "|mtu=1500|window=100k|frame-max=10000|device=host";
        try (StreamFixture stream = new StreamFixture(config, transport, settings)) {
            final SplittableRandom random = new SplittableRandom(5);
            final int[] lengths = new int[frames];
            final FrameClaim claim = new FrameClaim();
            int published = 0;
            int polled = 0;
            while (polled < frames) {
                for (int burst = random.nextInt(40); burst > 0 && published < frames; burst--) {
                    if (lengths[published] == 0) {
                        lengths[published] = length(random);
                    }
                    published += publish(stream, published, lengths[published], claim) ? 1 : 0;
                }
                stream.source.doWork();
                stream.sink.doWork();
                final DeviceFrame frame = stream.subscriber.poll();
                if (frame != null) {
                    check(frame, polled, lengths[polled]);
                    polled++;
                    frame.close();
                }
            }
            long alone = 0;
            for (final int length : lengths) {
                alone += StreamInfo.slots(length, 1408);
            }
            final long sent = stream.publisher.stats().sentDatagrams();
            assertTrue(sent < alone * 9 / 10, sent + " datagrams, each frame alone takes " + alone);
            assertTrue(stream.closePublisher(Duration.ofSeconds(30)));
            assertEquals(frames, stream.subscriber.stats().frames());
        }
    }

    @Test
    void shouldSendOneSmallFrameAtOnceWhenNothingElseWaits() {
        try (StreamFixture stream = new StreamFixture(INVOKER, "udp", "|mtu=1500|frame-max=10000|device=host")) {
            final long before = stream.publisher.stats().sentDatagrams();
            assertTrue(stream.publisher.offer(stream.frame(0, 64), options(0)) > 0);
            assertEquals(before, stream.publisher.stats().sentDatagrams());
            stream.source.doWork();
            assertEquals(before + 1, stream.publisher.stats().sentDatagrams());
        }
    }

    @Test
    void shouldSendManyFramesInFewDatagramsWhenTheyWait() {
        try (StreamFixture stream = new StreamFixture(INVOKER, "udp", "|mtu=1500|frame-max=10000|device=host")) {
            final long before = stream.publisher.stats().sentDatagrams();
            for (int id = 0; id < 190; id++) {
                assertTrue(stream.publisher.offer(stream.frame(id, 64), options(1)) > 0);
            }
            for (int cycle = 0; cycle < 4; cycle++) {
                stream.source.doWork();
            }
            assertEquals(before + 10, stream.publisher.stats().sentDatagrams());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldCountItsFramesAndGoOnWhenATableWasDamaged(final String transport) {
        try (StreamFixture stream = new StreamFixture(INVOKER, transport, "|mtu=1500|frame-max=10000|device=host")) {
            for (int id = 0; id < 5; id++) {
                assertTrue(stream.publisher.offer(stream.frame(id, 64), options(1)) > 0);
            }
            final SourceSession session = ((EnginePublisher) stream.publisher).session();
            assertTrue(session.window().takeBundle());
            // In the table's first entry, behind five frames: sealed, and not yet sent.
            session.memory().payload().set(ValueLayout.JAVA_BYTE, 5 * 64, (byte) 65);
            for (int id = 5; id < 9; id++) {
                assertTrue(stream.publisher.offer(stream.frame(id, 64), options(1)) > 0);
            }
            for (int id = 5; id < 9; id++) {
                final DeviceFrame[] frame = new DeviceFrame[1];
                stream.await(() -> (frame[0] = stream.subscriber.poll()) != null, "frame");
                assertEquals(id, frame[0].frameId());
                assertEquals(FrameBytes.value(id, 63), frame[0].region().host().get(ValueLayout.JAVA_BYTE, 63));
                frame[0].close();
            }
            assertTrue(stream.closePublisher(Duration.ofSeconds(30)));
            stream.await(() -> stream.subscriber.state() == Subscriber.State.END_OF_STREAM, "end of stream");
            assertEquals(5, stream.subscriber.stats().droppedFrames());
        }
    }

    @Test
    void shouldGoOnWithinABundleWhenTheSubscriberHeldAllFrameObjects() {
        final int frames = SessionQueue.FRAMES_MAX + 500;
        try (StreamFixture stream =
                new StreamFixture(INVOKER, "udp", "|mtu=1500|window=4m|frame-max=10000|device=host")) {
            final List<DeviceFrame> held = new ArrayList<>();
            final int[] published = new int[1];
            stream.await(
                    () -> {
                        while (published[0] < frames
                                && stream.publisher.offer(stream.frame(published[0], 64), options(published[0])) > 0) {
                            published[0]++;
                        }
                        hold(stream, held);
                        return held.size() == SessionQueue.FRAMES_MAX;
                    },
                    "all frame objects");
            for (int cycle = 0; cycle < 100; cycle++) {
                stream.idle();
            }
            hold(stream, held);
            assertEquals(SessionQueue.FRAMES_MAX, held.size());
            for (int id = 0; id < frames; id++) {
                final int wanted = id;
                stream.await(
                        () -> {
                            hold(stream, held);
                            return held.size() > wanted;
                        },
                        "frame " + id);
                check(held.get(id), id, 64);
                held.get(id).close();
            }
            assertTrue(stream.closePublisher(Duration.ofSeconds(30)));
        }
    }

    private static void hold(final StreamFixture stream, final List<DeviceFrame> held) {
        DeviceFrame frame = stream.subscriber.poll();
        while (frame != null) {
            held.add(frame);
            frame = stream.subscriber.poll();
        }
    }

    @Test
    void shouldLandBundledFramesInPostedBuffers() {
        try (StreamFixture stream = new StreamFixture(SHARED, "udp", "|mtu=1500|frame-max=1000|device=host")) {
            final DeviceRegion region = stream.subscriber.device().allocate(3000);
            for (int i = 0; i < 3; i++) {
                assertTrue(stream.subscriber.post(region.slice(1000L * i, 1000)));
            }
            for (int id = 0; id < 6; id++) {
                assertTrue(stream.publisher.offer(stream.frame(id, 100 + id), options(id)) > 0);
            }
            for (int id = 0; id < 6; id++) {
                final DeviceFrame[] frame = new DeviceFrame[1];
                stream.await(() -> (frame[0] = stream.subscriber.poll()) != null, "frame");
                check(frame[0], id, 100 + id);
                final long offset = frame[0].region().address() - region.address();
                assertEquals(id < 3, offset == 1000L * id, "frame " + id + " at " + offset);
                frame[0].close();
            }
        }
    }
}
