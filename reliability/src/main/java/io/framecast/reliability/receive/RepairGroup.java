package io.framecast.reliability.receive;

import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.RepairGroupLayout;
import java.lang.foreign.MemorySegment;

/// A co-root's members, as the source listed them, with their acknowledgements and grants.
///
/// Acknowledgements and grants only grow and are never taken back, so a report of any epoch stays true. An aggregate
/// must name its members exactly: it covers the members that joined the group up to some epoch, all of which have
/// reported. New members do not hold up the aggregate of the earlier ones.
///
/// Pure state; one thread.
final class RepairGroup {
    static final int NONE = -1;

    private final long[] ids = new long[RepairGroupLayout.MEMBERS_MAX];
    private final int[] joined = new int[RepairGroupLayout.MEMBERS_MAX];
    private final long[] acknowledged = new long[RepairGroupLayout.MEMBERS_MAX];
    private final long[] grants = new long[RepairGroupLayout.MEMBERS_MAX];
    private final boolean[] complete = new boolean[RepairGroupLayout.MEMBERS_MAX];
    // A bit for each member.
    private long present;
    private long reported;
    private int epoch;

    private int covered;
    private long leastAcknowledged = Long.MAX_VALUE;
    private long leastGrant = Long.MAX_VALUE;
    private long slowestMember;
    private boolean allComplete = true;

    int epoch() {
        return epoch;
    }

    /// A bit for each member.
    long present() {
        return present;
    }

    long id(final int member) {
        return ids[member];
    }

    int find(final long id) {
        for (long bits = present; bits != 0; bits &= bits - 1) {
            final int member = Long.numberOfTrailingZeros(bits);
            if (ids[member] == id) {
                return member;
            }
        }
        return NONE;
    }

    /// Adds a member that has not reported yet, or updates the epoch of its joining.
    ///
    /// @return its index; for a known member, −1 less its index
    int add(final long id, final int joinedEpoch) {
        final int known = find(id);
        if (known != NONE) {
            joined[known] = joinedEpoch;
            return -1 - known;
        }
        final int member = Long.numberOfTrailingZeros(~present);
        ids[member] = id;
        joined[member] = joinedEpoch;
        acknowledged[member] = 0;
        grants[member] = 0;
        complete[member] = false;
        present |= 1L << member;
        reported &= ~(1L << member);
        return member;
    }

    void remove(final int member) {
        present &= ~(1L << member);
    }

    /// The list is complete in this epoch.
    void settle(final int listEpoch) {
        epoch = listEpoch;
        summarize();
    }

    /// Takes a member's ACK, checked by its layout.
    void onAck(final int member, final MemorySegment datagram, final long offset) {
        acknowledged[member] = Math.max(acknowledged[member], AckLayout.ACKNOWLEDGED.get(datagram, offset));
        grants[member] = Math.max(grants[member], AckLayout.GRANT.get(datagram, offset));
        complete[member] |= AckLayout.isComplete(datagram, offset);
        reported |= 1L << member;
        summarize();
    }

    private void summarize() {
        covered = epoch;
        long silent = 0;
        for (long bits = present & ~reported; bits != 0; bits &= bits - 1) {
            final int member = Long.numberOfTrailingZeros(bits);
            covered = Math.min(covered, joined[member] - 1);
            silent = ids[member];
        }
        leastAcknowledged = Long.MAX_VALUE;
        leastGrant = Long.MAX_VALUE;
        allComplete = true;
        long behind = Long.MAX_VALUE;
        for (long bits = present; bits != 0; bits &= bits - 1) {
            final int member = Long.numberOfTrailingZeros(bits);
            if (joined[member] > covered) {
                continue;
            }
            // The member with the least acknowledgement holds the group back, unless a grant is less.
            final long at = Math.min(acknowledged[member], grants[member]);
            if (at < behind) {
                behind = at;
                slowestMember = ids[member];
            }
            leastAcknowledged = Math.min(leastAcknowledged, acknowledged[member]);
            leastGrant = Math.min(leastGrant, grants[member]);
            allComplete &= complete[member];
        }
        // A member that has not reported holds back more than one that is behind.
        slowestMember = silent == 0 ? slowestMember : silent;
    }

    /// The summary covers the members that joined up to this epoch.
    int covered() {
        return covered;
    }

    /// MAX_VALUE when no member is covered.
    long leastAcknowledged() {
        return leastAcknowledged;
    }

    /// MAX_VALUE when no member is covered.
    long leastGrant() {
        return leastGrant;
    }

    /// Id of a member that has not reported yet, or else of the slowest one.
    long slowestMember() {
        return slowestMember;
    }

    boolean isComplete() {
        return allComplete;
    }
}
