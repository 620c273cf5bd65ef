package io.framecast.engine.publish;

import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.engine.session.SendMemory;
import io.framecast.reliability.window.FrameWriter;
import io.framecast.reliability.window.SendWindow;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A publisher's frames out of host memory: claimed in the window, or copied into it.
///
/// Publisher's thread; the thread that closes the publisher frees the memory, behind the lanes.
final class HostFrames implements AutoCloseable {
    private final FrameIntake intake;
    private final FrameWriter writer;
    private final SendWindow window;
    private final SendMemory memory;
    private final int slotBytes;
    private final Arena bounceArena = Arena.ofShared();
    private @Nullable MemorySegment bounce;
    private MemorySegment claimed = MemorySegment.NULL;
    private boolean claimBounced;
    // Bytes of the current frame that offer has taken; 0 between frames.
    private long offered;
    private MemorySegment offeredFrame = MemorySegment.NULL;

    HostFrames(final SourceParts parts, final FrameIntake intake) {
        this.intake = intake;
        writer = parts.writer();
        window = parts.window();
        memory = parts.memory();
        slotBytes = parts.stream().slotBytes();
    }

    /// Whether a claim is open.
    boolean isClaimed() {
        return claimed.byteSize() != 0;
    }

    /// Whether a part of a frame was taken, and not all of it.
    boolean isOffering() {
        return offered != 0;
    }

    /// Claims a frame that fits the window, while no frame is under way.
    ///
    /// @param owner of the claim
    /// @return bytes published once it is committed, or a refusal
    long claim(final long length, final FrameClaim claim, final FrameClaim.Owner owner) {
        final long place = intake.place(length);
        if (place < 0) {
            return place;
        }
        final int slot = (int) (place / slotBytes);
        claimBounced = !writer.bundles(length) && !memory.isContiguous(slot, length);
        claimed = claimBounced ? bounce(length) : memory.payload().asSlice(place, length);
        claim.wrap(claimed, owner);
        return intake.bytes() + length;
    }

    // Memory is mapped once on this system, and the claim would wrap around the window's end.
    private MemorySegment bounce(final long length) {
        if (bounce == null) {
            try {
                bounce = bounceArena.allocate((long) window.slots() * slotBytes, 64);
            } catch (final OutOfMemoryError e) {
                writer.abort();
                throw e;
            }
        }
        return bounce.asSlice(0, length);
    }

    void commit(final FrameOptions options) {
        final long length = claimed.byteSize();
        if (intake.isClosed() || length == 0) {
            claimed = MemorySegment.NULL;
            return;
        }
        if (claimBounced) {
            memory.write(window.slot(window.cursor()), claimed, 0, length);
        }
        claimed = MemorySegment.NULL;
        intake.commit(options);
        intake.finish(length);
    }

    void abort() {
        if (isClaimed()) {
            writer.abort();
        }
        claimed = MemorySegment.NULL;
    }

    /// Copies a frame into the window, in parts where it is longer.
    ///
    /// @return bytes published so far, or a refusal
    long offer(final MemorySegment frame, final FrameOptions options) {
        final long length = frame.byteSize();
        if (offered == 0 && writer.bundles(length) && options.metadata().length == 0) {
            return offerSmall(frame, (int) length, options);
        }
        if (offered == 0) {
            final long refusal = intake.reserve(length);
            if (refusal < 0) {
                return refusal;
            }
            intake.begin(length, options, 0);
            offeredFrame = frame;
        } else if (!isOffered(frame)) {
            throw new IllegalStateException("offer: a frame of " + offeredFrame.byteSize() + " bytes is under way, "
                    + offered + " of them taken; offer the same memory again until it is taken, got another of "
                    + length
                    + " bytes");
        } else if (intake.isClosed()) {
            return Publisher.CLOSED;
        }
        try {
            return take(frame, length);
        } catch (final IllegalStateException e) {
            return intake.closedOr(e);
        }
    }

    private long offerSmall(final MemorySegment frame, final int length, final FrameOptions options) {
        try {
            final long place = intake.place(length);
            if (place < 0) {
                return place;
            }
            MemorySegment.copy(frame, 0, memory.payload(), place, length);
            intake.commit(options);
        } catch (final IllegalStateException e) {
            return intake.closedOr(e);
        }
        return intake.finish(length);
    }

    private boolean isOffered(final MemorySegment frame) {
        return frame.byteSize() == offeredFrame.byteSize()
                && frame.address() == offeredFrame.address()
                && frame.heapBase().equals(offeredFrame.heapBase());
    }

    private long take(final MemorySegment frame, final long length) {
        final int part = writer.roomForPart();
        if (part > 0) {
            final long partBytes = Math.min(length - offered, (long) part * slotBytes);
            memory.write(window.slot(window.cursor()), frame, offered, partBytes);
            offered += partBytes;
            writer.commitPart(part);
        }
        if (offered < length) {
            if (part > 0) {
                intake.wakeSender();
            }
            return intake.refuse();
        }
        offered = 0;
        offeredFrame = MemorySegment.NULL;
        return intake.finish(length);
    }

    @Override
    public void close() {
        bounceArena.close();
    }
}
