package io.framecast.reliability.send;

import io.framecast.reliability.flow.RttEstimator;
import io.framecast.reliability.send.Member.State;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import io.framecast.reliability.wire.ResumeLayout;

/// The receivers that a source knows: fixed arrays, indexed by member. A member that left or was evicted stays as
/// GONE until its place is needed, so that the source can repeat the notice to it.
///
/// Pure state; one thread.
public final class MemberTable {
    static final int NONE = -1;
    /// A joining receiver repeats its JOIN at least every 500 ms.
    public static final long JOIN_STALLED_NS = 1_000_000_000;

    private static final long HELD_BACK_SHARE = 50;
    private static final long NS_PER_MS = 1_000_000;
    private final Member[] places;
    private int active;
    // Places from here on are free, and were never used.
    private int used;

    MemberTable(final int membersMax) {
        places = new Member[membersMax];
        java.util.Arrays.setAll(places, _ -> new Member());
    }

    Member of(final int member) {
        return places[member];
    }

    int capacity() {
        return places.length;
    }

    int active() {
        return active;
    }

    int subscribers() {
        int sum = 0;
        for (int m = 0; m < used; m++) {
            sum += places[m].isActive() ? places[m].subscribers : 0;
        }
        return sum;
    }

    int find(final long id) {
        for (int m = 0; m < used; m++) {
            if (places[m].id == id && places[m].state != State.FREE) {
                return m;
            }
        }
        return NONE;
    }

    /// The active member whose membership this secret moves.
    int findActive(final long secret) {
        for (int m = 0; m < used; m++) {
            if (places[m].isActive() && ResumeLayout.moves(places[m].terms.secret(), secret)) {
                return m;
            }
        }
        return NONE;
    }

    /// A place for a new receiver: a free one, else that of a member that is GONE. The last choice is the place of
    /// a receiver that began to join and fell silent.
    int vacancy(final long nowNs) {
        int gone = NONE;
        int stalled = NONE;
        for (int m = 0; m < used; m++) {
            final Member member = places[m];
            if (member.state == State.FREE) {
                return m;
            }
            gone = member.state == State.GONE ? m : gone;
            stalled = member.state == State.ADMITTED && nowNs - member.heardNs > JOIN_STALLED_NS ? m : stalled;
        }
        if (used < places.length) {
            return used;
        }
        return gone == NONE ? stalled : gone;
    }

    void admit(final int place, final long id, final JoinLayout.Terms joinTerms, final int token, final long nowNs) {
        used = Math.max(used, place + 1);
        final Member member = places[place];
        member.id = id;
        member.terms = joinTerms;
        member.policyVersion = 0;
        member.subscribers = 1;
        member.heldBackNs = 0;
        member.holdsBackNs = 0;
        member.requested = 0;
        member.token = token;
        member.proven = false;
        member.complete = false;
        member.reason = Reason.UNKNOWN;
        member.state = State.ADMITTED;
        member.admittedNs = nowNs;
        member.started = false;
        member.heardNs = nowNs;
        member.answeredNs = nowNs - JoinBudget.MEMBER_INTERVAL_NS;
        member.rtt.reset();
    }

    void activate(final int place, final long firstSequence, final long firstFrameId, final long grant) {
        final Member member = places[place];
        member.state = State.ACTIVE;
        member.proven = true;
        member.startSequence = firstSequence;
        member.startFrameId = firstFrameId;
        member.acknowledged = firstSequence;
        member.grant = grant;
        member.timeoutNs = Long.MAX_VALUE;
        member.timeouts = 0;
        active++;
    }

    void remove(final int member, final State state) {
        active -= places[member].isActive() ? 1 : 0;
        places[member].state = state;
    }

    /// Takes a member's ACK; never moves back.
    ///
    /// @return whether it acknowledged something new
    boolean acknowledge(final int place, final long sequence, final long grant) {
        final Member member = places[place];
        member.grant = Math.max(member.grant, grant);
        if (sequence <= member.acknowledged) {
            return false;
        }
        member.acknowledged = sequence;
        member.timeouts = 0;
        return true;
    }

