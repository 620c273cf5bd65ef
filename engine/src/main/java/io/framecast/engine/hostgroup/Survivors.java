package io.framecast.engine.hostgroup;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntPredicate;

/// The members of an earlier leader that are still to come to its successor. Each shows that it lives by the
/// lock on the byte of its place in the earlier leader's words, also where it is of another PID namespace or
/// stands still.
///
/// One thread at a time.
final class Survivors implements AutoCloseable {
    // By the number that a member names to each leader: its place.
    private final Map<Long, Integer> places;
    private final IntPredicate lives;
    private final Runnable end;
    private boolean closed;

    /// @param places by the number that a member names to each leader
    /// @param lives whether the member at a place lives
    /// @param end runs once, behind the last question
    Survivors(final Map<Long, Integer> places, final IntPredicate lives, final Runnable end) {
        this.places = new HashMap<>(places);
        this.lives = lives;
        this.end = end;
    }

    /// No member is to come.
    static Survivors none() {
        return new Survivors(Map.of(), _ -> false, () -> {});
    }

    boolean isEmpty() {
        return places.isEmpty();
    }

    /// A member has come, or is not waited for.
    void remove(final long member) {
        places.remove(member);
    }

    /// The dead do not come.
    void removeDead() {
        places.values().removeIf(place -> !lives.test(place));
    }

    /// No member is waited for any more.
    @Override
    public void close() {
        places.clear();
        if (!closed) {
            closed = true;
            end.run();
        }
    }
}
