package io.framecast.api.spi;

import java.lang.foreign.MemorySegment;

/// An in-order queue of device work. Methods enqueue and return; nothing here blocks but [#synchronize].
///
/// Host memory named in a copy must stay valid and unchanged until the copy is done: record an event behind it.
public interface DeviceStream extends AutoCloseable {
    /// Host to device, `bytes` from `source` at `sourceOffset`. Asynchronous when the source is pinned or registered.
    void copyToDevice(long deviceAddress, MemorySegment source, long sourceOffset, long bytes);

    /// Device to host.
    void copyToHost(MemorySegment target, long targetOffset, long deviceAddress, long bytes);

    /// Within the device; ranges must not overlap.
    void copyWithin(long targetAddress, long sourceAddress, long bytes);

    /// Sets `bytes` bytes to `value`.
    void fill(long deviceAddress, byte value, long bytes);

    /// The event completes when everything enqueued here before is done. Re-recording an event replaces the work
    /// that it stands for.
    void record(DeviceEvent event);

    /// Work enqueued here afterwards starts only when the event, as recorded so far, is complete.
    void await(DeviceEvent event);

    /// Launches a kernel. Arguments are passed as 64-bit values: device addresses, lengths and counts.
    ///
    /// @param gridBlocks blocks in the grid (x)
    /// @param blockThreads threads in a block (x)
    /// @throws io.framecast.api.error.DeviceException when the grid of a persistent kernel does not fit on
    ///     the device beside other persistent kernels of this process: the line says how many blocks do
    void launch(DeviceKernel kernel, int gridBlocks, int blockThreads, long... arguments);

    /// Waits until everything enqueued is done.
    void synchronize();

    /// Waits for enqueued work, then frees the stream. Idempotent.
    @Override
    void close();
}
