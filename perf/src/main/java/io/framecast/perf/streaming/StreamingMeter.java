package io.framecast.perf.streaming;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.perf.harness.BackgroundLoad;
import io.framecast.perf.harness.FrameComparison;
import io.framecast.perf.harness.FrameContent.Stamp;
import io.framecast.perf.harness.FramesDifferException;
import io.framecast.perf.harness.LinkMeter;
import io.framecast.perf.harness.ProcessCost;
import io.framecast.perf.harness.ProcessUse;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/// The measurements of a receiver, and its proof that frames equal those sent: the front and the end of
/// each are read from the device, and all of some that do not count. Used by one thread.
final class StreamingMeter implements AutoCloseable {
    private static final long LATENCY_MAX_NS = TimeUnit.MINUTES.toNanos(10);
    private static final int DIGITS = 3;
    private static final double NS_PER_US = 1e3;

    private final DeviceBackend device;
    private final Acknowledgements.Sending acknowledgements;
    private final BackgroundLoad background;
    private final ProcessCost cost = new ProcessCost("");
    private final LinkMeter link;
    private LinkMeter.Carried carried = LinkMeter.Carried.NOTHING;
    private long linkFrames;
    private final FrameComparison comparison;
    private final Histogram lone = new Histogram(LATENCY_MAX_NS, DIGITS);
    private final long frameBytes;
    private long next;
    private long checked;
    private long frames;
    private long firstNs;
    private long lastNs;
    private boolean measuring;
    private double compilingShare;
    private final boolean slow;
    private final long slowNs;
    private long taken;
    private ProcessUse use = ProcessUse.NOTHING;

    StreamingMeter(
            final StreamingSpec spec,
            final DeviceBackend device,
            final Acknowledgements.Sending acknowledgements,
            final BackgroundLoad background) {
        this.device = device;
        this.acknowledgements = acknowledgements;
        this.background = background;
        frameBytes = spec.frameBytes();
        slow = spec.isSlow();
        slowNs = slow ? spec.slowNs() : 0;
        if (slow) {
            // The source is held back by its delivery alone.
            acknowledgements.acknowledge(Long.MAX_VALUE);
        }
        link = spec.linkMeter();
        comparison = new FrameComparison(device, frameBytes);
    }

    /// A whole frame is in the device's memory, and stays there until this returns.
    ///
    /// @param readyNs when it was
    /// @return whether it was the last
    /// @throws FramesDifferException when it is not what was sent, or came twice or out of order, or one is
    ///     missing
    boolean onFrame(final DeviceRegion region, final long readyNs) {
        final Stamp stamp = comparison.front(region);
        if (slow ? stamp.number() < next : stamp.number() != next) {
            throw new FramesDifferException("frame " + stamp.number() + " came where " + next + " was due");
        }
        next = stamp.number() + 1;
        taken++;
        if (stamp.is(Stamp.CHECKED)) {
            comparison.requireSame(region, stamp);
            checked++;
        }
        count(stamp, readyNs);
        if (slow) {
            hold();
        } else {
            acknowledgements.acknowledge(stamp.number());
        }
        return stamp.is(Stamp.LAST);
    }

    private void hold() {
        final long endNs = System.nanoTime() + slowNs;
        for (long left = slowNs; left > 0; left = endNs - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private void count(final Stamp stamp, final long readyNs) {
        final boolean counts = stamp.is(Stamp.LONE) || stamp.is(Stamp.COUNTED);
        if (counts && !measuring) {
            measuring = true;
            link.begin();
            background.begin();
            cost.begin();
        }
        if (stamp.is(Stamp.LONE)) {
            lone.recordValue(Math.clamp(readyNs - stamp.dueNs(), 0, LATENCY_MAX_NS));
            // The source sends nothing more until this one is acknowledged.
            link.begin();
        }
        if (stamp.is(Stamp.COUNTED)) {
            if (frames == 0) {
                firstNs = stamp.dueNs();
            }
            frames++;
            lastNs = readyNs;
        }
        if (measuring && !counts) {
            measuring = false;
            carried = link.end();
            linkFrames = frames + 1;
            background.end();
            final ProcessCost.Spent spent = cost.end();
            compilingShare = spent.compilingShare();
            use = ProcessUse.of(spent);
        }
    }

    /// @param placement how frames came into the device
    ReceivedReport report(final String placement) {
        return new ReceivedReport(
                device.name(),
                placement,
                frames,
                checked,
                lastNs > firstNs ? frames * frameBytes * 1e3 / (lastNs - firstNs) : 0,
                latencyUs(50),
                latencyUs(99),
                background.achievedMBps(),
                compilingShare,
                linkFrames,
                carried,
                taken,
                use);
    }

    private double latencyUs(final double percent) {
        return lone.getTotalCount() == 0 ? -1 : lone.getValueAtPercentile(percent) / NS_PER_US;
    }

    @Override
    public void close() {
        comparison.close();
    }
}
