package io.framecast.engine.udp;

import io.framecast.api.error.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/// Peers of a lane as `sockaddr`s, by handle. One thread at a time.
final class PeerTable {
    static final int PEERS_MAX = 1024;

    private static final int STRIDE_BYTES = 32;

    private final MemorySegment sockaddrs;
    private final BitSet used = new BitSet(PEERS_MAX);

    PeerTable(final Arena arena) {
        sockaddrs = arena.allocate((long) PEERS_MAX * STRIDE_BYTES, STRIDE_BYTES);
    }

    int add(final Endpoint peer, final int interfaceIndex) {
        final int handle = used.nextClearBit(0);
        if (handle == PEERS_MAX) {
            throw new TransportException("udp: expected at most " + PEERS_MAX + " peers of a lane; disconnect some");
        }
        peer.write(sockaddrs, (long) handle * STRIDE_BYTES, interfaceIndex);
        used.set(handle);
        return handle;
    }

    void remove(final int handle) {
        sockaddr(handle);
        used.clear(handle);
    }

    /// Address of the peer's `sockaddr`.
    long sockaddr(final int handle) {
        if (handle < 0 || !used.get(handle)) {
            throw new IllegalArgumentException("expected a connected peer, got " + handle);
        }
        return sockaddrs.address() + (long) handle * STRIDE_BYTES;
    }
}
