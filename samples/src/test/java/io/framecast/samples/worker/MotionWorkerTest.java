package io.framecast.samples.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedDevice;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MotionWorkerTest {
    private static final int THRESHOLD = 16;
    private static final int FRAME_MAX = 70_001;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, THRESHOLD, 200, 255})
    void shouldScoreAsTheHostDoesWhenLengthsAndOffsetsAreOdd(final int threshold) {
        try (DeviceBackend device = new EmulatedDevice(0, EmulatedConfig.DEFAULT)) {
            scoreAndCompare(device, 1 + threshold, 60, threshold);
            assertEquals(2 * (FRAME_MAX + 64), device.allocatedBytes(), "only the pool's slots are left");
        }
    }

    // A slow link keeps `ready` away for milliseconds: a worker that did not wait for it would read the filler.
    @Test
    void shouldWaitUntilTheFrameIsReady() {
        final EmulatedConfig slow = EmulatedConfig.DEFAULT.withLink(20_000_000, EmulatedConfig.UNLIMITED);
        try (DeviceBackend device = new EmulatedDevice(0, slow)) {
            scoreAndCompare(device, 4, 12, THRESHOLD);
        }
    }

    @Tag("gpu")
    @Test
    void shouldScoreAsTheHostDoesWhenOnAGpu() {
        final DeviceBackendProvider cuda = ServiceLoader.load(DeviceBackendProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(provider -> provider.kind().equals("cuda"))
                .findFirst()
                .orElseThrow();
        final String missing = cuda.unavailable().orElse("");
        if (!missing.isEmpty()) {
            System.err.println("MotionWorkerTest on a GPU skipped: " + missing);
        }
        Assumptions.assumeTrue(missing.isEmpty(), missing);
        try (DeviceBackend device = cuda.open(0)) {
            scoreAndCompare(device, 5, 200, THRESHOLD);
        }
    }

    private static void scoreAndCompare(
            final DeviceBackend device, final long seed, final int count, final int threshold) {
        final Random random = new Random(seed);
        final DeviceFramePool pool = new DeviceFramePool(device, FRAME_MAX + 64);
        final List<MotionScore> scores = new ArrayList<>();
        final List<MotionScore> expected = new ArrayList<>();
        // Starts with a small buffer, so that it has to grow.
        try (MotionWorker worker = new MotionWorker(device, 1000, threshold, scores::add)) {
            byte[] previous = {};
            for (int i = 0; i < count; i++) {
                final byte[] bytes = next(random, previous);
                final DeviceFramePool.Frame frame =
                        pool.frame(MemorySegment.ofArray(bytes), i % 3 == 0 ? 0 : random.nextInt(64));
                expected.add(MotionReference.score(
                        i, MemorySegment.ofArray(bytes), MemorySegment.ofArray(previous), threshold));
                worker.onFrame(frame);
                assertEquals(1, frame.releases());
                previous = bytes;
            }
            worker.drain();
        }
        assertEquals(expected, scores, "seed " + seed);
        assertTrue(threshold == 255 || scores.stream().anyMatch(score -> score.changedBytes() > 0));
        assertTrue(scores.stream().anyMatch(score -> score.changedBytes() < score.comparedBytes()));
    }

    // New noise, or the previous frame with some bytes nudged by a little more or less than the threshold.
    private static byte[] next(final Random random, final byte[] previous) {
        if (previous.length == 0 || random.nextInt(3) == 0) {
            final byte[] bytes = new byte[1 + random.nextInt(FRAME_MAX)];
            random.nextBytes(bytes);
            return bytes;
        }
        final byte[] bytes = java.util.Arrays.copyOf(previous, Math.max(1, previous.length - random.nextInt(3)));
        for (int i = random.nextInt(8); i < bytes.length; i += 1 + random.nextInt(50)) {
            bytes[i] += (byte) (random.nextInt(40) - 20);
        }
        return bytes;
    }

    @Test
    void shouldCompareNothingForTheFirstFrame() {
        try (DeviceBackend device = new EmulatedDevice(0, EmulatedConfig.DEFAULT)) {
            final DeviceFramePool pool = new DeviceFramePool(device, 16);
            final List<MotionScore> scores = new ArrayList<>();
            try (MotionWorker worker = new MotionWorker(device, 16, THRESHOLD, scores::add)) {
                worker.onFrame(pool.frame(MemorySegment.ofArray(new byte[] {1, 2, 3}), 0));
                worker.drain();
            }
            assertEquals(List.of(new MotionScore(0, 0, 0, 0)), scores);
        }
    }
}
