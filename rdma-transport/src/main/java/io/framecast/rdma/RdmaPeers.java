package io.framecast.rdma;

import io.framecast.api.error.TransportException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// Peers of a lane by handle, lowest free one first.
///
/// A device that is to send by an address handle that was destroyed fails the queue pair, so the way of a
/// peer that left is kept until what was posted for it has completed.
final class RdmaPeers implements AutoCloseable {
    static final int PEERS_MAX = 1 << 14;

    private final RdmaWays ways;
    private final Deque<Leaving> leaving = new ArrayDeque<>();
    private @Nullable Peer[] peers = new Peer[8];
    private int lowestFree;

    /// A way and what datagrams carry that take it. Equal only to itself: another connection is another peer.
    static final class Peer {
        private final RdmaWays.Way way;
        private final int queuePair;
        private final int queueKey;

        Peer(final RdmaWays.Way way, final int queuePair, final int queueKey) {
            this.way = way;
            this.queuePair = queuePair;
            this.queueKey = queueKey;
        }

        RdmaWays.Way way() {
            return way;
        }

        int queuePair() {
            return queuePair;
        }

        int queueKey() {
            return queueKey;
        }
    }

    /// A way, and the last send that may need it.
    private record Leaving(RdmaWays.Way way, long submitted) {}

    RdmaPeers(final RdmaWays ways) {
        this.ways = ways;
    }

    Peer peer(final int handle) {
        final Peer peer = handle < 0 || handle >= peers.length ? null : peers[handle];
        if (peer == null) {
            throw new IllegalArgumentException("peer: expected a handle of connect, got " + handle);
        }
        return peer;
    }

    int add(final RdmaAddress address) {
        if (lowestFree == PEERS_MAX) {
            throw new TransportException("verbs: a lane holds " + PEERS_MAX + " peers; disconnect some");
        }
        final RdmaWays.Way way = ways.take(address);
        if (lowestFree == peers.length) {
            peers = Arrays.copyOf(peers, 2 * peers.length);
        }
        final int handle = lowestFree;
        peers[handle] = new Peer(way, address.queuePair(), address.queueKey());
        while (lowestFree < peers.length && peers[lowestFree] != null) {
            lowestFree++;
        }
        return handle;
    }

    /// @param submitted sends of the lane so far
    void remove(final int handle, final long submitted) {
        leaving.add(new Leaving(peer(handle).way(), submitted));
        peers[handle] = null;
        lowestFree = Math.min(lowestFree, handle);
    }

    /// Lets go of the ways that nothing posted needs any more.
    ///
    /// @param completed sends of the lane that are done
    void settle(final long completed) {
        Leaving next = leaving.peek();
        while (next != null && next.submitted <= completed) {
            ways.giveBack(next.way);
            leaving.remove();
            next = leaving.peek();
        }
    }

    /// Has ways made anew that leave from where the own address does not stand any more.
    ///
    /// @param index where it stands
    void renew(final int index) {
        for (final Peer peer : peers) {
            if (peer != null) {
                ways.renew(peer.way, index);
            }
        }
    }

    @Override
    public void close() {
        settle(Long.MAX_VALUE);
        for (final Peer peer : peers) {
            if (peer != null) {
                ways.giveBack(peer.way);
            }
        }
        Arrays.fill(peers, null);
        lowestFree = 0;
    }
}
