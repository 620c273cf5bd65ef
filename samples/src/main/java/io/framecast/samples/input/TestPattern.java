package io.framecast.samples.input;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// The content of `--input test`: seeded noise with a bright bar that moves on by its own width with every frame. A
/// frame is a function of (seed, frame index, length), so any frame can be made, and checked, alone.
///
/// Long `i` of a frame is SplitMix64's output for the counter `base(seed, frame) + i · γ` (Steele, Lea, Flood, OOPSLA
/// 2014, figure 17): no long depends on the one before, so the loop pipelines well.
public final class TestPattern {
    private static final long GAMMA = 0x9e37_79b9_7f4a_7c15L;
    /// The bar keeps seven of eight bits of noise, and is short: the frame must not compress.
    private static final long BAR = 0x8080_8080_8080_8080L;

    private static final int BAR_FRACTION = 64;
    private static final int LONG_BYTES = Long.BYTES;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private TestPattern() {}

    /// Writes frame `frameIndex` over all of `target`.
    public static void fill(final long seed, final long frameIndex, final MemorySegment target) {
        final long longs = target.byteSize() / LONG_BYTES;
        final long base = base(seed, frameIndex);
        final long barLongs = barLongs(longs);
        final long barStart = barStart(frameIndex, longs, barLongs);
        fillRange(target, base, 0, barStart, 0);
        fillRange(target, base, barStart, barStart + barLongs, BAR);
        fillRange(target, base, barStart + barLongs, longs, 0);
        for (long at = longs * LONG_BYTES; at < target.byteSize(); at++) {
            target.set(ValueLayout.JAVA_BYTE, at, tail(base, longs, at));
        }
    }

    /// Compares `frame` with frame `frameIndex` without making that one.
    ///
    /// @return offset of the first byte that differs, −1 when none does
    public static long mismatch(final long seed, final long frameIndex, final MemorySegment frame) {
        final long longs = frame.byteSize() / LONG_BYTES;
        final long base = base(seed, frameIndex);
        final long barLongs = barLongs(longs);
        final long barStart = barStart(frameIndex, longs, barLongs);
        long at = mismatchRange(frame, base, 0, barStart, 0);
        at = at >= 0 ? at : mismatchRange(frame, base, barStart, barStart + barLongs, BAR);
        at = at >= 0 ? at : mismatchRange(frame, base, barStart + barLongs, longs, 0);
        for (long i = longs * LONG_BYTES; at < 0 && i < frame.byteSize(); i++) {
            at = frame.get(ValueLayout.JAVA_BYTE, i) == tail(base, longs, i) ? at : i;
        }
        return at;
    }

    private static void fillRange(
            final MemorySegment target, final long base, final long from, final long to, final long mask) {
        for (long i = from; i < to; i++) {
            target.set(LONG, i * LONG_BYTES, mix(base + i * GAMMA) | mask);
        }
    }

    private static long mismatchRange(
            final MemorySegment frame, final long base, final long from, final long to, final long mask) {
        for (long i = from; i < to; i++) {
            final long difference = frame.get(LONG, i * LONG_BYTES) ^ (mix(base + i * GAMMA) | mask);
            if (difference != 0) {
                return i * LONG_BYTES + Long.numberOfTrailingZeros(difference) / Byte.SIZE;
            }
        }
        return -1;
    }

    private static byte tail(final long base, final long longs, final long at) {
        return (byte) (mix(base + longs * GAMMA) >>> ((at - longs * LONG_BYTES) * Byte.SIZE));
    }

    private static long base(final long seed, final long frameIndex) {
        return mix(mix(seed + GAMMA) ^ frameIndex * GAMMA);
    }

    private static long barLongs(final long longs) {
        return longs / BAR_FRACTION;
    }

    private static long barStart(final long frameIndex, final long longs, final long barLongs) {
        return barLongs == 0 ? 0 : Math.floorMod(frameIndex, longs / barLongs) * barLongs;
    }

    private static long mix(final long counter) {
        long z = counter;
        z = (z ^ (z >>> 30)) * 0xbf58_476d_1ce4_e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d0_49bb_1331_11ebL;
        return z ^ (z >>> 31);
    }
}
