/*
 * Window, credit and co-root failover of one source and its receivers; docs/model.md explains each step.
 *
 * Bounds are set by -D, and so are injected bugs (BUG_…), each of which must be found. Loss, repetition and delay of
 * control datagrams mean that a step is taken late or never: their values only grow, so an older datagram carries
 * nothing that a newer one does not. Two kinds differ and stay under way explicitly: instructions, because those of
 * every epoch may arrive at any time, and aggregates, because their meaning depends on the group.
 */
#ifndef N
#define N 3 /* receivers */
#endif
#ifndef S
#define S 3 /* datagrams of the stream */
#endif
#ifndef W
#define W 2 /* slots of the source's window */
#endif
#ifndef R
#define R 2 /* slots of a receiver's ring */
#endif
#ifndef SPARE
#define SPARE 2 /* changes of sets that nothing compels */
#endif
#ifndef LOSSES
#define LOSSES 1 /* data datagrams that get lost */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef FALSE_EVICTIONS
#define FALSE_EVICTIONS 0 /* of living receivers */
#endif
#ifndef SERVERS
#define SERVERS 3 /* possible co-roots: a bit for each */
#endif

#define EPOCHS (SPARE + 2 * (CRASHES + FALSE_EVICTIONS) + 1)
#define NONE N

#define EACH_SEQUENCE_1(STEP) STEP(0)
#define EACH_SEQUENCE_2(STEP) EACH_SEQUENCE_1(STEP) STEP(1)
#define EACH_SEQUENCE_3(STEP) EACH_SEQUENCE_2(STEP) STEP(2)
#define EACH_SEQUENCE_4(STEP) EACH_SEQUENCE_3(STEP) STEP(3)
#define EACH_SEQUENCE_5(STEP) EACH_SEQUENCE_4(STEP) STEP(4)
#if S == 1
#define EACH_SEQUENCE EACH_SEQUENCE_1
#elif S == 2
#define EACH_SEQUENCE EACH_SEQUENCE_2
#elif S == 3
#define EACH_SEQUENCE EACH_SEQUENCE_3
#elif S == 4
#define EACH_SEQUENCE EACH_SEQUENCE_4
#else
#define EACH_SEQUENCE EACH_SEQUENCE_5
#endif
#if N == 1
#define EACH_RECEIVER(STEP) STEP(0)
#define WITH_EACH_RECEIVER(STEP, x) STEP(x, 0)
#elif N == 2
#define EACH_RECEIVER(STEP) STEP(0) STEP(1)
#define WITH_EACH_RECEIVER(STEP, x) STEP(x, 0) STEP(x, 1)
#else
#define EACH_RECEIVER(STEP) STEP(0) STEP(1) STEP(2)
#define WITH_EACH_RECEIVER(STEP, x) STEP(x, 0) STEP(x, 1) STEP(x, 2)
#endif

#define EACH_EPOCH_2(STEP) STEP(1)
#define EACH_EPOCH_3(STEP) EACH_EPOCH_2(STEP) STEP(2)
#define EACH_EPOCH_4(STEP) EACH_EPOCH_3(STEP) STEP(3)
#define EACH_EPOCH_5(STEP) EACH_EPOCH_4(STEP) STEP(4)
#define EACH_EPOCH_6(STEP) EACH_EPOCH_5(STEP) STEP(5)
#define EACH_EPOCH_7(STEP) EACH_EPOCH_6(STEP) STEP(6)
#if EPOCHS == 1
#define EACH_EPOCH(STEP)
#elif EPOCHS == 2
#define EACH_EPOCH EACH_EPOCH_2
#elif EPOCHS == 3
#define EACH_EPOCH EACH_EPOCH_3
#elif EPOCHS == 4
#define EACH_EPOCH EACH_EPOCH_4
#elif EPOCHS == 5
#define EACH_EPOCH EACH_EPOCH_5
#elif EPOCHS == 6
#define EACH_EPOCH EACH_EPOCH_6
#else
#define EACH_EPOCH EACH_EPOCH_7
#endif

