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
    private int covered;
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
    }

    /// When its co-root was chosen.
    long formedNs() {
        return formedNs;
    }

    /// What its newest aggregate says.
    ///
    /// @param coveredEpoch it speaks for those who joined up to this epoch
    /// @param laggardId who is furthest behind
    void onAggregate(final int coveredEpoch, final long laggardId) {
        covered = coveredEpoch;
        laggard = laggardId;
    }

    /// Whether its co-root says that this member holds it back, or has not heard of it.
    ///
    /// @param joinedEpoch when the member joined
    boolean blames(final long id, final int joinedEpoch) {
        return id == laggard || joinedEpoch > covered;
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
