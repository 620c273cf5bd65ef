package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceMapping;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.reliability.assembly.MemoryShape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Frames in device memory that payloads are copied to: datagrams are received into a pinned host ring, and the
/// device's copy engine copies each run of them.
///
/// With `fastcopy` the CPU stores short runs through a mapping of the ring. No order exists between stores and
/// copies, so the CPU stores only while no enqueued copy touches the ring. With `loopback` a NIC copies all runs
/// ([NicCopyEngine]) under the same rule, and frames are delivered when its copies are complete.
public final class StagedReceiveMemory implements ReceiveMemory {
    private final DeviceBackend device;
    private final DeviceStream stream;
    private final StreamCopies copies;
    private final Arena arena = Arena.ofShared();
    private final DeviceRegion ring;
    private final DeviceRegion reassembly;
    // [landingSlots + repair slots][slotBytes], pinned.
    private final MemorySegment host;
    private final long repairOffset;
    private final ReceiveRings rings;
    private final @Nullable DeviceMapping mapping;
    private final @Nullable NicCopyEngine nic;
    private final long ringBytes;
    private final long fastcopyMaxBytes;
    private @Nullable DeviceRegion posted;
    private long submitted;
    private long storedBytes;

    /// @param headerReserve bytes that the transport writes before each header
    /// @param fastcopyMaxBytes longest run that the CPU stores; 0 maps nothing
    /// @throws io.framecast.api.error.DeviceException when the device's memory cannot be mapped
    public StagedReceiveMemory(
            final MemoryShape shape, final DeviceBackend device, final int headerReserve, final long fastcopyMaxBytes) {
        this(shape, device, headerReserve, fastcopyMaxBytes, null);
    }

    /// Makes a memory whose runs a NIC copies once it is connected with itself.
    ///
    /// @throws io.framecast.api.error.DeviceException when the memory cannot be exported, or the NIC cannot access
    ///     it
    public static StagedReceiveMemory byNic(
            final MemoryShape shape, final DeviceBackend device, final int headerReserve, final LoopbackQueuePair nic) {
        return new StagedReceiveMemory(shape, device, headerReserve, 0, nic);
    }

    private StagedReceiveMemory(
            final MemoryShape shape,
            final DeviceBackend device,
            final int headerReserve,
            final long fastcopyMaxBytes,
            final @Nullable LoopbackQueuePair loopback) {
        this.device = device;
        this.fastcopyMaxBytes = fastcopyMaxBytes;
        ringBytes = shape.ringBytes();
        final int slotBytes = shape.slotBytes();
        repairOffset = (long) shape.landingSlots() * slotBytes;
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            opened.add(arena);
            stream = opened.add(device.openStream());
            ring = device.allocate(loopback == null ? ringBytes : DirectReceiveMemory.exportBytes(ringBytes));
            opened.add(() -> device.free(ring));
            mapping = fastcopyMaxBytes > 0 ? opened.add(device.access().map(ring)) : null;
            reassembly = device.allocate(shape.buffersBytes());
            opened.add(() -> device.free(reassembly));
            host = device.allocatePinned(repairOffset + (long) shape.allRepairSlots() * slotBytes);
            opened.add(() -> device.freePinned(host));
            rings = ReceiveRings.inHost(
                    arena,
                    shape,
                    headerReserve,
                    host.asSlice(0, repairOffset),
                    shape.landingSlots(),
                    host.asSlice(repairOffset));
            copies = opened.add(new StreamCopies(device, stream));
            nic = loopback == null ? null : opened.add(new NicCopyEngine(shape, device, loopback, ring, host));
            opened.keep();
        }
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
        switch (from) {
            case STAGING -> copyIn(toOffset, fromOffset, bytes);
            case REPAIR -> copyIn(toOffset, repairOffset + fromOffset, bytes);
            case RING -> copyOut(fromOffset, to, toOffset, bytes);
            case SCRATCH, REASSEMBLY, POSTED -> throw new IllegalStateException("nothing is copied out of " + from);
        }
    }

    private void copyIn(final long ringOffset, final long hostOffset, final long bytes) {
        if (nic != null && nic.copy(ringOffset, hostOffset, bytes, submitted)) {
            return;
        }
        if (mapping != null && bytes <= fastcopyMaxBytes && copies.isIdle()) {
            mapping.write(ringOffset, host, hostOffset, bytes);
            storedBytes += bytes;
            return;
        }
        copyByStream(ringOffset, hostOffset, bytes);
    }

    private void copyByStream(final long ringOffset, final long hostOffset, final long bytes) {
        stream.copyToDevice(ring.address() + ringOffset, host, hostOffset, bytes);
        copies.onCopy();
    }

    private void copyOut(final long ringOffset, final Space to, final long toOffset, final long bytes) {
        if (nic != null) {
            nic.flush();
        }
        final long target = of(to).address() + toOffset;
        final long head = Math.min(bytes, ringBytes - ringOffset);
        stream.copyWithin(target, ring.address() + ringOffset, head);
        if (head < bytes) {
            stream.copyWithin(target + head, ring.address(), bytes - head);
        }
        copies.onCopy();
    }

    private DeviceRegion of(final Space space) {
        final DeviceRegion target = space == Space.POSTED ? posted : space == Space.RING ? ring : reassembly;
        if (target == null) {
            throw new IllegalStateException("no buffer was posted");
        }
        return target;
    }

    @Override
    public void flush() {
        copies.mark(submitted);
        moveOn();
    }

    // Between batches only: the stream copies the runs that the NIC returned, after all completed copies.
    private void moveOn() {
        if (nic != null && !nic.work(copies.isIdle())) {
            copies.reopen(nic.completed(submitted));
            nic.giveBack(this::copyByStream);
            copies.mark(submitted);
        }
    }

    @Override
    public long submitted() {
        return submitted;
    }

    @Override
    public long completed() {
        moveOn();
        final long onStream = copies.completed(submitted);
        return nic == null ? onStream : Math.min(onStream, nic.completed(submitted));
    }

    @Override
    public boolean isVisible(final long count) {
        if (nic == null || nic.completed(submitted) >= count) {
            return true;
        }
        moveOn();
        return nic.completed(submitted) >= count;
    }

    @Override
    public MemorySegment read(final Space space, final long offset, final int bytes) {
        throw new IllegalStateException("bundle tables are kept in the host");
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
        if (nic != null) {
            nic.flush();
        }
        stream.record(ready);
    }

    @Override
    public boolean isBusy() {
        return !copies.isIdle() || (nic != null && nic.isBusy());
    }

    @Override
    public long storedBytes() {
        return storedBytes;
    }

    @Override
    public @Nullable NicCounts nicCounts() {
        return nic == null ? null : nic.counts();
    }

    @Override
    public void detach() {
        CloseHelper.close(nic);
    }

    @Override
    public void close() {
        // NIC and stream close first, because their copies access the memory that is freed after them.
        CloseHelper.closeAll(
                nic,
                stream,
                copies,
                mapping,
                () -> device.freePinned(host),
                () -> device.free(ring),
                () -> device.free(reassembly),
                arena);
    }
}
