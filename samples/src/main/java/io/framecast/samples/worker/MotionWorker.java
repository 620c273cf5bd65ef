package io.framecast.samples.worker;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;

/// Detects motion between consecutive frames on the device they arrive on. Nothing waits for the device: each frame
/// enqueues `await ready → compare with the previous frame → keep this one → copy two numbers back → release` on the
/// worker's own stream, and scores are reported when they have come back, in the order of the frames.
///
/// Used by one thread. Owns its stream, events and buffers; the device is the caller's and outlives the worker.
public final class MotionWorker implements FrameHandler, AutoCloseable {
    /// Differences of more count as motion: well above sensor noise, well below an object's edge.
    public static final int THRESHOLD_DEFAULT = 16;

    // Frames whose score is still on the device; the next frame waits for the oldest.
    private static final int IN_FLIGHT_MAX = 8;
    private static final int BLOCK_THREADS = 256;
    private static final long THREAD_BYTES = 16;
    private static final long GRID_BLOCKS_MAX = 1024;

    private final DeviceBackend device;
    private final Consumer<MotionScore> scores;
    private final int threshold;
    private final DeviceStream stream;
    private final DeviceKernel kernel;

    // [IN_FLIGHT_MAX][changed bytes, sum of differences], on the device and where they come back to.
    private final DeviceRegion results;
    private final MemorySegment resultsBack;
    private final DeviceEvent[] done = new DeviceEvent[IN_FLIGHT_MAX];
    private final long[] frameIds = new long[IN_FLIGHT_MAX];
    private final long[] comparedBytes = new long[IN_FLIGHT_MAX];
    private long enqueued;
    private long reported;

    private DeviceRegion previous;
    private long previousBytes;
    private boolean closed;

    /// @param frameMaxBytes length of the longest frame expected; a longer one makes the worker's buffer grow
    /// @param scores gets one score per frame, on the thread that calls the worker
    public MotionWorker(
            final DeviceBackend device,
            final long frameMaxBytes,
            final int threshold,
            final Consumer<MotionScore> scores) {
        if (threshold < 0 || threshold > 255) {
            throw new IllegalArgumentException("motion threshold: expected 0 to 255, got " + threshold);
        }
        this.device = device;
        this.scores = scores;
        this.threshold = threshold;
        stream = device.openStream();
        kernel = device.load(MotionKernel.source());
        results = device.allocate((long) IN_FLIGHT_MAX * MotionKernel.RESULT_BYTES);
        resultsBack = device.allocatePinned((long) IN_FLIGHT_MAX * MotionKernel.RESULT_BYTES);
        previous = device.allocate(frameMaxBytes);
        for (int i = 0; i < IN_FLIGHT_MAX; i++) {
            done[i] = device.openEvent();
        }
    }

    /// Enqueues the work for a frame and releases it: its slots go back when the device has read it.
    @Override
    public void onFrame(final DeviceFrame frame) {
        observe(frame);
        frame.release(stream);
        poll();
    }

    /// Enqueues the work for a frame that stays the caller's. The frame must not be closed before [#drain], nor
    /// released on another stream.
    public void observe(final DeviceFrame frame) {
        if (enqueued - reported == IN_FLIGHT_MAX) {
            reportOldest();
        }
        final DeviceRegion current = frame.region();
        final int slot = (int) (enqueued % IN_FLIGHT_MAX);
        final long resultOffset = (long) slot * MotionKernel.RESULT_BYTES;
        final long result = results.address() + resultOffset;
        final long bytes = Math.min(frame.length(), previousBytes);
        frameIds[slot] = frame.frameId();
        comparedBytes[slot] = bytes;
        stream.await(frame.ready());
        stream.fill(result, (byte) 0, MotionKernel.RESULT_BYTES);
        if (bytes > 0) {
            stream.launch(
                    kernel,
                    blocks(bytes),
                    BLOCK_THREADS,
                    current.address(),
                    previous.address(),
                    bytes,
                    threshold,
                    result);
        }
        keep(current.address(), frame.length());
        stream.copyToHost(resultsBack, resultOffset, result, MotionKernel.RESULT_BYTES);
        stream.record(done[slot]);
        enqueued++;
    }

    private static int blocks(final long bytes) {
        final long blockBytes = BLOCK_THREADS * THREAD_BYTES;
        return (int) Math.min(GRID_BLOCKS_MAX, (bytes + blockBytes - 1) / blockBytes);
    }

    private void keep(final long address, final long bytes) {
        if (bytes > previous.bytes()) {
            // Freeing waits for the kernel that still reads the old buffer.
            device.free(previous);
            previous = device.allocate(bytes);
        }
        stream.copyWithin(previous.address(), address, bytes);
        previousBytes = bytes;
    }

    /// Reports the scores that have come back. Never blocks.
    ///
    /// @return how many
    public int poll() {
        int count = 0;
        while (reported < enqueued && done[(int) (reported % IN_FLIGHT_MAX)].isComplete()) {
            reportOldest();
            count++;
        }
        return count;
    }

    /// Waits for all scores and reports them.
    public void drain() {
        while (reported < enqueued) {
            reportOldest();
        }
    }

    private void reportOldest() {
        final int slot = (int) (reported % IN_FLIGHT_MAX);
        done[slot].synchronize();
        final long changed = resultsBack.getAtIndex(ValueLayout.JAVA_LONG, 2L * slot);
        final long sum = resultsBack.getAtIndex(ValueLayout.JAVA_LONG, 2L * slot + 1);
        reported++;
        scores.accept(new MotionScore(frameIds[slot], comparedBytes[slot], changed, sum));
    }

    /// Waits for the work enqueued and frees the worker's objects; scores not reported are dropped. Idempotent.
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        stream.close();
        for (final DeviceEvent event : done) {
            event.close();
        }
        device.free(results);
        device.free(previous);
        device.freePinned(resultsBack);
    }
}
