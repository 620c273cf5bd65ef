package io.framecast.api.spi;

import java.lang.foreign.MemorySegment;

/// Device memory as the CPU stores into it and reads from it, through the bus. Stores are fast for short
/// runs; reads are slow, a thousandth of that on some machines.
///
/// Nothing orders these accesses against the device's streams: the caller must ensure that no copy or kernel
/// touches the same bytes meanwhile.
///
/// Threading: one thread at a time. Closed before the memory is freed.
public interface DeviceMapping extends AutoCloseable {
    /// Stores into device memory. When it returns, work that starts on the device from now on sees the bytes.
    void write(long offset, MemorySegment source, long sourceOffset, long bytes);

    /// Reads from device memory.
    void read(long offset, MemorySegment target, long targetOffset, long bytes);

    /// Idempotent.
    @Override
    void close();
}
