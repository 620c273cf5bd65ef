package io.framecast.gpu.arrival;

/// Small numbers for sessions, which are random 64-bit numbers: an entry has room for 16 bits. A session
/// keeps its number until other sessions have taken all numbers since it ended.
final class SourceNumbers {
    static final int NUMBERS = 256;

    private final long[] sessions = new long[NUMBERS];
    private final boolean[] live = new boolean[NUMBERS];
    private int used;
    private int next;
    private int last;

    /// The session's number; gives it one if it has none.
    int of(final long session) {
        if (used > 0 && sessions[last] == session) {
            live[last] = true;
            return last;
        }
        for (int i = 0; i < used; i++) {
            if (sessions[i] == session) {
                last = i;
                live[i] = true;
                return i;
            }
        }
        last = give(session);
        return last;
    }

    /// The session is over: its number may go to another.
    void retire(final long session) {
        live[of(session)] = false;
    }

    // Round about, so that a number comes back late. There are more numbers than sources a subscriber may have.
    private int give(final long session) {
        int number = next;
        for (int i = 0; i < NUMBERS && live[number]; i++) {
            number = (number + 1) % NUMBERS;
        }
        next = (number + 1) % NUMBERS;
        used = Math.max(used, number + 1);
        sessions[number] = session;
        live[number] = true;
        return number;
    }
}