#define BIT(i) (1 << (i))
#define HAS(mask, i) (((mask) >> (i)) & 1)
#define MIN(a, b) ((a) < (b) -> (a) : (b))
#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* The source: SenderMachine, MemberTable, CoRoots. */
byte next;
byte slot[W]; /* 1 + sequence */
byte ack[N];
byte grant[N];
byte gone; /* masks have a bit for each receiver */
byte epoch;
byte lead[N]; /* the co-root of its group, itself if it is one; NONE: reports to the source */
byte joined[N];

/* By epoch: the instruction, and the receivers that it is still under way to. */
byte under[EPOCHS];
byte listLead[EPOCHS * N];
byte listJoined[EPOCHS * N];

/* Data and repairs under way to each, a bit for each sequence. */
byte way[N];
byte losses = LOSSES;
byte crashes = CRASHES;
byte falseEvictions = FALSE_EVICTIONS;

/* Receivers: ReceiverMachine, ReceiveLedger, Reporting. */
byte dead;
byte got[N]; /* a bit for each sequence */
byte acked[N]; /* all below is here */
byte polled[N]; /* all below was delivered, and its slots are free */
byte granted[N]; /* the largest grant sent */
byte ring[N * R]; /* 1 + sequence */
byte obeys[N];
byte reports[N]; /* NONE: to the source */
byte ever[N]; /* all destinations of its reports so far */
byte vain[N]; /* NACKs of its oldest gap that came to nothing */

/* As a co-root: CoRoot, MemberSet. */
byte serving;
byte list[N];
byte reported[N];
byte reportedAck[N * N];
byte reportedGrant[N * N];
byte store[N];
byte nowCovered[N];
byte nowAck[N];
byte nowGrant[N];

/* Of each co-root one aggregate may be under way, for ever and any number of times. */
byte sent;
byte sentCovered[N];
byte sentAck[N];
byte sentGrant[N];

hidden byte i, j, at;

#define MASK_ALL (BIT(N) - 1)
#define LISTED(c, m) ((m) != (c) && listLead[list[c] * N + (m)] == (c))
#define IS_DONE(m) (HAS(gone, m) || (polled[m] == S && ack[m] == S))

inline check_knowledge(m) {
    /* The source credits no receiver with more, acknowledged or granted, than is so. */
    assert(ack[m] <= acked[m]);
    assert(grant[m] <= granted[m])
}

/* ---- The data lane ---- */

#ifdef BUG_CREDIT
#define IN_CREDIT(m) true
#else
#define IN_CREDIT(m) (next < grant[m])
#endif
#ifdef BUG_REUSE /* the source leaves members in groups to their co-roots */
#define IS_FREE(m) (next < W || ack[m] > next - W || (lead[m] != NONE && lead[m] != (m)))
#else
#define IS_FREE(m) (next < W || ack[m] > next - W)
#endif
#define LETS_SEND(m) && (HAS(gone, m) || (IN_CREDIT(m) && IS_FREE(m)))
#define MAY_SEND (next < S && gone != MASK_ALL EACH_RECEIVER(LETS_SEND))

inline send_data() {
    i = 0;
    do
    :: i < N ->
        if
        :: !HAS(gone, i) ->
            assert(next < granted[i]);
            assert(next < W || acked[i] > next - W)
        :: else
        fi;
        if
        :: !HAS(dead | gone, i) -> way[i] = way[i] | BIT(next)
        :: else
        fi;
        i++
    :: else -> break
    od;
    slot[next % W] = next + 1;
    next++
}

#ifdef BUG_TWICE
#define IS_WANTED(m, s) 1
#else
#define IS_WANTED(m, s) (!HAS(got[m], s))
#endif
#define MAY_ARRIVE(m, s) (HAS(way[m], s) && !HAS(dead, m) && (s) < granted[m] && IS_WANTED(m, s))

inline poll(m) {
    assert(ring[m * R + polled[m] % R] == polled[m] + 1);
    ring[m * R + polled[m] % R] = 0;
    polled[m]++
}

