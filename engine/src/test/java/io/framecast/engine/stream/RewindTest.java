package io.framecast.engine.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Faults;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.engine.testing.StreamFixture;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A host ring starts again at its beginning whenever it is empty.
class RewindTest {
    private static final String SETTINGS = "|mtu=1500|window=128k|frame-max=60000|frames-held=3|device=host";
    private static final int FRAMES = 400;

    private static StreamFixture stream(final double loss, final long seed) {
        final NodeConfig config = NodeConfig.DEFAULT
                .withThreading(Threading.INVOKER)
                .withSeed(seed)
                .withFaults(new Faults(loss));
        return new StreamFixture(config, "udp", SETTINGS);
    }

    private static void check(final StreamFixture stream, final DeviceFrame frame, final long bytes) {
        assertEquals(bytes, frame.length());
        assertEquals(-1, frame.region().host().mismatch(stream.frame((int) frame.frameId(), bytes)));
    }

    @Test
    void shouldLandEveryFrameAtTheSamePlaceForOneWhoReleasesAtOnce() {
        try (StreamFixture stream = stream(0, 1)) {
            final Set<Long> addresses = new HashSet<>();
            for (int id = 0; id < 50; id++) {
                stream.await(offer(stream, id, 10_000 + id), "frame " + id + " taken");
                final DeviceFrame[] taken = new DeviceFrame[1];
                stream.await(() -> (taken[0] = stream.subscriber.poll()) != null, "frame " + id);
                check(stream, taken[0], 10_000 + id);
                addresses.add(taken[0].region().address());
                taken[0].close();
                stream.idle();
            }
            assertEquals(1, addresses.size());
        }
    }

    private static java.util.function.BooleanSupplier offer(
            final StreamFixture stream, final int id, final long bytes) {
        final var frame = stream.frame(id, bytes);
        return () -> stream.publisher.offer(frame, FrameOptions.DEFAULT) > 0;
    }

    // Frames are held at random, checked when they come and once more when they go.
    @ParameterizedTest
    @CsvSource({"0, 1", "0, 2", "0.05, 3", "0.05, 4"})
    void shouldNotTouchWhatIsHeld(final double loss, final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final long[] lengths = random.longs(FRAMES, 1, 60_000).toArray();
        try (StreamFixture stream = stream(loss, seed)) {
            final Deque<DeviceFrame> held = new ArrayDeque<>();
            int published = 0;
            int seen = 0;
            while (seen < FRAMES) {
                if (published < FRAMES
                        && random.nextInt(3) > 0
                        && offer(stream, published, lengths[published]).getAsBoolean()) {
                    published++;
                }
                stream.idle();
                final DeviceFrame frame = held.size() < 3 ? stream.subscriber.poll() : null;
                if (frame != null) {
                    assertEquals(seen, frame.frameId());
                    check(stream, frame, lengths[seen]);
                    seen++;
                    held.add(frame);
                }
                while (!held.isEmpty() && (held.size() == 3 || random.nextInt(4) == 0)) {
                    final DeviceFrame oldest = held.remove();
                    check(stream, oldest, lengths[(int) oldest.frameId()]);
                    oldest.close();
                }
            }
        }
    }
}
