package io.framecast.reliability;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Receivers that asked to join and became no members, by the address of their control lane, and what was in the
/// way. Where there are more than [#ATTEMPTS_MAX], the one heard longest ago is forgotten; and each is a minute
/// after it asked last.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
public final class JoinAttempts {
    public static final int ATTEMPTS_MAX = 16;

    // A handshake takes a few round-trip times.
    private static final long STUCK_NS = 1_000_000_000;
    // One that tries on does so at least every half minute.
    private static final long FORGET_NS = 60_000_000_000L;
    private static final byte[] NOBODY = {};

    /// What keeps a receiver from being a member.
    public enum Obstacle {
        /// It repeats its JOIN: it does not hear the answer, or no datagram of full size reaches it.
        NO_ANSWER,
        /// Its ring cannot hold a frame.
        RING_TOO_SMALL,
        /// The source has no place for one more.
        FULL
    }

    private final byte[][] addresses = new byte[ATTEMPTS_MAX][];
    private final Obstacle[] obstacles = new Obstacle[ATTEMPTS_MAX];
    private final int[] joins = new int[ATTEMPTS_MAX];
    private final long[] firstNs = new long[ATTEMPTS_MAX];
    private final long[] lastNs = new long[ATTEMPTS_MAX];
    private long changes;

    JoinAttempts() {
        Arrays.fill(addresses, NOBODY);
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

    /// It is a member now.
    void remove(final byte[] address) {
        final int place = find(address);
        if (place >= 0) {
            addresses[place] = NOBODY;
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

    /// The address at a place, 0 … [#ATTEMPTS_MAX] − 1; null where nobody is stuck there: free, or in the midst
    /// of a handshake.
    public byte @Nullable [] address(final int place, final long nowNs) {
        final boolean stuck = obstacles[place] != Obstacle.NO_ANSWER || nowNs - firstNs[place] > STUCK_NS;
        final boolean known = addresses[place].length > 0 && nowNs - lastNs[place] <= FORGET_NS;
        return known && stuck ? addresses[place].clone() : null;
    }

    public Obstacle obstacle(final int place) {
        return obstacles[place];
    }

    /// When it asked last.
    public long lastNs(final int place) {
        return lastNs[place];
    }

    /// How often it has asked.
    public int joins(final int place) {
        return joins[place];
    }
}
