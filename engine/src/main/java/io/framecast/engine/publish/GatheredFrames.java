package io.framecast.engine.publish;

import io.framecast.api.error.FramecastException;
import io.framecast.api.spi.DeviceAllocation;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.GatherSource;
import io.framecast.api.spi.PayloadPlaces;
import io.framecast.reliability.window.SendWindow;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Frames that the NIC sends from device memory (Chu et al. 2019, §4.2, MCAST-GDR: [header in the host |
/// payload in GPU memory]), until every subscriber has acknowledged them: in a window of the publisher's, or
/// in memory that is lent.
///
/// Publisher's thread. Closed when no lane sends any more.
final class GatheredFrames implements AutoCloseable {
    private static final int REFUSED_MAX = 64;

    private final DeviceBackend device;
    private final SourceParts parts;
    private final SendWindow window;
    private final int slotBytes;
    private final Consumer<String> notices;
    private final ArrayDeque<Sent> sent = new ArrayDeque<>();
    // Allocations that the NIC refused, the latest last: to ask again for each frame costs more than its copy.
    private final ArrayDeque<DeviceAllocation> refused = new ArrayDeque<>();
    private @Nullable DeviceWindow claims;
    private @Nullable GatherSource registered;
    private boolean isRefused;
    private boolean isNoticed;

    /// @param until sequences below this hold it
    /// @param claim in the publisher's window; null where it is lent
    /// @param own registration of memory that is lent; null in the publisher's window
    private record Sent(
            DeviceRegion frame,
            long until,
            DeviceWindow.@Nullable Claim claim,
            @Nullable GatherSource own) {}

    GatheredFrames(final DeviceBackend device, final SourceParts parts, final Consumer<String> notices) {
        this.device = device;
        this.parts = parts;
        this.notices = notices;
        window = parts.window();
        slotBytes = parts.stream().slotBytes();
    }

    /// Claims memory; null without room.
    @Nullable
    DeviceRegion claim(final long bytes) {
        reap();
        return claims().claim(bytes);
    }

    private DeviceWindow claims() {
        DeviceWindow made = claims;
        if (made == null) {
            made = new DeviceWindow(device, (long) window.slots() * slotBytes);
            claims = made;
        }
        return made;
    }

    /// The window that frames are claimed in; null before the first claim.
    @Nullable
    DeviceRegion claimed() {
        return claims == null ? null : claims.region();
    }

    private DeviceWindow.@Nullable Claim find(final DeviceRegion frame) {
        return claims == null ? null : claims.find(frame);
    }

    /// Whether a frame lies in an open claim, from its first byte on.
    boolean isClaimed(final DeviceRegion frame) {
        return find(frame) != null;
    }

    /// The memory of an open claim is needed no more.
    ///
    /// @return false when it is none
    boolean release(final DeviceRegion frame) {
        final DeviceWindow.Claim claim = find(frame);
        if (claim != null) {
            claims().release(claim);
        }
        return claim != null;
    }

    /// Sequences below hold the oldest frame; -1 where none is held.
    long oldestUntil() {
        final Sent oldest = sent.peek();
        return oldest == null ? -1 : oldest.until;
    }

    /// Has the next slots of the window send a frame from where it lies; their commit follows.
    ///
    /// @param frame claimed, or lent and known to the device
    /// @return false where the NIC does not reach this memory: the frame has to be copied
    boolean place(final DeviceRegion frame, final long slots) {
        final DeviceWindow.Claim claim = find(frame);
        final GatherSource source = claim == null ? lentSource(frame) : claimsSource();
        if (source == null) {
            return false;
        }
        final PayloadPlaces places =
                Objects.requireNonNull(parts.memory().ring().places());
        final long begin = frame.address() - source.memory().address();
        for (long i = 0; i < slots; i++) {
            places.set(window.slot(window.cursor() + i), source, begin + i * slotBytes);
        }
        if (claim != null) {
            claim.sent();
        }
        sent.add(new Sent(frame, window.cursor() + slots, claim, claim == null ? source : null));
        return true;
    }

    private @Nullable GatherSource claimsSource() {
        if (registered == null && !isRefused) {
            registered = source(claims().region());
            isRefused = registered == null;
        }
        return registered;
    }

    private @Nullable GatherSource lentSource(final DeviceRegion memory) {
        final DeviceAllocation allocation = memory.allocation();
        if (allocation == null) {
            return source(memory);
        }
        if (refused.contains(allocation)) {
            return null;
        }
        final GatherSource source = source(memory);
        if (source == null) {
            if (refused.size() == REFUSED_MAX) {
                refused.remove();
            }
            refused.add(allocation);
        }
        return source;
    }

    private @Nullable GatherSource source(final DeviceRegion memory) {
        try {
            return parts.transport().gatherFrom(memory);
        } catch (final FramecastException e) {
            if (!isNoticed) {
                isNoticed = true;
                notices.accept("source memory: frames are copied: " + e.getMessage());
            }
            return null;
        }
    }

    /// Gives back the memory of frames that every subscriber has acknowledged.
    void reap() {
        final long freed = window.freed();
        for (Sent first = sent.peek(); first != null && first.until <= freed; first = sent.peek()) {
            sent.remove();
            if (first.claim != null) {
                claims().release(first.claim);
            }
            CloseHelper.close(first.own);
        }
    }

    /// Whether a frame in a part of this memory is not acknowledged.
    boolean isSent(final DeviceRegion region) {
        reap();
        for (final Sent one : sent) {
            if (one.frame.address() < region.address() + region.bytes()
                    && region.address() < one.frame.address() + one.frame.bytes()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {
        sent.forEach(one -> CloseHelper.close(one.own));
        sent.clear();
        CloseHelper.close(registered);
    }
}
