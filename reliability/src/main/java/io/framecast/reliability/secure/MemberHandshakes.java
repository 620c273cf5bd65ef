package io.framecast.reliability.secure;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import org.agrona.collections.Int2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/// The handshakes of receivers that a source keeps, by number. The table is bounded: the one that was silent for
/// longest loses its place.
///
/// One thread. It owns the handshakes.
final class MemberHandshakes implements AutoCloseable {
    private final int most;
    private final Int2ObjectHashMap<MemberHandshake> byId = new Int2ObjectHashMap<>();
    private final List<MemberHandshake> handshakes = new ArrayList<>();

    /// @param most handshakes that are kept
    MemberHandshakes(final int most) {
        this.most = most;
    }

    /// The handshake of a number; null where there is none.
    @Nullable
    MemberHandshake of(final int id) {
        return byId.get(id);
    }

    int count() {
        return handshakes.size();
    }

    MemberHandshake get(final int index) {
        return handshakes.get(index);
    }

    /// Keeps a handshake.
    ///
    /// @return whether another one lost its place
    boolean keep(final MemberHandshake made) {
        final boolean isFull = handshakes.size() >= most;
        if (isFull) {
            MemberHandshake oldest = handshakes.getFirst();
            for (final MemberHandshake other : handshakes) {
                oldest = other.usedNs() < oldest.usedNs() ? other : oldest;
            }
            remove(oldest);
        }
        handshakes.add(made);
        byId.put(made.id, made);
        return isFull;
    }

    /// Removes a handshake and wipes its keys.
    void remove(final MemberHandshake removed) {
        byId.remove(removed.id);
        handshakes.remove(removed);
        removed.close();
    }

    /// Removes the handshakes of which a condition holds.
    void removeWhere(final Predicate<MemberHandshake> condition) {
        for (int i = handshakes.size() - 1; i >= 0; i--) {
            if (condition.test(handshakes.get(i))) {
                remove(handshakes.get(i));
            }
        }
    }

    /// Whether all that are awaited have the keys of an epoch.
    boolean haveAll(final int epoch, final IntPredicate awaited) {
        for (int i = 0; i < handshakes.size(); i++) {
            final MemberHandshake peer = handshakes.get(i);
            if (peer.epoch != epoch && awaited.test(peer.id)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        handshakes.forEach(MemberHandshake::close);
        handshakes.clear();
        byId.clear();
    }
}
