package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceGather;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.wire.BundleLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Device memory that the NIC writes: payloads never touch the host. Copies within the device reassemble frames
/// that lost datagrams. They run on one stream, and one gather copies all runs of a frame.
public final class DirectReceiveMemory implements ReceiveMemory {
    // The page size in which GPUs export their memory.
    private static final long EXPORT_ALIGN_BYTES = 2L << 20;

    private final DeviceBackend device;
    private final DeviceStream stream;
    private final StreamCopies copies;
    private final DeviceGather gather;
    private final Arena arena = Arena.ofShared();
    private final DeviceRegion allocated;
    private final DeviceRegion ring;
    private final DeviceRegion reassembly;
    private final MemorySegment repair;
    private final MemorySegment table;
    private final ReceiveRings rings;
    private @Nullable DeviceRegion posted;
    private long submitted;
    // Whether runs wait in the gather for the next flush.
    private boolean gathering;

    /// @param headerReserve bytes that the transport writes before each header
    /// @throws io.framecast.api.error.DeviceException when the device cannot allocate or export the memory
    public DirectReceiveMemory(final MemoryShape shape, final DeviceBackend device, final int headerReserve) {
        this.device = device;
        final int slotBytes = shape.slotBytes();
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            opened.add(arena);
            stream = opened.add(device.openStream());
            copies = opened.add(new StreamCopies(device, stream));
            allocated = device.allocate(exportBytes(shape.ringBytes()));
            opened.add(() -> device.free(allocated));
            ring = device.access().export(allocated);
            opened.add(() -> device.access().unexport(ring));
            reassembly = device.allocate(shape.buffersBytes());
            opened.add(() -> device.free(reassembly));
            repair = device.allocatePinned((long) shape.allRepairSlots() * slotBytes);
            opened.add(() -> device.freePinned(repair));
            table = device.allocatePinned(BundleLayout.tableBytes(BundleLayout.FRAMES_MAX));
            opened.add(() -> device.freePinned(table));
            rings = ReceiveRings.onDevice(arena, shape, headerReserve, ring, repair);
            gather = device.openGather(stream);
            opened.keep();
        }
    }

    /// Device memory that an exported ring takes, in whole pages.
    public static long exportBytes(final long ringBytes) {
        return (ringBytes + EXPORT_ALIGN_BYTES - 1) / EXPORT_ALIGN_BYTES * EXPORT_ALIGN_BYTES;
    }

    @Override
    public ReceiveRings rings() {
        return rings;
    }

    @Override
    public boolean isRingMappedTwice() {
        return false;
    }

    @Override
    public void copy(final Space from, final long fromOffset, final Space to, final long toOffset, final long bytes) {
        submitted++;
        final long target = of(to).address() + toOffset;
        if (from == Space.REPAIR) {
            stream.copyToDevice(target, repair, fromOffset, bytes);
        } else if (to == Space.REASSEMBLY) {
            // The copy engine must see the NIC's writes.
            device.access().flushRemoteWrites();
            gather.add(target, ring.address() + fromOffset, bytes);
            gathering = true;
        } else {
            enqueueRuns();
            device.access().flushRemoteWrites();
            stream.copyWithin(target, of(from).address() + fromOffset, bytes);
        }
        copies.onCopy();
    }

    // Must run before any work that reads a frame's reassembly buffer or overwrites its slots.
    private void enqueueRuns() {
        if (gathering) {
            gathering = false;
            gather.flush();
        }
    }

    private DeviceRegion of(final Space space) {
        final DeviceRegion region = space == Space.RING ? ring : space == Space.REASSEMBLY ? reassembly : posted;
        if (region == null) {
            throw new IllegalStateException("no memory for " + space);
        }
        return region;
    }

    @Override
    public void flush() {
        enqueueRuns();
        copies.mark(submitted);
    }

    @Override
    public long submitted() {
        return submitted;
    }

    @Override
    public long completed() {
        return copies.completed(submitted);
    }

    @Override
    public boolean isVisible(final long count) {
        return true;
    }

    @Override
    public MemorySegment read(final Space space, final long offset, final int bytes) {
        enqueueRuns();
        device.access().flushRemoteWrites();
        stream.copyToHost(table, 0, of(space).address() + offset, bytes);
        stream.synchronize();
        return table;
    }

    @Override
    public void post(final DeviceRegion target) {
        posted = target;
    }

    @Override
    public DeviceRegion region(final Space space, final long offset, final long bytes) {
        return of(space).slice(offset, bytes);
    }

    @Override
    public void record(final DeviceEvent ready) {
        enqueueRuns();
        device.access().flushRemoteWrites();
        stream.record(ready);
    }

    @Override
    public boolean isBusy() {
        return !copies.isIdle();
    }

    @Override
    public void close() {
        // The stream closes first, because it waits for copies that access the memory freed after it.
        CloseHelper.closeAll(
                stream,
                copies,
                () -> device.freePinned(table),
                () -> device.freePinned(repair),
                () -> device.free(reassembly),
                () -> device.access().unexport(ring),
                () -> device.free(allocated),
                arena);
    }
}