/* A copy stays under way: BUG_TWICE does not drop duplicates. */
inline arrive(m, s) {
    assert(ring[m * R + (s) % R] == 0);
    ring[m * R + (s) % R] = (s) + 1;
    got[m] = got[m] | BIT(s);
    vain[m] = 0;
    do
    :: acked[m] < S && HAS(got[m], acked[m]) -> acked[m]++
    :: else -> break
    od;
    if
    :: HAS(serving, m) ->
        store[m] = store[m] | BIT(s);
        if
        :: (s) >= W -> store[m] = store[m] & ~BIT((s) - W)
        :: else
        fi
    :: else
    fi
#ifdef EAGER
    ;
    do
    :: polled[m] < acked[m] -> poll(m)
    :: else -> break
    od
#endif
    ;
    refresh(m)
}

/* A NACK requests sequences that are missing, known to be sent (by heartbeats), and not under way. */
#define MISSES(m, s) (!HAS(dead, m) && (s) < next && !HAS(got[m], s) && !HAS(way[m], s))
#ifdef BUG_PATIENT /* they ask their co-root only */
#define INSISTS(m) (reports[m] == NONE)
#else
#define INSISTS(m) (reports[m] == NONE || vain[m] == 2)
#endif
#define MAY_INSIST(m, s) (MISSES(m, s) && !HAS(gone, m) && slot[(s) % W] == (s) + 1 && INSISTS(m))
#define MAY_ASK(m, s, c) (MISSES(m, s) && reports[m] == (c) && vain[m] < 2)
#define SERVES(c, m, s) (HAS(serving, c) && !HAS(dead, c) && LISTED(c, m) && HAS(store[c], s))

inline ask(m, s, c) {
    if
    :: SERVES(c, m, s) -> way[m] = way[m] | BIT(s)
    :: else -> vain[m]++
    fi
}

/* ---- Reports ---- */

/* An ACK to the source that is no aggregate. DIRECT: members of groups send it one as well, now and then. */
#ifdef DIRECT
#define SPEAKS(m) (!HAS(serving, m))
#else
#define SPEAKS(m) (!HAS(serving, m) && reports[m] == NONE)
#endif
#define MAY_ACK(m) (SPEAKS(m) && !HAS(dead | gone, m) && (ack[m] < acked[m] || grant[m] < polled[m] + R))

inline acknowledge(m) {
    granted[m] = polled[m] + R;
    ack[m] = MAX(ack[m], acked[m]);
    grant[m] = MAX(grant[m], granted[m]);
    check_knowledge(m)
}

/* An ACK to a co-root; of one that the receiver does not report to any more, a late one. */
#define MAY_REPORT(m, c) (HAS(ever[m], c) && HAS(serving, c) && !HAS(dead, c) && LISTED(c, m) \
    && (!HAS(reported[c], m) || reportedAck[(c) * N + m] < acked[m] \
        || reportedGrant[(c) * N + m] < (HAS(dead, m) -> granted[m] : polled[m] + R)))

inline report(m, c) {
    if
    :: !HAS(dead, m) -> granted[m] = polled[m] + R
    :: else
    fi;
    reportedAck[c * N + m] = MAX(reportedAck[c * N + m], acked[m]);
    reportedGrant[c * N + m] = MAX(reportedGrant[c * N + m], granted[m]);
    reported[c] = reported[c] | BIT(m);
    summarize(c)
}

/* MemberSet.summarize and CoRoot.aggregate: the aggregate of this moment. */
inline summarize(c) {
    nowCovered[c] = list[c];
    nowAck[c] = acked[c];
    nowGrant[c] = polled[c] + R;
#ifndef BUG_COVERED
    j = 0;
    do
    :: j < N ->
        if
        :: LISTED(c, j) && !HAS(reported[c], j) ->
            nowCovered[c] = MIN(nowCovered[c], listJoined[list[c] * N + j] - 1)
        :: else
        fi;
        j++
    :: else -> break
    od;
#endif
#ifndef BUG_OWN_RECEIPT
    j = 0;
    do
    :: j < N ->
        if
        :: LISTED(c, j) && HAS(reported[c], j) && listJoined[list[c] * N + j] <= nowCovered[c] ->
            nowAck[c] = MIN(nowAck[c], reportedAck[c * N + j]);
            nowGrant[c] = MIN(nowGrant[c], reportedGrant[c * N + j])
        :: else
        fi;
        j++
    :: else -> break
    od
#endif
}

