package io.framecast.reliability.send;

import io.framecast.reliability.flow.RttEstimator;
import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LeaveLayout.Reason;

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
    private static final JoinLayout.Terms NO_TERMS =
            new JoinLayout.Terms(0, Delivery.RELIABLE, new LaneAddresses(new byte[0], new byte[0]), CoRootOffer.NONE);

    /// A member's stage.
    enum State {
        FREE,
        /// ADMIT and a probe were sent.
        ADMITTED,
        /// READY was received: the member counts.
        ACTIVE,
        GONE
    }

    private final long[] ids;
    private final State[] states;
    private final long[] acknowledged;
    private final long[] grants;
    private final long[] startSequences;
    private final long[] startFrameIds;
    private final boolean[] started;
    private final boolean[] complete;
    private final JoinLayout.Terms[] terms;
    private final long[] heldBackNs;
    private final int[] tokens;
    private final long[] heardNs;
    private final long[] excusedNs;
    private final Reason[] reasons;
    private final long[] answeredNs;
    private final long[] timeoutNs;
    private final int[] timeouts;
    private final RttEstimator[] rtts;
    private int active;

    MemberTable(final int membersMax) {
        ids = new long[membersMax];
        states = new State[membersMax];
        acknowledged = new long[membersMax];
        grants = new long[membersMax];
        startSequences = new long[membersMax];
        startFrameIds = new long[membersMax];
        started = new boolean[membersMax];
        complete = new boolean[membersMax];
        terms = new JoinLayout.Terms[membersMax];
        heldBackNs = new long[membersMax];
        tokens = new int[membersMax];
        heardNs = new long[membersMax];
        excusedNs = new long[membersMax];
        reasons = new Reason[membersMax];
        answeredNs = new long[membersMax];
        timeoutNs = new long[membersMax];
        timeouts = new int[membersMax];
        rtts = new RttEstimator[membersMax];
        java.util.Arrays.fill(states, State.FREE);
        java.util.Arrays.fill(terms, NO_TERMS);
        java.util.Arrays.fill(reasons, Reason.UNKNOWN);
        java.util.Arrays.fill(excusedNs, Long.MIN_VALUE);
        java.util.Arrays.setAll(rtts, _ -> new RttEstimator());
    }

    int capacity() {
        return ids.length;
    }

    int active() {
        return active;
    }

    int find(final long id) {
        for (int m = 0; m < ids.length; m++) {
            if (states[m] != State.FREE && ids[m] == id) {
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
        for (int m = 0; m < ids.length; m++) {
            if (states[m] == State.FREE) {
                return m;
            }
            gone = states[m] == State.GONE ? m : gone;
            stalled = states[m] == State.ADMITTED && nowNs - heardNs[m] > JOIN_STALLED_NS ? m : stalled;
        }
        return gone == NONE ? stalled : gone;
    }

    void admit(final int member, final long id, final JoinLayout.Terms joinTerms, final int token, final long nowNs) {
        ids[member] = id;
        terms[member] = joinTerms;
        heldBackNs[member] = 0;
        tokens[member] = token;
        complete[member] = false;
        reasons[member] = Reason.UNKNOWN;
        states[member] = State.ADMITTED;
        started[member] = false;
        heardNs[member] = nowNs;
        answeredNs[member] = nowNs - JoinBudget.MEMBER_INTERVAL_NS;
        rtts[member].reset();
    }

    void activate(final int member, final long firstSequence, final long firstFrameId, final long grant) {
        states[member] = State.ACTIVE;
        startSequences[member] = firstSequence;
        startFrameIds[member] = firstFrameId;
        acknowledged[member] = firstSequence;
        grants[member] = grant;
        timeoutNs[member] = Long.MAX_VALUE;
        timeouts[member] = 0;
        active++;
    }

    void remove(final int member, final State state) {
        if (states[member] == State.ACTIVE) {
            active--;
        }
        states[member] = state;
    }

    /// Takes a member's ACK; never moves back.
    ///
    /// @return whether it acknowledged something new
    boolean acknowledge(final int member, final long sequence, final long grant) {
        grants[member] = Math.max(grants[member], grant);
        if (sequence <= acknowledged[member]) {
            return false;
        }
        acknowledged[member] = sequence;
        timeouts[member] = 0;
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
        for (int m = 0; m < ids.length; m++) {
            final boolean beyondHelp = !delivery(m).isWaitedFor() && acknowledged[m] < held;
            if (states[m] == State.ACTIVE && acknowledged[m] < next && !beyondHelp) {
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
        for (int m = 0; m < ids.length; m++) {
            if (states[m] == State.ACTIVE && delivery(m).isWaitedFor() == waitedFor) {
                least = Math.min(least, acknowledged[m]);
            }
        }
        return least;
    }

    /// Whether every active member knows the stream's end and has all of it.
    boolean isCompleteForAll() {
        for (int m = 0; m < ids.length; m++) {
            if (states[m] == State.ACTIVE && !complete[m]) {
                return false;
            }
        }
        return true;
    }

    /// The smallest grant of the active members that the source waits for. Without any of these, the largest grant
    /// of the others: the source runs as fast as the fastest. MAX_VALUE without any member.
    long granted() {
        long least = Long.MAX_VALUE;
        long most = Long.MIN_VALUE;
        for (int m = 0; m < ids.length; m++) {
            if (states[m] == State.ACTIVE && delivery(m).isWaitedFor()) {
                least = Math.min(least, grants[m]);
            } else if (states[m] == State.ACTIVE) {
                most = Math.max(most, grants[m]);
            }
        }
        return least == Long.MAX_VALUE && most != Long.MIN_VALUE ? most : least;
    }

    /// Whether the source waits for any active member.
    boolean isAnyWaitedFor() {
        for (int m = 0; m < ids.length; m++) {
            if (states[m] == State.ACTIVE && delivery(m).isWaitedFor()) {
                return true;
            }
        }
        return false;
    }

    /// The slowest member's round-trip time.
    long rttNs() {
        long most = 0;
        for (int m = 0; m < ids.length; m++) {
            if (states[m] == State.ACTIVE) {
                most = Math.max(most, rtts[m].smoothedNs());
            }
        }
        return most == 0 ? RttEstimator.INITIAL_NS : most;
    }

    /// The reason for the eviction of a member that is GONE.
    Reason reason(final int member) {
        return reasons[member];
    }

    void reason(final int member, final Reason why) {
        reasons[member] = why;
    }

    long id(final int member) {
        return ids[member];
    }

    State state(final int member) {
        return states[member];
    }

    long acknowledged(final int member) {
        return acknowledged[member];
    }

    int ringSlots(final int member) {
        return terms[member].ringSlots();
    }

    Delivery delivery(final int member) {
        return terms[member].delivery();
    }

    CoRootOffer offer(final int member) {
        return terms[member].offer();
    }

    LaneAddresses addresses(final int member) {
        return terms[member].addresses();
    }

    /// Counts how long a member has held the source back, less a fiftieth of the time that it has not.
    ///
    /// @param holdsBack whether the member held the source back for the last `ns`
    /// @return whether that is longer than its delivery policy allows
    boolean isTooSlow(final int member, final boolean holdsBack, final long ns) {
        heldBackNs[member] = Math.max(0, heldBackNs[member] + (holdsBack ? ns : -ns / HELD_BACK_SHARE));
        return delivery(member).kind() == Delivery.Kind.EVICT
                && heldBackNs[member] > delivery(member).patienceMs() * NS_PER_MS;
    }

    long grant(final int member) {
        return grants[member];
    }

    long startSequence(final int member) {
        return startSequences[member];
    }

    long startFrameId(final int member) {
        return startFrameIds[member];
    }

    boolean isStarted(final int member) {
        return started[member];
    }

    void started(final int member) {
        started[member] = true;
    }

    void complete(final int member) {
        complete[member] = true;
    }

    int token(final int member) {
        return tokens[member];
    }

    long heardNs(final int member) {
        return heardNs[member];
    }

    void heard(final int member, final long nowNs) {
        heardNs[member] = nowNs;
    }

    /// This process stood still: no member counts as silent since before then. The excuse holds once between two
    /// datagrams of a member.
    void excuse(final long sinceNs) {
        for (int m = 0; m < ids.length; m++) {
            if (sinceNs > heardNs[m] && heardNs[m] != excusedNs[m]) {
                heardNs[m] = sinceNs;
                excusedNs[m] = sinceNs;
            }
        }
    }

    /// The time of the last answer to its JOIN.
    long answeredNs(final int member) {
        return answeredNs[member];
    }

    void answered(final int member, final long nowNs) {
        answeredNs[member] = nowNs;
    }

    RttEstimator rtt(final int member) {
        return rtts[member];
    }

    long timeoutNs(final int member) {
        return timeoutNs[member];
    }

    void timeoutNs(final int member, final long dueNs) {
        timeoutNs[member] = dueNs;
    }

    int timeouts(final int member) {
        return timeouts[member];
    }

    void onTimeout(final int member) {
        timeouts[member]++;
    }
}
