package io.framecast.perf.arrival;

import io.framecast.api.Arrival;
import io.framecast.api.ArrivalOptions;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.gpu.SharedWords;
import io.framecast.gpu.arrival.ByteSumKernel;
import io.framecast.perf.harness.FramesDifferException;
import io.framecast.perf.table.Percentiles;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;

/// Measures one kernel that sums frames up and takes them from an arrival ring, and the same by a launch for
/// each frame. Every sum is compared.
final class ArrivalMeter {
    static final int ENTRIES = 64;
    private static final int RESULTS = 4 * ENTRIES;
    private static final int BLOCK_THREADS = 256;
    private static final int ROUND_TRIPS_MAX = 20_000;
    private static final double WARM_UP_SHARE = 0.3;
    private static final double NS_PER_SECOND = 1e9;
    // A kernel that stands still for so long is broken.
    private static final long STALL_NS = 20_000_000_000L;

    private final DeviceBackend device;
    private final int blocks;
    private final double seconds;
    private final BooleanSupplier stopped;

    ArrivalMeter(final DeviceBackend device, final int blocks, final double seconds, final BooleanSupplier stopped) {
        this.device = device;
        this.blocks = blocks;
        this.seconds = seconds;
        this.stopped = stopped;
    }

    /// @param persistent one launch for all frames, or one for each
    /// @throws FramesDifferException when a sum is wrong
    ArrivalRow measure(final boolean persistent, final MemorySegment frame) {
        try (Measured measured = persistent ? new Persistent(frame) : new Launched(frame)) {
            measured.run(seconds * WARM_UP_SHARE);
            final Percentiles trips = measured.roundTrips();
            return new ArrivalRow(
                    device.name(),
                    device.description(),
                    persistent,
                    blocks,
                    ENTRIES,
                    (int) frame.byteSize(),
                    trips,
                    measured.run(seconds));
        }
    }

    private boolean isOver(final long startNs, final double forSeconds) {
        return stopped.getAsBoolean() || System.nanoTime() - startNs > forSeconds * NS_PER_SECOND;
    }

    private static void requireProgress(final long sinceNs) {
        if (System.nanoTime() - sinceNs > STALL_NS) {
            throw new FramesDifferException("the kernel stands still");
        }
    }

    /// One of the two ways.
    private abstract class Measured implements AutoCloseable {
        final long expected;
        long results;

        Measured(final MemorySegment frame) {
            expected = ByteSumKernel.sum(frame);
        }

        /// Gives the kernel frames.
        ///
        /// @param most frames that may be under way
        abstract void give(int most);

        /// Compares the results that are there.
        abstract void take();

        /// @return false when nothing is under way any more
        abstract boolean drain();

        void require(final long sum) {
            if (sum != expected) {
                throw new FramesDifferException("frame " + results + ": sum " + sum + ", expected " + expected);
            }
            results++;
        }

        Percentiles roundTrips() {
            final List<Long> trips = new ArrayList<>(ROUND_TRIPS_MAX);
            final long startNs = System.nanoTime();
            while (trips.size() < ROUND_TRIPS_MAX && !isOver(startNs, seconds)) {
                final long before = results;
                final long sentNs = System.nanoTime();
                give(1);
                take();
                while (results == before) {
                    Thread.onSpinWait();
                    requireProgress(sentNs);
                    take();
                }
                trips.add(System.nanoTime() - sentNs);
            }
            return Percentiles.of(trips);
        }

        /// @return frames per second
        double run(final double forSeconds) {
            final long before = results;
            final long startNs = System.nanoTime();
            while (!isOver(startNs, forSeconds)) {
                give(ENTRIES);
                take();
            }
            final double framesPerSecond = (results - before) * NS_PER_SECOND / (System.nanoTime() - startNs);
            final long endNs = System.nanoTime();
            while (drain()) {
                take();
                requireProgress(endNs);
            }
            take();
            return framesPerSecond;
        }

        @Override
        public abstract void close();
    }

    private final class Persistent extends Measured {
        private final ResidentFrames frames;
        private final MemorySegment ring;
        private final DeviceRegion partial;
        private final Arrival arrival;

        Persistent(final MemorySegment frame) {
            super(frame);
            frames = new ResidentFrames(device, frame, 2 * ENTRIES);
            ring = device.allocatePinned((long) RESULTS * ByteSumKernel.RESULT_WORDS * Long.BYTES);
            ring.fill((byte) 0);
            partial = device.allocate((long) ENTRIES * Long.BYTES);
            try (DeviceStream stream = device.openStream()) {
                stream.fill(partial.address(), (byte) 0, partial.bytes());
            }
            arrival = Arrival.open(device, ArrivalOptions.DEFAULT.withEntries(ENTRIES));
            arrival.attach(frames, 0);
            arrival.launch(
                    ByteSumKernel.persistent(), blocks, BLOCK_THREADS, ring.address(), RESULTS, partial.address());
        }

        @Override
        void give(final int most) {
            frames.want(most);
            arrival.doWork();
        }

        @Override
        void take() {
            while (true) {
                final long at = (results & (RESULTS - 1)) * ByteSumKernel.RESULT_WORDS * Long.BYTES;
                if (SharedWords.longAt(ring, at) != results + 1) {
                    return;
                }
                require((long) SharedWords.LONG.get(ring, at + 3L * Long.BYTES));
            }
        }

        // A frame that was wanted and not polled would come in the middle of the next measurement.
        @Override
        boolean drain() {
            frames.want(-frames.wanted());
            arrival.doWork();
            return frames.returned() < frames.polled();
        }

        @Override
        public void close() {
            arrival.close();
            frames.close();
            device.free(partial);
            device.freePinned(ring);
        }
    }

    private final class Launched extends Measured {
        private final long bytes;
        private final ResidentFrames frames;
        private final DeviceStream stream;
        private final DeviceKernel kernel;
        private final DeviceRegion sum;
        private final MemorySegment back;
        private final DeviceEvent[] done = new DeviceEvent[ENTRIES];
        private long launched;

        Launched(final MemorySegment frame) {
            super(frame);
            bytes = frame.byteSize();
            frames = new ResidentFrames(device, frame, 1);
            stream = device.openStream();
            kernel = device.load(ByteSumKernel.once());
            sum = device.allocate(Long.BYTES);
            back = device.allocatePinned((long) ENTRIES * Long.BYTES);
            Arrays.setAll(done, _ -> device.openEvent());
        }

        // As a program does it that wants the result: clear, sum up, copy back, record.
        @Override
        void give(final int most) {
            if (launched - results >= most) {
                return;
            }
            final int slot = (int) (launched % ENTRIES);
            stream.fill(sum.address(), (byte) 0, Long.BYTES);
            stream.launch(kernel, blocks, BLOCK_THREADS, frames.memory().address(), bytes, sum.address());
            stream.copyToHost(back, (long) slot * Long.BYTES, sum.address(), Long.BYTES);
            stream.record(done[slot]);
            launched++;
        }

        @Override
        void take() {
            final int slot = (int) (results % ENTRIES);
            if (results < launched && done[slot].isComplete()) {
                require(SharedWords.longAt(back, (long) slot * Long.BYTES));
            }
        }

        @Override
        boolean drain() {
            return results < launched;
        }

        @Override
        public void close() {
            stream.close();
            for (final DeviceEvent event : done) {
                event.close();
            }
            frames.close();
            device.free(sum);
            device.freePinned(back);
        }
    }
}
