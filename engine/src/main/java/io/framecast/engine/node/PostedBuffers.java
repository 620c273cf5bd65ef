package io.framecast.engine.node;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;
import org.jspecify.annotations.Nullable;

/// Buffers of the user's that frames are to land in, whichever source they are from. Offered by the
/// subscriber's thread, taken by the receiver's.
final class PostedBuffers {
    static final int POSTED_MAX = 256;

    // Never started: memory that it may use is memory that every thread may use.
    private static final Thread ANY_THREAD = new Thread("framecast-any");

    private final DeviceBackend device;
    private final OneToOneConcurrentArrayQueue<Posted> posted = new OneToOneConcurrentArrayQueue<>(POSTED_MAX);
    // Posted for frames that were then given up; at most as many as frames.
    private final ArrayDeque<Posted> unused = new ArrayDeque<>();
    // Subscriber: those that are not its owner's again, posted or in a frame.
    private final List<Posted> outstanding = new ArrayList<>();

    /// One buffer, from when it was posted until the frame in it is released. The last is told by whichever thread
    /// releases the frame.
    static final class Posted {
        private final DeviceRegion region;
        private volatile @Nullable DeviceEvent reader;
        private volatile boolean released;

        Posted(final DeviceRegion region) {
            this.region = region;
        }

        DeviceRegion region() {
            return region;
        }

        /// The frame was closed: the buffer is its owner's.
        void release() {
            released = true;
        }

        /// The frame was released on a stream: the buffer is its owner's when this is complete.
        void releaseAfter(final DeviceEvent event) {
            reader = event;
        }

        // The event stands for another frame once the receiver has seen it complete and released the buffer.
        private boolean isReleased() {
            final DeviceEvent event = reader;
            return released || (event != null && event.isComplete()) || released;
        }

        private boolean overlaps(final DeviceRegion other) {
            return region.address() < other.address() + other.bytes()
                    && other.address() < region.address() + region.bytes();
        }

        private boolean isAlive() {
            return !region.hostAddressable() || region.host().scope().isAlive();
        }
    }

    PostedBuffers(final DeviceBackend device) {
        this.device = device;
    }

    /// Subscriber.
    ///
    /// @param frameMaxBytes the longest frame that may land in it
    /// @return false when as many are posted as there are places
    /// @throws IllegalArgumentException where no frame could land in it, or another's bytes would
    boolean offer(final DeviceRegion region, final long frameMaxBytes) {
        requireMemoryOf(device, region);
        if (region.bytes() < frameMaxBytes) {
            throw new IllegalArgumentException("post: expected at least frame-max, " + frameMaxBytes + " bytes, got "
                    + region.bytes() + "; allocate more, or set frame-max= to the longest frame");
        }
        outstanding.removeIf(Posted::isReleased);
        for (final Posted other : outstanding) {
            if (other.overlaps(region)) {
                throw new IllegalArgumentException("post: this memory is posted already, or the frame in it is not"
                        + " released; expected a buffer of its own for each frame");
            }
        }
        final Posted buffer = new Posted(region);
        if (!posted.offer(buffer)) {
            return false;
        }
        outstanding.add(buffer);
        return true;
    }

    private static void requireMemoryOf(final DeviceBackend device, final DeviceRegion region) {
        if (device.hostAddressable() != region.hostAddressable()) {
            throw new IllegalArgumentException("post: expected memory "
                    + (device.hostAddressable()
                            ? "that the host addresses, for device " + device.name()
                            : "of " + device.name() + ", got the host's")
                    + "; allocate it from the subscriber's device");
        }
        if (!region.hostAddressable()) {
            return;
        }
        final MemorySegment host = region.host();
        final String fault = !host.isNative()
                ? "an array's memory"
                : host.isReadOnly()
                        ? "memory that is read-only"
                        : !host.scope().isAlive()
                                ? "memory whose arena is closed"
                                : !host.isAccessibleBy(ANY_THREAD) ? "a confined arena's memory" : "";
        if (!fault.isEmpty()) {
            throw new IllegalArgumentException("post: expected memory that the receiver's thread may write, got "
                    + fault + "; allocate it from Arena.ofShared() or the subscriber's device");
        }
    }

    /// Receiver: the one that is next, if it is long enough and still there; else null.
    @Nullable
    Posted peek(final long bytes) {
        Posted first = first();
        while (first != null && !first.isAlive()) {
            // Its owner closed its arena: nothing can land in it.
            take();
            first.release();
            first = first();
        }
        return first != null && first.region().bytes() >= bytes ? first : null;
    }

    private @Nullable Posted first() {
        return unused.isEmpty() ? posted.peek() : unused.peek();
    }

    /// Receiver: the one that is next is taken.
    void take() {
        if (unused.poll() == null) {
            posted.poll();
        }
    }

    /// Receiver: one that was taken is free again.
    void giveBack(final Posted buffer) {
        unused.add(buffer);
    }
}
