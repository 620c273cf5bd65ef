package io.framecast.perf.bench;

import io.framecast.api.Arrival;
import io.framecast.api.ArrivalOptions;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.gpu.SharedWords;
import io.framecast.gpu.arrival.ByteSumKernel;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/// Measures one kernel that sums frames up, told of them through an arrival ring, and the same by a launch
/// for each frame. Every sum is compared.
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

    /// @throws FramesDiffer when a sum is wrong
    ArrivalRow persistent(final MemorySegment frame) throws FramesDiffer {
        try (Told told = new Told(frame)) {
            told.run(seconds * WARM_UP_SHARE);
            final TailStats trips = told.roundTrips(seconds);
            return row(true, frame, trips, told.run(seconds));
        }
    }

    /// @throws FramesDiffer when a sum is wrong
    ArrivalRow launched(final MemorySegment frame) throws FramesDiffer {
        try (Launched launched = new Launched(frame)) {
            launched.run(seconds * WARM_UP_SHARE);
            final TailStats trips = launched.roundTrips(seconds);
            return row(false, frame, trips, launched.run(seconds));
        }
    }

    private ArrivalRow row(
            final boolean persistent, final MemorySegment frame, final TailStats trips, final double framesPerSecond) {
        final int bytes = (int) frame.byteSize();
        return new ArrivalRow(
                device.name(), device.description(), persistent, blocks, ENTRIES, bytes, trips, framesPerSecond);
    }

    /// A kernel found another sum than the host.
    static final class FramesDiffer extends Exception {
        private static final long serialVersionUID = 1;

        FramesDiffer(final String message) {
            super(message);
        }
    }

    private boolean isOver(final long startNs, final double forSeconds) {
        return stopped.getAsBoolean() || System.nanoTime() - startNs > forSeconds * NS_PER_SECOND;
    }

    private static void requireProgress(final long sinceNs) throws FramesDiffer {
        if (System.nanoTime() - sinceNs > STALL_NS) {
            throw new FramesDiffer("the kernel stands still");
        }
    }

    private final class Told implements AutoCloseable {
        private final long expected;
        private final ResidentFrames frames;
        private final MemorySegment results;
        private final DeviceRegion partial;
        private final Arrival arrival;
        private long next;

        Told(final MemorySegment frame) {
            expected = ByteSumKernel.sum(frame);
            frames = new ResidentFrames(device, frame, 2 * ENTRIES);
            results = device.allocatePinned((long) RESULTS * ByteSumKernel.RESULT_WORDS * Long.BYTES);
            results.fill((byte) 0);
            partial = device.allocate((long) ENTRIES * Long.BYTES);
            try (DeviceStream stream = device.openStream()) {
                stream.fill(partial.address(), (byte) 0, partial.bytes());
            }
            arrival = Arrival.open(device, ArrivalOptions.DEFAULT.withEntries(ENTRIES));
            arrival.attach(frames, 0);
            arrival.launch(
                    ByteSumKernel.persistent(), blocks, BLOCK_THREADS, results.address(), RESULTS, partial.address());
        }

        // Results that are there, each compared.
        private int take() throws FramesDiffer {
            int count = 0;
            while (true) {
                final long at = (next & (RESULTS - 1)) * ByteSumKernel.RESULT_WORDS * Long.BYTES;
                if (SharedWords.longAt(results, at) != next + 1) {
                    return count;
                }
                final long sum = (long) SharedWords.LONG.get(results, at + 3L * Long.BYTES);
                if (sum != expected) {
                    throw new FramesDiffer("frame " + next + ": sum " + sum + ", expected " + expected);
                }
                next++;
                count++;
            }
        }

        TailStats roundTrips(final double forSeconds) throws FramesDiffer {
            final List<Long> trips = new ArrayList<>(ROUND_TRIPS_MAX);
            final long startNs = System.nanoTime();
            while (trips.size() < ROUND_TRIPS_MAX && !isOver(startNs, forSeconds)) {
                frames.want(1);
                final long sentNs = System.nanoTime();
                arrival.doWork();
                while (take() == 0) {
                    Thread.onSpinWait();
                    requireProgress(sentNs);
                }
                trips.add(System.nanoTime() - sentNs);
            }
            return TailStats.of(trips);
        }

        double run(final double forSeconds) throws FramesDiffer {
            final long before = next;
            final long startNs = System.nanoTime();
            while (!isOver(startNs, forSeconds)) {
                frames.want(ENTRIES);
                arrival.doWork();
                take();
            }
            final double framesPerSecond = (next - before) * NS_PER_SECOND / (System.nanoTime() - startNs);
            // What was wanted and not polled would come in the middle of what is measured next.
            final long endNs = System.nanoTime();
            frames.want(-frames.wanted());
            while (frames.returned() < frames.polled()) {
                arrival.doWork();
                take();
                requireProgress(endNs);
            }
            take();
            return framesPerSecond;
        }

        @Override
        public void close() {
            arrival.close();
            frames.close();
            device.free(partial);
            device.freePinned(results);
        }
    }

    private final class Launched implements AutoCloseable {
        private final MemorySegment frame;
        private final long expected;
        private final ResidentFrames frames;
        private final DeviceStream stream;
        private final DeviceKernel kernel;
        private final DeviceRegion sum;
        private final MemorySegment back;
        private final DeviceEvent[] done = new DeviceEvent[ENTRIES];
        private long launched;
        private long finished;

        Launched(final MemorySegment frame) {
            this.frame = frame;
            expected = ByteSumKernel.sum(frame);
            frames = new ResidentFrames(device, frame, 1);
            stream = device.openStream();
            kernel = device.load(ByteSumKernel.once());
            sum = device.allocate(Long.BYTES);
            back = device.allocatePinned((long) ENTRIES * Long.BYTES);
            for (int i = 0; i < ENTRIES; i++) {
                done[i] = device.openEvent();
            }
        }

        // As a program does it that wants the result: clear, sum up, copy back, record.
        private void launch() {
            final int slot = (int) (launched % ENTRIES);
            stream.fill(sum.address(), (byte) 0, Long.BYTES);
            stream.launch(kernel, blocks, BLOCK_THREADS, frames.memory().address(), frame.byteSize(), sum.address());
            stream.copyToHost(back, (long) slot * Long.BYTES, sum.address(), Long.BYTES);
            stream.record(done[slot]);
            launched++;
        }

        private boolean finish() throws FramesDiffer {
            final int slot = (int) (finished % ENTRIES);
            if (finished == launched || !done[slot].isComplete()) {
                return false;
            }
            final long found = SharedWords.longAt(back, (long) slot * Long.BYTES);
            if (found != expected) {
                throw new FramesDiffer("launch " + finished + ": sum " + found + ", expected " + expected);
            }
            finished++;
            return true;
        }

        TailStats roundTrips(final double forSeconds) throws FramesDiffer {
            final List<Long> trips = new ArrayList<>(ROUND_TRIPS_MAX);
            final long startNs = System.nanoTime();
            while (trips.size() < ROUND_TRIPS_MAX && !isOver(startNs, forSeconds)) {
                final long sentNs = System.nanoTime();
                launch();
                while (!finish()) {
                    Thread.onSpinWait();
                    requireProgress(sentNs);
                }
                trips.add(System.nanoTime() - sentNs);
            }
            return TailStats.of(trips);
        }

        double run(final double forSeconds) throws FramesDiffer {
            final long before = finished;
            final long startNs = System.nanoTime();
            while (!isOver(startNs, forSeconds)) {
                if (launched - finished < ENTRIES) {
                    launch();
                }
                finish();
            }
            final double framesPerSecond = (finished - before) * NS_PER_SECOND / (System.nanoTime() - startNs);
            final long endNs = System.nanoTime();
            while (finished < launched) {
                finish();
                requireProgress(endNs);
            }
            return framesPerSecond;
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
