package io.framecast.samples;

import io.framecast.api.DeviceFrame;
import java.util.Map;

/// Computes on frames where they lie, in device memory. `framecast subscribe --worker NAME` runs it. Used by one
/// thread.
public interface FrameWorker extends AutoCloseable {
    /// Takes one frame, in publishing order. The frame is only lent: the worker neither closes nor releases it, and
    /// everything it enqueued that reads the frame is done when this returns.
    void onFrame(DeviceFrame frame);

    /// The results so far, for the report: JSON values (String, Number, Boolean, List, Map) by snake_case key, in
    /// the order in which they are to be shown.
    Map<String, Object> summary();

    /// Frees the worker's memory on the device, before the subscriber that owns the device is closed.
    @Override
    void close();
}