    /// The sequence below which all active members have acknowledged, at most `limit`.
    long acknowledgedByAll(final long limit) {
        return Math.min(acknowledgedByWaitedFor(limit), acknowledgedByOthers(limit));
    }

    /// Whether no active member lacks a datagram below `next` that could still be repaired.
    ///
    /// @param held first sequence that the source still holds
    boolean areServed(final long next, final long held) {
        for (int m = 0; m < used; m++) {
            final boolean beyondHelp = !places[m].isWaitedFor() && places[m].acknowledged < held;
            if (places[m].isActive() && places[m].acknowledged < next && !beyondHelp) {
                return false;
            }
        }
        return true;
    }

    /// Of the active members that the source waits for.
    long acknowledgedByWaitedFor(final long limit) {
        return acknowledged(limit, true);
    }

    /// Of the active members that the source does not wait for.
    long acknowledgedByOthers(final long limit) {
        return acknowledged(limit, false);
    }

    private long acknowledged(final long limit, final boolean waitedFor) {
        long least = limit;
        for (int m = 0; m < used; m++) {
            if (places[m].isActive() && places[m].isWaitedFor() == waitedFor) {
                least = Math.min(least, places[m].acknowledged);
            }
        }
        return least;
    }

    /// Whether every active member knows the stream's end and has all of it.
    boolean isCompleteForAll() {
        for (int m = 0; m < used; m++) {
            if (places[m].isActive() && !places[m].complete) {
                return false;
            }
        }
        return true;
    }

    /// The smallest grant of the active members that the source waits for. Without any of these, the largest grant
    /// of all members: the source runs as fast as the fastest. MAX_VALUE without any member.
    long granted() {
        long least = Long.MAX_VALUE;
        long most = Long.MIN_VALUE;
        for (int m = 0; m < used; m++) {
            if (places[m].isWaitedFor()) {
                least = Math.min(least, places[m].grant);
            } else if (places[m].isActive()) {
                most = Math.max(most, places[m].grant);
            }
        }
        return least == Long.MAX_VALUE && most != Long.MIN_VALUE ? most : least;
    }

    /// Whether the source waits for any active member.
    boolean isAnyWaitedFor() {
        for (int m = 0; m < used; m++) {
            if (places[m].isWaitedFor()) {
                return true;
            }
        }
        return false;
    }

    /// The slowest member's round-trip time.
    long rttNs() {
        long most = 0;
        for (int m = 0; m < used; m++) {
            if (places[m].isActive()) {
                most = Math.max(most, places[m].rtt.smoothedNs());
            }
        }
        return most == 0 ? RttEstimator.INITIAL_NS : most;
    }

    /// Counts how long a member has held the source back, less a fiftieth of the time that it has not.
    ///
    /// @param holdsBack whether the member held the source back for the last `ns`
    /// @return whether that is longer than its delivery policy allows
    boolean isTooSlow(final int place, final boolean holdsBack, final long ns) {
        final Member member = places[place];
        final Delivery delivery = member.terms.delivery();
        member.holdsBackNs += holdsBack ? ns : 0;
        member.heldBackNs = Math.max(0, member.heldBackNs + (holdsBack ? ns : -ns / HELD_BACK_SHARE));
        return delivery.kind() == Delivery.Kind.EVICT && member.heldBackNs > delivery.patienceMs() * NS_PER_MS;
    }

    /// This process stood still: no member counts as silent since before then. The excuse holds once between two
    /// datagrams of a member.
    void excuse(final long sinceNs) {
        for (int m = 0; m < used; m++) {
            final Member member = places[m];
            if (sinceNs > member.heardNs && member.heardNs != member.excusedNs) {
                member.heardNs = sinceNs;
                member.excusedNs = sinceNs;
            }
        }
    }
}
