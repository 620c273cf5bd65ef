package io.framecast.engine.hostgroup;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The frames of a follower whose device is no host memory: each is copied from its leader's ring into a place of the
/// device's memory, and the ring is free again as soon as that copy is done.
///
/// Any thread.
final class FollowerCopies implements AutoCloseable {
    /// A place in the device's memory, and the copy into it.
    static final class Place {
        private final DeviceRegion memory;
        private final DeviceEvent ready;
        private final DeviceEvent consumed;
        private @Nullable FollowerSegment segment;
        private long number;
        private boolean awaitsStream;

        Place(final DeviceRegion memory, final DeviceEvent ready, final DeviceEvent consumed) {
            this.memory = memory;
            this.ready = ready;
            this.consumed = consumed;
        }

        DeviceEvent ready() {
            return ready;
        }
    }

    private final DeviceBackend device;
    private final DeviceStream stream;
    private final long frameMaxBytes;
    // Those that the user holds.
    private final Holds frames = new Holds();
    private final List<Place> all = new ArrayList<>();
    private final ArrayDeque<Place> free = new ArrayDeque<>();
    // In order of their copies.
    private final ArrayDeque<Place> copying = new ArrayDeque<>();
    // Released on a stream that may not have completed.
    private final ArrayDeque<Place> draining = new ArrayDeque<>();

    /// @param frameMax longest frame
    /// @param count frames that the user holds, and one more
    FollowerCopies(final DeviceBackend device, final long frameMax, final int count) {
        this.device = device;
        frameMaxBytes = frameMax;
        stream = device.openStream();
        try {
            for (int i = 0; i < count; i++) {
                final Place place = new Place(device.allocate(frameMax), device.openEvent(), device.openEvent());
                all.add(place);
                free.add(place);
            }
        } catch (final RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /// Of the longest frame that a place holds.
    long frameMaxBytes() {
        return frameMaxBytes;
    }

    /// Whether a frame finds a place.
    synchronized boolean hasRoom() {
        advance();
        return !free.isEmpty();
    }

    /// Begins the copy of a frame. Only while [#hasRoom].
    synchronized Place copy(final FollowerSegment segment, final long number, final MemorySegment frame) {
        final Place place = free.element();
        stream.copyToDevice(place.memory.address(), frame, 0, frame.byteSize());
        stream.record(place.ready);
        place.segment = segment;
        place.number = number;
        place.awaitsStream = false;
        free.remove();
        copying.add(place);
        frames.take();
        return place;
    }

    static DeviceRegion region(final Place place, final long bytes) {
        return place.memory.slice(0, bytes);
    }

    /// Releases the ring behind copies that are done, and takes back places whose streams have completed.
    synchronized void advance() {
        for (Place place = copying.peek(); place != null && place.ready.isComplete(); place = copying.peek()) {
            copying.remove();
            final FollowerSegment segment = place.segment;
            if (segment != null) {
                place.segment = null;
                segment.release(place.number, segment.length(place.number));
                segment.exit();
            }
        }
        for (int left = draining.size(); left > 0; left--) {
            final Place place = draining.remove();
            // Its copy may still be under way: the user need not wait for a frame that he gives back.
            if (place.segment != null || (place.awaitsStream && !place.consumed.isComplete())) {
                draining.add(place);
            } else {
                free.add(place);
            }
        }
    }

    /// The user released a frame.
    ///
    /// @param user stream on which he still reads it; null for none
    void release(final Place place, final @Nullable DeviceStream user) {
        try {
            synchronized (this) {
                draining.add(place);
                if (user != null) {
                    user.record(place.consumed);
                    place.awaitsStream = true;
                }
                advance();
            }
        } finally {
            frames.give();
        }
    }

    /// Frees the memory, once the user holds no frame in it.
    @Override
    public void close() {
        frames.close(this::free);
    }

    private synchronized void free() {
        stream.synchronize();
        advance();
        draining.forEach(place -> place.consumed.synchronize());
        all.forEach(place -> {
            place.ready.close();
            place.consumed.close();
            device.free(place.memory);
        });
        all.clear();
        free.clear();
        stream.close();
    }
}
