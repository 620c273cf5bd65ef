package io.framecast.engine.publish;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import java.util.ArrayDeque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/// A publisher's window in device memory: frames are claimed one behind the other, each contiguous, and their
/// memory is free again in the order of the claims.
///
/// Publisher's thread.
final class DeviceWindow {
    // As CUDA aligns allocations, and exports whole pages.
    private static final long CLAIM_ALIGN_BYTES = 256;
    private static final long EXPORT_ALIGN_BYTES = 2L << 20;

    private final DeviceRegion region;
    private final ArrayDeque<Claim> claims = new ArrayDeque<>();
    // Bytes claimed so far, and given back, with what was skipped at the window's end.
    private long head;
    private long tail;

    // Its end lies behind its bytes, as `head` counts them.
    private static final class Claim {
        private final long address;
        private final long bytes;
        private final long end;
        private boolean done;

        private Claim(final long address, final long bytes, final long end) {
            this.address = address;
            this.bytes = bytes;
            this.end = end;
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
        final long wanted = (bytes + CLAIM_ALIGN_BYTES - 1) & -CLAIM_ALIGN_BYTES;
        final long at = head % region.bytes();
        final long skipped = at + wanted > region.bytes() ? region.bytes() - at : 0;
        if (head + skipped + wanted - tail > region.bytes()) {
            return null;
        }
        final long offset = skipped > 0 ? 0 : at;
        head += skipped + wanted;
        claims.add(new Claim(region.address() + offset, bytes, head));
        return region.slice(offset, bytes);
    }

    /// Whether a frame lies in an open claim, from its first byte on.
    boolean isClaimed(final DeviceRegion frame) {
        return find(frame) != null;
    }

    private @Nullable Claim find(final DeviceRegion frame) {
        for (final Claim claim : claims) {
            if (claim.address == frame.address() && !claim.done && frame.bytes() <= claim.bytes) {
                return claim;
            }
        }
        return null;
    }

    /// Where a claimed frame begins.
    long offset(final DeviceRegion frame) {
        return frame.address() - region.address();
    }

    /// The memory of a claim is needed no more.
    ///
    /// @return false when it is no open claim
    boolean release(final DeviceRegion frame) {
        final Claim claim = find(frame);
        if (claim == null) {
            return false;
        }
        claim.done = true;
        final Iterator<Claim> oldest = claims.iterator();
        while (oldest.hasNext()) {
            final Claim next = oldest.next();
            if (!next.done) {
                break;
            }
            tail = next.end;
            oldest.remove();
        }
        return true;
    }
}
