package io.framecast.engine.hostgroup;

import io.framecast.api.PlacementOptions.Kind;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceSharing;
import io.framecast.reliability.group.DeviceWords;
import io.framecast.reliability.group.SegmentLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// How a follower's frames get to its device other than out of the leader's ring. Of the members whose devices
/// reach each other, the first copies each frame to its own device, once. The other members copy the frame from
/// there, or read it there. The words show which member copies, without a message.
///
/// Threading: under the lock of its [FollowerCopies].
final class DeviceShare {
    // Between two looks at the other members.
    private static final long LOOK_NS = 10_000_000;
    // How long a member waits at first for the other members' wishes.
    private static final long SETTLE_NS = 500_000_000;
    // A frame that is late this long may be late for ever.
    private static final long DEAD_NS = 2_000_000;
    // Between two attempts to copy frames for other members.
    private static final long AGAIN_NS = 1_000_000_000;

    private static final int NO_MEMBER = -1;
    private static final int UNSETTLED = -2;

    private final PlacementCounts placements;
    private final DeviceBackend device;
    private final @Nullable DeviceSharing sharing;
    private final FollowerSegment segment;
    private final DeviceWords words;
    private final RefCount uses;
    private final Exporters exporters;
    private final Map<UUID, Optional<String>> reach = new HashMap<>();
    private @Nullable DeviceImport open;
    private FollowerCopies.Place[] places = {};
    private int inPlace;
    private @Nullable DeviceExporter exporter;
    private int elected = UNSETTLED;
    // The offer that cannot be used.
    private long refused;
    private final long beganNs = System.nanoTime();
    private long lookedNs = beganNs - LOOK_NS;
    private long exporterNs = beganNs - AGAIN_NS;
    private final Patience patience = new Patience();
    private boolean stopped;

    /// How long a member waits for frames that another member copies to its device. After a wait in vain it
    /// copies for itself for a while, longer each time, and then waits shortly. A frame that comes in time makes
    /// it patient again.
    static final class Patience {
        private static final long FRAME_NS = 500_000_000;
        private static final long AGAIN_NS = 50_000_000;
        private static final long REST_MIN_NS = 100_000_000;
        private static final long REST_MAX_NS = 5_000_000_000L;

        private long frameNs = FRAME_NS;
        private long restNs = REST_MIN_NS;
        // Copies for itself until then.
        private long restedNs;
        private boolean rests;
        private long awaited = -1;
        private int awaitedFrom;
        private long awaitedNs;

        /// Whether it copies for itself now.
        boolean rests(final long nowNs) {
            rests &= nowNs - restedNs < 0;
            return rests;
        }

        /// How long it has waited for an entry's frame, from a member.
        long waitedNs(final long number, final int from, final long nowNs) {
            if (awaited != number || awaitedFrom != from) {
                awaited = number;
                awaitedFrom = from;
                awaitedNs = nowNs;
            }
            return nowNs - awaitedNs;
        }

        /// Whether it waits on. Where it does not, it rests.
        boolean waits(final long waitedNs, final long nowNs) {
            if (waitedNs < frameNs) {
                return true;
            }
            frameNs = AGAIN_NS;
            rests = true;
            restedNs = nowNs + restNs;
            restNs = Math.min(2 * restNs, REST_MAX_NS);
            return false;
        }

        void onFrame() {
            frameNs = FRAME_NS;
            restNs = REST_MIN_NS;
            rests = false;
        }
    }

    /// Makes exporters.
    interface Exporters {
        /// @return null where none can be made now
        @Nullable
        DeviceExporter open(DeviceSharing sharing);
    }

    /// @param uses of the follower, which lasts as long as anything here is open
    DeviceShare(
            final PlacementCounts placements,
            final DeviceBackend device,
            final FollowerSegment segment,
            final RefCount uses,
            final Exporters exporters) {
        this.placements = placements;
        this.device = device;
        this.segment = segment;
        this.uses = uses;
        this.exporters = exporters;
        words = segment.deviceWords();
        sharing = placements.wanted() == Kind.STAGED ? null : sharing(device, placements);
        if (sharing == null) {
            words.refrain();
        } else {
            words.want(sharing.identity());
        }
    }

