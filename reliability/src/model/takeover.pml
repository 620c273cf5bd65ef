/*
 * The takeover of a host group: one membership, its source, and three processes around shared words
 * (SuccessionMachine, ReceiverMachine.resume, ReceiveLedger, CheckpointLog, Admissions.onResume). It says that nothing
 * acknowledged is lost to a successor, that what an earlier holder says late moves nothing, and that every survivor gets
 * every frame. docs/model.md explains more. The model has no time: any looks, waits and pauses of SuccessionMachine are
 * among its histories, but for the end of the wait for survivors.
 *
 * Process 0 leads first. Any process may die between two stores, and a leader may be taken for one that stands still
 * whatever it does: from then on it goes on at any time. Each process has one segment and leads once. A frame is one
 * datagram. Datagrams stay under way: they are taken at any time and any number of times, or never where they are lost.
 */
#ifndef S
#define S 2 /* frames of the stream */
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef STOPS
#define STOPS 1 /* leaders that live and are taken for standing still */
#endif
#define N 3
#define NONE N

#define BIT(i) (1 << (i))
#define HAS(mask, i) (((mask) >> (i)) & 1)
#define MIN(a, b) ((a) < (b) -> (a) : (b))
#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* The source. Secrets are numbers: those of a membership count its moves. */
byte freed;
byte secret = 1;
byte holder;

/* The words of each process's segment. */
byte checkpoint[N]; /* acknowledged */
byte next[N]; /* secret of the successor that goes on from here; 0: there is no checkpoint */
byte base[N]; /* first frame of the table */
byte published[N];
byte from[N]; /* the segment that it goes on with */
byte claim[N]; /* process that claimed it last */
byte opened; /* segments whose claim holds for ever */

/* Processes. */
byte dead;
byte deaths;
byte stops;
byte listener; /* leads for those that come */
byte led = 1; /* has made a segment */
byte member = 1; /* its machine had START */
byte looked; /* successors that read the checkpoint */
byte made; /* and the table, and wait for survivors */
byte announced; /* and opened their segment: RESUME is due */
byte outside; /* has nothing to go on with: it joins anew */
byte given[N] = 1; /* segments that it has: 0's from the start */
byte read[N]; /* frames that its user has */
byte received[N]; /* in order */
byte ring[N]; /* frames whose bytes it has */
byte acked[N]; /* the newest ACK under way */
byte stage[N]; /* of an ACK: 0 none, 1 its checkpoint is stored, 2 and no claim was seen */

/* RESUMEs under way. */
byte resumed;
byte resumeAck[N];

#define LIVES(p) (!HAS(dead, p))
#define COUNTS(s) (next[s] > 0 && (from[s] == NONE || (HAS(opened, from[s]) && claim[from[s]] == s)))
#define DEPTH(s) (from[s] == NONE -> 0 : (from[s] == 0 -> 1 : 2))
#define IS_LAST(q, s, d) (HAS(given[q], s) && COUNTS(s) && DEPTH(s) == d)
/* The newest segment that counts, of those that a process has. */
#define LAST(q) (IS_LAST(q, 2, 2) -> 2 : (IS_LAST(q, 1, 2) -> 1 : (IS_LAST(q, 2, 1) -> 2 : (IS_LAST(q, 1, 1) -> 1 : 0))))

#define SERVES(p) (HAS(member, p) && LIVES(p))
/* By data or repair; the source still holds it. */
#define RECEIVE(p) :: d_step { SERVES(p) && received[p] < S && received[p] >= freed -> \
    ring[p] = ring[p] | BIT(received[p]); received[p]++ }
#define PUBLISH(p) :: d_step { SERVES(p) && published[p] < received[p] -> assert(HAS(ring[p], published[p])); published[p]++ }

