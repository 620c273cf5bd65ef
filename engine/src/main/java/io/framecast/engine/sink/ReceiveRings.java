package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.SlotMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The slots in which a session's lanes receive, and the rings that the transport takes over them.
///
/// @param data slots of the data lane
/// @param repairs slots of the repair lane, and behind them those of RDMA reads
public record ReceiveRings(SlotMemory data, SlotMemory repairs, ReceiveRing dataRing, ReceiveRing repairRing) {
    /// Rings over payload memory in the host.
    ///
    /// @param arena of the headers
    /// @param headerReserve bytes that the transport writes before each header
    /// @param dataSlots slots of the data lane
    static ReceiveRings inHost(
            final Arena arena,
            final MemoryShape shape,
            final int headerReserve,
            final MemorySegment data,
            final int dataSlots,
            final MemorySegment repairs) {
        return of(arena, shape, headerReserve, data, host(data, shape, dataSlots), dataSlots, repairs);
    }

    /// Rings of which that of the data lane lies in device memory, where the host does not address it.
    static ReceiveRings onDevice(
            final Arena arena,
            final MemoryShape shape,
            final int headerReserve,
            final DeviceRegion data,
            final MemorySegment repairs) {
        return of(arena, shape, headerReserve, MemorySegment.NULL, data, shape.ringSlots(), repairs);
    }

    private static ReceiveRings of(
            final Arena arena,
            final MemoryShape shape,
            final int headerReserve,
            final MemorySegment data,
            final DeviceRegion dataRegion,
            final int dataSlots,
            final MemorySegment repairs) {
        final SlotMemory dataMemory = slots(arena, shape, headerReserve, data, dataSlots);
        final SlotMemory repairMemory = slots(arena, shape, headerReserve, repairs, shape.allRepairSlots());
        return new ReceiveRings(
                dataMemory,
                repairMemory,
                ring(dataMemory, dataRegion, dataSlots),
                ring(repairMemory, host(repairs, shape, shape.repairSlots()), shape.repairSlots()));
    }

    // Exactly the slots: a ring may be mapped twice, one mapping behind the other.
    private static DeviceRegion host(final MemorySegment payload, final MemoryShape shape, final int slots) {
        return DeviceRegion.ofHost(payload.asSlice(0, (long) slots * shape.slotBytes()));
    }

    private static SlotMemory slots(
            final Arena arena,
            final MemoryShape shape,
            final int headerReserve,
            final MemorySegment payload,
            final int slots) {
        final int headerBytes = shape.stream().headerBytes();
        final MemorySegment headers = arena.allocate((long) slots * (headerReserve + headerBytes), 64);
        return new SlotMemory(headers, headerReserve, payload, shape.slotBytes(), slots, headerBytes);
    }

    private static ReceiveRing ring(final SlotMemory slots, final DeviceRegion payload, final int count) {
        return new ReceiveRing(
                slots.headers().asSlice(0, (long) count * slots.headerStride()),
                slots.headerBytes(),
                slots.headerStride(),
                payload,
                slots.slotBytes(),
                count);
    }
}
