package io.framecast.gpu.emulated;

import io.framecast.api.spi.KernelSource;
import org.jspecify.annotations.Nullable;

/// A persistent kernel on its own thread, so that copies and other kernels go on beside it.
final class KernelThread {
    private final Thread thread;
    private volatile boolean done;
    private volatile @Nullable Throwable failure;

    /// Starts the kernel.
    ///
    /// @param onEnd called on the kernel's thread when it has ended
    KernelThread(
            final Command command,
            final EmulatedKernel kernel,
            final KernelSource.DeviceMemory memory,
            final Runnable onEnd) {
        final int gridBlocks = command.gridBlocks;
        final int blockThreads = command.blockThreads;
        final long[] arguments = command.arguments;
        thread = Thread.ofPlatform()
                .daemon()
                .name("framecast-emulated-kernel-" + kernel.name())
                .start(() -> {
                    try {
                        kernel.emulation().run(memory, gridBlocks, blockThreads, arguments);
                    } catch (final Throwable e) {
                        // The DMA thread reports it, and breaks the device.
                        failure = e;
                    } finally {
                        done = true;
                        onEnd.run();
                    }
                });
    }

    boolean isDone() {
        return done;
    }

    /// The exception that ended the kernel, or null.
    @Nullable
    Throwable failure() {
        return failure;
    }

    /// Asks the kernel to end and waits that long for it: a real one cannot be asked, and is waited for
    /// without end.
    void end(final long millis) {
        thread.interrupt();
        try {
            thread.join(millis);
        } catch (final InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
