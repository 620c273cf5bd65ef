package io.framecast.api.spi;

/// A daemon thread that runs only work of the engine, so a device may leave its own state (a CUDA context) current
/// on it. On every other thread a [DeviceBackend] restores the state that it found.
public final class EngineThread extends Thread {
    /// The caller names and starts the thread.
    public EngineThread(final Runnable task) {
        super(task);
        setDaemon(true);
    }
}
