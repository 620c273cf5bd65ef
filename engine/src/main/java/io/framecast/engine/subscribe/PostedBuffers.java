package io.framecast.engine.subscribe;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;
import org.jspecify.annotations.Nullable;

/// The user's buffers that frames are to be received into, from any source. The subscriber's thread offers them,
/// the receiver's thread takes them.
public final class PostedBuffers {
    public static final int POSTED_MAX = 256;

    // Never started: memory that this thread may access is memory that every thread may access.
    private static final Thread ANY_THREAD = new Thread("framecast-any");

    private final DeviceBackend device;
    private final OneToOneConcurrentArrayQueue<Posted> posted = new OneToOneConcurrentArrayQueue<>(POSTED_MAX);
    // Taken for frames that were then dropped; at most as many as frames.
    private final ArrayDeque<Posted> unused = new ArrayDeque<>();
    // Subscriber: buffers that are posted or hold a frame, and so are not their owner's.
    private final List<Posted> outstanding = new ArrayList<>();

    /// One buffer, from its post until the release of the frame in it. Any thread may release the frame.
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

        /// The frame was closed: the buffer is its owner's again.
        void release() {
            released = true;
        }

        /// The frame was released on a stream: the buffer is its owner's once this event is complete.
        void releaseAfter(final DeviceEvent event) {
            reader = event;
        }

        // The event serves another frame once the receiver has seen it complete and released the buffer.
        private boolean isReleased() {
            final DeviceEvent event = reader;
            return released || (event != null && event.isComplete()) || released;
        }

        private boolean overlaps(final DeviceRegion other) {
            return region.address() < other.address() + other.bytes()
                    && other.address() < region.address() + region.bytes();
        }

        boolean isAlive() {
            return !region.hostAddressable() || region.host().scope().isAlive();
        }
    }

    PostedBuffers(final DeviceBackend device) {
        this.device = device;
    }

    /// Subscriber: posts a buffer.
    ///
    /// @param frameMaxBytes the longest frame that may be received into the buffer
    /// @return false when the queue is full
    /// @throws IllegalArgumentException where no frame fits the buffer, or another buffer overlaps it
    boolean offer(final DeviceRegion region, final long frameMaxBytes) {
        requireMemoryOf(device, region);
        if (region.bytes() < frameMaxBytes) {
            throw new IllegalArgumentException("post: expected at least frame-max, " + frameMaxBytes + " bytes, got "
                    + region.bytes() + "; allocate more, or set frame-max= to the longest frame");
        }
        if (overlaps(region)) {
            throw new IllegalArgumentException("post: this memory is posted already, or the frame in it is not"
                    + " released; expected a buffer of its own for each frame");
        }
        final Posted buffer = new Posted(device.access().identify(region));
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

    /// Receiver: takes the next buffer, if it is long enough and its memory is alive; else null.
    @Nullable
    Posted take(final long bytes) {
        Posted first = first();
        while (first != null && !first.isAlive()) {
            // The owner closed the buffer's arena, so the buffer cannot receive a frame.
            remove();
            first.release();
            first = first();
        }
        if (first == null || first.region().bytes() < bytes) {
            return null;
        }
        remove();
        return first;
    }

    /// Receiver: buffers that it has not taken.
    int size() {
        return unused.size() + posted.size();
    }

    private @Nullable Posted first() {
        return unused.isEmpty() ? posted.peek() : unused.peek();
    }

    private void remove() {
        if (unused.poll() == null) {
            posted.poll();
        }
    }

    /// Receiver: a buffer that was taken is free again.
    void giveBack(final Posted buffer) {
        unused.add(buffer);
    }

    /// No frame is received any more: all buffers that hold none are their owner's.
    void close() {
        for (Posted left = first(); left != null; left = first()) {
            remove();
            left.release();
        }
    }

    /// Subscriber: whether memory is posted, or a frame in it is not released.
    boolean overlaps(final DeviceRegion region) {
        outstanding.removeIf(Posted::isReleased);
        return outstanding.stream().anyMatch(buffer -> buffer.overlaps(region));
    }
}
