package io.framecast.reliability.send;

import io.framecast.reliability.wire.RepairGroupLayout;

/// One repair group, a co-root and its members, as the source knows them: indices of the member table.
///
/// Pure state; one thread.
final class ServedGroup {
    private static final long NOT_FED = -1;

    private final int[] members = new int[RepairGroupLayout.MEMBERS_MAX];
    private int size;
    private int coRoot;
    private int ledEpoch;
    private int shrunkEpoch;
    private long formedNs;
    // The values of the newest aggregate, and the epoch that it covers; 0 before the first one.
    private int covered;
    private long acknowledged;
    private long grant;
    private long slowestMember;
    // The next sequence to write into the co-root's replica, or NOT_FED.
    private long fedEnd = NOT_FED;
    private int feedEpoch;

    ServedGroup(final int coRoot, final int epoch, final long nowNs) {
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
        slowestMember = 0;
        covered = 0;
    }

    /// The epoch in which its co-root was chosen.
    int ledEpoch() {
        return ledEpoch;
    }

    /// The co-root's replica has, or soon will have, all sequences below `end`.
    ///
    /// @param epoch of the word that announces them
    void feed(final int epoch, final long end) {
        feedEpoch = epoch;
        fedEnd = end;
    }

    /// The source no longer writes into the replica.
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

    /// The values of the newest aggregate. An aggregate that was overtaken covers fewer members, and is not the
    /// newest.
    ///
    /// @param coveredEpoch the aggregate covers members that joined up to this epoch
    /// @param slowestId the member that is furthest behind, or has not reported
    void onAggregate(
            final int coveredEpoch, final long leastAcknowledged, final long leastGrant, final long slowestId) {
        if (coveredEpoch < covered) {
            return;
        }
        covered = coveredEpoch;
        acknowledged = leastAcknowledged;
        grant = leastGrant;
        slowestMember = slowestId;
    }

    /// Epoch up to which its members' joining is covered.
    int covered() {
        return covered;
    }

    /// The member that holds the group back, by its co-root's last aggregate; 0 before the first one.
    long slowestMember() {
        return slowestMember;
    }

    /// Whether the newest aggregate has lower values than these.
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

    /// A member leaves the group.
    void shrink(final int member, final int epoch) {
        shrunkEpoch = epoch;
        remove(member);
    }

    /// The epoch of the last removal of a member, or of the choice of the co-root.
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