/* Nothing is acknowledged behind the frame that is handed out next. */
#define WORTH(p) MIN(received[p], published[p] + 1)
#ifdef BUG_ACK_FIRST /* the source hears of it before it is in the segment */
#define STORE(p) :: d_step { SERVES(p) && stage[p] == 0 && acked[p] < WORTH(p) -> acked[p] = WORTH(p); stage[p] = 1 }
#define LOOK(p)
#define ACK(p) :: d_step { LIVES(p) && stage[p] == 1 -> checkpoint[p] = acked[p]; stage[p] = 0 }
#else
#define STORE(p) :: d_step { SERVES(p) && stage[p] == 0 && acked[p] < WORTH(p) && checkpoint[p] <= WORTH(p) \
    && (claim[p] == NONE || checkpoint[p] < WORTH(p)) -> checkpoint[p] = WORTH(p); stage[p] = 1 }
#ifdef BUG_NO_LOOK /* it reports what it has, though a successor goes on */
#define MAY_TELL(p) true
#else
#define MAY_TELL(p) (claim[p] == NONE)
#endif
#define LOOK(p) :: d_step { LIVES(p) && stage[p] == 1 -> stage[p] = (MAY_TELL(p) -> 2 : 0) }
#define ACK(p) :: d_step { LIVES(p) && stage[p] == 2 -> acked[p] = checkpoint[p]; stage[p] = 0 }
#endif
#define TAKE_ACK(p) :: d_step { holder == p && acked[p] > freed -> freed = acked[p] }

#define CRASH(p) :: d_step { LIVES(p) && deaths < DEATHS -> deaths++; dead = dead | BIT(p) }
#define READ(q, s) :: d_step { LIVES(q) && HAS(given[q], s) && base[s] <= read[q] && read[q] < published[s] -> read[q]++ }

/* The leader is gone, or is taken for one that stands still: SuccessionMachine.onGone, onLook. It leads: onLeads. */
#define MOVE(p) :: d_step { LIVES(p) && !HAS(led | outside, p) && (!LIVES(listener) || stops < STOPS) -> move(p); skip }
inline move(p) {
    stops = stops + LIVES(listener);
    listener = p;
    from[p] = LAST(p);
    assert(!HAS(opened, from[p])); /* a successor leaves no survivor behind */
    claim[from[p]] = p;
    led = led | BIT(p);
    given[p] = given[p] | BIT(p)
}

/* Behind the claim, each at its own moment: the checkpoint, the table, and the frame in progress between the two. */
#define BEGINS(p) (HAS(led, p) && from[p] != NONE && LIVES(p))
#define LOOK_UP(p) :: d_step { BEGINS(p) && !HAS(looked, p) -> received[p] = checkpoint[from[p]]; looked = looked | BIT(p) }
#ifdef BUG_LATE /* begins one sequence too late */
#define BEGIN(p) MIN(S, MAX(received[p], published[from[p]]) + 1)
#else
#define BEGIN(p) MAX(received[p], published[from[p]])
#endif
#define FRAMES(a, b) ((BIT(MAX(a, b)) - 1) & ~(BIT(a) - 1))
#define MAKE(p) :: d_step { BEGINS(p) && HAS(looked & ~made, p) -> \
    base[p] = published[from[p]]; published[p] = base[p]; ring[p] = ring[from[p]] & FRAMES(base[p], received[p]); \
    received[p] = BEGIN(p); made = made | BIT(p) }
#define ATTACH(q, p) :: d_step { LIVES(q) && !HAS(led | outside, q) && listener == p && BEGINS(p) && HAS(made, p) \
    && !HAS(given[q], p) && LAST(q) == from[p] -> given[q] = given[q] | BIT(p) }

/* Term.awaits: a survivor came or died. The leader that stood still is not waited for. */
#define IS_HERE(q, p) (!LIVES(q) || q == from[p] || HAS(led, q) || HAS(given[q], p))
#ifdef BUG_HASTY /* sends RESUME before every survivor has the segment */
#define ARE_HERE(p) true
#else
#define ARE_HERE(p) (IS_HERE(0, p) && IS_HERE(1, p) && IS_HERE(2, p))
#endif
#define LOG(p) :: d_step { BEGINS(p) && HAS(made, p) && next[p] == 0 && ARE_HERE(p) -> \
    checkpoint[p] = received[p]; acked[p] = received[p]; next[p] = NEXT(next[from[p]]) }
