package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceGather;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.wire.BundleLayout;
import java.lang.foreign.MemorySegment;

/// Device memory that the NIC writes: payloads never touch the host. Copies within the device reassemble frames
/// that lost datagrams. They run on one stream, and one gather copies all runs of a frame.
public final class DirectReceiveMemory extends DeviceReceiveMemory {
    private final DeviceGather gather;
    private final MemorySegment table;
    private final ReceiveRings rings;
    // Whether runs wait in the gather for the next flush.
    private boolean gathering;

    /// @param headerReserve bytes that the transport writes before each header
    /// @throws io.framecast.api.error.DeviceException when the device cannot allocate or export the memory
    public DirectReceiveMemory(final MemoryShape shape, final DeviceBackend device, final int headerReserve) {
        super(shape, device, exportBytes(shape.ringBytes()), true, (long) shape.allRepairSlots() * shape.slotBytes());
        try {
            table = pin(BundleLayout.tableBytes(BundleLayout.FRAMES_MAX));
            rings = ReceiveRings.onDevice(arena, shape, headerReserve, ring, host);
            gather = device.openGather(stream);
        } catch (final RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    @Override
    public ReceiveRings rings() {
        return rings;
    }

    @Override
    public void copy(final Space from, final long fromOffset, final Space to, final long toOffset, final long bytes) {
        onSubmitted();
        final long target = address(to, toOffset, bytes);
        if (from == Space.REPAIR) {
            stream.copyToDevice(target, host, fromOffset, bytes);
        } else if (to == Space.REASSEMBLY) {
            // The copy engine must see the NIC's writes.
            device.access().flushRemoteWrites();
            gather.add(target, address(from, fromOffset, bytes), bytes);
            gathering = true;
        } else {
            enqueueRuns();
            device.access().flushRemoteWrites();
            stream.copyWithin(target, address(from, fromOffset, bytes), bytes);
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

    @Override
    public void flush() {
        enqueueRuns();
        copies.mark(submitted());
    }

    @Override
    public long completed() {
        return copies.completed(submitted());
    }

    @Override
    public MemorySegment read(final Space space, final long offset, final int bytes) {
        enqueueRuns();
        device.access().flushRemoteWrites();
        stream.copyToHost(table, 0, address(space, offset, bytes), bytes);
        stream.synchronize();
        return table;
    }

    @Override
    public void record(final DeviceEvent ready) {
        enqueueRuns();
        device.access().flushRemoteWrites();
        stream.record(ready);
    }
}
