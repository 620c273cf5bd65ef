package io.framecast.rdma;

import io.framecast.api.error.TransportException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// Peers of a lane by handle, lowest free one first.
///
/// A device that is to send by an address handle that was destroyed fails the queue pair, so the handle of a peer
/// that left is kept until its posted sends have completed.
final class RdmaPeers implements AutoCloseable {
    static final int PEERS_MAX = 1 << 14;

    private final AddressHandleCache handles;
    private final Deque<Leaving> leaving = new ArrayDeque<>();
    private @Nullable Peer[] peers = new Peer[8];
    private int lowestFree;

    /// An address handle, and the queue pair and key of the datagrams that take it. Users compare
    /// identities: another connection is another peer.
    record Peer(AddressHandleCache.Entry entry, int queuePair, int queueKey) {}

    /// An address handle, and the last send that may need it.
    private record Leaving(AddressHandleCache.Entry entry, long submitted) {}

    RdmaPeers(final AddressHandleCache handles) {
        this.handles = handles;
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
        final AddressHandleCache.Entry entry = handles.take(address);
        if (lowestFree == peers.length) {
            peers = Arrays.copyOf(peers, 2 * peers.length);
        }
        final int handle = lowestFree;
        peers[handle] = new Peer(entry, address.queuePair(), address.queueKey());
        while (lowestFree < peers.length && peers[lowestFree] != null) {
            lowestFree++;
        }
        return handle;
    }

    /// @param submitted sends of the lane so far
    void remove(final int handle, final long submitted) {
        leaving.add(new Leaving(peer(handle).entry(), submitted));
        peers[handle] = null;
        lowestFree = Math.min(lowestFree, handle);
    }

    /// Gives back the handles that no posted send needs any more.
    ///
    /// @param completed sends of the lane that are done
    void settle(final long completed) {
        Leaving next = leaving.peek();
        while (next != null && next.submitted <= completed) {
            handles.giveBack(next.entry);
            leaving.remove();
            next = leaving.peek();
        }
    }

    /// Has handles made anew whose source index is not the own address's any more.
    ///
    /// @param index where it stands
    void renew(final int index) {
        for (final Peer peer : peers) {
            if (peer != null) {
                handles.renew(peer.entry, index);
            }
        }
    }

    @Override
    public void close() {
        settle(Long.MAX_VALUE);
        for (final Peer peer : peers) {
            if (peer != null) {
                handles.giveBack(peer.entry);
            }
        }
        Arrays.fill(peers, null);
        lowestFree = 0;
    }
}
