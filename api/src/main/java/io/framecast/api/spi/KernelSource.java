package io.framecast.api.spi;

import java.util.function.Supplier;

/// One kernel in the forms that backends need: PTX for a GPU, Java for the emulated device. Both must compute the same
/// bytes.
///
/// @param name entry point in the PTX
/// @param ptx gives the PTX text; asked for only by a backend that runs PTX
/// @param emulation the same computation on host-addressable memory
public record KernelSource(String name, Supplier<byte[]> ptx, Emulation emulation) {
    /// A kernel in Java: runs once for the whole grid, on the emulated device's own thread, in stream order.
    @FunctionalInterface
    public interface Emulation {
        /// @param memory resolves device addresses to memory
        /// @param gridBlocks blocks in the grid
        /// @param blockThreads threads in a block
        /// @param arguments as given to [DeviceStream#launch]
        void run(DeviceMemory memory, int gridBlocks, int blockThreads, long[] arguments);
    }

    /// Device memory as an emulated kernel sees it.
    @FunctionalInterface
    public interface DeviceMemory {
        /// The `bytes` bytes at a device address; bounds-checked against the allocation.
        java.lang.foreign.MemorySegment at(long deviceAddress, long bytes);
    }
}
