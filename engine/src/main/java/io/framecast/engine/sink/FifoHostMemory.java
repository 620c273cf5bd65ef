package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.reliability.BundleTable;
import io.framecast.reliability.ReceivedFrame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.CloseHelper;

/// Host memory: the ring is mapped twice where the system can, copies are done at once.
final class FifoHostMemory implements FifoMemory {
    private final DeviceBackend device;
    private final Arena arena = Arena.ofShared();
    private final MirroredMemory memory;
    private final MemorySegment ring;
    private final DeviceRegion landing;
    private final DeviceRegion mends;
    private final MemorySegment repairPayload;
    private long receivedCopied;
    private long pulledCopied;

    FifoHostMemory(final SinkConfig config, final long mendsBytes) {
        device = config.device();
        try (Opened opened = new Opened()) {
            opened.add(arena);
            memory = opened.add(MirroredMemory.allocate(config.ringBytes(), 0));
            ring = memory.segment();
            landing = DeviceRegion.ofHost(ring.asSlice(0, config.ringBytes()));
            repairPayload = arena.allocate(
                    (long) (SinkConfig.REPAIR_SLOTS_POSTED + config.pullSlots()) * config.slotBytes(), 64);
            device.registerHost(ring);
            opened.add(() -> device.unregisterHost(ring));
            mends = device.allocate(mendsBytes);
            opened.keep();
        }
    }

    @Override
    public DeviceRegion ring() {
        return landing;
    }

    @Override
    public MemorySegment hostRing() {
        return ring;
    }

    @Override
    public boolean mappedTwice() {
        return memory.mirrored();
    }

    @Override
    public MemorySegment repairPayload() {
        return repairPayload;
    }

    @Override
    public void copyRun(final long ringOffset, final long mendOffset, final long bytes) {
        MemorySegment.copy(ring, ringOffset, mends.host(), mendOffset, bytes);
    }

    @Override
    public void copyRepair(final long repairOffset, final long mendOffset, final long bytes) {
        MemorySegment.copy(repairPayload, repairOffset, mends.host(), mendOffset, bytes);
    }

    @Override
    public boolean isRingQuiet() {
        return true;
    }

    @Override
    public void repairsTaken(final long received, final long pulled) {
        receivedCopied = received;
        pulledCopied = pulled;
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
        return false;
    }

    private MemorySegment of(final boolean mended) {
        return mended ? mends.host() : ring;
    }

    @Override
    public DeviceRegion at(final boolean mended, final long offset, final long bytes) {
        return DeviceRegion.ofHost(of(mended).asSlice(offset, bytes));
    }

    @Override
    public void copyTo(final DeviceRegion target, final boolean mended, final long offset, final long bytes) {
        MemorySegment.copy(of(mended), offset, target.host(), 0, bytes);
    }

    @Override
    public void record(final DeviceEvent ready) {
        // Complete until recorded: everything is done at once.
    }

    @Override
    public boolean openBundle(
            final boolean mended, final long offset, final ReceivedFrame bundle, final BundleTable table) {
        return table.open(of(mended), offset + bundle.bytes(), bundle);
    }

    @Override
    public void close() {
        CloseHelper.closeAll(() -> device.unregisterHost(ring), () -> device.free(mends), memory, arena);
    }
}