inline refresh(c) {
    if
    :: HAS(serving, c) -> summarize(c)
    :: else
    fi
}

#define MAY_AGGREGATE(c) (HAS(serving, c) && !HAS(gone, c) \
    && (!HAS(sent, c) || sentCovered[c] != nowCovered[c] || sentAck[c] != nowAck[c] || sentGrant[c] != nowGrant[c]))

inline aggregate(c) {
    granted[c] = polled[c] + R;
    sent = sent | BIT(c);
    sentCovered[c] = nowCovered[c];
    sentAck[c] = nowAck[c];
    sentGrant[c] = nowGrant[c]
}

/* Whether the source applies co-root c's aggregate to receiver m. */
#ifdef BUG_OLD_COROOT
#define SAME_SET(c, m) (lead[m] != NONE && lead[m] == lead[c])
#else
#define SAME_SET(c, m) (lead[m] == (c) && lead[c] == (c))
#endif
#ifdef BUG_NO_COVERED
#define SPEAKS_FOR(c, m) (SAME_SET(c, m))
#else
#define SPEAKS_FOR(c, m) (SAME_SET(c, m) && joined[m] <= sentCovered[c])
#endif
#define TAKES(c, m) (!HAS(gone, c) && !HAS(gone, m) && ((m) == (c) || SPEAKS_FOR(c, m)) \
    && (ack[m] < sentAck[c] || grant[m] < sentGrant[c]))

#define OR_TAKES(c, m) || TAKES(c, m)
#define MAY_TAKE(c) (HAS(sent, c) && (false WITH_EACH_RECEIVER(OR_TAKES, c)))

inline take_aggregate(c) {
    j = 0;
    do
    :: j < N ->
        if
        :: TAKES(c, j) ->
            ack[j] = MAX(ack[j], sentAck[c]);
            grant[j] = MAX(grant[j], sentGrant[c]);
            check_knowledge(j)
        :: else
        fi;
        j++
    :: else -> break
    od
}

/* ---- Instructions ---- */

#ifdef BUG_NO_EPOCH
#define OBEYED(m, e) ((e) != obeys[m])
#else
#define OBEYED(m, e) ((e) > obeys[m])
#endif
#define MAY_OBEY(m, e) (HAS(under[e], m) && !HAS(dead, m) && OBEYED(m, e))

inline forget(c) {
    reported[c] = 0;
    j = 0;
    do
    :: j < N -> reportedAck[c * N + j] = 0; reportedGrant[c * N + j] = 0; j++
    :: else -> break
    od;
    nowCovered[c] = 0;
    nowAck[c] = 0;
    nowGrant[c] = 0
}

inline obey(m, e) {
    under[e] = under[e] & ~BIT(m);
    at = listLead[e * N + m];
    if
    :: at == m -> /* SET */
        if
        :: !HAS(serving, m) -> forget(m)
        :: else
        fi;
        serving = serving | BIT(m);
        list[m] = e;
        reports[m] = NONE;
        j = 0;
        do
        :: j < N ->
            if
            :: !LISTED(m, j) ->
                reported[m] = reported[m] & ~BIT(j);
                reportedAck[m * N + j] = 0;
                reportedGrant[m * N + j] = 0
            :: else
            fi;
            j++
        :: else -> break
        od;
        summarize(m)
    :: else -> /* ASSIGN */
        forget(m);
        serving = serving & ~BIT(m);
        list[m] = 0;
        store[m] = 0;
        reports[m] = at;
        if
        :: at != NONE -> ever[m] = ever[m] | BIT(at)
        :: else
        fi
    fi;
    obeys[m] = e;
#ifndef BUG_NO_EPOCH
    /* Older instructions have no effect now. */
    j = 0;
    do
    :: j < e -> under[j] = under[j] & ~BIT(m); j++
    :: else -> break
    od;
#endif
    at = 0
}

