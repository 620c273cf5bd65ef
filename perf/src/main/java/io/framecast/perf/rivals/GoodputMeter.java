package io.framecast.perf.rivals;

import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.FramesDifferException;
import io.framecast.perf.harness.ProcessCost;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/// The measurements of a receiver: payload of the frames due after the warm-up, over the time from the first
/// of these to the last frame in place; their latencies; frames that never came.
final class GoodputMeter {
    private static final long LATENCY_NS_MAX = TimeUnit.HOURS.toNanos(1);
    private static final int DIGITS = 3;

    private final long warmUpNs;
    private final ProcessCost cost = new ProcessCost("");
    private final Histogram latencies = new Histogram(LATENCY_NS_MAX, DIGITS);
    private final boolean sums;
    private final long innerSum;
    private final long windowNs;
    private final List<ReceiverReport.Window> windows = new ArrayList<>();
    private final Histogram windowLatencies = new Histogram(LATENCY_NS_MAX, DIGITS);
    private long windowEndNs;
    private long windowBytes;
    private long windowCompileNs;
    private long nextNumber;
    private long lostFrames;
    private boolean started;
    private boolean last;
    private long streamNs;
    private long frames;
    private long bytes;
    private long firstNs;
    private long placedNs;
    private long lastNs;

    GoodputMeter(final StreamSpec spec) {
        warmUpNs = spec.load().warmUpNs();
        windowNs = spec.load().windowNs();
        sums = spec.load().readers().areSumming();
        innerSum = sums ? FrameContent.innerSum(spec.load().frameBytes()) : 0;
    }

    /// A whole frame is in place, contiguous.
    ///
    /// @throws FramesDifferException when it is torn, or came twice or out of order
    void onFrame(final MemorySegment frame) {
        onFrame(frame, System.nanoTime());
    }

    /// @param readyNs when it was in place, if the reader has it from elsewhere
    void onFrame(final MemorySegment frame, final long readyNs) {
        final FrameContent.Stamp stamp = FrameContent.read(frame, 0);
        final long frameBytes = frame.byteSize();
        FrameContent.requireEnd(frame.asSlice(frameBytes - Long.BYTES), frameBytes, stamp);
        onFrame(stamp.number(), stamp.dueNs(), frameBytes, readyNs);
        if (sums) {
            FrameContent.requireSum(frame, innerSum, stamp);
        }
        last = stamp.is(FrameContent.Stamp.LAST);
    }

    /// A whole frame is in place.
    void onFrame(final long number, final long dueNs, final long frameBytes) {
        onFrame(number, dueNs, frameBytes, System.nanoTime());
    }

    private void onFrame(final long number, final long dueNs, final long frameBytes, final long readyNs) {
        if (number < nextNumber) {
            throw new FramesDifferException("frame " + number + " came where " + nextNumber + " was due");
        }
        lostFrames += number - nextNumber;
        nextNumber = number + 1;
        if (!started) {
            started = true;
            streamNs = dueNs;
        }
        if (dueNs - streamNs >= warmUpNs) {
            lastNs = readyNs;
            if (frames == 0) {
                firstNs = dueNs;
                placedNs = lastNs;
                windowEndNs = lastNs + windowNs;
                windowCompileNs = ProcessCost.totalCompileNs();
                cost.begin();
            }
            final long latencyNs = Math.clamp(lastNs - dueNs, 0, LATENCY_NS_MAX);
            latencies.recordValue(latencyNs);
            if (windowNs > 0) {
                closeWindows();
                windowLatencies.recordValue(latencyNs);
                windowBytes += frameBytes;
            }
            frames++;
            bytes += frameBytes;
        }
    }

    // Those that ended before the frame that is in place now.
    private void closeWindows() {
        for (; lastNs >= windowEndNs; windowEndNs += windowNs) {
            final long compileNs = ProcessCost.totalCompileNs();
            windows.add(new ReceiverReport.Window(
                    windowBytes, windowLatencies.getValueAtPercentile(99), compileNs - windowCompileNs));
            windowCompileNs = compileNs;
            windowLatencies.reset();
            windowBytes = 0;
        }
    }

    /// Whether the last frame has come.
    boolean hasLast() {
        return last;
    }

    /// The stream has ended.
    ///
    /// @param publishedFrames how many there were
    void onEnd(final long publishedFrames) {
        lostFrames += Math.max(0, publishedFrames - nextNumber);
        nextNumber = Math.max(nextNumber, publishedFrames);
    }

    ReceiverReport report() {
        final ProcessCost.Spent spent = frames > 0 ? cost.end() : ProcessCost.Spent.NOTHING;
        return new ReceiverReport(
                frames,
                bytes,
                lostFrames,
                firstNs,
                lastNs,
                spent.cpuNs(),
                spent.compileNs(),
                ReceiverReport.encode(latencies),
                placedNs,
                windows,
                ReceiverReport.Footprint.NONE);
    }
}
