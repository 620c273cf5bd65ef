package io.framecast.engine.hostgroup;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.reliability.group.DeviceWords;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The frames of a follower whose device is no host memory. Each is copied into a place of the device's memory,
/// from its leader's ring or from another member's device. The source of the copy is free again as soon as the
/// copy is done. Or the frame is read in the memory of that member ([DeviceShare]).
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
        // Of the frame's segment.
        private @Nullable DeviceShare share;
        // Until a copy out of another member's memory is done: the frame in the leader's ring.
        private @Nullable MemorySegment frame;
        // The leader may write the source of the copy meanwhile.
        private boolean unheld;
        private boolean whole;
        // The number of this place in another member's memory, or of the one that is copied from.
        private int slot;

        Place(final DeviceRegion memory, final int slot, final DeviceEvent ready, final DeviceEvent consumed) {
            this.memory = memory;
            this.slot = slot;
            this.ready = ready;
            this.consumed = consumed;
        }

        int slot() {
            return slot;
        }

        DeviceEvent ready() {
            return ready;
        }

        void close() {
            ready.close();
            consumed.close();
        }
    }

    private final DeviceBackend device;
    private final DeviceStream stream;
    private final long frameMaxBytes;
    // Of the present segment; and of earlier ones, while frames are held there.
    private @Nullable DeviceShare share;
    private final List<DeviceShare> earlier = new ArrayList<>();
    // Frames that the user holds.
    private final RefCount frames = new RefCount();
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
                final Place place =
                        new Place(device.allocate(frameMax), DeviceWords.NONE, device.openEvent(), device.openEvent());
                all.add(place);
                free.add(place);
            }
        } catch (final RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    long frameMaxBytes() {
        return frameMaxBytes;
    }

    /// Another segment is read from now on.
    ///
    /// @param made where its frames may lie in device memory already
    synchronized void share(final DeviceShare made) {
        if (share != null) {
            share.stop();
            earlier.add(share);
        }
        share = made;
    }

    /// Whether a frame finds a place.
    synchronized boolean hasRoom() {
        advance();
        int inPlace = share == null ? 0 : share.heldInPlace();
        for (final DeviceShare former : earlier) {
            inPlace += former.heldInPlace();
        }
        return free.size() > inPlace;
    }

    /// Whether an entry's frame comes to device memory soon, so that a copy from the ring would be one too many.
    synchronized boolean awaitsDevice(final long number) {
        return share != null && share.awaits(number);
    }

    /// Begins the copy of a frame, within a use of the segment that ends with the copy. Only while [#hasRoom].
    synchronized Place copy(final FollowerSegment segment, final long number, final MemorySegment frame) {
        final int slot = share == null ? DeviceWords.NONE : share.hold(number, frame.byteSize());
        Place place = null;
        try {
            place = slot == DeviceWords.NONE || share == null ? null : share.inPlace(slot);
            if (place == null) {
                place = free.element();
                copyInto(place, slot, frame);
                free.remove();
            }
        } catch (final RuntimeException | Error e) {
            if (slot != DeviceWords.NONE && share != null) {
                share.leave(slot);
            }
            throw e;
        }
        place.segment = segment;
        place.number = number;
        place.awaitsStream = false;
        place.share = share;
        place.unheld = segment.table().isUnheld();
        place.whole = !place.unheld;
        copying.add(place);
        frames.acquire();
        return place;
    }

    private void copyInto(final Place place, final int slot, final MemorySegment frame) {
        if (slot == DeviceWords.NONE || share == null) {
            stream.copyToDevice(place.memory.address(), frame, 0, frame.byteSize());
        } else {
            stream.copyWithin(place.memory.address(), share.address(slot), frame.byteSize());
            place.frame = frame;
            place.slot = slot;
        }
        stream.record(place.ready);
    }

    static DeviceRegion region(final Place place, final long bytes) {
        return place.memory.slice(0, bytes);
    }

    /// True when a frame may be given to the user, or is gone: no copy is under way whose source may change.
    synchronized boolean hasArrived(final Place place) {
        advance();
        return place.frame == null && (!place.unheld || place.segment == null);
    }

    /// Of one that has arrived: whether it was copied before the leader wrote there again.
    synchronized boolean isWhole(final Place place) {
        return place.whole;
    }

    /// True when a frame's bytes are the received ones: they are this process's own, or of a process that lives.
    synchronized boolean isIntact(final Place place) {
        return place.share == null || !place.share.isInPlace(place) || place.share.isIntact();
    }

    /// Releases the ring behind copies that are done, and takes back places whose streams have completed.
    synchronized void advance() {
        for (Place place = copying.peek(); place != null && isSettled(place); place = copying.peek()) {
            copying.remove();
            final FollowerSegment segment = place.segment;
            if (segment != null) {
                place.segment = null;
                place.whole |= segment.table().isIntact(place.number);
                segment.release(place.number);
                segment.exit();
            }
        }
        for (int left = draining.size(); left > 0; left--) {
            final Place place = draining.remove();
            // Its copy may still be under way: the user need not wait for a frame before releasing it.
            if (place.segment != null || (place.awaitsStream && !place.consumed.isComplete())) {
                draining.add(place);
            } else if (place.share == null || !place.share.leaveInPlace(place)) {
                free.add(place);
            }
        }
        if (share != null) {
            share.look();
        }
        for (int i = earlier.size() - 1; i >= 0; i--) {
            earlier.get(i).look();
            if (earlier.get(i).isOver()) {
                earlier.remove(i);
            }
        }
    }

    // Whether the copy is done. Memory of a process that died meanwhile may have held anything: then the frame
    // is copied once more, from the ring, which is still held.
    private boolean isSettled(final Place place) {
        if (!place.ready.isComplete()) {
            return false;
        }
        final MemorySegment frame = place.frame;
        final DeviceShare from = place.share;
        if (frame == null || from == null) {
            return true;
        }
        final boolean intact = from.isIntact();
        from.leave(place.slot);
        place.frame = null;
        place.slot = DeviceWords.NONE;
        if (!intact) {
            from.onBroken();
            copyInto(place, DeviceWords.NONE, frame);
        }
        return intact;
    }

    /// The user released a frame.
    ///
    /// @param user stream on which the user still reads it; null for none
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
            frames.release();
        }
    }

    /// Shares nothing any more, from now on or once the user has released the frames that are read in place.
    /// Before [#close].
    synchronized void stopSharing() {
        if (share != null) {
            share.stop();
        }
    }

    /// Frees the memory, once the user holds no frame in it.
    @Override
    public void close() {
        stopSharing();
        frames.close(this::free);
    }

    private synchronized void free() {
        while (!copying.isEmpty()) {
            stream.synchronize();
            advance();
        }
        draining.forEach(place -> place.consumed.synchronize());
        advance();
        all.forEach(place -> {
            place.close();
            device.free(place.memory);
        });
        all.clear();
        free.clear();
        stream.close();
    }
}
