package io.framecast.engine.hostgroup;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntPredicate;

/// The members of an earlier leader that its successor awaits. The lock on the byte of a member's place in the earlier
/// leader's words shows that the member lives. This holds for a member of another PID namespace, and for one that
/// stands still.
///
/// One thread at a time.
final class FollowersToAwait implements AutoCloseable {
    // By the number that a member names to each leader: its place.
    private final Map<Long, Integer> places;
    private final IntPredicate lives;
    private final Runnable end;
    private boolean closed;

    /// @param places by the number that a member names to each leader
    /// @param lives whether the member at a place lives
    /// @param end runs once, behind the last question
    FollowersToAwait(final Map<Long, Integer> places, final IntPredicate lives, final Runnable end) {
        this.places = new HashMap<>(places);
        this.lives = lives;
        this.end = end;
    }

    /// No member is to come.
    static FollowersToAwait none() {
        return new FollowersToAwait(Map.of(), _ -> false, () -> {});
    }

    boolean isEmpty() {
        return places.isEmpty();
    }

    /// A member has come, or the successor does not wait for it.
    void remove(final long member) {
        places.remove(member);
    }

    /// Removes the members that died.
    void removeDead() {
        places.values().removeIf(place -> !lives.test(place));
    }

    /// The successor waits for no member any more.
    @Override
    public void close() {
        places.clear();
        if (!closed) {
            closed = true;
            end.run();
        }
    }
}
