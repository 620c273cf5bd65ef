package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.reliability.assembly.FrameMemory;
import io.framecast.reliability.assembly.LandingSlots;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A session's payload memory on one device, with the receive rings that its lanes are opened over.
///
/// Threading: the receiver's thread, but for construction and [#close]. Owns all of it until [#close].
public interface ReceiveMemory extends FrameMemory, AutoCloseable {
    /// The memory for the data lane, for opening it.
    ReceiveRing dataRing();

    /// The memory for the repair lane.
    ReceiveRing repairRing();

    /// The next frames that are located in [FrameMemory.Space#POSTED] lie in this region.
    void post(DeviceRegion target);

    /// Bytes of a space where a frame was located.
    DeviceRegion region(Space space, long offset, long bytes);

    /// The event completes when everything that has arrived and was copied so far is visible.
    void record(DeviceEvent ready);

    /// Whether something is under way whose end nobody announces.
    boolean isBusy();

    /// Payload bytes that the CPU stored through a mapping of device memory.
    default long storedBytes() {
        return 0;
    }

    /// What a NIC has copied from the host into device memory; null where none is to.
    default @Nullable NicCounts nicCounts() {
        return null;
    }

    /// The transport is about to be closed: nothing of it is used any more, nothing more lands. Frames that
    /// were delivered stay readable. Idempotent.
    default void detach() {
        // Lanes are the session's.
    }

    @Override
    void close();

    /// Slots with headers of their own.
    ///
    /// @param headerReserve what the transport writes before each header
    /// @param payload as the host sees it; `NULL` where it does not
    static LandingSlots slots(
            final Arena arena,
            final int headerReserve,
            final MemorySegment payload,
            final int slotBytes,
            final int slots) {
        final MemorySegment headers = arena.allocate((long) slots * (headerReserve + DataLayout.LENGTH), 64);
        return new LandingSlots(headers, headerReserve, payload, slotBytes, slots);
    }

    /// The receive ring over the first `count` of some slots.
    static ReceiveRing ring(final LandingSlots slots, final DeviceRegion payload, final int count) {
        return new ReceiveRing(
                slots.headers().asSlice(0, (long) count * slots.headerStride()),
                DataLayout.LENGTH,
                slots.headerStride(),
                payload,
                slots.slotBytes(),
                count);
    }

    /// As [#ring(LandingSlots, DeviceRegion, int)], in host memory.
    static ReceiveRing ring(final LandingSlots slots, final int count) {
        final MemorySegment payload = slots.payload().asSlice(0, slots.payloadOffset(count));
        return ring(slots, DeviceRegion.ofHost(payload), count);
    }
}
