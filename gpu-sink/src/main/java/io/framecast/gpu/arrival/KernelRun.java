package io.framecast.gpu.arrival;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import org.jspecify.annotations.Nullable;

/// The kernel of an arrival ring: its stream, its memory on the device, and whether it runs.
///
/// Used by one thread.
final class KernelRun {
    private final DeviceBackend device;
    private final DeviceStream stream;
    private final DeviceEvent ended;
    private String name = "kernel";
    private boolean launched;
    private @Nullable DeviceRegion state;
    private @Nullable KernelSource loadedSource;
    private @Nullable DeviceKernel loaded;

    KernelRun(final DeviceBackend device) {
        this.device = device;
        stream = device.openStream();
        try {
            ended = device.openEvent();
        } catch (final RuntimeException e) {
            stream.close();
            throw e;
        }
    }

    String name() {
        return name;
    }

    /// @throws DeviceException when the kernel failed
    boolean isRunning() {
        if (launched && ended.isComplete()) {
            launched = false;
        }
        return launched;
    }

    /// The kernel's memory, for that many bytes.
    DeviceRegion state(final long bytes) {
        final DeviceRegion before = state;
        if (before != null && before.bytes() == bytes) {
            return before;
        }
        if (before != null) {
            state = null;
            device.free(before);
        }
        final DeviceRegion made = device.allocate(bytes);
        state = made;
        return made;
    }

    void launch(
            final KernelSource source,
            final long memoryBytes,
            final int gridBlocks,
            final int blockThreads,
            final long[] all) {
        final DeviceKernel known = loaded;
        final DeviceKernel kernel = known != null && source.equals(loadedSource) ? known : device.load(source);
        loaded = kernel;
        loadedSource = source;
        name = source.name();
        final DeviceRegion memory = state(memoryBytes);
        stream.fill(memory.address(), (byte) 0, memory.bytes());
        stream.launch(kernel, gridBlocks, blockThreads, all);
        stream.record(ended);
        launched = true;
    }

    /// After the kernel's end, or the device's.
    void close() {
        final DeviceRegion memory = state;
        state = null;
        try {
            if (memory != null) {
                device.free(memory);
            }
        } finally {
            try {
                ended.close();
            } finally {
                stream.close();
            }
        }
    }
}
