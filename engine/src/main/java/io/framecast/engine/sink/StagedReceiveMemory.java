package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceMapping;
import io.framecast.reliability.assembly.MemoryShape;
import java.lang.foreign.MemorySegment;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Frames in device memory that payloads are copied to: datagrams are received into a pinned host ring, and the
/// device's copy engine copies each run of them.
///
/// With `fastcopy` the CPU stores short runs through a mapping of the ring. No order exists between stores and
/// copies, so the CPU stores only while no enqueued copy touches the ring. With `loopback` a NIC copies all runs
/// ([NicCopyEngine]) under the same rule, and frames are delivered when its copies are complete.
public final class StagedReceiveMemory extends DeviceReceiveMemory {
    private final long repairOffset;
    private final ReceiveRings rings;
    private final @Nullable DeviceMapping mapping;
    private final @Nullable NicCopyEngine nic;
    private final long fastcopyMaxBytes;
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
        // The host's memory is [stagingSlots + repair slots][slotBytes].
        super(
                shape,
                device,
                loopback == null ? ringBytes(shape) : exportBytes(ringBytes(shape)),
                false,
                ((long) shape.stagingSlots() + shape.allRepairSlots()) * shape.slotBytes());
        this.fastcopyMaxBytes = fastcopyMaxBytes;
        repairOffset = (long) shape.stagingSlots() * shape.slotBytes();
        DeviceMapping mapped = null;
        try {
            mapped = fastcopyMaxBytes > 0 ? device.access().map(ring) : null;
            rings = ReceiveRings.inHost(
                    arena,
                    shape,
                    headerReserve,
                    host.asSlice(0, repairOffset),
                    shape.stagingSlots(),
                    host.asSlice(repairOffset));
            nic = loopback == null ? null : new NicCopyEngine(shape, device, loopback, ring, host);
        } catch (final RuntimeException | Error e) {
            CloseHelper.closeAll(mapped, super::close);
            throw e;
        }
        mapping = mapped;
    }

    private static long ringBytes(final MemoryShape shape) {
        return shape.ringBytes() + shape.tailBytes();
    }

    @Override
    public ReceiveRings rings() {
        return rings;
    }

    @Override
    public void copy(final Space from, final long fromOffset, final Space to, final long toOffset, final long bytes) {
        onSubmitted();
        switch (from) {
            case STAGING -> copyIn(to, toOffset, fromOffset, bytes);
            case REPAIR -> copyIn(to, toOffset, repairOffset + fromOffset, bytes);
            case RING -> copyOut(fromOffset, to, toOffset, bytes);
            case SCRATCH, REASSEMBLY, POSTED -> throw new IllegalStateException("nothing is copied out of " + from);
        }
    }

    private void copyIn(final Space to, final long toOffset, final long hostOffset, final long bytes) {
        // NIC and CPU reach the ring only.
        if (to == Space.RING && (byNic(toOffset, hostOffset, bytes) || byCpu(toOffset, hostOffset, bytes))) {
            return;
        }
        copyByStream(address(to, toOffset, bytes), hostOffset, bytes);
    }

    private boolean byNic(final long ringOffset, final long hostOffset, final long bytes) {
        return nic != null && nic.copy(ringOffset, hostOffset, bytes, submitted());
    }

    private boolean byCpu(final long ringOffset, final long hostOffset, final long bytes) {
        if (mapping == null || bytes > fastcopyMaxBytes || !copies.isIdle()) {
            return false;
        }
        mapping.write(ringOffset, host, hostOffset, bytes);
        storedBytes += bytes;
        return true;
    }

    private void copyByStream(final long address, final long hostOffset, final long bytes) {
        stream.copyToDevice(address, host, hostOffset, bytes);
        copies.onCopy();
    }

    private void copyOut(final long ringOffset, final Space to, final long toOffset, final long bytes) {
        if (nic != null) {
            nic.flush();
        }
        stream.copyWithin(address(to, toOffset, bytes), ring.address() + ringOffset, bytes);
        copies.onCopy();
    }

    @Override
    public void flush() {
        copies.mark(submitted());
        moveOn();
    }

    // Between batches only: the stream copies the runs that the NIC returned, after all completed copies.
    private void moveOn() {
        if (nic != null && !nic.work(copies.isIdle())) {
            copies.reopen(nic.completed(submitted()));
            nic.giveBack((offset, hostOffset, bytes) -> copyByStream(ring.address() + offset, hostOffset, bytes));
            copies.mark(submitted());
        }
    }

    @Override
    public long completed() {
        moveOn();
        final long onStream = copies.completed(submitted());
        return nic == null ? onStream : Math.min(onStream, nic.completed(submitted()));
    }

    @Override
    public boolean isVisible(final long count) {
        if (nic == null || nic.completed(submitted()) >= count) {
            return true;
        }
        moveOn();
        return nic.completed(submitted()) >= count;
    }

    @Override
    public MemorySegment read(final Space space, final long offset, final int bytes) {
        throw new IllegalStateException("bundle tables are kept in the host");
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
        return super.isBusy() || (nic != null && nic.isBusy());
    }

    @Override
    public long storedBytes() {
        return storedBytes;
    }

    @Override
    public @Nullable NicCopyEngine nic() {
        return nic;
    }

    @Override
    public void detach() {
        CloseHelper.close(nic);
    }

    @Override
    public void close() {
        // The copies of NIC and stream access the memory that is freed after them.
        CloseHelper.closeAll(nic, copies, mapping, super::close);
    }
}
