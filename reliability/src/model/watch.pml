/*
 * The source's judgement of a co-root and of its members (CoRoots.watch, CoRoots.onAck): it replaces a co-root only if
 * that is dead, and takes a member out of its group only if the two do not reach each other; and it does both in the
 * end. docs/model.md explains more.
 *
 * The model is about time: timers are far longer than a round trip, so each goes off only when nothing is under way.
 * Only ticks, every few milliseconds, may come at any time. Data reach all living receivers.
 */
#ifndef SET
#define SET 6 /* the members of receiver 0: a bit for each; the others report to the source */
#endif
#ifndef CRASH
#define CRASH 0 /* receivers that may die */
#endif
#ifndef CUT
#define CUT 0 /* receivers whose datagrams do not reach other receivers */
#endif
#define N 3
#define S 3 /* datagrams of the stream */
#define NONE N

#define BIT(i) (1 << (i))
#define HAS(mask, i) (((mask) >> (i)) & 1)
#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* The source. */
byte published;
byte ack[N];
byte own[N]; /* of members in groups: acknowledged by their own ACKs */
byte gone;
byte coRoot = 0;
byte set = SET;
byte epoch = 1;
byte joined = 1; /* the epoch in which the group's members joined */
byte covered; /* by the newest aggregate of the group */
byte slowest = NONE; /* named by that */
byte aggregated; /* acknowledged by that */
byte heard; /* whether there was one since the co-root was chosen, or its list changed */
byte young; /* the co-root was chosen a moment ago */
byte stalled;
byte least;
byte alone;

/* Receivers. */
byte dead;
byte acked[N];
byte asked; /* receivers that are to answer the source directly */
byte obeys = SET; /* receivers that know their newest co-root */
byte listEpoch = 1; /* of the list that the co-root has */
byte list = SET;
byte reported;
byte reportedAck[N];

hidden byte i, named;

#define LIVES(m) (!HAS(dead | gone, m))
#define IS_ACKED(m) (HAS(gone, m) || ack[m] == published)
#define WAITS (!(IS_ACKED(0) && IS_ACKED(1) && IS_ACKED(2)))
#define IS_LED (coRoot != NONE)

#define MAY_REPORT(m) (HAS(set & obeys & ~CUT, m) && LIVES(m) && IS_LED && !HAS(dead, coRoot) && HAS(list, m) \
    && (!HAS(reported, m) || reportedAck[m] < acked[m]))
#define MAY_LIST (IS_LED && !HAS(dead, coRoot) && listEpoch < epoch)
#define MAY_OBEY(m) (HAS(set & ~obeys, m) && LIVES(m))
#define MAY_ANSWER(m) (LIVES(m) && m != coRoot && (HAS(asked, m) || (!HAS(set, m) && ack[m] < acked[m])))

/* MemberSet.summarize, CoRoot.aggregate: all of a list joined in the same epoch, so all have reported or none counts. */
#define IS_COVERED ((list & ~reported) == 0)
#define SUM_COVERED (IS_COVERED -> listEpoch : joined - 1)
#define IN_SUM(m) (HAS(list, m) && IS_COVERED)
#define MIN_OF(m, a) ((IN_SUM(m) && reportedAck[m] < (a)) -> reportedAck[m] : (a))
#define SUM_ACK MIN_OF(0, MIN_OF(1, MIN_OF(2, acked[coRoot])))
#ifdef BUG_UNNAMED /* all members that are not covered count as out of reach */
#define SUM_SLOWEST(a) LEAST_IS(a)
#define IS_BLAMED(m) (slowest == m || joined > covered)
#else /* a member that has not reported to the co-root holds it back most */
#define FIRST_OF(mask) (HAS(mask, 0) -> 0 : (HAS(mask, 1) -> 1 : 2))
#define SUM_SLOWEST(a) (!IS_COVERED -> FIRST_OF(list & ~reported) : LEAST_IS(a))
#define IS_BLAMED(m) (slowest == m)
#endif
#define IS_LEAST(m, a) (IN_SUM(m) && reportedAck[m] == (a))
#define LEAST_IS(a) (IS_LEAST(0, a) -> 0 : (IS_LEAST(1, a) -> 1 : (IS_LEAST(2, a) -> 2 : coRoot)))
#define MAY_AGGREGATE (IS_LED && LIVES(coRoot) && listEpoch == epoch \
    && (!heard || covered != SUM_COVERED || aggregated != SUM_ACK || slowest != SUM_SLOWEST(SUM_ACK)))

#define QUIET (!(MAY_REPORT(0) || MAY_REPORT(1) || MAY_REPORT(2) || MAY_LIST || MAY_OBEY(0) || MAY_OBEY(1) \
    || MAY_OBEY(2) || MAY_ANSWER(0) || MAY_ANSWER(1) || MAY_ANSWER(2) || MAY_AGGREGATE))

#define ACK_OR(m, a) ((!HAS(gone, m) && ack[m] < (a)) -> ack[m] : (a))
#define LEAST ACK_OR(0, ACK_OR(1, ACK_OR(2, published)))

inline publish() {
    published++;
    i = 0;
    do
    :: i < N ->
        if
        :: LIVES(i) -> acked[i] = published
        :: else
        fi;
        i++
    :: else -> break
    od
}

