package io.framecast.engine.node;

import io.framecast.api.spi.DeviceRegion;
import java.util.ArrayDeque;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;
import org.jspecify.annotations.Nullable;

/// Buffers of the user's that frames are to land in, whichever source they are from. Offered by the
/// subscriber's thread, taken by the receiver's.
final class PostedBuffers {
    static final int POSTED_MAX = 256;

    private final OneToOneConcurrentArrayQueue<DeviceRegion> posted = new OneToOneConcurrentArrayQueue<>(POSTED_MAX);
    // Posted for frames that were then given up; at most as many as frames.
    private final ArrayDeque<DeviceRegion> unused = new ArrayDeque<>();

    /// Subscriber.
    ///
    /// @return false when as many are posted as there are places
    boolean offer(final DeviceRegion region) {
        return posted.offer(region);
    }

    /// Receiver: the one that is next, if it is long enough; else null.
    @Nullable
    DeviceRegion peek(final long bytes) {
        final DeviceRegion first = unused.isEmpty() ? posted.peek() : unused.peek();
        return first != null && first.bytes() >= bytes ? first : null;
    }

    /// Receiver: the one that is next is taken.
    void take() {
        if (unused.poll() == null) {
            posted.poll();
        }
    }

    /// Receiver: one that was taken is free again.
    void giveBack(final DeviceRegion region) {
        unused.add(region);
    }
}
