package io.framecast.gpu.arrival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Frames are whole when the device may read them, and left alone until it returns them; a test that could
/// not see the opposite would prove nothing, so mistakes are planted too.
class ArrivalLitmusTest {
    private static final int ROUNDS = 10_000;
    // A planted mistake shows within a few dozen rounds.
    private static final int PLANTED_ROUNDS = 4_000;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldSeeEveryWordOfEveryFrameAndNothingOfTheNext(final long seed) throws InterruptedException {
        final Result result = run(Litmus.Plant.NONE, ROUNDS, seed);
        assertEquals(0, result.violations, "seed " + seed);
        assertEquals(ROUNDS, result.frames);
    }

    @ParameterizedTest
    @EnumSource(
            value = Litmus.Plant.class,
            names = {"NONE"},
            mode = EnumSource.Mode.EXCLUDE)
    void shouldCatchPlantedMistakes(final Litmus.Plant plant) throws InterruptedException {
        assertTrue(run(plant, PLANTED_ROUNDS, 7).violations > 0, plant + " was not caught");
    }

    private record Result(long frames, long violations) {}

    private static Result run(final Litmus.Plant plant, final int rounds, final long seed) throws InterruptedException {
        try (PlainMemory memory = Litmus.memory()) {
            final ArrivalRing ring = memory.ringAt(Litmus.ENTRIES, -rounds / 2);
            ring.resume(1, 0);
            final AtomicLong frames = new AtomicLong();
            final AtomicLong violations = new AtomicLong();
            final Thread device = Thread.ofPlatform()
                    .start(() -> consume(memory, plant == Litmus.Plant.RETURN_BEFORE_READ, seed, frames, violations));
            new Litmus(memory, ring, plant, seed).run(rounds);
            device.join();
            return new Result(frames.get(), violations.get());
        }
    }

    private static void consume(
            final PlainMemory memory,
            final boolean returnsEarly,
            final long seed,
            final AtomicLong frames,
            final AtomicLong violations) {
        final EmulatedArrivals arrivals =
                EmulatedArrivals.open(memory, memory.area().address());
        final ArrivalRecord frame = new ArrivalRecord();
        final SplittableRandom random = new SplittableRandom(seed + 1);
        long expected = 0;
        while (arrivals.await(ArrivalMatch.ANY, frame)) {
            if (returnsEarly) {
                arrivals.release(frame);
            }
            if (frame.frameId != expected) {
                violations.incrementAndGet();
            }
            // A kernel may touch only the area, also where the record names other addresses.
            if (frame.length > 0) {
                violations.addAndGet(wrongWords(arrivals.data(frame), expected, random, returnsEarly));
            }
            expected++;
            if (!returnsEarly) {
                arrivals.release(frame);
            }
        }
        frames.set(expected);
    }

    private static long wrongWords(
            final MemorySegment data, final long frameId, final SplittableRandom random, final boolean returnsEarly) {
        long wrong = 0;
        final int pauseAt = random.nextInt(2 * Litmus.WORDS);
        for (int i = 0; i < Litmus.WORDS; i++) {
            if (i == pauseAt) {
                LockSupport.parkNanos(returnsEarly ? 20_000 : 1_000);
            }
            wrong += data.getAtIndex(ValueLayout.JAVA_LONG, i) == Litmus.pattern(frameId, i) ? 0 : 1;
        }
        return wrong;
    }

    @Test
    void shouldMakePatternsThatDiffer() {
        assertTrue(Litmus.pattern(1, 0) != Litmus.pattern(0, 0));
        assertTrue(Litmus.pattern(0, 1) != Litmus.pattern(0, 0));
    }
}
