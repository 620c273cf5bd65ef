package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceGather;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.reliability.BundleTable;
import io.framecast.reliability.ReceivedFrame;
import io.framecast.reliability.wire.BundleLayout;
import java.lang.foreign.MemorySegment;
import org.agrona.CloseHelper;

/// Device memory that the NIC writes: payloads never touch the host. Mending is done by copies within the
/// device, on one stream, the runs of a frame at once; slots they read are not posted again before they are
/// done.
final class FifoDeviceMemory implements FifoMemory {
    // Pages of the GPU's memory, as exports name them.
    private static final long EXPORT_ALIGN_BYTES = 2L << 20;

    private final DeviceBackend device;
    private final DeviceStream stream;
    private final DeviceGather gather;
    private final DeviceEvent runsCopied;
    private final CopyFence receivedFence;
    private final CopyFence pulledFence;
    private final DeviceRegion allocated;
    private final DeviceRegion ring;
    private final DeviceRegion mends;
    private final MemorySegment repairPayload;
    private final MemorySegment table;
    private boolean runsPending;
    // Runs that may not be enqueued yet.
    private boolean gathering;
    // Since the last repairs were told.
    private boolean repairing;
    private long receivedCopied;
    private long pulledCopied;

    /// @throws io.framecast.api.error.DeviceException when the memory cannot be had, or not be exported
    FifoDeviceMemory(final SinkConfig config, final long mendsBytes) {
        device = config.device();
        try (Opened opened = new Opened()) {
            stream = opened.add(device.openStream());
            runsCopied = opened.add(device.openEvent());
            receivedFence = opened.add(new CopyFence(device));
            pulledFence = opened.add(new CopyFence(device));
            allocated = device.allocate(ringBytes(config));
            opened.add(() -> device.free(allocated));
            ring = device.access().export(allocated);
            opened.add(() -> device.access().unexport(ring));
            mends = device.allocate(mendsBytes);
            opened.add(() -> device.free(mends));
            repairPayload = device.allocatePinned(
                    (long) (SinkConfig.REPAIR_SLOTS_POSTED + config.pullSlots()) * config.slotBytes());
            opened.add(() -> device.freePinned(repairPayload));
            table = device.allocatePinned(BundleLayout.tableBytes(BundleLayout.FRAMES_MAX));
            opened.add(() -> device.freePinned(table));
            gather = device.openGather(stream);
            opened.keep();
        }
    }

    /// What the ring takes of the device.
    static long ringBytes(final SinkConfig config) {
        return (config.ringBytes() + EXPORT_ALIGN_BYTES - 1) / EXPORT_ALIGN_BYTES * EXPORT_ALIGN_BYTES;
    }

    @Override
    public DeviceRegion ring() {
        return ring;
    }

    @Override
    public boolean mappedTwice() {
        return false;
    }

    @Override
    public MemorySegment repairPayload() {
        return repairPayload;
    }

    // What the NIC wrote is read by a copy engine that starts now: it must see it.
    @Override
    public void copyRun(final long ringOffset, final long mendOffset, final long bytes) {
        device.access().flushRemoteWrites();
        gather.add(mends.address() + mendOffset, ring.address() + ringOffset, bytes);
        gathering = true;
    }

    // Whatever reads a frame's mend buffer, or writes the slots it came from, comes behind this.
    private void enqueueRuns() {
        if (gathering) {
            gathering = false;
            gather.flush();
            stream.record(runsCopied);
            runsPending = true;
        }
    }

    @Override
    public void copyRepair(final long repairOffset, final long mendOffset, final long bytes) {
        stream.copyToDevice(mends.address() + mendOffset, repairPayload, repairOffset, bytes);
        repairing = true;
    }

    @Override
    public boolean isRingQuiet() {
        enqueueRuns();
        runsPending = runsPending && !runsCopied.isComplete();
        return !runsPending;
    }

    @Override
    public void repairsTaken(final long received, final long pulled) {
        if (repairing) {
            receivedFence.mark(stream, received);
            pulledFence.mark(stream, pulled);
            repairing = false;
        }
        receivedCopied = copied(receivedFence, received);
        pulledCopied = copied(pulledFence, pulled);
    }

    private static long copied(final CopyFence fence, final long taken) {
        final long copied = fence.completed();
        return fence.isPending() ? copied : taken;
    }

    @Override
    public long receivedCopied() {
        return receivedCopied;
    }

    @Override
    public long pulledCopied() {
        return pulledCopied;
    }

    @Override
    public boolean isCopying() {
        return gathering || runsPending || receivedFence.isPending() || pulledFence.isPending();
    }

    private DeviceRegion of(final boolean mended) {
        return mended ? mends : ring;
    }

    @Override
    public DeviceRegion at(final boolean mended, final long offset, final long bytes) {
        return of(mended).slice(offset, bytes);
    }

    @Override
    public void copyTo(final DeviceRegion target, final boolean mended, final long offset, final long bytes) {
        enqueueRuns();
        device.access().flushRemoteWrites();
        stream.copyWithin(target.address(), of(mended).address() + offset, bytes);
        if (!mended) {
            // The frame may be closed before this copy ran. What is copied out of mend buffers needs no mark: they are
            // written on this stream alone.
            stream.record(runsCopied);
            runsPending = true;
        }
    }

    @Override
    public void record(final DeviceEvent ready) {
        enqueueRuns();
        device.access().flushRemoteWrites();
        stream.record(ready);
    }

    @Override
    public boolean openBundle(
            final boolean mended, final long offset, final ReceivedFrame bundle, final BundleTable frames) {
        final int bytes = BundleLayout.tableBytes(bundle.bundleFrames());
        if (bytes > bundle.bytes()) {
            return false;
        }
        enqueueRuns();
        device.access().flushRemoteWrites();
        stream.copyToHost(table, 0, of(mended).address() + offset + bundle.bytes() - bytes, bytes);
        stream.synchronize();
        return frames.open(table, bytes, bundle);
    }

    @Override
    public void close() {
        // The stream first: it waits for copies that read and write what is freed behind it.
        CloseHelper.closeAll(
                stream,
                runsCopied,
                receivedFence,
                pulledFence,
                () -> device.freePinned(table),
                () -> device.freePinned(repairPayload),
                () -> device.free(mends),
                () -> device.access().unexport(ring),
                () -> device.free(allocated));
    }
}
