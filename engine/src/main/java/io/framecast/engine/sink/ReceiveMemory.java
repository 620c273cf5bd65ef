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

/// A session's payload memory on one device, with the receive rings of its lanes.
///
/// Threading: the receiver's thread, except for construction and [#close]. Owns all its memory until [#close].
public interface ReceiveMemory extends FrameMemory, AutoCloseable {
    /// The receive ring of the data lane.
    ReceiveRing dataRing();

    /// The receive ring of the repair lane.
    ReceiveRing repairRing();

    /// Sets the region of the next frames that are located in [FrameMemory.Space#POSTED].
    void post(DeviceRegion target);

    /// The region of `bytes` bytes at an offset in a space.
    DeviceRegion region(Space space, long offset, long bytes);

    /// Records an event that completes when all bytes received and copied so far are visible.
    void record(DeviceEvent ready);

    /// Whether work is in flight whose completion must be polled.
    boolean isBusy();

    /// Payload bytes that the CPU stored through a mapping of device memory.
    default long storedBytes() {
        return 0;
    }

    /// Counts of the NIC's copies from the host into device memory; null without such a NIC.
    default @Nullable NicCounts nicCounts() {
        return null;
    }

    /// Releases what belongs to the transport before the transport closes; no further payload arrives. Delivered
    /// frames stay readable. Idempotent.
    default void detach() {
        // The session closes its lanes itself.
    }

    @Override
    void close();

    /// Receive slots with headers of their own.
    ///
    /// @param headerReserve bytes that the transport writes before each header
    /// @param payload as the host sees it; `NULL` where the host cannot address it
    static LandingSlots slots(
            final Arena arena,
            final int headerReserve,
            final MemorySegment payload,
            final int slotBytes,
            final int slots) {
        final MemorySegment headers = arena.allocate((long) slots * (headerReserve + DataLayout.LENGTH), 64);
        return new LandingSlots(headers, headerReserve, payload, slotBytes, slots);
    }

    /// The receive ring over the first `count` slots.
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
