package io.framecast.engine.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.NodeConfig;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Frames that are received into the user's own buffers in host memory, over real lanes.
class PostedStreamTest {
    private static final int FRAMES = 200;
    private static final int FRAME_MAX = 300_000;

    private final Arena arena = Arena.ofShared();
    private final DeviceRegion[] buffers = new DeviceRegion[6];
    private int polled;
    private int inBuffers;

    @AfterEach
    void free() {
        arena.close();
    }

    private StreamFixture open(final String transport, final double loss) {
        final NodeConfig config =
                NodeConfig.DEFAULT.withFaults(new NodeConfig.Faults(loss)).withSeed(7);
        return new StreamFixture(config, transport, "|window=4m|frame-max=" + FRAME_MAX + "|device=host");
    }

    private void post(final StreamFixture stream) {
        for (int b = 0; b < buffers.length; b++) {
            buffers[b] = buffers[b] == null ? DeviceRegion.ofHost(arena.allocate(FRAME_MAX)) : buffers[b];
            if (!stream.subscriber.isPosted(buffers[b])) {
                assertTrue(stream.subscriber.post(buffers[b]));
            }
        }
    }

    private void poll(final StreamFixture stream, final boolean sameLength) {
        final DeviceFrame frame = stream.subscriber.poll();
        if (frame == null) {
            return;
        }
        assertEquals(length(polled, sameLength), frame.length());
        FrameBytes.require(polled, frame.region().host(), frame.length());
        inBuffers += Arrays.stream(buffers)
                        .anyMatch(buffer -> buffer.address() == frame.region().address())
                ? 1
                : 0;
        polled++;
        frame.close();
        post(stream);
    }

    private static int length(final int id, final boolean same) {
        return same ? FRAME_MAX : 1 + id * 48_611 % FRAME_MAX;
    }

    @ParameterizedTest
    @CsvSource({"udp", "aeron"})
    void shouldCopyNothingWhereNothingIsLost(final String transport) {
        try (StreamFixture stream = open(transport, 0)) {
            post(stream);
            // The receiver may have asked for the first frame before it heard of the buffers.
            long firstInPlace = 0;
            for (int id = 0; id < FRAMES; id++) {
                final MemorySegment sent = stream.frame(id, FRAME_MAX);
                stream.await(() -> stream.publisher.offer(sent, FrameOptions.DEFAULT) > 0, "frame taken");
                final int before = id;
                stream.await(
                        () -> {
                            poll(stream, true);
                            return polled > before;
                        },
                        "frame " + id);
                firstInPlace = id == 0 ? stream.subscriber.stats().inPlaceFrames() : firstInPlace;
            }
            assertTrue(stream.closePublisher(Duration.ofSeconds(60)));
            stream.await(() -> stream.subscriber.state() == Subscriber.State.END_OF_STREAM, "the end");
            final SubscriberStats stats = stream.subscriber.stats();
            // A machine that stalls may ask for a repair in vain.
            final long asked = stats.repairedDatagrams();
            assertTrue(stats.inPlaceFrames() >= FRAMES - 1 + firstInPlace - asked, stats::toString);
            assertTrue(inBuffers >= FRAMES - asked, inBuffers + " in buffers");
        }
    }

    @ParameterizedTest
    @CsvSource({"udp, 0", "udp, 0.05", "aeron, 0", "aeron, 0.05"})
    void shouldReceiveEveryByteWhateverTheLengths(final String transport, final double loss) {
        try (StreamFixture stream = open(transport, loss)) {
            post(stream);
            for (int id = 0; id < FRAMES; id++) {
                final MemorySegment sent = stream.frame(id, length(id, false));
                stream.await(
                        () -> {
                            poll(stream, false);
                            return stream.publisher.offer(sent, FrameOptions.DEFAULT) > 0;
                        },
                        "frame taken");
            }
            stream.await(
                    () -> {
                        poll(stream, false);
                        return polled == FRAMES;
                    },
                    "all frames");
            assertTrue(inBuffers > FRAMES / 10, () -> inBuffers + " frames in the user's buffers");
        }
    }

    @ParameterizedTest
    @CsvSource({"udp", "aeron"})
    void shouldGiveBuffersBackWhenItCloses(final String transport) {
        try (StreamFixture stream = open(transport, 0)) {
            post(stream);
            assertTrue(stream.subscriber.isPosted(buffers[0]));
            stream.subscriber.close();
            stream.await(
                    () -> Arrays.stream(buffers).noneMatch(stream.subscriber::isPosted), "buffers that are not posted");
            assertFalse(stream.subscriber.post(buffers[0]));
        }
    }
}
