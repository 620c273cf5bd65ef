package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.X25519;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/// A receiver's handshakes with sources, by session, under way and ended. Both have a limit: heartbeats of
/// strangers take the place of a handshake under way, never of keys.
///
/// One thread. It owns the handshakes.
final class SourceHandshakes implements AutoCloseable {
    // A handshake that got no answer for so long loses its place to another.
    private static final long SILENT_NS = 500_000_000;
    // A handshake that lasts longer may give way, as one with a stranger that answers HELLO by a cookie and nothing
    // else.
    private static final long SLOW_NS = 1_000_000_000;
    // No announcement is of it.
    private static final long NO_SESSION = 0;

    private final X25519 curve;
    private final RandomGenerator random;
    private final ControlSealer sealer;
    private final Long2ObjectHashMap<SourceHandshake> bySession = new Long2ObjectHashMap<>();
    private final List<SourceHandshake> handshakes = new ArrayList<>();
    private long refused = NO_SESSION;

    /// @param random of keys, a cryptographic one
    /// @param sealer counts handshakes that give way
    SourceHandshakes(final X25519 curve, final RandomGenerator random, final ControlSealer sealer) {
        this.curve = curve;
        this.random = random;
        this.sealer = sealer;
    }

    /// The handshake with a session's source; null where there is none.
    @Nullable
    SourceHandshake of(final long session) {
        return bySession.get(session);
    }

    /// That handshake, once there are keys; else null.
    @Nullable
    SourceHandshake agreed(final long session) {
        final SourceHandshake handshake = bySession.get(session);
        return handshake != null && handshake.isAgreed() ? handshake : null;
    }

    int count() {
        return handshakes.size();
    }

    SourceHandshake get(final int index) {
        return handshakes.get(index);
    }

    /// Begins a handshake, for which there is room.
    SourceHandshake begin(final long session, final long nowNs) {
        final SourceHandshake made = new SourceHandshake(session, newId(random), curve, random, nowNs);
        handshakes.add(made);
        bySession.put(session, made);
        return made;
    }

    static int newId(final RandomGenerator ids) {
        int id = ids.nextInt();
        while (id == 0) {
            id = ids.nextInt();
        }
        return id;
    }

    /// Whether one more handshake may begin; one that gets no further may give way to it.
    boolean hasRoom(final long nowNs) {
        int under = 0;
        SourceHandshake silent = null;
        SourceHandshake slow = null;
        for (int i = 0; i < handshakes.size(); i++) {
            final SourceHandshake other = handshakes.get(i);
            if (!other.isAgreed()) {
                under++;
                if (other.cookie == null && (silent == null || other.begunNs < silent.begunNs)) {
                    silent = other;
                }
                slow = slow == null || other.begunNs < slow.begunNs ? other : slow;
            }
        }
        if (under < ReceiverProtection.PENDING_MAX) {
            return true;
        }
        if (silent != null && nowNs - silent.begunNs >= SILENT_NS) {
            displace(silent);
            return true;
        }
        if (slow != null && nowNs - slow.begunNs >= SLOW_NS) {
            displace(slow);
            return true;
        }
        return false;
    }

    private void displace(final SourceHandshake displaced) {
        sealer.count(ProtectionEvent.DISPLACED);
        forget(displaced.session);
    }

    /// One more session is to have keys: the one that was unused for longest may give way to it.
    void trim() {
        int agreed = 0;
        SourceHandshake unused = null;
        for (int i = 0; i < handshakes.size(); i++) {
            final SourceHandshake other = handshakes.get(i);
            if (other.isAgreed()) {
                agreed++;
                unused = unused == null || other.usedNs() < unused.usedNs() ? other : unused;
            }
        }
        if (unused != null && agreed >= ReceiverProtection.SESSIONS_MAX) {
            displace(unused);
        }
    }

    /// Wipes the keys of a session, of which nothing is opened until [#forget].
    void refuse(final long session) {
        forget(session);
        refused = session;
    }

    boolean isRefused(final long session) {
        return session == refused && session != NO_SESSION;
    }

    /// Wipes the keys of a session.
    void forget(final long session) {
        refused = refused == session ? NO_SESSION : refused;
        final SourceHandshake removed = bySession.remove(session);
        if (removed != null) {
            handshakes.remove(removed);
            removed.close();
        }
    }

    @Override
    public void close() {
        handshakes.forEach(SourceHandshake::close);
        handshakes.clear();
        bySession.clear();
    }
}