    private static @Nullable DeviceSharing sharing(final DeviceBackend device, final PlacementCounts placements) {
        final DeviceSharing found = device.capability(DeviceSharing.class).orElse(null);
        final String reason = found == null
                ? "this device shares no memory between processes"
                : found.refusal().orElse("");
        placements.refuse(reason.isEmpty() ? "no other member of the group takes frames from device memory" : reason);
        return reason.isEmpty() ? found : null;
    }

    /// Follows the offers and wishes of other members. To be called often.
    void look() {
        final long nowNs = System.nanoTime();
        if (sharing == null || (nowNs - lookedNs < LOOK_NS && elected != UNSETTLED)) {
            return;
        }
        lookedNs = nowNs;
        final DeviceImport opened = open;
        if (opened != null
                && opened.held() == 0
                && (stopped || opened.offer().id() == refused || !opened.isOffered())) {
            close(opened);
        }
        if (stopped || !segment.enter()) {
            return;
        }
        try {
            elected = elect(nowNs);
            keepExporter(nowNs);
            if (elected >= 0 && open == null) {
                open(words.offered(elected));
            }
        } finally {
            segment.exit();
        }
    }

    private void keepExporter(final long nowNs) {
        if (exporter != null && elected != words.member() && elected != UNSETTLED) {
            exporter.close();
        }
        if (exporter != null && exporter.isOver()) {
            exporter = null;
        }
        if (exporter == null && elected == words.member() && nowNs - exporterNs >= AGAIN_NS && sharing != null) {
            exporterNs = nowNs;
            exporter = exporters.open(sharing);
        }
    }

