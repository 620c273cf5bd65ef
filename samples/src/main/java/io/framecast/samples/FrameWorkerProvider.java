package io.framecast.samples;

import io.framecast.api.spi.DeviceBackend;

/// Makes workers of one kind. Found with `ServiceLoader`: to add a worker, name its provider in
/// `META-INF/services/io.framecast.samples.FrameWorkerProvider`.
public interface FrameWorkerProvider {
    /// The word behind `--worker`.
    String name();

    /// Opens a worker on the device that receives the subscriber's frames. The device stays the subscriber's.
    FrameWorker open(DeviceBackend device);
}
