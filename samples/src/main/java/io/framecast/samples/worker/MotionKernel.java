package io.framecast.samples.worker;

import io.framecast.api.spi.KernelSource;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The kernel of `motion.cu`: its PTX, and the same in Java for the emulated device.
///
/// Arguments: current frame, previous frame, bytes, threshold, result; `result` is two 64-bit counts, changed bytes and
/// sum of differences, that the kernel adds to.
final class MotionKernel {
    static final int RESULT_BYTES = 2 * Long.BYTES;
    static final String PTX_RESOURCE = "/io/framecast/samples/motion.ptx";

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    // Eight bytes at once, as two times four 16-bit lanes: a fifth of the time of byte by byte.
    private static final long LANE_BYTES = 0x00ff_00ff_00ff_00ffL;
    private static final long LANE_ONES = 0x0001_0001_0001_0001L;

    private MotionKernel() {}

    static KernelSource source() {
        return new KernelSource("motion", MotionKernel::ptx, MotionKernel::emulate);
    }

    static byte[] ptx() {
        return KernelSource.resource(MotionKernel.class, PTX_RESOURCE).get();
    }

    private static void emulate(
            final KernelSource.DeviceMemory memory, final int grid, final int block, final long[] arguments) {
        final long bytes = arguments[2];
        final MemorySegment current = memory.at(arguments[0], bytes);
        final MemorySegment previous = memory.at(arguments[1], bytes);
        final MemorySegment result = memory.at(arguments[4], RESULT_BYTES);
        final int threshold = (int) arguments[3];
        // Lanes that differ by more than the threshold carry into bit 8 when this is added.
        final long margin = (0xffL - threshold) * LANE_ONES;
        long changed = 0;
        long sum = 0;
        final long words = bytes / Long.BYTES * Long.BYTES;
        for (long i = 0; i < words; i += Long.BYTES) {
            final long a = current.get(LONG, i);
            final long b = previous.get(LONG, i);
            // Most of a video stands still.
            if (a != b) {
                final long even = differences(a & LANE_BYTES, b & LANE_BYTES);
                final long odd = differences((a >>> Byte.SIZE) & LANE_BYTES, (b >>> Byte.SIZE) & LANE_BYTES);
                changed += total(above(even, margin) + above(odd, margin));
                sum += total(even + odd);
            }
        }
        for (long i = words; i < bytes; i++) {
            final int difference = Math.abs(
                    (current.get(ValueLayout.JAVA_BYTE, i) & 0xff) - (previous.get(ValueLayout.JAVA_BYTE, i) & 0xff));
            changed += difference > threshold ? 1 : 0;
            sum += difference;
        }
        result.set(LONG, 0, result.get(LONG, 0) + changed);
        result.set(LONG, Long.BYTES, result.get(LONG, Long.BYTES) + sum);
    }

    // Absolute differences of four bytes, each in a 16-bit lane. Bit 8 of `raised` says a >= b; else the low byte is
    // 256 minus what is wanted.
    private static long differences(final long a, final long b) {
        final long raised = (a | (LANE_ONES << Byte.SIZE)) - b;
        final long negative = (~raised >>> Byte.SIZE) & LANE_ONES;
        return ((raised & LANE_BYTES) ^ (negative * 0xff)) + negative;
    }

    // 1 in each lane that exceeds the threshold.
    private static long above(final long differences, final long margin) {
        return ((differences + margin) >>> Byte.SIZE) & LANE_ONES;
    }

    private static long total(final long lanes) {
        return (lanes * LANE_ONES) >>> (3 * Short.SIZE);
    }
}
