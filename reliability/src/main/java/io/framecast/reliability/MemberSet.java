package io.framecast.reliability;

import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.SetLayout;
import java.lang.foreign.MemorySegment;

/// Whom a co-root serves, as its source listed them, and what they acknowledged and granted.
///
/// Acknowledgements and grants only grow and are never taken back, so each report is true for ever, whichever
/// epoch it was sent in. What may not be mixed is *who* is spoken for: an aggregate covers those who joined
/// the set up to some epoch, all of whom have reported. Members that join do not hold up what is said of the
/// others.
///
/// Pure state; one thread.
final class MemberSet {
    static final int NONE = -1;

    private final long[] ids = new long[SetLayout.MEMBERS_MAX];
    private final int[] joined = new int[SetLayout.MEMBERS_MAX];
    private final long[] acknowledged = new long[SetLayout.MEMBERS_MAX];
    private final long[] grants = new long[SetLayout.MEMBERS_MAX];
    private final boolean[] complete = new boolean[SetLayout.MEMBERS_MAX];
    // A bit for each member.
    private long present;
    private long reported;
    private int epoch;

    private int covered;
    private long leastAcknowledged = Long.MAX_VALUE;
    private long leastGrant = Long.MAX_VALUE;
    private long laggard;
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

    /// Adds a member that has not reported yet, or says anew when one joined.
    ///
    /// @return its index, negative and −1 less when it was there before
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
        acknowledged[member] = Math.max(acknowledged[member], AckLayout.acknowledged(datagram, offset));
        grants[member] = Math.max(grants[member], AckLayout.grant(datagram, offset));
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
            // Whoever acknowledged least holds the set back, unless its grant does.
            final long at = Math.min(acknowledged[member], grants[member]);
            if (at < behind) {
                behind = at;
                laggard = ids[member];
            }
            leastAcknowledged = Math.min(leastAcknowledged, acknowledged[member]);
            leastGrant = Math.min(leastGrant, grants[member]);
            allComplete &= complete[member];
        }
        // Who has not reported holds back more than who is behind.
        laggard = silent == 0 ? laggard : silent;
    }

    /// The summary speaks for those who joined up to this epoch.
    int covered() {
        return covered;
    }

    /// MAX_VALUE when nobody is covered.
    long leastAcknowledged() {
        return leastAcknowledged;
    }

    /// MAX_VALUE when nobody is covered.
    long leastGrant() {
        return leastGrant;
    }

    /// Id of a member that has not reported yet, or else of the one that is furthest behind.
    long laggard() {
        return laggard;
    }

    boolean isComplete() {
        return allComplete;
    }
}
