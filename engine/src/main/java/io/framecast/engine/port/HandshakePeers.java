package io.framecast.engine.port;

import io.framecast.reliability.lane.SendLanePort;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The peers that handshakes are under way with, by address: they are connected before anything is known of them, so
/// there is a place for few.
///
/// A transport may take long to connect (a driver that answers, an address that is resolved), and refuses datagrams
/// until then. A peer that was refused keeps its place until it has taken both answers of a handshake, or for two
/// seconds: strangers with addresses of their own, and members that all start at once, do not push it out. A new
/// address that finds no place asks again later. Where a transport refuses nothing, the oldest goes.
///
/// One thread.
final class HandshakePeers {
    static final int PLACES = 16;

    private static final long HOLD_NS = 2_000_000_000;
    // COOKIE and ANSWER.
    private static final int ANSWERS = 2;

    private final SendLanePort lane;
    // The oldest first.
    private final List<HandshakePeer> peers = new ArrayList<>(PLACES);

    HandshakePeers(final SendLanePort lane) {
        this.lane = lane;
    }

    /// A peer that a handshake is under way with.
    static final class HandshakePeer {
        private final byte[] address;
        private final int handle;
        private final long sinceNs;
        private boolean refused;
        private int taken;

        private HandshakePeer(final byte[] address, final int handle, final long sinceNs) {
            this.address = address;
            this.handle = handle;
            this.sinceNs = sinceNs;
        }

        private boolean holds(final long nowNs) {
            return refused && taken < ANSWERS && nowNs - sinceNs < HOLD_NS;
        }

        int handle() {
            return handle;
        }

        /// A datagram was given to the transport.
        ///
        /// @param accepted whether it took the datagram
        void onSent(final boolean accepted) {
            if (accepted) {
                taken++;
            } else {
                refused = true;
            }
        }
    }

    /// The peer of an address, connected; null where there is no place for it now, or it is no address.
    @Nullable
    HandshakePeer of(final byte[] address, final long nowNs) {
        for (final HandshakePeer peer : peers) {
            if (Arrays.equals(peer.address, address)) {
                return peer;
            }
        }
        HandshakePeer oldest = null;
        if (peers.size() == PLACES) {
            oldest = oldest(nowNs);
            if (oldest == null) {
                return null;
            }
        }
        final int handle = lane.connect(address);
        if (handle == SendLanePort.NO_PEER) {
            return null;
        }
        if (oldest != null) {
            peers.remove(oldest);
            lane.disconnect(oldest.handle);
        }
        final HandshakePeer made = new HandshakePeer(address, handle, nowNs);
        peers.add(made);
        return made;
    }

    // Of peers that need not keep their places.
    private @Nullable HandshakePeer oldest(final long nowNs) {
        for (final HandshakePeer peer : peers) {
            if (!peer.holds(nowNs)) {
                return peer;
            }
        }
        return null;
    }
}
