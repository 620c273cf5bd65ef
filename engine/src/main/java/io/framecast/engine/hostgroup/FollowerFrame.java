package io.framecast.engine.hostgroup;

import io.framecast.api.DeviceFrame;
import io.framecast.api.format.FrameFormat;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.reliability.group.FollowerTable;
import io.framecast.reliability.group.HeldFrames;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// A frame in its leader's ring, or the copy of one in a device's memory.
final class FollowerFrame implements DeviceFrame {
    private final FollowerSegment segment;
    private final Follower follower;
    private final DeviceRegion region;
    // In the ring, or a copy in host memory; null where it was copied to a place.
    private final HeldFrames.@Nullable Held held;
    private final FollowerCopies.@Nullable Place place;
    private final @Nullable FollowerCopies copies;
    private final Attributes attributes;
    private final AtomicBoolean released = new AtomicBoolean();

    /// What the table says of the frame.
    private record Attributes(
            long session,
            long frameId,
            long timestampNs,
            boolean keyframe,
            boolean inPlace,
            byte[] metadata,
            byte @Nullable [] format,
            long clockOffsetNs,
            long clockErrorNs) {
        static Attributes of(final FollowerSegment segment, final long number) {
            final FollowerTable table = segment.table();
            return new Attributes(
                    table.session(),
                    table.frameId(number),
                    table.timestampNs(number),
                    table.isKeyframe(number),
                    table.isInPlace(number),
                    table.metadata(number),
                    table.format(number),
                    segment.clockOffsetNs(),
                    segment.clockErrorNs());
        }
    }

    /// @param copies null where the device reads the ring
    /// @throws IllegalStateException when the leader broke the table, or the follower is closed
    FollowerFrame(
            final Follower follower,
            final FollowerSegment segment,
            final long number,
            final @Nullable FollowerCopies copies) {
        this.follower = follower;
        this.segment = segment;
        this.copies = copies;
        final MemorySegment frame = segment.frame(number);
        if (!follower.uses().acquire()) {
            throw new IllegalStateException("the subscriber is closed");
        }
        if (!segment.enter()) {
            follower.uses().release();
            throw new IllegalStateException("the subscriber is closed");
        }
        try {
            // Before the copy, which is whole only where the entry was.
            attributes = Attributes.of(segment, number);
            place = copies == null ? null : copies.copy(segment, number, frame);
            if (place == null) {
                final HeldFrames.Held given = segment.give(number, frame);
                held = given;
                region = DeviceRegion.ofHost(FollowerSegment.memory(given, frame));
            } else {
                held = null;
                region = FollowerCopies.region(place, frame.byteSize());
            }
        } catch (final RuntimeException | Error e) {
            segment.exit();
            follower.uses().release();
            throw e;
        }
    }

    @Override
    public long session() {
        return attributes.session;
    }

    @Override
    public long frameId() {
        return attributes.frameId;
    }

    @Override
    public DeviceRegion region() {
        return region;
    }

    @Override
    public long length() {
        return region.bytes();
    }

    @Override
    public boolean keyframe() {
        return attributes.keyframe;
    }

    @Override
    public long sourceTimestampNs() {
        return attributes.timestampNs;
    }

    @Override
    public long clockOffsetNs() {
        return attributes.clockOffsetNs;
    }

    @Override
    public long clockErrorNs() {
        return attributes.clockErrorNs;
    }

    /// Whether the frame's bytes lie, or lay, where the leader first received them.
    boolean inPlace() {
        return attributes.inPlace;
    }

    @Override
    public boolean isIntact() {
        return place == null || copies == null || copies.isIntact(place);
    }

    /// Whether it may be given to the user.
    boolean hasArrived() {
        return place == null || copies == null || copies.hasArrived(place);
    }

    /// Of one that may be given to the user: whether its leader had not begun to write it again.
    boolean isWhole() {
        return place == null || copies == null || copies.isWhole(place);
    }

    @Override
    public Optional<FrameFormat> format() {
        return follower.formats().decode(attributes.format);
    }

    @Override
    public byte[] metadata() {
        return attributes.metadata.clone();
    }

    @Override
    public DeviceEvent ready() {
        return place == null ? follower.complete() : place.ready();
    }

    @Override
    public void awaitReady() {
        ready().synchronize();
        if (copies != null) {
            copies.advance();
        }
    }

    @Override
    public DeviceStream stream() {
        return follower.streamBehind(ready());
    }

    @Override
    public void release(final DeviceStream stream) {
        if (place == null) {
            // Host memory: the work on a stream is done when its call returns.
            stream.synchronize();
            close();
        } else if (released.compareAndSet(false, true)) {
            giveBack(place, stream);
        }
    }

    @Override
    public void close() {
        if (released.compareAndSet(false, true)) {
            if (held != null) {
                segment.giveBack(held);
                segment.exit();
                follower.uses().release();
            } else if (place != null) {
                giveBack(place, null);
            }
        }
    }

    private void giveBack(final FollowerCopies.Place taken, final @Nullable DeviceStream user) {
        try {
            if (copies != null) {
                copies.release(taken, user);
            }
        } finally {
            follower.uses().release();
        }
    }
}
