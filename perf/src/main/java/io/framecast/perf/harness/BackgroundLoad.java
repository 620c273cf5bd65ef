package io.framecast.perf.harness;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/// Copies between host and device that have nothing to do with frames, on streams of their own, paced: an
/// application that uses its GPU. Counts the copies that are done.
public final class BackgroundLoad implements AutoCloseable {
    private static final int COPY_BYTES = 256 << 10;
    private static final int COPIES_MAX = 4;
    // Copies that came late are not all made up for at once.
    private static final long DEBT_MAX_NS = 10_000_000;
    private static final double NS_PER_SECOND = 1e9;

    private final List<Way> ways = new ArrayList<>();
    private final long bytesPerSecond;
    private final AtomicLong doneBytes = new AtomicLong();
    private final CompletableFuture<?> copying;
    private volatile boolean stopped;
    private long beginNs;
    private long beginBytes;
    private long measuredNs;
    private long measuredBytes;

    /// Which way copies go.
    public enum Load {
        NONE,
        TO_DEVICE,
        TO_HOST,
        BOTH;

        public boolean toDevice() {
            return this == TO_DEVICE || this == BOTH;
        }

        public boolean toHost() {
            return this == TO_HOST || this == BOTH;
        }
    }

    /// @param bytesPerSecond each way; 0 for as much as is taken
    public BackgroundLoad(final DeviceBackend device, final Load load, final long bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
        if (load.toDevice()) {
            ways.add(new Way(device, true));
        }
        if (load.toHost()) {
            ways.add(new Way(device, false));
        }
        copying = ways.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : CompletableFuture.runAsync(
                        this::copy,
                        copies -> Thread.ofPlatform()
                                .daemon()
                                .name("background-copies")
                                .start(copies));
    }

    private void copy() {
        long startNs = System.nanoTime();
        long issued = 0;
        final double intervalNs = bytesPerSecond == 0 ? 0 : COPY_BYTES * NS_PER_SECOND / bytesPerSecond;
        while (!stopped) {
            final long lateNs = System.nanoTime() - startNs - (long) (issued * intervalNs);
            if (lateNs < 0) {
                LockSupport.parkNanos(-lateNs);
                continue;
            }
            if (lateNs > DEBT_MAX_NS) {
                startNs += lateNs - DEBT_MAX_NS;
            }
            for (final Way way : ways) {
                way.copy((int) (issued % COPIES_MAX));
            }
            issued++;
        }
    }

    /// The measurement begins.
    public void begin() {
        beginBytes = doneBytes.get();
        beginNs = System.nanoTime();
    }

    /// The measurement has ended.
    public void end() {
        measuredBytes = doneBytes.get() - beginBytes;
        measuredNs = System.nanoTime() - beginNs;
        if (copying.isCompletedExceptionally()) {
            final Throwable why = copying.exceptionNow();
            throw new IllegalStateException("background copies failed: " + why.getMessage(), why);
        }
    }

    /// Bytes copied during the measurement, all ways together.
    public long measuredBytes() {
        return measuredBytes;
    }

    /// The rate of the copies, in units of 10^6 bytes per second and way; 0 where there is no load.
    public double achievedMBps() {
        return ways.isEmpty() || measuredNs == 0 ? 0 : measuredBytes * 1e3 / measuredNs / ways.size();
    }

    /// Ends the copies and gives back what they used.
    @Override
    public void close() {
        stopped = true;
        // Not interrupted: copies must not go on in memory that is freed.
        copying.handle((_, _) -> true).join();
        ways.forEach(Way::close);
    }

    /// Copies one way.
    private final class Way implements AutoCloseable {
        private final DeviceBackend device;
        private final boolean toDevice;
        private final DeviceRegion region;
        private final MemorySegment host;
        private final DeviceStream stream;
        private final List<DeviceEvent> events = new ArrayList<>();
        private long copies;

        Way(final DeviceBackend device, final boolean toDevice) {
            this.device = device;
            this.toDevice = toDevice;
            region = device.allocate((long) COPIES_MAX * COPY_BYTES);
            host = device.allocatePinned((long) COPIES_MAX * COPY_BYTES);
            stream = device.openStream();
            for (int i = 0; i < COPIES_MAX; i++) {
                events.add(device.openEvent());
            }
        }

        void copy(final int slot) {
            final DeviceEvent event = events.get(slot);
            event.synchronize();
            if (copies >= COPIES_MAX) {
                doneBytes.addAndGet(COPY_BYTES);
            }
            copies++;
            final long offset = (long) slot * COPY_BYTES;
            if (toDevice) {
                stream.copyToDevice(region.address() + offset, host, offset, COPY_BYTES);
            } else {
                stream.copyToHost(host, offset, region.address() + offset, COPY_BYTES);
            }
            stream.record(event);
        }

        @Override
        public void close() {
            stream.close();
            events.forEach(DeviceEvent::close);
            device.freePinned(host);
            device.free(region);
        }
    }
}