/* ---- Changes of sets: CoRoots ---- */

inline record() {
    j = 0;
    do
    :: j < N -> listLead[epoch * N + j] = lead[j]; listJoined[epoch * N + j] = joined[j]; j++
    :: else -> break
    od
}

inline tell(m) {
    if
    :: !HAS(dead | gone, m) -> under[epoch] = under[epoch] | BIT(m)
    :: else
    fi
}

/* plan(): c is or becomes a co-root, and the receivers of a mask join its group. */
#define IS_DIRECT(m) (lead[m] == NONE && !HAS(gone, m))
#define CAN_JOIN(mask, m) && (!HAS(mask, m) || IS_DIRECT(m))
#define MAY_PLAN(c, mask) (epoch < SPARE && mask < BIT(N) && !HAS(mask, c) \
    && ((lead[c] == c && mask != 0) || (IS_DIRECT(c) && HAS(SERVERS, c))) WITH_EACH_RECEIVER(CAN_JOIN, mask))

inline plan(c, mask) {
    epoch++;
    lead[c] = c;
    tell(c);
    i = 0;
    do
    :: i < N ->
        if
        :: HAS(mask, i) -> lead[i] = c; joined[i] = epoch; tell(i)
        :: else
        fi;
        i++
    :: else -> break
    od;
    record()
}

/* replace(), or dissolve() where no co-root is chosen. */
#define IS_OUT(c) (HAS(dead | gone, c) || lead[c] != (c))
#define OR_IN_SET(c, m) || lead[m] == (c)
#define IS_DUE(c) (epoch < SPARE || IS_OUT(c))
#define MAY_DISSOLVE(c) (IS_DUE(c) && (false WITH_EACH_RECEIVER(OR_IN_SET, c)))
#define MAY_REPLACE(c, by) (IS_DUE(c) && lead[by] == (c) && (by) != (c) && HAS(SERVERS, by) && !HAS(gone, by))

inline replace(c, by) {
    epoch++;
    if
    :: lead[c] == c -> lead[c] = NONE; tell(c)
    :: else
    fi;
    i = 0;
    do
    :: i < N ->
        if
        :: i == by -> lead[i] = i; joined[i] = 0; tell(i)
        :: i != by && lead[i] == c ->
            lead[i] = by;
#ifdef BUG_KEEP_JOINED
            joined[i] = (by == NONE -> 0 : joined[i]);
#else
            joined[i] = (by == NONE -> 0 : epoch);
#endif
            tell(i)
        :: else
        fi;
        i++
    :: else -> break
    od;
    record()
}


/* onGone() of a member that is no co-root. */
#define MAY_REMOVE(m) (epoch < SPARE && lead[m] != NONE && lead[m] != (m) && !HAS(gone, m))
#define MAY_EVICT(m) (!HAS(gone, m) && (HAS(dead, m) || falseEvictions > 0))

inline leave_set(m) {
    epoch++;
    at = lead[m];
    lead[m] = NONE;
    joined[m] = 0;
    tell(at)
}

inline remove(m) {
    leave_set(m);
    tell(m);
    record();
    at = 0
}

inline evict(m) {
    if
    :: !HAS(dead, m) -> falseEvictions--
    :: else
    fi;
    gone = gone | BIT(m);
    /* State that counts no more. */
    way[m] = 0;
    ack[m] = 0;
    grant[m] = 0;
    sent = sent & ~BIT(m);
    sentCovered[m] = 0;
    sentAck[m] = 0;
    sentGrant[m] = 0;
    if
    :: lead[m] == m -> lead[m] = NONE
    :: lead[m] != m && lead[m] != NONE ->
#ifdef BUG_UNTOLD
        lead[m] = NONE
#else
        leave_set(m);
        record()
#endif
    :: else
    fi;
    at = 0
}