inline take_aggregate() {
    named = SUM_SLOWEST(SUM_ACK);
    covered = SUM_COVERED;
    aggregated = SUM_ACK;
    slowest = named;
    heard = true;
    ack[coRoot] = MAX(ack[coRoot], aggregated);
    i = 0;
    do
    :: i < N ->
        if
        :: HAS(set, i) && joined <= covered -> ack[i] = MAX(ack[i], aggregated); assert(ack[i] <= acked[i])
        :: else
        fi;
        i++
    :: else -> break
    od
}

inline blame(m) {
    assert(HAS(CUT | dead, m));
    alone = alone | BIT(m)
}

/* A receiver's ACK that is no aggregate. */
inline answer(m) {
    asked = asked & ~BIT(m);
#ifdef BUG_HASTY /* its ACK is ahead of its co-root's at this moment, while something somewhere stalls */
    if
    :: HAS(set, m) && acked[m] > ack[m] && stalled && IS_BLAMED(m) -> blame(m)
    :: else
    fi;
#endif
    own[m] = (HAS(set, m) -> acked[m] : 0);
    ack[m] = MAX(ack[m], acked[m])
}

#define CHANGES epoch++; heard = false; obeys = obeys & set

inline replace(by) {
    CHANGES;
    coRoot = by;
    set = (by == NONE -> 0 : set & ~BIT(by));
    joined = epoch;
    obeys = 0;
    list = 0;
    reported = 0;
    reportedAck[0] = 0; reportedAck[1] = 0; reportedAck[2] = 0;
    own[0] = 0; own[1] = 0; own[2] = 0;
    young = true
}

inline leave(m) {
    set = set & ~BIT(m);
    own[m] = 0;
    CHANGES
}

/* A change that is not confirmed in time is held against the co-root. */
#ifdef BUG_SINCE_CHOSEN
#define IS_UNCONFIRMED (listEpoch < epoch && !young)
#else /* since it was instructed */
#define IS_UNCONFIRMED (listEpoch < epoch && QUIET)
#endif
#define IS_SILENT (HAS(dead, coRoot) && QUIET && WAITS)
#define IS_LATE (IS_LED && (HAS(gone, coRoot) || IS_UNCONFIRMED || IS_SILENT))

#define PUBLISH :: d_step { published < S -> publish(); skip }
#define CRASHES(m) :: d_step { HAS(CRASH, m) && LIVES(m) -> dead = dead | BIT(m) }
#define REPORT(m) :: d_step { MAY_REPORT(m) -> reportedAck[m] = acked[m]; reported = reported | BIT(m) }
#define OBEY(m) :: d_step { MAY_OBEY(m) -> obeys = obeys | BIT(m); asked = asked | BIT(m) }
#define ANSWER(m) :: d_step { MAY_ANSWER(m) -> answer(m); skip }
#define ISOLATE(m) :: d_step { HAS(alone & set, m) -> leave(m); skip }
#define EVICT(m) :: d_step { HAS(dead, m) && !HAS(gone, m) && QUIET -> gone = gone | BIT(m); asked = asked & ~BIT(m); evicted(m); skip }
#define REPLACE(m) :: d_step { IS_LATE && HAS(set, m) -> assert(HAS(dead, coRoot)); replace(m); skip }
/* An aggregate that comes long after a member's own ACK, acknowledges less and names that member. */
#define GROUP_ACK (joined <= covered -> aggregated : 0)
#define IS_AHEAD(m) (HAS(set & ~alone, m) && QUIET && LIVES(coRoot) && heard && own[m] > GROUP_ACK && IS_BLAMED(m))
#define JUDGE(m) :: d_step { IS_AHEAD(m) -> blame(m); skip }

inline evicted(m) {
    ack[m] = 0;
    if
    :: HAS(set, m) -> leave(m)
    :: else
    fi
}

#define IS_BEHIND(m) (LIVES(m) && m != coRoot && ack[m] < acked[m])

active proctype all() {
end:
    do
    PUBLISH
    CRASHES(0) CRASHES(1) CRASHES(2)
    REPORT(0) REPORT(1) REPORT(2)
    OBEY(0) OBEY(1) OBEY(2)
    ANSWER(0) ANSWER(1) ANSWER(2)
    :: d_step { MAY_LIST -> listEpoch = epoch; list = set; reported = reported & set }
    :: d_step { MAY_AGGREGATE -> take_aggregate(); skip }
    /* Ticks. */
    :: d_step { stalled && (LEAST > least || !WAITS) -> stalled = false; least = 0 }
    :: d_step { young && QUIET -> young = false }
    :: d_step { QUIET && WAITS && (!stalled || IS_BEHIND(0) || IS_BEHIND(1) || IS_BEHIND(2)) ->
        stalled = true; least = LEAST;
        asked = 7 & ~(dead | gone) & ~BIT(coRoot) }
    REPLACE(0) REPLACE(1) REPLACE(2)
    :: d_step { IS_LATE && set == 0 -> assert(HAS(dead, coRoot)); replace(NONE); skip }
    ISOLATE(0) ISOLATE(1) ISOLATE(2)
    EVICT(0) EVICT(1) EVICT(2)
#ifndef BUG_HASTY
    JUDGE(0) JUDGE(1) JUDGE(2)
#endif
    od
}

#define IS_DONE(m) (HAS(gone, m) || ack[m] == S)
/* In the end no member is left to a co-root that does not hear it. */
ltl served { <> ((set & CUT & ~dead) == 0 && published == S && IS_DONE(0) && IS_DONE(1) && IS_DONE(2)) }
