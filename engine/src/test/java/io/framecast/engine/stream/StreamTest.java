package io.framecast.engine.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.testing.FrameCheck;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Whole streams through the engine: real lanes on loopback, host memory.
class StreamTest {
    private static final NodeConfig SHARED = NodeConfig.DEFAULT.withSeed(7);

    @ParameterizedTest
    @CsvSource({"udp,SHARED", "udp,DEDICATED", "udp,INVOKER", "aeron,SHARED", "aeron,INVOKER"})
    void shouldDeliverFramesOfManyLengthsInOrder(final String transport, final Threading threading) {
        final long[] lengths = {1, 64, 65_408, 65_409, 1_408, 1_409, 6_220_800, 3, 200_000};
        try (StreamFixture stream = new StreamFixture(
                        SHARED.withThreading(threading), transport, "|frame-max=6220800|device=host");
                FrameCheck check = new FrameCheck(stream.subscriber.device(), lengths)) {
            for (int i = 0; i < lengths.length; i++) {
                stream.offer(stream.frame(i, lengths[i]), FrameOptions.DEFAULT, check);
            }
            stream.finish(check);
            assertEquals(lengths.length, stream.subscriber.stats().frames());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldRepairWhenDatagramsAreLostOnEveryLane(final String transport) {
        final long[] lengths = new long[60];
        for (int i = 0; i < lengths.length; i++) {
            lengths[i] = 1 + i * 7_001L;
        }
        final NodeConfig lossy = SHARED.withFaults(new NodeConfig.Faults(0.05));
        try (StreamFixture stream = new StreamFixture(lossy, transport, "|mtu=1500|frame-max=500000|device=host");
                FrameCheck check = new FrameCheck(stream.subscriber.device(), lengths)) {
            for (int i = 0; i < lengths.length; i++) {
                stream.offer(stream.frame(i, lengths[i]), FrameOptions.DEFAULT, check);
            }
            stream.finish(check);
            assertTrue(stream.subscriber.stats().repairedDatagrams() > 100, () -> "" + stream.subscriber.stats());
            assertTrue(stream.subscriber.stats().reassembledBytes() > 0);
        }
    }

    /// A stalled machine may request repairs needlessly, once; a fault at the window's end makes thirty requests
    /// each time.
    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldRepairNothingWhenNothingIsLost(final String transport) {
        SubscriberStats stats = statsOfLossless(transport);
        for (int i = 1; i < 3 && stats.repairedDatagrams() > 5; i++) {
            stats = statsOfLossless(transport);
        }
        final SubscriberStats last = stats;
        assertTrue(last.repairedDatagrams() <= 5, last::toString);
        assertTrue(last.inPlaceFrames() >= last.frames() - 5, last::toString);
    }

    private static SubscriberStats statsOfLossless(final String transport) {
        final long[] lengths = new long[80];
        Arrays.fill(lengths, 150_001);
        // A window of 256 datagrams: the stream goes around it some thirty times.
        final String settings = "|mtu=1500|window=300k|frame-max=150001|device=host";
        try (StreamFixture stream = new StreamFixture(SHARED.withThreading(Threading.INVOKER), transport, settings);
                FrameCheck check = new FrameCheck(stream.subscriber.device(), lengths)) {
            for (int i = 0; i < lengths.length; i++) {
                stream.offer(stream.frame(i, lengths[i]), FrameOptions.DEFAULT, check);
            }
            stream.finish(check);
            return stream.subscriber.stats();
        }
    }

    @Test
    void shouldTakeFrameInPartsWhenItIsLongerThanTheWindow() {
        final long[] lengths = {3_000_000, 5, 3_000_000};
        try (StreamFixture stream =
                        new StreamFixture(SHARED, "udp", "|mtu=1500|window=100k|frame-max=3000000|device=host");
                FrameCheck check = new FrameCheck(stream.subscriber.device(), lengths)) {
            for (int i = 0; i < lengths.length; i++) {
                stream.offer(stream.frame(i, lengths[i]), FrameOptions.DEFAULT, check);
            }
            stream.finish(check);
        }
    }

    @Tag("campaign")
    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldDeliverFrameOf128Megabytes(final String transport) {
        final long[] lengths = {128L << 20, 1};
        final String settings = "|frame-max=128m|window=8m|frames-held=1|device=host";
        try (StreamFixture stream = new StreamFixture(SHARED, transport, settings);
                FrameCheck check = new FrameCheck(stream.subscriber.device(), lengths)) {
            for (int i = 0; i < lengths.length; i++) {
                stream.offer(stream.frame(i, lengths[i]), FrameOptions.DEFAULT, check);
            }
            stream.finish(check);
        }
    }

    @Test
    void shouldSendClaimedFrameWithItsMetadataAndTimestamp() {
        final byte[] metadata = {1, 2, 3, 4, 5};
        try (StreamFixture stream = new StreamFixture(SHARED, "udp", "|frame-max=100000|device=host")) {
            final FrameClaim claim = new FrameClaim();
            assertTrue(stream.publisher.tryClaim(100_000, claim) > 0);
            claim.segment().fill((byte) 42);
            claim.commit(FrameOptions.KEYFRAME.withMetadata(metadata).withSourceTimestampNs(123_456_789));
            stream.await(() -> stream.publisher.stats().frames() == 1, "frame sent");
            final DeviceFrame[] frame = new DeviceFrame[1];
            stream.await(() -> (frame[0] = stream.subscriber.poll()) != null, "frame");
            assertArrayEquals(metadata, frame[0].metadata());
            assertEquals(123_456_789, frame[0].sourceTimestampNs());
            assertTrue(frame[0].keyframe());
            frame[0].awaitReady();
            final MemorySegment bytes = frame[0].region().host();
            assertEquals(-1, bytes.mismatch(bytes.asSlice(0).fill((byte) 42)));
            assertEquals(42, bytes.get(ValueLayout.JAVA_BYTE, 99_999));
            frame[0].close();
        }
    }

    @Test
    void shouldLandFrameInPostedBuffer() {
        try (StreamFixture stream = new StreamFixture(SHARED, "udp", "|frame-max=100000|device=host")) {
            final DeviceRegion region = stream.subscriber.device().allocate(100_000);
            assertTrue(stream.subscriber.post(region));
            assertTrue(stream.publisher.offer(stream.frame(0, 99_000), FrameOptions.DEFAULT) > 0);
            final DeviceFrame[] frame = new DeviceFrame[1];
            stream.await(() -> (frame[0] = stream.subscriber.poll()) != null, "frame");
            assertEquals(region.address(), frame[0].region().address());
            assertEquals(99_000, frame[0].length());
            assertEquals(FrameBytes.value(0, 98_999), region.host().get(ValueLayout.JAVA_BYTE, 98_999));
            frame[0].close();
        }
    }

    @Test
    void shouldPressBackWhenSubscriberHoldsFrames() {
        final String settings = "|mtu=1500|window=64k|frame-max=50000|frames-held=1|device=host";
        try (StreamFixture stream = new StreamFixture(SHARED, "udp", settings)) {
            final MemorySegment frame = stream.frame(0, 50_000);
            int taken = 0;
            int refused = 0;
            long takenNs = System.nanoTime();
            while (refused < 1000 || System.nanoTime() - takenNs < 500_000_000L) {
                if (stream.publisher.offer(frame, FrameOptions.DEFAULT) > 0) {
                    taken++;
                    refused = 0;
                    takenNs = System.nanoTime();
                } else {
                    refused++;
                }
                stream.idle();
            }
            // Threads that stood still meanwhile make room yet.
            long last = stream.publisher.offer(frame, FrameOptions.DEFAULT);
            for (; last > 0; last = stream.publisher.offer(frame, FrameOptions.DEFAULT)) {
                taken++;
            }
            assertEquals(Publisher.BACK_PRESSURED, last);
            // Ring: (1 + 1) × 50 000 + 64 KiB window, rounded up; the window holds a little more.
            assertTrue(taken <= 12, "taken without a release: " + taken);
            final int[] polled = new int[1];
            final int wanted = taken;
            stream.await(
                    () -> {
                        polled[0] += stream.subscriber.poll(DeviceFrame::close, 10);
                        return polled[0] == wanted;
                    },
                    "held frames");
        }
    }

    @Test
    void shouldTellSourceLostWhenPublisherClosesEarly() {
        try (StreamFixture stream = new StreamFixture(SHARED, "udp", "|frame-max=1000|device=host")) {
            // The source counts the subscriber as ready a moment before the subscriber knows.
            stream.await(() -> stream.subscriber.state() == Subscriber.State.READY, "ready");
            stream.source.close();
            stream.await(
                    () -> stream.subscriber.state() == Subscriber.State.END_OF_STREAM
                            || stream.subscriber.state() == Subscriber.State.SOURCE_LOST
                            || stream.subscriber.state() == Subscriber.State.FAILED,
                    "end");
            assertEquals(Publisher.CLOSED, stream.publisher.offer(stream.frame(0, 10), FrameOptions.DEFAULT));
        }
    }

    @Test
    void shouldRefuseJoinWhenRingIsTooSmall() {
        try (StreamFixture stream = new StreamFixture(SHARED, "udp", "|frame-max=1000000|device=host")) {
            final String uri = stream.publisher.channel() + "|ring=100000";
            try (Subscriber small = stream.sink.subscribe(io.framecast.api.Channel.parse(uri))) {
                stream.await(() -> small.state() == Subscriber.State.FAILED, "refusal");
                assertTrue(
                        small.failure().orElseThrow().startsWith("ring: expected at least"),
                        () -> "" + small.failure());
            }
        }
    }
}
