package io.framecast.reliability.group;

import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;

/// The members that followed an earlier leader. The lock on the byte of a member's place in the earlier leader's
/// words shows that the member lives. This holds for a member of another PID namespace, and for one that stands
/// still.
///
/// One thread at a time.
public final class FollowersToAwait implements AutoCloseable {
    // By the number that a member names to each leader: its place.
    private final Map<Long, Integer> places;
    private final IntPredicate lives;
    private final Runnable end;
    private boolean closed;

    /// @param places by the number that a member names to each leader
    /// @param lives whether the member at a place lives
    /// @param end runs once, behind the last question
    public FollowersToAwait(final Map<Long, Integer> places, final IntPredicate lives, final Runnable end) {
        this.places = Map.copyOf(places);
        this.lives = lives;
        this.end = end;
    }

    /// No member is to come.
    public static FollowersToAwait none() {
        return new FollowersToAwait(Map.of(), _ -> false, () -> {});
    }

    /// The numbers that they name to each leader.
    public Set<Long> members() {
        return places.keySet();
    }

    /// Whether a member lives; false for a member that is none of them.
    public boolean lives(final long member) {
        final Integer place = places.get(member);
        return place != null && lives.test(place);
    }

    /// The successor waits for no member any more.
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            end.run();
        }
    }
}
