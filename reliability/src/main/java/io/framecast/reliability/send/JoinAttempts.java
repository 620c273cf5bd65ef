package io.framecast.reliability.send;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Receivers that asked to join and became no members, by the address of their control lane, and the obstacle.
/// Beyond [#ATTEMPTS_MAX], the receiver heard longest ago is forgotten. Each one is forgotten a minute after its
/// last JOIN.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
public final class JoinAttempts {
    public static final int ATTEMPTS_MAX = 16;

    // A handshake takes a few round-trip times.
    private static final long STUCK_NS = 1_000_000_000;
    // A receiver that keeps trying sends a JOIN at least every half minute.
    private static final long FORGET_NS = 60_000_000_000L;
    private static final byte[] FREE = {};

    /// The obstacle to a receiver's membership.
    public enum Obstacle {
        /// The receiver repeats its JOIN: it does not hear the answer, or no datagram of full size reaches it.
        NO_ANSWER,
        /// Its ring cannot hold a frame.
        RING_TOO_SMALL,
        /// Its bound on memory leaves no room for a ring.
        NO_RING,
        /// The source has no free place.
        FULL,
        /// Its control and repair address, or its endpoint, are not of one host.
        TWO_HOSTS
    }

    private final byte[][] addresses = new byte[ATTEMPTS_MAX][];
    private final Obstacle[] obstacles = new Obstacle[ATTEMPTS_MAX];
    private final int[] joins = new int[ATTEMPTS_MAX];
    private final long[] firstNs = new long[ATTEMPTS_MAX];
    private final long[] lastNs = new long[ATTEMPTS_MAX];
    private long changes;

    JoinAttempts() {
        Arrays.fill(addresses, FREE);
    }

    /// A JOIN came.
    void onJoin(final byte[] address, final Obstacle obstacle, final long nowNs) {
        int place = find(address);
        if (place < 0) {
            place = oldest();
            addresses[place] = address;
            joins[place] = 0;
            firstNs[place] = nowNs;
        }
        obstacles[place] = obstacle;
        joins[place]++;
        lastNs[place] = nowNs;
        changes++;
    }

    /// The receiver has become a member.
    void remove(final byte[] address) {
        final int place = find(address);
        if (place >= 0) {
            addresses[place] = FREE;
            lastNs[place] = 0;
            changes++;
        }
    }

    private int find(final byte[] address) {
        for (int i = 0; i < ATTEMPTS_MAX; i++) {
            if (addresses[i].length > 0 && Arrays.equals(addresses[i], address)) {
                return i;
            }
        }
        return -1;
    }

    private int oldest() {
        int place = 0;
        for (int i = 1; i < ATTEMPTS_MAX; i++) {
            place = lastNs[i] < lastNs[place] ? i : place;
        }
        return place;
    }

    /// Grows with each change.
    public long changes() {
        return changes;
    }

    /// The address at a place, 0 … [#ATTEMPTS_MAX] − 1; null where the place is free, or its receiver is in the
    /// midst of a handshake.
    public byte @Nullable [] address(final int place, final long nowNs) {
        final boolean stuck = obstacles[place] != Obstacle.NO_ANSWER || nowNs - firstNs[place] > STUCK_NS;
        final boolean known = addresses[place].length > 0 && nowNs - lastNs[place] <= FORGET_NS;
        return known && stuck ? addresses[place].clone() : null;
    }

    public Obstacle obstacle(final int place) {
        return obstacles[place];
    }

    /// The time since the last JOIN.
    public long silentNs(final int place, final long nowNs) {
        return nowNs - lastNs[place];
    }

    /// Number of JOINs.
    public int joins(final int place) {
        return joins[place];
    }
}
