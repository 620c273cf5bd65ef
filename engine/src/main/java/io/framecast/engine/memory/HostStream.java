package io.framecast.engine.memory;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceResources;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// A stream whose work is done when the call that enqueues it returns.
final class HostStream implements DeviceStream {
    private final HostBackend backend;
    private final HostMemoryTable memory;
    private boolean closed;

    HostStream(final HostBackend backend, final HostMemoryTable memory) {
        this.backend = backend;
        this.memory = memory;
    }

    @Override
    public void copyToDevice(
            final long deviceAddress, final MemorySegment source, final long sourceOffset, final long bytes) {
        requireOpen();
        Objects.checkFromIndexSize(sourceOffset, bytes, source.byteSize());
        final HostMemoryTable.Range target = memory.find(deviceAddress, bytes);
        MemorySegment.copy(source, sourceOffset, target.segment(), deviceAddress - target.start(), bytes);
    }

    @Override
    public void copyToHost(
            final MemorySegment target, final long targetOffset, final long deviceAddress, final long bytes) {
        requireOpen();
        Objects.checkFromIndexSize(targetOffset, bytes, target.byteSize());
        final HostMemoryTable.Range source = memory.find(deviceAddress, bytes);
        MemorySegment.copy(source.segment(), deviceAddress - source.start(), target, targetOffset, bytes);
    }

    @Override
    public void copyWithin(final long targetAddress, final long sourceAddress, final long bytes) {
        requireOpen();
        final HostMemoryTable.Range source = memory.find(sourceAddress, bytes);
        final HostMemoryTable.Range target = memory.find(targetAddress, bytes);
        MemorySegment.copy(
                source.segment(),
                sourceAddress - source.start(),
                target.segment(),
                targetAddress - target.start(),
                bytes);
    }

    @Override
    public void fill(final long deviceAddress, final byte value, final long bytes) {
        requireOpen();
        memory.at(deviceAddress, bytes).fill(value);
    }

    @Override
    public void record(final DeviceEvent event) {
        requireOpen();
        hostEvent(event).publish();
    }

    @Override
    public void await(final DeviceEvent event) {
        requireOpen();
        hostEvent(event).synchronize();
    }

    private static HostEvent hostEvent(final DeviceEvent event) {
        if (event instanceof HostEvent own) {
            return own;
        }
        throw new IllegalArgumentException("host: expected an event of a host device, got " + event.getClass());
    }

    @Override
    public void launch(
            final DeviceKernel kernel, final int gridBlocks, final int blockThreads, final long... arguments) {
        requireOpen();
        if (!(kernel instanceof HostKernel own)) {
            throw new IllegalArgumentException("host: expected a kernel of a host device, got " + kernel.getClass());
        }
        own.emulation().run(memory, gridBlocks, blockThreads, arguments);
    }

    @Override
    public void synchronize() {
        requireOpen();
    }

    private void requireOpen() {
        backend.requireOpen();
        if (closed) {
            throw new DeviceException("host: the stream is closed; open another");
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            backend.resources().give(DeviceResources.Kind.STREAMS, 1);
        }
    }
}
