package io.framecast.api.spi;

/// A daemon thread that is the engine's own: nobody else's work runs there, and what a device makes current on
/// it (a CUDA context) may stay so. On every other thread a [DeviceBackend] leaves what it found.
public final class EngineThread extends Thread {
    /// Named and started by whoever runs the task.
    public EngineThread(final Runnable task) {
        super(task);
        setDaemon(true);
    }
}
