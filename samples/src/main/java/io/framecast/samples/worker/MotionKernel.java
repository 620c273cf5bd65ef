package io.framecast.samples.worker;

import io.framecast.api.spi.KernelSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
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

    private MotionKernel() {}

    static KernelSource source() {
        return new KernelSource("motion", MotionKernel::ptx, MotionKernel::emulate);
    }

    static byte[] ptx() {
        try (InputStream in = MotionKernel.class.getResourceAsStream(PTX_RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks " + PTX_RESOURCE);
            }
            return in.readAllBytes();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void emulate(
            final KernelSource.DeviceMemory memory, final int grid, final int block, final long[] arguments) {
        final long bytes = arguments[2];
        final MemorySegment current = memory.at(arguments[0], bytes);
        final MemorySegment previous = memory.at(arguments[1], bytes);
        final MemorySegment result = memory.at(arguments[4], RESULT_BYTES);
        final int threshold = (int) arguments[3];
        long changed = 0;
        long sum = 0;
        final long words = bytes / Long.BYTES * Long.BYTES;
        for (long i = 0; i < words; i += Long.BYTES) {
            final long a = current.get(LONG, i);
            final long b = previous.get(LONG, i);
            // Most of a video stands still.
            if (a != b) {
                for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
                    final int difference = Math.abs((int) (a >>> shift & 0xff) - (int) (b >>> shift & 0xff));
                    changed += difference > threshold ? 1 : 0;
                    sum += difference;
                }
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
}
