package io.framecast.engine.publish;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// A publisher's window in device memory: frames are claimed one behind the other, each contiguous, and their memory is
/// free again from the oldest claim on, and from the newest one on.
///
/// Publisher's thread.
final class DeviceWindow {
    // As CUDA aligns allocations, and as devices export them.
    private static final long CLAIM_ALIGN_BYTES = 256;
    private static final long EXPORT_ALIGN_BYTES = 2L << 20;

    private final DeviceRegion region;
    private final ArrayDeque<Claim> claims = new ArrayDeque<>();
    // Bytes claimed so far, and given back, with those skipped at the window's end.
    private long head;
    private long tail;

    private enum State {
        OPEN,
        SENT,
        DONE
    }

    /// One frame's memory.
    static final class Claim {
        private final long address;
        private final long bytes;
        // As `head` counts them: where its room began, with what was skipped, and behind its bytes.
        private final long begin;
        private final long end;
        private State state = State.OPEN;

        private Claim(final long address, final long bytes, final long begin, final long end) {
            this.address = address;
            this.bytes = bytes;
            this.begin = begin;
            this.end = end;
        }

        /// The frame is sent from here: it is the user's no more.
        void sent() {
            state = State.SENT;
        }
    }

    /// The device frees the memory when it is closed.
    DeviceWindow(final DeviceBackend device, final long bytes) {
        region = device.access()
                .identify(device.allocate((bytes + EXPORT_ALIGN_BYTES - 1) / EXPORT_ALIGN_BYTES * EXPORT_ALIGN_BYTES));
    }

    DeviceRegion region() {
        return region;
    }

    /// Null without room.
    @Nullable
    DeviceRegion claim(final long bytes) {
        if (claims.isEmpty()) {
            head = 0;
            tail = 0;
        }
        final long wanted = (bytes + CLAIM_ALIGN_BYTES - 1) & -CLAIM_ALIGN_BYTES;
        final long at = head % region.bytes();
        final long skipped = at + wanted > region.bytes() ? region.bytes() - at : 0;
        if (head + skipped + wanted - tail > region.bytes()) {
            return null;
        }
        final long offset = skipped > 0 ? 0 : at;
        final long begin = head;
        head += skipped + wanted;
        claims.add(new Claim(region.address() + offset, bytes, begin, head));
        return region.slice(offset, bytes);
    }

    /// The user's open claim that a frame begins in; null where there is none.
    @Nullable
    Claim find(final DeviceRegion frame) {
        for (final Claim claim : claims) {
            if (claim.address == frame.address() && claim.state == State.OPEN && frame.bytes() <= claim.bytes) {
                return claim;
            }
        }
        return null;
    }

    /// The memory of a claim is needed no more.
    void release(final Claim claim) {
        claim.state = State.DONE;
        for (Claim oldest = claims.peek(); oldest != null && oldest.state == State.DONE; oldest = claims.peek()) {
            tail = oldest.end;
            claims.remove();
        }
        for (Claim newest = claims.peekLast();
                newest != null && newest.state == State.DONE;
                newest = claims.peekLast()) {
            head = newest.begin;
            claims.removeLast();
        }
    }
}