#ifdef BUG_SECRET /* a secret that does not count on */
#define NEXT(s) (s)
#else
#define NEXT(s) ((s) + 1)
#endif
#define OPEN(p) :: d_step { BEGINS(p) && next[p] > 0 && !HAS(announced | outside, p) -> open(p); skip }
#ifdef BUG_NO_CLAIM /* goes on, another one's claim or not */
#define CLAIMS(p) true
#else
#define CLAIMS(p) (claim[from[p]] == p)
#endif
inline open(p) {
    if
    :: CLAIMS(p) -> opened = opened | BIT(from[p]); announced = announced | BIT(p)
    :: else -> outside = outside | BIT(p)
    fi
}
#define SEND(p) :: d_step { HAS(announced & ~resumed, p) && LIVES(p) -> resumed = resumed | BIT(p); resumeAck[p] = checkpoint[p] }
/* For good: the sender died, or else it repeats it. */
#define LOSE(p) :: d_step { HAS(resumed, p) && !LIVES(p) && holder != p -> resumed = resumed & ~BIT(p); announced = announced & ~BIT(p) }

#ifdef BUG_MISSED /* the source knows every move, or none */
#define MOVES(s) ((s) == secret)
#else
#define MOVES(s) ((s) >= secret)
#endif
#define TAKE_RESUME(p) :: d_step { HAS(resumed, p) && (holder != p || !HAS(member, p)) && !HAS(outside, p) -> \
    take_resume(p); skip }
inline take_resume(p) {
    if
    :: holder == p -> member = member | BIT(p) /* START once more */
    :: holder != p && MOVES(next[from[p]]) ->
        assert(freed <= resumeAck[p]);
        assert(!HAS(member, p)); /* it holds the membership, or did before */
        holder = p;
        secret = NEXT(next[from[p]])
    :: else ->
        /* Refused: somebody else went on with what it had. */
        assert(claim[p] != NONE || claim[from[p]] != p);
        outside = outside | BIT(p)
    fi
}

active proctype all() {
    d_step {
        from[0] = NONE; from[1] = NONE; from[2] = NONE;
        claim[0] = NONE; claim[1] = NONE; claim[2] = NONE;
        next[0] = 1
    }
end:
    do
    RECEIVE(0) RECEIVE(1) RECEIVE(2)
    PUBLISH(0) PUBLISH(1) PUBLISH(2)
    STORE(0) STORE(1) STORE(2)
    LOOK(0) LOOK(1) LOOK(2)
    ACK(0) ACK(1) ACK(2)
    TAKE_ACK(0) TAKE_ACK(1) TAKE_ACK(2)
    CRASH(0) CRASH(1) CRASH(2)
    READ(0, 0) READ(1, 0) READ(1, 1) READ(1, 2) READ(2, 0) READ(2, 1) READ(2, 2)
    MOVE(1) MOVE(2)
    LOOK_UP(1) LOOK_UP(2)
    MAKE(1) MAKE(2)
    ATTACH(1, 2) ATTACH(2, 1)
    LOG(1) LOG(2)
    OPEN(1) OPEN(2)
    SEND(1) SEND(2)
    LOSE(1) LOSE(2)
    TAKE_RESUME(1) TAKE_RESUME(2)
    od
}

/* A leader in whose place others went on may end in the middle. */
#define IS_DEPOSED(q) (HAS(led, q) && (claim[q] != NONE || (from[q] != NONE && claim[from[q]] != q)))
#define IS_FREE(q) (!LIVES(q) || IS_DEPOSED(q))
#define IS_DONE(q) (IS_FREE(q) || read[q] == S)
#define IS_FREED (freed == S || (IS_FREE(0) && IS_FREE(1) && IS_FREE(2)))
ltl served { <> (IS_DONE(0) && IS_DONE(1) && IS_DONE(2) && IS_FREED) }