    // The member that offers its memory already, else the first that would. A candidate wants frames from the memory of
    // other members, and this device reaches its device. NO_MEMBER where only this member wants such frames.
    private int elect(final long nowNs) {
        int first = NO_MEMBER;
        int offers = NO_MEMBER;
        int count = 0;
        boolean isEarlierUnknown = false;
        boolean isUnknown = false;
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            final int wish = words.isMember(i) ? words.wish(i) : SegmentLayout.WANTS_NOT;
            if ((wish == SegmentLayout.WANTS || wish == SegmentLayout.TAKES)
                    && reaches(words.device(i)).isEmpty()) {
                first = first == NO_MEMBER && wish == SegmentLayout.WANTS ? i : first;
                offers = offers == NO_MEMBER && words.offered(i) != null ? i : offers;
                count++;
            }
            isUnknown |= wish == 0;
            isEarlierUnknown |= wish == 0 && first == NO_MEMBER;
        }
        if (nowNs - beganNs < SETTLE_NS && offers == NO_MEMBER && (isEarlierUnknown || (isUnknown && count < 2))) {
            return UNSETTLED;
        }
        return count < 2 ? NO_MEMBER : offers == NO_MEMBER ? first : offers;
    }

    private Optional<String> reaches(final UUID other) {
        return sharing == null ? Optional.of("it shares nothing") : reach.computeIfAbsent(other, sharing::reachRefusal);
    }

    private void open(final DeviceWords.@Nullable Offer offer) {
        if (offer == null || sharing == null || offer.id() == refused || !uses.acquire()) {
            return;
        }
        if (!segment.enter()) {
            uses.release();
            return;
        }
        if (!Processes.isNeighbour(offer.namespace())) {
            refuse(
                    offer,
                    "the process that has the memory is of another PID namespace; run both in one, as with --pid=host");
        } else if (words.use(offer)) {
            try {
                final DeviceImport made = new DeviceImport(sharing, words, offer, placements.wanted() == Kind.SHARED);
                places = made.places(device);
                open = made;
                return;
            } catch (final DeviceException e) {
                words.unuse();
                refuse(offer, String.valueOf(e.getMessage()));
            }
        }
        segment.exit();
        uses.release();
    }

    private void refuse(final DeviceWords.Offer offer, final String reason) {
        refused = offer.id();
        placements.refuse(reason);
    }

    private void close(final DeviceImport opened) {
        open = null;
        for (final FollowerCopies.Place place : places) {
            place.close();
        }
        places = new FollowerCopies.Place[0];
        opened.close(() -> {
            segment.exit();
            uses.release();
        });
    }

    /// True while another member is about to decide where in device memory an entry's frame lies.
    boolean awaits(final long number) {
        look();
        final long nowNs = System.nanoTime();
        if (sharing == null || stopped || patience.rests(nowNs) || elected == NO_MEMBER) {
            return false;
        }
        final DeviceImport opened = open;
        if (elected >= 0 && opened == null && refused != 0) {
            return false;
        }
        if (opened != null && (opened.offer().id() == refused || !opened.isOffered() || opened.isDecided(number))) {
            return false;
        }
        if (opened == null) {
            // Its memory is being made.
            lookedNs = nowNs - LOOK_NS;
        }
        final long waitedNs = patience.waitedNs(number, elected, nowNs);
        if (opened != null && waitedNs > DEAD_NS && !opened.lives()) {
            refuse(opened.offer(), "the process that copied frames to its device died");
            return false;
        }
        if (patience.waits(waitedNs, nowNs)) {
            return true;
        }
        placements.refuse("the member that copies frames to its device does not keep up");
        return false;
    }

    /// Holds a frame in device memory until [#leave].
    ///
    /// @return [DeviceWords#NONE] where it is to be copied from the ring
    int hold(final long number, final long bytes) {
        final DeviceImport opened = open;
        final int slot = opened == null || stopped || opened.offer().id() == refused
                ? DeviceWords.NONE
                : opened.hold(number, bytes);
        if (opened == null || slot == DeviceWords.NONE) {
            placements.count(Kind.STAGED, 1);
        } else {
            patience.onFrame();
            placements.count(opened.inPlace() ? Kind.SHARED : Kind.PEER, 1);
        }
        return slot;
    }

    void leave(final int slot) {
        if (open != null) {
            open.leave(slot);
        }
    }

    /// Where a frame is read that is held; null where it is copied.
    FollowerCopies.@Nullable Place inPlace(final int slot) {
        if (open == null || !open.inPlace()) {
            return null;
        }
        inPlace++;
        return places[slot];
    }

    /// Frames that the user reads in place.
    int heldInPlace() {
        return inPlace;
    }

    /// Whether it has stopped, and nothing is open any more.
    boolean isOver() {
        return stopped && open == null;
    }

    boolean isInPlace(final FollowerCopies.Place place) {
        return place.slot() != DeviceWords.NONE && places.length > place.slot() && places[place.slot()] == place;
    }

    /// The user reads no more in a place.
    ///
    /// @return false for a place that is not of such memory
    boolean leaveInPlace(final FollowerCopies.Place place) {
        if (!isInPlace(place)) {
            return false;
        }
        inPlace--;
        leave(place.slot());
        return true;
    }

    /// The address of a frame that is held.
    long address(final int slot) {
        if (open == null) {
            throw new IllegalStateException("no memory of another member is open");
        }
        return open.slot(slot).address();
    }

    /// Whether the memory's process lives, so that everything was there that was read until now.
    boolean isIntact() {
        return open != null && open.lives();
    }

    /// A frame was copied from the ring after all.
    void onBroken() {
        placements.count(Kind.PEER, -1);
        placements.count(Kind.STAGED, 1);
        if (open != null) {
            refuse(open.offer(), "the process that copied frames to its device died");
        }
    }

    /// Closes open memory, once no frame is held there; begins nothing more.
    void stop() {
        stopped = true;
        if (exporter != null) {
            exporter.close();
        }
        lookedNs -= LOOK_NS;
        look();
    }
}
