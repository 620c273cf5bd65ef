package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.DeviceFrame;
import io.framecast.api.Eviction;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.LossCounts;
import io.framecast.api.LossReason;
import io.framecast.api.MemberStats;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.publish.EnginePublisher;
import io.framecast.engine.session.EpochClock;
import io.framecast.reliability.receive.ReceiverCount;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// A subscriber that cannot keep up, under each policy, beside one that gets every frame.
class DeliveryStreamTest {
    private static final int FRAMES = 400;

    private static void idle() {
        // The slow subscriber does not poll.
    }

    @ParameterizedTest
    @CsvSource({
        "udp, latest, host, 0",
        "udp, deadline=65s, host, 0",
        "udp, latest, emulated, 0",
        "udp, deadline=65s, emulated, 0.02",
        "aeron, latest, host, 0",
        "aeron, deadline=65s, host, 0.02",
        "verbs, latest, host, 0",
        "verbs, latest, host, 0.02",
        "verbs, deadline=65s, host, 0.02",
        "verbs, latest, emulated, 0.02"
    })
    void shouldGiveOrTellEveryFrameWhenSubscriberStopsConsuming(
            final String transport, final String delivery, final String device, final double loss) throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture(transport, delivery, device, loss)) {
            stream.publish(FRAMES, stream.subject::poll);
            final int before = stream.subject.given();
            assertTrue(before > 0);
            stream.publish(FRAMES, DeliveryStreamTest::idle);
            assertEquals(before, stream.subject.given());
            stream.publishUntil(() -> stream.subject.gotMoreThan(2 * before), "goes on behind the gap");
            stream.end();
            stream.requireWholeAccount();
            assertTrue(stream.subject.lost() > 0, "the ring is shorter than what was sent meanwhile");
        }
    }

    @ParameterizedTest
    @CsvSource({"udp, host, 0.02", "aeron, emulated, 0", "verbs, host, 0.02"})
    void shouldGiveOrTellEveryFrameWhenMostExpire(final String transport, final String device, final double loss)
            throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture(transport, "deadline=1ms", device, loss)) {
            stream.publish(FRAMES, stream.subject::poll);
            stream.publish(FRAMES, DeliveryStreamTest::idle);
            stream.publish(FRAMES, stream.subject::poll);
            stream.end();
            stream.requireWholeAccount();
            assertTrue(stream.subject.lost() > 0, stream.subject::toString);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "udp, latest, host",
        "udp, deadline=65s, host",
        "udp, deadline=65s, emulated",
        "aeron, latest, emulated",
        "aeron, deadline=65s, host",
        "verbs, latest, host"
    })
    void shouldGiveOrTellEveryFrameWhenWholeProcessStops(
            final String transport, final String delivery, final String device) throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture(transport, delivery, device, 0)) {
            stream.publish(FRAMES, stream.subject::poll);
            for (int round = 0; round < 3; round++) {
                final int before = stream.subject.given();
                stream.stop(stream.slow);
                stream.publish(FRAMES, DeliveryStreamTest::idle);
                stream.resume(stream.slow);
                stream.publishUntil(() -> stream.subject.gotMoreThan(before + FRAMES / 10), "goes on behind the gap");
            }
            stream.end();
            stream.requireWholeAccount();
            assertTrue(stream.subject.lost() > 0);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "udp, latest, host",
        "udp, deadline=65s, host",
        "udp, latest, emulated",
        "aeron, deadline=65s, host",
        "verbs, deadline=65s, host"
    })
    void shouldGiveOrTellEveryFrameWhenSubscriberTakesOneInTen(
            final String transport, final String delivery, final String device) throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture(transport, delivery, device, 0)) {
            final int[] step = new int[1];
            stream.publish(4 * FRAMES, () -> {
                if (++step[0] % 10 == 0) {
                    stream.subject.pollOne();
                }
            });
            stream.end();
            stream.requireWholeAccount();
            assertTrue(stream.subject.given() > FRAMES / 10, stream.subject::toString);
        }
    }

    // A held frame keeps its bytes, even when frames around it are dropped.
    @ParameterizedTest
    @CsvSource({"udp, latest, host", "udp, deadline=65s, host", "udp, latest, emulated", "verbs, latest, host"})
    void shouldNotTouchFramesThatAreHeld(final String transport, final String delivery, final String device)
            throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture(transport, delivery, device, 0.01)) {
            for (int round = 0; round < 4; round++) {
                final DeviceFrame[] held = new DeviceFrame[1];
                stream.publishUntil(() -> (held[0] = stream.subject.hold()) != null, "a frame");
                stream.publish(FRAMES / 2, DeliveryStreamTest::idle);
                stream.subject.requireContent(held[0]);
                held[0].close();
                stream.publish(FRAMES / 4, stream.subject::poll);
            }
            stream.end();
            stream.requireWholeAccount();
        }
    }

    @ParameterizedTest
    @CsvSource({"udp, host", "udp, emulated", "verbs, host"})
    void shouldGiveTheNewestOnlyWhenNothingIsMarked(final String transport, final String device) throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture(transport, "latest", device, 0)) {
            for (int round = 0; round < 5; round++) {
                stream.publish(100, DeliveryStreamTest::idle);
                final int newest = stream.published() - 1;
                stream.until(
                        () -> TestNode.receiver(stream.slow)
                                        .members()
                                        .getFirst()
                                        .session()
                                        .machine()
                                        .nextFrameSequence()
                                >= ((EnginePublisher) stream.publisher)
                                        .session()
                                        .machine()
                                        .nextSequence(),
                        "all arrived");
                stream.subject.poll();
                assertEquals(newest, stream.subject.ids().getLast(), stream.subject::toString);
                assertEquals(round + 1, stream.subject.given());
            }
            stream.end();
            stream.requireWholeAccount();
            assertEquals(stream.published() - 5, stream.subject.lost(LossReason.SUPERSEDED));
        }
    }

    @ParameterizedTest
    @CsvSource({"udp, host, 0", "udp, emulated, 0.02", "aeron, host, 0.02", "verbs, host, 0.02"})
    void shouldTearNothingFromItsKeyframeUnderLatest(final String transport, final String device, final double loss)
            throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture(transport, "latest", device, loss)) {
            final int[] step = new int[1];
            final Runnable each = () -> {
                stream.options(FrameOptions.DEFAULT.withKeyframe(stream.published() % 7 == 0));
                if (++step[0] % 5 == 0) {
                    stream.subject.pollOne();
                }
            };
            stream.options(FrameOptions.KEYFRAME);
            stream.publish(FRAMES, each);
            stream.publish(FRAMES, DeliveryStreamTest::idle);
            stream.publish(FRAMES, each);
            stream.end();
            stream.requireWholeAccount();
            stream.subject.requireNothingTornFromItsKeyframe();
            assertTrue(stream.subject.lost(LossReason.SUPERSEDED) > 0, stream.subject::toString);
        }
    }

    // Keyframes among small frames that share datagrams.
    @ParameterizedTest
    @CsvSource({"udp, host, 0", "udp, emulated, 0.02", "aeron, host, 0"})
    void shouldTearNoSmallFrameFromItsKeyframeUnderLatest(
            final String transport, final String device, final double loss) throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture(transport, "latest", device, loss)) {
            final int[] step = new int[1];
            stream.publishUntil(
                    () -> {
                        for (int i = 0; i < 40; i++) {
                            stream.options(FrameOptions.DEFAULT.withKeyframe(stream.published() % 100 == 0));
                            stream.offer(100);
                        }
                        if (++step[0] % 5 == 0) {
                            stream.subject.pollOne();
                        }
                        return stream.published() > 40 * FRAMES;
                    },
                    "published");
            stream.end();
            stream.requireWholeAccount();
            stream.subject.requireNothingTornFromItsKeyframe();
            assertTrue(stream.subject.lost() > 0, stream.subject::toString);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldTellFramesExpiredThatAreTooOldAndGiveThoseThatAreNot(final String transport) throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture(transport, "deadline=2s", "host", 0)) {
            final long hourNs = TimeUnit.HOURS.toNanos(1);
            final long nowNs = EpochClock.ofProcess().epochNs();
            stream.options(FrameOptions.DEFAULT.withSourceTimestampNs(nowNs + hourNs));
            stream.publishOneByOne(50);
            stream.options(FrameOptions.DEFAULT.withSourceTimestampNs(nowNs - hourNs));
            stream.publishOneByOne(50);
            stream.options(FrameOptions.DEFAULT.withSourceTimestampNs(nowNs + hourNs));
            stream.publishOneByOne(50);
            stream.end();
            stream.requireWholeAccount();
            assertEquals(50, stream.subject.lost(LossReason.EXPIRED), stream.subject::toString);
            final List<Integer> young = IntStream.range(0, 150)
                    .filter(id -> id < 50 || id >= 100)
                    .boxed()
                    .toList();
            assertEquals(young, stream.subject.ids());
        }
    }

    @Tag("campaign")
    @Test
    void shouldGiveUpAtPollWhatExpiredWhileItWaited() throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture("udp", "deadline=3s", "host", 0)) {
            stream.publish(5, DeliveryStreamTest::idle);
            final JoinedSession session =
                    TestNode.receiver(stream.slow).members().getFirst().session();
            stream.until(() -> session.machine().counts().get(ReceiverCount.FRAMES) > 0, "handed over");
            final long handedNs = stream.slow.nowNs();
            stream.until(() -> stream.slow.nowNs() - handedNs > 3_500_000_000L, "too old");
            stream.subject.poll();
            assertEquals(0, stream.subject.given());
            assertEquals(5, stream.subject.lost(LossReason.EXPIRED));
            stream.end();
            stream.requireWholeAccount();
        }
    }

    @Tag("campaign")
    @ParameterizedTest
    @CsvSource({"udp, host, true", "udp, emulated, false", "aeron, host, false"})
    void shouldEvictOneThatHoldsTheSourceBackAndSayWhy(
            final String transport, final String device, final boolean stopped) throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture(transport, "evict=1s", device, 0)) {
            stream.publish(FRAMES, stream.subject::poll);
            stream.until(() -> stream.subject.gotMoreThan(FRAMES - 1), "all of it");
            if (stopped) {
                stream.stop(stream.slow);
            }
            stream.publish(4 * FRAMES, DeliveryStreamTest::idle);
            assertEquals(1, stream.publisher.stats().evictedSubscribers());
            final Eviction eviction = stream.publisher.stats().evictions().getFirst();
            assertTrue(
                    eviction.reason().contains("held the source back for longer than delivery=evict=1s"),
                    eviction.reason());
            final List<MemberStats> left = stream.publisher.stats().members();
            assertEquals(
                    List.of("reliable"),
                    left.stream().map(MemberStats::delivery).toList());
            assertNotEquals(eviction.address(), left.getFirst().address());
            if (stopped) {
                stream.resume(stream.slow);
            }
            stream.until(
                    () -> {
                        stream.subject.poll();
                        return stream.subject.state() == Subscriber.State.SOURCE_LOST;
                    },
                    "evicted");
            final String why = stream.subject.subscriber().failure().orElse("");
            assertTrue(why.contains("evicted") && why.contains("delivery=") && !why.contains("\n"), why);
            assertEquals(
                    stream.subject.lost(LossReason.UNREPAIRABLE) + stream.subject.lost(LossReason.NOT_A_MEMBER),
                    stream.subject.lost(),
                    "what it was given is a beginning of the stream without a gap, but for what is known to follow");
            assertFalse(stream.subject.subscriber().awaitFrame(java.time.Duration.ZERO));
            stream.end();
            assertEquals(stream.published(), stream.neighbour.given());
        }
    }

    // A buffer posted for a frame that was then dropped takes the next one.
    @ParameterizedTest
    @ValueSource(strings = {"latest", "deadline=2s"})
    void shouldReturnPostedBuffersOfFramesThatAreGivenUp(final String delivery) throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture("udp", delivery, "host", 0)) {
            final DeviceRegion buffers = stream.subject.subscriber().device().allocate(2L * DeliveryFixture.FRAME_MAX);
            for (int i = 0; i < 2; i++) {
                assertTrue(stream.subject
                        .subscriber()
                        .post(buffers.slice((long) i * DeliveryFixture.FRAME_MAX, DeliveryFixture.FRAME_MAX)));
            }
            final long hourNs = TimeUnit.HOURS.toNanos(1);
            final long nowNs = EpochClock.ofProcess().epochNs();
            stream.options(FrameOptions.DEFAULT.withSourceTimestampNs(nowNs - hourNs));
            stream.publish(20, DeliveryStreamTest::idle);
            stream.subject.poll();
            stream.options(FrameOptions.DEFAULT.withSourceTimestampNs(nowNs + hourNs));
            stream.publish(1, DeliveryStreamTest::idle);
            final DeviceFrame[] frame = new DeviceFrame[1];
            stream.until(() -> (frame[0] = stream.subject.hold()) != null, "frame");
            final long offset = frame[0].region().address() - buffers.address();
            assertTrue(offset >= 0 && offset < buffers.bytes(), () -> "at " + offset);
            frame[0].close();
            stream.end();
            stream.requireWholeAccount();
            stream.subject.subscriber().device().free(buffers);
        }
    }

    @Test
    void shouldCountLossesByReasonInTheCountersFile() throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture("udp", "latest", "host", 0)) {
            stream.publish(FRAMES, DeliveryStreamTest::idle);
            stream.subject.poll();
            stream.end();
            stream.requireWholeAccount();
            final LossCounts lost = stream.subject.subscriber().stats().lost();
            assertTrue(lost.superseded() > 0);
            for (final LossReason reason : LossReason.values()) {
                final String labels = "reason=\"" + reason.name().toLowerCase(Locale.ROOT) + "\"";
                stream.until(() -> stream.counter("framecast_dropped_frames_total", labels) == lost.of(reason), labels);
            }
            stream.until(
                    () -> stream.counter("framecast_delivered_frames_total", "") == stream.subject.given(), "given");
        }
    }

    // A claim needs contiguous room, which a window may lack before it is full.
    @Test
    void shouldEvictOneForWhomThereIsNoRoomForAClaim() throws Exception {
        try (DeliveryFixture stream = new DeliveryFixture("udp", "evict=100ms", "host", 0)) {
            stream.stop(stream.slow);
            final FrameClaim claim = new FrameClaim();
            stream.until(
                    () -> {
                        if (stream.publisher.tryClaim(DeliveryFixture.FRAME_MAX, claim) > 0) {
                            claim.abort();
                            stream.step(20_000);
                        }
                        return stream.publisher.stats().evictedSubscribers() == 1;
                    },
                    "evicted");
            stream.resume(stream.slow);
            stream.until(
                    () -> {
                        // Frames that were complete before the eviction are delivered first.
                        stream.subject.poll();
                        return stream.subject.state() == Subscriber.State.SOURCE_LOST;
                    },
                    "reported");
            final String why = stream.subject.subscriber().failure().orElse("");
            assertTrue(why.contains("delivery="), why);
            stream.end();
            assertEquals(stream.published(), stream.neighbour.given());
        }
    }
}
