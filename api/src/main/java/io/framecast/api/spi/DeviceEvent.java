package io.framecast.api.spi;

/// A point in a stream's work. Reusable; owned by the thread that opened it.
public interface DeviceEvent extends AutoCloseable {
    /// Whether the work recorded last is done. Never blocks. True for an event never recorded.
    boolean isComplete();

    /// Waits until [#isComplete]. Writes of the recorded work are then visible to this thread and to work launched
    /// afterwards.
    void synchronize();

    @Override
    void close();
}
