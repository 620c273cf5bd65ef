package io.framecast.gpu.arrival;

import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.SharedWords;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The kernels of `byte_sum.cu`: PTX, and the same in Java. The persistent one adds up each frame that
/// arrives; tests and benchmarks launch it, and it is an example for authors of kernels.
public final class ByteSumKernel {
    /// Words of one result: number of the result + 1, frame id, bytes, sum.
    public static final int RESULT_WORDS = 4;

    static final String PTX_RESOURCE = "byte_sum.ptx";

    private ByteSumKernel() {}

    /// `framecast_byte_sum(area, results, resultSlots, partial)`: `results` is pinned memory of a power of
    /// two of results; `partial` device memory of 8 bytes per entry, zeroed.
    public static KernelSource persistent() {
        return KernelSource.persistent("framecast_byte_sum", ByteSumKernel::ptx, ByteSumKernel::emulate);
    }

    /// `framecast_byte_sum_once(data, bytes, sumOut)`: adds one frame's sum to a 64-bit word of device
    /// memory.
    public static KernelSource once() {
        return new KernelSource("framecast_byte_sum_once", ByteSumKernel::ptx, ByteSumKernel::emulateOnce);
    }

    /// Σ (byte + 1) · (index + 1).
    public static long sum(final MemorySegment data) {
        final long bytes = data.byteSize();
        long sum = 0;
        for (long i = 0; i < bytes; i++) {
            sum += (Byte.toUnsignedLong(data.get(ValueLayout.JAVA_BYTE, i)) + 1) * (i + 1);
        }
        return sum;
    }

    /// The PTX of all kernels of `byte_sum.cu`.
    public static byte[] ptx() {
        return KernelSource.resource(ByteSumKernel.class, PTX_RESOURCE).get();
    }

    private static void emulate(
            final KernelSource.DeviceMemory memory, final int grid, final int block, final long[] arguments) {
        final EmulatedArrivals arrivals = EmulatedArrivals.open(memory, arguments[0]);
        final long slots = arguments[2];
        final MemorySegment results = memory.at(arguments[1], slots * RESULT_WORDS * Long.BYTES);
        final ArrivalRecord frame = new ArrivalRecord();
        while (arrivals.await(ArrivalMatch.ANY, frame)) {
            final boolean isFrame = frame.kind == ArrivalLayout.KIND_FRAME;
            final long at = ((frame.sequence - 1) & (slots - 1)) * RESULT_WORDS * Long.BYTES;
            SharedWords.LONG.set(results, at + Long.BYTES, frame.frameId);
            SharedWords.LONG.set(results, at + 2 * Long.BYTES, frame.length);
            SharedWords.LONG.set(results, at + 3 * Long.BYTES, isFrame ? sum(arrivals.data(frame)) : frame.kind);
            SharedWords.longAt(results, at, Integer.toUnsignedLong(frame.sequence));
            arrivals.release(frame);
        }
    }

    private static void emulateOnce(
            final KernelSource.DeviceMemory memory, final int grid, final int block, final long[] arguments) {
        final MemorySegment out = memory.at(arguments[2], Long.BYTES);
        final long before = out.get(ValueLayout.JAVA_LONG, 0);
        out.set(ValueLayout.JAVA_LONG, 0, before + sum(memory.at(arguments[0], arguments[1])));
    }
}
