package io.framecast.reliability;

import io.framecast.reliability.wire.SetLayout;

/// One co-root and whom it serves, as the source knows them: indices of the member table.
///
/// Pure state; one thread.
final class CoRootSet {
    private final int[] members = new int[SetLayout.MEMBERS_MAX];
    private int size;
    private int coRoot;
    private long formedNs;
    // What its newest aggregate says, and of whom; before the first: nothing.
    private int covered;
    private long acknowledged;
    private long grant;
    private long laggard;

    CoRootSet(final int coRoot, final long nowNs) {
        lead(coRoot, nowNs);
    }

    int coRoot() {
        return coRoot;
    }

    /// A member becomes the co-root.
    void lead(final int member, final long nowNs) {
        remove(member);
        coRoot = member;
        formedNs = nowNs;
        laggard = 0;
        covered = 0;
    }

    /// When its co-root was chosen.
    long formedNs() {
        return formedNs;
    }

    /// What its newest aggregate says. One that was overtaken covers fewer, and is not the newest.
    ///
    /// @param coveredEpoch it speaks for those who joined up to this epoch
    /// @param laggardId who is furthest behind, or has not reported
    void onAggregate(
            final int coveredEpoch, final long leastAcknowledged, final long leastGrant, final long laggardId) {
        if (coveredEpoch < covered) {
            return;
        }
        covered = coveredEpoch;
        acknowledged = leastAcknowledged;
        grant = leastGrant;
        laggard = laggardId;
    }

    /// Epoch up to which its members' joining is covered.
    int covered() {
        return covered;
    }

    /// Who holds the set back, as its co-root says; 0: nobody yet.
    long laggard() {
        return laggard;
    }

    /// Whether the newest aggregate says less than this.
    boolean isBehind(final long memberAcknowledged, final long memberGrant) {
        return acknowledged < memberAcknowledged || grant < memberGrant;
    }

    /// Members that the co-root serves.
    int size() {
        return size;
    }

    int member(final int index) {
        return members[index];
    }

    void add(final int member) {
        members[size++] = member;
    }

    void remove(final int member) {
        for (int i = 0; i < size; i++) {
            if (members[i] == member) {
                members[i] = members[--size];
                return;
            }
        }
    }
}
