package io.framecast.samples.worker;

import io.framecast.api.Arrival;
import io.framecast.api.ArrivalOptions;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.gpu.SharedWords;
import io.framecast.gpu.arrival.ByteSumKernel;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/// Adds up the bytes of every frame of a subscriber by a kernel that is launched once and then takes each
/// frame as it arrives: the whole of device-side arrival in one page. The host writes entries, reads sums,
/// and touches no frame.
///
/// Used by one thread, instead of polling the subscriber. Close it before the subscriber.
public final class ArrivalSums implements AutoCloseable {
    private static final int RESULT_BYTES = ByteSumKernel.RESULT_WORDS * Long.BYTES;
    private static final int BLOCK_THREADS = 256;

    private final DeviceBackend device;
    private final Handler handler;
    private final Arrival arrival;
    // [resultSlots][ByteSumKernel.RESULT_WORDS], where the kernel writes and the host reads.
    private final MemorySegment results;
    private final int resultSlots;
    private final DeviceRegion partial;
    private long next;

    /// Takes the kernel's sums.
    @FunctionalInterface
    public interface Handler {
        /// @param bytes length of the frame; 0 for an event, whose kind is then the sum
        /// @param sum Σ (byte + 1) · (index + 1)
        void onSum(long frameId, long bytes, long sum);
    }

    /// @param blocks of the kernel; all must fit on the device at once
    public ArrivalSums(
            final Subscriber subscriber, final ArrivalOptions options, final int blocks, final Handler handler) {
        this.handler = handler;
        device = subscriber.device();
        arrival = Arrival.open(device, options);
        // Results are read after each turn, in which the kernel can make as many as the ring holds, twice
        // at most.
        resultSlots = 4 * options.entries();
        results = device.allocatePinned((long) resultSlots * RESULT_BYTES);
        results.fill((byte) 0);
        partial = device.allocate((long) options.entries() * Long.BYTES);
        try (DeviceStream stream = device.openStream()) {
            stream.fill(partial.address(), (byte) 0, partial.bytes());
        }
        arrival.attach(subscriber, 0);
        arrival.launch(
                ByteSumKernel.persistent(), blocks, BLOCK_THREADS, results.address(), resultSlots, partial.address());
    }

    public Arrival arrival() {
        return arrival;
    }

    /// Moves frames and credit on, and reports the sums that the kernel found. Never blocks.
    ///
    /// @return steps done
    public int poll() {
        return arrival.doWork() + report();
    }

    private int report() {
        int count = 0;
        while (true) {
            final long at = (next & (resultSlots - 1)) * RESULT_BYTES;
            if (SharedWords.longAt(results, at) != (next + 1 & 0xffff_ffffL)) {
                return count;
            }
            handler.onSum(
                    (long) SharedWords.LONG.get(results, at + Long.BYTES),
                    (long) SharedWords.LONG.get(results, at + 2 * Long.BYTES),
                    (long) SharedWords.LONG.get(results, at + 3 * Long.BYTES));
            next++;
            count++;
        }
    }

    /// Lets the kernel take the remaining frames, ends it, and frees everything.
    @Override
    public void close() {
        arrival.drain(Duration.ofSeconds(5));
        report();
        arrival.close();
        device.free(partial);
        device.freePinned(results);
    }
}
