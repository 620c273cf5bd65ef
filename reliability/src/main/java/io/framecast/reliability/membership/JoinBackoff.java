package io.framecast.reliability.membership;

/// Sessions whose join failed, ignored for a while: a second at first, twice as long after each further failure.
/// The number of remembered sessions is fixed; the one that is due first is forgotten first.
///
/// Pure state; one thread.
final class JoinBackoff {
    static final int SESSIONS_MAX = 64;
    static final long SHUN_MIN_NS = 1_000_000_000;
    static final int DOUBLINGS_MAX = 5;

    private final long[] sessions = new long[SESSIONS_MAX];
    private final long[] untilNs = new long[SESSIONS_MAX];
    private final int[] times = new int[SESSIONS_MAX];

    void add(final long session, final long nowNs) {
        int place = 0;
        for (int i = 0; i < SESSIONS_MAX; i++) {
            if (times[i] > 0 && sessions[i] == session) {
                place = i;
                break;
            }
            place = untilNs[i] < untilNs[place] ? i : place;
        }
        final boolean again = times[place] > 0 && sessions[place] == session;
        times[place] = again ? Math.min(times[place] + 1, 1 + DOUBLINGS_MAX) : 1;
        sessions[place] = session;
        untilNs[place] = nowNs + (SHUN_MIN_NS << (times[place] - 1));
    }

    boolean contains(final long session, final long nowNs) {
        for (int i = 0; i < SESSIONS_MAX; i++) {
            if (times[i] > 0 && sessions[i] == session) {
                return nowNs < untilNs[i];
            }
        }
        return false;
    }
}
