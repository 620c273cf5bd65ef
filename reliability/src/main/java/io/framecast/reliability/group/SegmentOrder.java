package io.framecast.reliability.group;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// The order in which a member reads the segments that leaders share, each of which is read when all before it
/// were. A successor's segment counts from when its leader goes on; until then the leader before it may still
/// publish.
public final class SegmentOrder {
    /// What a member does that finds nothing in its present segment.
    public enum Step {
        /// Waits in the present segment.
        STAY,
        /// Skips the next segment, whose leader never went on.
        SKIP,
        /// Refuses the next segment: the member has reported its source as lost.
        REFUSE,
        /// Reads the next segment from now on.
        MOVE
    }

    private SegmentOrder() {}

    /// @param present null before the first
    /// @param status of the present one; not FRAMES
    /// @param next that came behind it
    /// @param behind that came behind the next one, in order
    /// @param rejoins whether another stream may follow a lost source
    public static Step step(
            final @Nullable FollowerTable present,
            final StreamStatus status,
            final FollowerTable next,
            final StreamStatus nextStatus,
            final List<FollowerTable> behind,
            final boolean rejoins) {
        if (present == null) {
            return Step.MOVE;
        }
        final boolean mayStay = status == StreamStatus.STREAMING || status == StreamStatus.NONE;
        if (mayStay && nextStatus == StreamStatus.NONE) {
            // Successors that are not open may have died. While none behind it is open, one of them may depend on it.
            final boolean counts = next.isOpen() && behind.stream().noneMatch(FollowerTable::isOpen);
            return behind.isEmpty() || counts ? Step.STAY : Step.SKIP;
        }
        return status == StreamStatus.LOST && !rejoins && !goesOn(present, next) ? Step.REFUSE : Step.MOVE;
    }

    /// Whether a segment's stream goes on where that of another one stopped.
    public static boolean goesOn(final FollowerTable present, final FollowerTable next) {
        return next.continues() && next.session() == present.session();
    }
}
