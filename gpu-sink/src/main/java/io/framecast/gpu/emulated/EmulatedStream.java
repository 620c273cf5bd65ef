package io.framecast.gpu.emulated;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceResources;
import io.framecast.api.spi.DeviceStream;
import io.framecast.gpu.device.AllocationTable.Allocation;
import io.framecast.gpu.device.HostBounds;
import java.lang.foreign.MemorySegment;

/// A stream of an [EmulatedDevice]: checks each call where it is made, then hands it to the DMA thread through a ring.
/// Enqueuing allocates nothing; it waits only when the ring is full, until a quarter of it is done.
final class EmulatedStream implements DeviceStream {
    private final EmulatedDevice device;
    private final CommandRing ring;
    private volatile boolean closed;

    EmulatedStream(final EmulatedDevice device, final CommandRing ring) {
        this.device = device;
        this.ring = ring;
    }

    @Override
    public void copyToDevice(
            final long deviceAddress, final MemorySegment source, final long sourceOffset, final long bytes) {
        checkHost(source, sourceOffset, bytes);
        final Allocation target = device.resolve("copyToDevice", deviceAddress, bytes);
        final long targetOffset = deviceAddress - target.address();
        copy(Command.Kind.TO_DEVICE, source, sourceOffset, target.backing(), targetOffset, bytes);
    }

    @Override
    public void copyToHost(
            final MemorySegment target, final long targetOffset, final long deviceAddress, final long bytes) {
        checkHost(target, targetOffset, bytes);
        final Allocation source = device.resolve("copyToHost", deviceAddress, bytes);
        if (target.isReadOnly()) {
            throw new DeviceException(device.name() + ": copyToHost into read-only memory; pass a writable segment");
        }
        final long sourceOffset = deviceAddress - source.address();
        copy(Command.Kind.TO_HOST, source.backing(), sourceOffset, target, targetOffset, bytes);
    }

    @Override
    public void copyWithin(final long targetAddress, final long sourceAddress, final long bytes) {
        final Allocation target = device.resolve("copyWithin", targetAddress, bytes);
        final Allocation source = device.resolve("copyWithin", sourceAddress, bytes);
        final long sourceOffset = sourceAddress - source.address();
        final long targetOffset = targetAddress - target.address();
        copy(Command.Kind.WITHIN, source.backing(), sourceOffset, target.backing(), targetOffset, bytes);
    }

    private void copy(
            final Command.Kind kind,
            final MemorySegment source,
            final long sourceOffset,
            final MemorySegment target,
            final long targetOffset,
            final long bytes) {
        final Command command = claim();
        command.kind = kind;
        command.source = source;
        command.sourceOffset = sourceOffset;
        command.target = target;
        command.targetOffset = targetOffset;
        command.bytes = bytes;
        publish();
    }

    @Override
    public void fill(final long deviceAddress, final byte value, final long bytes) {
        final Allocation target = device.resolve("fill", deviceAddress, bytes);
        final Command command = claim();
        command.kind = Command.Kind.FILL;
        command.target = target.backing();
        command.targetOffset = deviceAddress - target.address();
        command.value = value;
        command.bytes = bytes;
        publish();
    }

    @Override
    public void record(final DeviceEvent event) {
        checkOpen();
        ours(event).mark(ring.slot(), ring.enqueued());
    }

    @Override
    public void await(final DeviceEvent event) {
        final long mark = ours(event).mark();
        checkOpen();
        if (device.dma().isReached(mark) || EmulatedEvent.slotOf(mark) == ring.slot()) {
            return;
        }
        final Command command = claim();
        command.kind = Command.Kind.AWAIT;
        command.mark = mark;
        command.bytes = 0;
        publish();
    }

    @Override
    public void launch(
            final DeviceKernel kernel, final int gridBlocks, final int blockThreads, final long... arguments) {
        if (!(kernel instanceof EmulatedKernel own) || own.device() != device) {
            throw new DeviceException(device.name() + ": kernel of another device; load it on this one");
        }
        HostBounds.checkGrid(kernel.name(), gridBlocks, blockThreads);
        final Command command = claim();
        if (own.persistent()) {
            device.reside(ring, kernel.name(), gridBlocks, blockThreads);
        }
        command.kind = Command.Kind.LAUNCH;
        command.kernel = own;
        command.gridBlocks = gridBlocks;
        command.blockThreads = blockThreads;
        command.arguments = arguments.clone();
        command.bytes = 0;
        publish();
    }

    @Override
    public void synchronize() {
        checkOpen();
        device.dma().awaitDone(ring, ring.enqueued());
        device.checkUsable();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            device.dma().awaitDone(ring, ring.enqueued());
            device.dma().closeRing(ring);
            device.resources().give(DeviceResources.Kind.STREAMS, 1);
        }
    }

    private EmulatedEvent ours(final DeviceEvent event) {
        if (event instanceof EmulatedEvent own && own.device() == device) {
            return own;
        }
        throw new DeviceException(device.name() + ": event of another device; open it on this one");
    }

    private void checkHost(final MemorySegment segment, final long offset, final long bytes) {
        HostBounds.check(device.name(), segment, offset, bytes);
        if (!device.dma().canAccess(segment)) {
            throw new DeviceException(device.name()
                    + ": host memory is confined to one thread, copies run on another; use Arena.ofShared()");
        }
    }

    private void checkOpen() {
        device.checkUsable();
        if (closed) {
            throw new DeviceException(device.name() + ": the stream is closed; open another");
        }
    }

    private Command claim() {
        checkOpen();
        if (ring.isFull()) {
            device.dma().awaitDone(ring, ring.roomPosition());
        }
        return ring.next();
    }

    private void publish() {
        ring.publish();
        device.dma().wake();
    }
}
