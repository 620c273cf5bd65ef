package io.framecast.perf;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/// What a measured frame holds: when it was published, its number in front and at its end (a frame that was torn or
/// mixed up shows), and whether it is the last. The rest is noise.
final class FrameStamp {
    static final int BYTES_MIN = 4 * Long.BYTES;

    private static final int PUBLISH_NS = 0;
    private static final int NUMBER = Long.BYTES;
    private static final int LAST = 2 * Long.BYTES;

    private FrameStamp() {}

    static void fill(final MemorySegment frame) {
        final SplittableRandom random = new SplittableRandom(1);
        for (long offset = 0; offset + Long.BYTES <= frame.byteSize(); offset += Long.BYTES) {
            frame.set(JAVA_LONG_UNALIGNED, offset, random.nextLong());
        }
    }

    static void write(final MemorySegment frame, final long publishNs, final long number, final boolean last) {
        frame.set(JAVA_LONG_UNALIGNED, PUBLISH_NS, publishNs);
        frame.set(JAVA_LONG_UNALIGNED, NUMBER, number);
        frame.set(JAVA_LONG_UNALIGNED, LAST, last ? 1 : 0);
        frame.set(JAVA_LONG_UNALIGNED, frame.byteSize() - Long.BYTES, number);
    }

    static long publishNs(final MemorySegment frame) {
        return frame.get(JAVA_LONG_UNALIGNED, PUBLISH_NS);
    }

    static boolean isLast(final MemorySegment frame) {
        return frame.get(JAVA_LONG_UNALIGNED, LAST) != 0;
    }

    static boolean isNumber(final MemorySegment frame, final long number) {
        return frame.get(JAVA_LONG_UNALIGNED, NUMBER) == number
                && frame.get(JAVA_LONG_UNALIGNED, frame.byteSize() - Long.BYTES) == number;
    }

    /// Both ends are on one machine and read one clock.
    static long nowNs() {
        final Instant now = Instant.now();
        return TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
    }
}
