package io.framecast.samples.tool;

import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// A queue that runs at `synchronize`.
final class FakeStream implements DeviceStream {
    private final FakeDevice device;
    private final List<Runnable> work = new ArrayList<>();
    private boolean awaited;

    FakeStream(final FakeDevice device) {
        this.device = device;
    }

    void enqueue(final Runnable task) {
        work.add(task);
    }

    @Override
    public void copyToDevice(
            final long deviceAddress, final MemorySegment source, final long sourceOffset, final long bytes) {
        throw new UnsupportedOperationException("not needed by the commands");
    }

    @Override
    public void copyToHost(
            final MemorySegment target, final long targetOffset, final long deviceAddress, final long bytes) {
        if (!awaited) {
            throw new IllegalStateException("copy of a frame whose ready event was not awaited");
        }
        awaited = false;
        work.add(() -> MemorySegment.copy(device.memory(deviceAddress, bytes), 0, target, targetOffset, bytes));
    }

    @Override
    public void copyWithin(final long targetAddress, final long sourceAddress, final long bytes) {
        throw new UnsupportedOperationException("not needed by the commands");
    }

    @Override
    public void fill(final long deviceAddress, final byte value, final long bytes) {
        throw new UnsupportedOperationException("not needed by the commands");
    }

    @Override
    public void record(final DeviceEvent event) {}

    @Override
    public void await(final DeviceEvent event) {
        awaited = true;
    }

    @Override
    public void launch(
            final DeviceKernel kernel, final int gridBlocks, final int blockThreads, final long... arguments) {
        throw new UnsupportedOperationException("not needed by the commands");
    }

    @Override
    public void synchronize() {
        work.forEach(Runnable::run);
        work.clear();
    }

    @Override
    public void close() {
        synchronize();
    }
}
