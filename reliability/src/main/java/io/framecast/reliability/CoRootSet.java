package io.framecast.reliability;

import io.framecast.reliability.wire.SetLayout;

/// One co-root and whom it serves, as the source knows them: indices of the member table.
///
/// Pure state; one thread.
final class CoRootSet {
    private static final long NOT_FED = -1;

    private final int[] members = new int[SetLayout.MEMBERS_MAX];
    private int size;
    private int coRoot;
    private int ledEpoch;
    private int shrunkEpoch;
    private long formedNs;
    // What its newest aggregate says, and of whom; before the first: nothing.
    private int covered;
    private long acknowledged;
    private long grant;
    private long laggard;
    // What is written into the co-root's copy next; NOT_FED: nothing.
    private long fedEnd = NOT_FED;
    private int feedEpoch;

    CoRootSet(final int coRoot, final int epoch, final long nowNs) {
        lead(coRoot, epoch, nowNs);
    }

    int coRoot() {
        return coRoot;
    }

    /// A member becomes the co-root.
    void lead(final int member, final int epoch, final long nowNs) {
        remove(member);
        coRoot = member;
        ledEpoch = epoch;
        shrunkEpoch = epoch;
        fedEnd = NOT_FED;
        formedNs = nowNs;
        laggard = 0;
        covered = 0;
    }

    /// The epoch in which its co-root was chosen.
    int ledEpoch() {
        return ledEpoch;
    }

    /// The co-root's copy has, or soon will have, what lies below.
    ///
    /// @param epoch of the word that tells it so
    void feed(final int epoch, final long end) {
        feedEpoch = epoch;
        fedEnd = end;
    }

    /// Nothing is written into its copy any more.
    void starve() {
        fedEnd = NOT_FED;
    }

    boolean isFed() {
        return fedEnd != NOT_FED;
    }

    long fedEnd() {
        return fedEnd;
    }

    int feedEpoch() {
        return feedEpoch;
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

    /// A member is of the set no more.
    void shrink(final int member, final int epoch) {
        shrunkEpoch = epoch;
        remove(member);
    }

    /// The epoch in which somebody was taken off it last, or its co-root was chosen.
    int shrunkEpoch() {
        return shrunkEpoch;
    }

    private void remove(final int member) {
        for (int i = 0; i < size; i++) {
            if (members[i] == member) {
                members[i] = members[--size];
                return;
            }
        }
    }
}
