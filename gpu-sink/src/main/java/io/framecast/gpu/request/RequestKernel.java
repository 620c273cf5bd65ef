package io.framecast.gpu.request;

import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.SharedWords;
import io.framecast.gpu.arrival.ByteSumKernel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The kernel `framecast_request_frames` of `byte_sum.cu` and the same in Java: asks for one piece of device
/// memory to be published again and again, changing it in between. For tests, benchmarks and authors of
/// kernels.
///
/// Arguments: queue, data, bytes, count, channel, seed, out; `out` is two words, requests done and the last
/// other status.
public final class RequestKernel {
    private RequestKernel() {}

    public static KernelSource source() {
        return KernelSource.persistent("framecast_request_frames", ByteSumKernel::ptx, RequestKernel::emulate);
    }

    /// Byte `index` of frame `frame`.
    public static byte pattern(final long frame, final long index, final long seed) {
        return (byte) (index + frame * 7 + seed);
    }

    private static void emulate(
            final KernelSource.DeviceMemory memory, final int grid, final int block, final long[] arguments) {
        final EmulatedRequests requests = EmulatedRequests.open(memory, arguments[0]);
        final long bytes = arguments[2];
        final MemorySegment data = memory.at(arguments[1], bytes);
        final MemorySegment out = memory.at(arguments[6], 2 * Long.BYTES);
        long done = 0;
        int last = 0;
        for (long n = 0; n < arguments[3]; n++) {
            for (long i = 0; i < bytes; i++) {
                data.set(ValueLayout.JAVA_BYTE, i, pattern(n, i, arguments[5]));
            }
            final long ticket =
                    requests.publish((int) arguments[4], arguments[1], bytes, RequestLayout.REQUEST_TAGGED, (int) n);
            final int status = ticket < 0 ? RequestLayout.STATUS_CLOSED : requests.await(ticket);
            if (status == RequestLayout.STATUS_DONE) {
                done++;
            } else {
                last = status;
            }
            if (status == RequestLayout.STATUS_CLOSED) {
                break;
            }
        }
        SharedWords.LONG.set(out, (long) Long.BYTES, (long) last);
        SharedWords.longAt(out, 0, done);
    }
}
