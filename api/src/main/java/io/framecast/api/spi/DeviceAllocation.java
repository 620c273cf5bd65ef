package io.framecast.api.spi;

import io.framecast.api.error.DeviceException;
import java.util.Optional;

/// One allocation of device memory, as the device's driver knows it, from when it was made until it is freed. It equals
/// no other one, also where a later one has its address. So a NIC's registration is never used for memory that took
/// its place.
///
/// Threading: any thread.
public interface DeviceAllocation {
    /// Whether it has not been freed. May call the driver: never on the data path.
    boolean isAlive();

    /// Exports a part of it, to be registered by a NIC.
    ///
    /// @return empty where NICs know the device's memory by address, or cannot reach it
    /// @throws DeviceException when the driver refuses
    default Optional<DmaBuf> export(final long address, final long bytes) {
        return Optional.empty();
    }

    /// An export. What was registered stays so when this is closed.
    ///
    /// @param descriptor of a dma-buf
    /// @param offset of the part's first byte in it
    /// @param closing closes the descriptor
    record DmaBuf(int descriptor, long offset, Runnable closing) implements AutoCloseable {
        @Override
        public void close() {
            closing.run();
        }
    }
}