inline crash(m) {
    crashes--;
    dead = dead | BIT(m);
    /* State that no step reads any more. */
    way[m] = 0;
    serving = serving & ~BIT(m);
    forget(m);
    list[m] = 0;
    store[m] = 0;
    vain[m] = 0;
    got[m] = 0;
    obeys[m] = 0;
    polled[m] = 0;
    j = 0;
    do
    :: j < R -> ring[m * R + j] = 0; j++
    :: else -> break
    od;
    reports[m] = NONE;
    j = 0;
    do
    :: j < EPOCHS -> under[j] = under[j] & ~BIT(m); j++
    :: else -> break
    od
}

#define ARRIVE(s) :: d_step { MAY_ARRIVE(m, s) -> arrive(m, s); skip }
#define LOSE(s) :: d_step { losses > 0 && HAS(way[m], s) && !HAS(got[m], s) -> losses--; way[m] = way[m] & ~BIT(s) }
#define INSIST(s) :: d_step { MAY_INSIST(m, s) -> way[m] = way[m] | BIT(s) }
#define ASK_ONE(s) :: d_step { reports[m] != NONE && MAY_ASK(m, s, reports[m]) -> ask(m, s, reports[m]); skip }
#define REPORT(c) :: d_step { MAY_REPORT(m, c) -> report(m, c); skip }
#define OBEY(e) :: d_step { MAY_OBEY(m, e) -> obey(m, e); skip }

/* Receiver m, and the network around it. */
proctype receiver(byte m) {
end:
    do
    EACH_SEQUENCE(ARRIVE)
    EACH_SEQUENCE(LOSE)
    EACH_SEQUENCE(INSIST)
    EACH_SEQUENCE(ASK_ONE)
#ifndef EAGER
    :: d_step { !HAS(dead, m) && polled[m] < acked[m] -> poll(m); refresh(m); skip }
#endif
#ifndef MUTE /* MUTE: only runs without reports, which can be searched deeper */
    :: d_step { MAY_ACK(m) -> acknowledge(m); skip }
    EACH_RECEIVER(REPORT)
#endif
    :: d_step { MAY_AGGREGATE(m) -> aggregate(m); skip }
    EACH_EPOCH(OBEY)
    :: d_step { crashes > 0 && !HAS(dead | gone, m) -> crash(m); skip }
    od
}

#define TAKE(c) :: d_step { MAY_TAKE(c) -> take_aggregate(c); skip }
#define PLAN(c) PLAN_WITH(c, 0) PLAN_WITH(c, 1) PLAN_WITH(c, 2) PLAN_WITH(c, 3) PLAN_WITH(c, 4) PLAN_WITH(c, 5) PLAN_WITH(c, 6)
#define PLAN_WITH(c, mask) :: d_step { MAY_PLAN(c, mask) -> plan(c, mask); skip }
#define REPLACE(c) WITH_EACH_RECEIVER(REPLACE_BY, c) DISSOLVE(c)
#define DISSOLVE(c) :: d_step { MAY_DISSOLVE(c) -> replace(c, NONE); skip }
#define REPLACE_BY(c, by) :: d_step { MAY_REPLACE(c, by) -> replace(c, by); skip }
#define REMOVE(m) :: d_step { MAY_REMOVE(m) -> remove(m); skip }
#define EVICT(m) :: d_step { MAY_EVICT(m) -> evict(m); skip }

proctype source() {
end:
    do
    :: d_step { MAY_SEND -> send_data(); skip }
    EACH_RECEIVER(TAKE)
#if SPARE + CRASHES + FALSE_EVICTIONS > 0
    EACH_RECEIVER(PLAN)
    EACH_RECEIVER(REPLACE)
    EACH_RECEIVER(REMOVE)
    EACH_RECEIVER(EVICT)
#endif
    od
}

init {
    d_step {
        i = 0;
        do
        :: i < N ->
            lead[i] = NONE;
            reports[i] = NONE;
            grant[i] = R;
            granted[i] = R;
            i++
        :: else -> break
        od;
        i = 0
    }
    atomic {
        run source();
        run receiver(0);
#if N > 1
        run receiver(1);
#endif
#if N > 2
        run receiver(2)
#endif
    }
}

#define AND_DONE(m) && IS_DONE(m)
ltl served { <> (true EACH_RECEIVER(AND_DONE)) }
