package io.framecast.reliability.window;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.framecast.reliability.window.BundleFixture.Frame;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A producer and a consumer, each in its thread: every frame comes out once, in order, with its bytes.
@Timeout(120)
@Tag("campaign")
final class SmallFramesThreadsTest {
    private static final int FRAMES = 1_000_000;
    private static final int LARGE_BYTES = 2000;

    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldKeepEveryFrameWhenProducerAndConsumerRace(final long seed) throws InterruptedException {
        final BundleFixture fixture = new BundleFixture(16, 1408);
        final Thread producer = new Thread(() -> produce(fixture, new SplittableRandom(seed)));
        producer.setUncaughtExceptionHandler((_, e) -> failure.set(e));
        producer.start();
        try {
            consume(fixture, new SplittableRandom(seed + 100));
        } finally {
            producer.interrupt();
            producer.join();
        }
        assertNull(failure.get());
    }

    private static int bytes(final long number) {
        return 1 + (int) ((number * 0x9e3779b97f4a7c15L) >>> 60) * 20;
    }

    private static boolean isLarge(final long number) {
        return number % 97 == 13;
    }

    private static void produce(final BundleFixture fixture, final SplittableRandom random) {
        for (long number = 0; number < FRAMES && !Thread.currentThread().isInterrupted(); ) {
            final boolean done = isLarge(number) ? large(fixture, number) : small(fixture, number, random);
            number += done ? 1 : 0;
            if (!done) {
                LockSupport.parkNanos(1);
            }
        }
        fixture.small.close();
    }

    private static boolean small(final BundleFixture fixture, final long number, final SplittableRandom random) {
        if (!fixture.claim(number, bytes(number))) {
            return false;
        }
        if (random.nextInt(16) == 0) {
            fixture.small.abort();
            return false;
        }
        fixture.small.commit((int) (number & 1), number * 1000);
        return true;
    }

    private static boolean large(final BundleFixture fixture, final long number) {
        fixture.small.close();
        if (fixture.window.freeSlots() < 2) {
            return false;
        }
        fixture.window.beginFrame(LARGE_BYTES, 0, number * 1000, new byte[0]);
        fixture.window.commit(LARGE_BYTES, 2);
        return true;
    }

    private void consume(final BundleFixture fixture, final SplittableRandom random) {
        final SendWindow window = fixture.window;
        long next = 0;
        long number = 0;
        while (number < FRAMES && failure.get() == null) {
            if (next == window.committed() && !window.takeBundle()) {
                window.free(next);
                LockSupport.parkNanos(1);
                continue;
            }
            while (next < window.committed()) {
                if (isLarge(number)) {
                    next += 2;
                    number++;
                } else {
                    for (final Frame frame : fixture.frames(next)) {
                        check(frame, number++);
                    }
                    next++;
                }
                assertEquals(number, window.frameIdFrom(next));
            }
            if (random.nextInt(4) != 0) {
                window.free(next);
            }
        }
        assertEquals(FRAMES, number);
    }

    private static void check(final Frame frame, final long number) {
        assertEquals(number, frame.id());
        assertEquals(number * 1000, frame.timestampNs());
        assertEquals((int) (number & 1), frame.flags());
        assertArrayEquals(BundleFixture.content(number, bytes(number)), frame.bytes());
    }
}
