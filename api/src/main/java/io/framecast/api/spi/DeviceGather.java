package io.framecast.api.spi;

/// Copies many pieces within a device, on one stream: where a kernel does so sooner than one copy for each
/// piece, by that. One thread, the stream's.
public interface DeviceGather {
    /// Each piece by a copy of its own, enqueued at once.
    static DeviceGather byCopies(final DeviceStream stream) {
        return new DeviceGather() {
            @Override
            public void add(final long targetAddress, final long sourceAddress, final long bytes) {
                stream.copyWithin(targetAddress, sourceAddress, bytes);
            }

            @Override
            public void flush() {
                // Nothing waits.
            }
        };
    }

    /// A piece that is copied by the next [#flush], or sooner. Pieces of one flush must not
    /// overlap in the memory that they write.
    void add(long targetAddress, long sourceAddress, long bytes);

    /// Everything that was added is enqueued when this returns.
    void flush();
}
