package io.framecast.api.spi;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.function.Supplier;

/// One kernel in the forms that backends need: PTX for a GPU, Java for the emulated device. Both must compute
/// the same bytes.
///
/// Immutable; any thread. A backend may ask for the PTX more than once, and must not change the array.
///
/// @param name entry point in the PTX
/// @param ptx gives the PTX text; asked for only by a backend that runs PTX
/// @param emulation the same computation on host-addressable memory
/// @param persistent whether the kernel runs until the host asks it to end, beside copies and other kernels: its
///     emulation then has a thread of its own
public record KernelSource(String name, Supplier<byte[]> ptx, Emulation emulation, boolean persistent) {
    /// A kernel that ends by itself, soon.
    public KernelSource(final String name, final Supplier<byte[]> ptx, final Emulation emulation) {
        this(name, ptx, emulation, false);
    }

    /// A kernel that lives on its own, such as one that waits for an [io.framecast.api.Arrival]. All its blocks
    /// must fit on the device at once, beside the blocks of other persistent kernels: else its launch is refused.
    public static KernelSource persistent(final String name, final Supplier<byte[]> ptx, final Emulation emulation) {
        return new KernelSource(name, ptx, emulation, true);
    }

    /// PTX that lies beside the classes of a program.
    ///
    /// @param owner a class of the jar that holds the resource
    /// @param resource name, as [Class#getResourceAsStream] takes it
    /// @return gives the text; throws [IllegalStateException] where the jar lacks it
    public static Supplier<byte[]> resource(final Class<?> owner, final String resource) {
        return () -> {
            try (InputStream in = owner.getResourceAsStream(resource)) {
                if (in == null) {
                    throw new IllegalStateException("the jar lacks " + resource);
                }
                return in.readAllBytes();
            } catch (final IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }

    /// A kernel in Java: runs once for the whole grid, on the emulated device's own thread, in stream order.
    /// A persistent one has a thread of its own, which is interrupted when the device is closed.
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
        /// The `bytes` bytes at a device address, or at the address of pinned memory; bounds-checked against
        /// the allocation.
        java.lang.foreign.MemorySegment at(long deviceAddress, long bytes);
    }
}
