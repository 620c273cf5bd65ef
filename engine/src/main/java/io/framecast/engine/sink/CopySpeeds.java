package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceMapping;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.OneSided;
import io.framecast.engine.memory.RollbackOnFailure;
import java.lang.foreign.MemorySegment;

/// Measures how fast a device copies, once when a channel opens that leaves the choice to the engine. A measurement
/// takes some milliseconds and never runs on the data path. One thread.
public final class CopySpeeds implements AutoCloseable {
    public static final long NO_LIMIT = Long.MAX_VALUE;

    private static final int LENGTH_MIN = 256;
    private static final int LENGTH_MAX = 1 << 20;
    private static final int CHUNK_MIN = 64 << 10;
    private static final int CHUNK_MAX = 4 << 20;
    // Of each length the fastest try counts; slower tries met an interrupt.
    private static final int TRIES = 7;
    // Copies of one length before the time is taken: as many as a source has in flight.
    private static final int DEPTH = 4;
    // A length with this share of the best rate is good enough: the sender can start earlier on a shorter chunk.
    private static final double GOOD_ENOUGH = 0.9;

    private final DeviceBackend device;
    private final DeviceStream stream;
    private final DeviceEvent event;
    private final DeviceRegion region;
    private final MemorySegment host;

    private interface Work {
        void run(long bytes);
    }

    public CopySpeeds(final DeviceBackend device) {
        this.device = device;
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            stream = opened.add(device.openStream());
            event = opened.add(device.openEvent());
            region = device.allocate(CHUNK_MAX);
            opened.add(() -> device.free(region));
            host = device.allocatePinned(CHUNK_MAX);
            opened.keep();
        }
    }

    /// Longest run that the CPU stores through a mapping before the device's copy of it would be complete; 0 where
    /// the device is always faster.
    public long storeMaxBytes() {
        try (DeviceMapping mapping = device.access().map(region)) {
            return crossover(bytes -> mapping.write(0, host, 0, bytes), this::copyIn);
        }
    }

    /// Longest frame that the CPU reads through a mapping before the device's copy of it would be complete; 0
    /// where the device is always faster.
    public long readMaxBytes() {
        try (DeviceMapping mapping = device.access().map(region)) {
            return crossover(bytes -> mapping.read(0, host, 0, bytes), this::copyOut);
        }
    }

    /// Longest frame that a NIC reads out of device memory before the device has copied its first chunk to
    /// the host and the NIC has read the frame there; [#NO_LIMIT] where the NIC is always faster.
    ///
    /// @throws io.framecast.api.error.DeviceException when the NIC cannot read either memory, or does not answer
    public long gatherMaxBytes(final OneSided nic, final long chunkBytes) {
        try (NicReads fromDevice = new NicReads(nic, device, region);
                NicReads fromHost = new NicReads(nic, host)) {
            long longest = 0;
            for (long bytes = LENGTH_MIN; bytes <= CHUNK_MAX; bytes <<= 1) {
                final long copyNs = fastestNs(this::copyOut, Math.min(bytes, chunkBytes));
                if (fastestNs(fromDevice::read, bytes) > copyNs + fastestNs(fromHost::read, bytes)) {
                    return longest;
                }
                longest = bytes;
            }
            return NO_LIMIT;
        }
    }

    private void copyOut(final long bytes) {
        stream.copyToHost(host, 0, region.address(), bytes);
        await();
    }

    /// Memory of that device, for a trial.
    public DeviceRegion region() {
        return region;
    }

    /// The shortest chunk that leaves the device at nearly the best rate while other chunks are in flight.
    public long chunkBytes() {
        double best = 0;
        for (long bytes = CHUNK_MIN; bytes <= CHUNK_MAX; bytes <<= 1) {
            best = Math.max(best, chunkRate(bytes));
        }
        for (long bytes = CHUNK_MIN; bytes < CHUNK_MAX; bytes <<= 1) {
            if (chunkRate(bytes) >= best * GOOD_ENOUGH) {
                return bytes;
            }
        }
        return CHUNK_MAX;
    }

    private double chunkRate(final long bytes) {
        return (double) DEPTH * bytes / fastestNs(this::copyChunks, bytes);
    }

    private void copyChunks(final long bytes) {
        for (int i = 0; i < DEPTH; i++) {
            stream.copyToHost(host, 0, region.address(), bytes);
        }
        await();
    }

    private void copyIn(final long bytes) {
        stream.copyToDevice(region.address(), host, 0, bytes);
        await();
    }

    private void await() {
        stream.record(event);
        event.synchronize();
    }

    private static long crossover(final Work mapped, final Work copied) {
        long longest = 0;
        for (long bytes = LENGTH_MIN; bytes <= LENGTH_MAX; bytes <<= 1) {
            if (fastestNs(mapped, bytes) > fastestNs(copied, bytes)) {
                break;
            }
            longest = bytes;
        }
        return longest;
    }

    private static long fastestNs(final Work work, final long bytes) {
        long fastest = Long.MAX_VALUE;
        for (int i = 0; i < TRIES; i++) {
            final long startNs = System.nanoTime();
            work.run(bytes);
            fastest = Math.min(fastest, System.nanoTime() - startNs);
        }
        return Math.max(1, fastest);
    }

    @Override
    public void close() {
        org.agrona.CloseHelper.closeAll(stream, event, () -> device.freePinned(host), () -> device.free(region));
    }
}
