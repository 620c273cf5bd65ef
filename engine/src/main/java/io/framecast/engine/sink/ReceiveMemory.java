package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.reliability.assembly.FrameMemory;
import io.framecast.reliability.assembly.SlotMemory;
import org.jspecify.annotations.Nullable;

/// A session's payload memory on one device, with the receive rings of its lanes.
///
/// Threading: the receiver's thread, except for construction and [#close]. Owns all its memory until [#close].
public interface ReceiveMemory extends FrameMemory, AutoCloseable {
    /// The slots of its lanes, and their rings.
    ReceiveRings rings();

    @Override
    default SlotMemory data() {
        return rings().data();
    }

    @Override
    default SlotMemory repairs() {
        return rings().repairs();
    }

    /// Copies are visible once they were begun, where they run on the stream that records the event.
    @Override
    default boolean isVisible(final long copies) {
        return true;
    }

    /// Sets the region of a buffer in [FrameMemory.Space#POSTED].
    ///
    /// @param number below [io.framecast.reliability.assembly.BufferQueue#TAKEN_MAX]
    void post(int number, DeviceRegion target);

    /// The region of a buffer that was set.
    DeviceRegion posted(int number);

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

    /// The NIC that copies from the host into device memory; null without one.
    default @Nullable NicCopyEngine nic() {
        return null;
    }

    /// Releases the transport's resources before the transport closes; no further payload arrives. Delivered
    /// frames stay readable. Idempotent.
    default void detach() {
        // The session closes its lanes itself.
    }

    @Override
    void close();
}
