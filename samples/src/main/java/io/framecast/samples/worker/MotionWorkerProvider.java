package io.framecast.samples.worker;

import io.framecast.api.DeviceFrame;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.samples.FrameWorker;
import io.framecast.samples.FrameWorkerProvider;
import java.util.LinkedHashMap;
import java.util.Map;

/// `framecast subscribe --worker motion`.
public final class MotionWorkerProvider implements FrameWorkerProvider {
    // The worker's buffer grows to the frames that come.
    private static final long FRAME_BYTES_EXPECTED = 1 << 20;

    @Override
    public String name() {
        return "motion";
    }

    @Override
    public FrameWorker open(final DeviceBackend device) {
        return new Totals(device);
    }

    /// Adds up the scores. The frames are lent, so each is waited for; a program that owns its frames uses
    /// [MotionWorker#onFrame] and waits for nothing.
    private static final class Totals implements FrameWorker {
        private final DeviceBackend device;
        private final MotionWorker worker;
        private long frames;
        private long comparedBytes;
        private long changedBytes;
        private long differenceSum;
        private double changedShareMax;

        Totals(final DeviceBackend device) {
            this.device = device;
            worker = new MotionWorker(device, FRAME_BYTES_EXPECTED, MotionWorker.THRESHOLD_DEFAULT, this::add);
        }

        private void add(final MotionScore score) {
            frames++;
            comparedBytes += score.comparedBytes();
            changedBytes += score.changedBytes();
            differenceSum += score.differenceSum();
            changedShareMax = Math.max(changedShareMax, score.changedShare());
        }

        @Override
        public void onFrame(final DeviceFrame frame) {
            worker.observe(frame);
            worker.drain();
        }

        @Override
        public Map<String, Object> summary() {
            final Map<String, Object> summary = new LinkedHashMap<>();
            summary.put("device", device.name());
            summary.put("frames", frames);
            summary.put("compared_bytes", comparedBytes);
            summary.put("changed_bytes", changedBytes);
            summary.put("difference_sum", differenceSum);
            summary.put("changed_share_max", changedShareMax);
            return summary;
        }

        @Override
        public void close() {
            worker.close();
        }
    }
}
