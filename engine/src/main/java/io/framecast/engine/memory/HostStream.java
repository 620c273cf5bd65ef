package io.framecast.engine.memory;

import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import java.lang.foreign.MemorySegment;

/// A stream of [HostBackend]: everything is done when the call returns.
final class HostStream implements DeviceStream {
    static final DeviceEvent COMPLETE = new CompleteEvent();

    /// A kernel in Java.
    record HostKernel(KernelSource source) implements DeviceKernel {
        @Override
        public String name() {
            return source.name();
        }
    }

    /// Host work is done before it could be waited for.
    private static final class CompleteEvent implements DeviceEvent {
        @Override
        public boolean isComplete() {
            return true;
        }

        @Override
        public void synchronize() {
            // Complete already.
        }

        @Override
        public void close() {
            // Shared by all, owns nothing.
        }
    }

    @Override
    public void copyToDevice(
            final long deviceAddress, final MemorySegment source, final long sourceOffset, final long bytes) {
        MemorySegment.copy(source, sourceOffset, SegmentViews.ofAddress(deviceAddress, bytes), 0, bytes);
    }

    @Override
    public void copyToHost(
            final MemorySegment target, final long targetOffset, final long deviceAddress, final long bytes) {
        MemorySegment.copy(SegmentViews.ofAddress(deviceAddress, bytes), 0, target, targetOffset, bytes);
    }

    @Override
    public void copyWithin(final long targetAddress, final long sourceAddress, final long bytes) {
        MemorySegment.copy(
                SegmentViews.ofAddress(sourceAddress, bytes),
                0,
                SegmentViews.ofAddress(targetAddress, bytes),
                0,
                bytes);
    }

    @Override
    public void fill(final long deviceAddress, final byte value, final long bytes) {
        SegmentViews.ofAddress(deviceAddress, bytes).fill(value);
    }

    @Override
    public void record(final DeviceEvent event) {
        // Everything before is done.
    }

    @Override
    public void await(final DeviceEvent event) {
        event.synchronize();
    }

    @Override
    public void launch(
            final DeviceKernel kernel, final int gridBlocks, final int blockThreads, final long... arguments) {
        if (!(kernel instanceof HostKernel hostKernel)) {
            throw new IllegalArgumentException("kernel " + kernel.name() + " was loaded by another device");
        }
        hostKernel.source().emulation().run(SegmentViews::ofAddress, gridBlocks, blockThreads, arguments);
    }

    @Override
    public void synchronize() {
        // Everything is done.
    }

    @Override
    public void close() {
        // Owns nothing.
    }
}
