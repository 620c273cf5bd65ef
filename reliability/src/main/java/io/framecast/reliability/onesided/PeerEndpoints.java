package io.framecast.reliability.onesided;

import io.framecast.reliability.onesided.EndpointPort.State;
import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.onesided.OneSidedPort.RefusedException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Endpoints of this process to which peers have connected, by number of the peer.
///
/// Threading: the session's thread.
final class PeerEndpoints implements AutoCloseable {
    private final OneSidedPort port;
    private final Access access;
    private final String refusal;
    private final Consumer<String> notices;
    private final @Nullable EndpointPort[] endpoints;
    private int used;
    private boolean noticed;

    /// @param access of each peer
    /// @param refusal the notice, once, when a peer cannot be connected to; the reason follows it
    PeerEndpoints(
            final OneSidedPort port,
            final int peersMax,
            final Access access,
            final String refusal,
            final Consumer<String> notices) {
        this.port = port;
        this.access = access;
        this.refusal = refusal;
        this.notices = notices;
        endpoints = new EndpointPort[peersMax];
    }

    /// Begins to connect to a peer's endpoint; its descriptor is from the wire. The peer has none at the
    /// moment.
    ///
    /// @param operationsMax this side's operations in flight at a time; 0: only the peer acts
    boolean accept(final int peer, final byte[] descriptor, final int operationsMax) {
        try {
            endpoints[peer] = port.accept(descriptor, access, operationsMax);
            used = Math.max(used, peer + 1);
            return true;
        } catch (final RefusedException e) {
            notice(String.valueOf(e.getMessage()));
            return false;
        }
    }

    // Any peer can send bad descriptors, again and again.
    private void notice(final String why) {
        if (!noticed) {
            noticed = true;
            notices.accept(refusal + why);
        }
    }

    /// Whether a peer's endpoint failed.
    boolean isBroken(final int peer) {
        final EndpointPort endpoint = endpoints[peer];
        if (endpoint == null || endpoint.state() != State.BROKEN) {
            return false;
        }
        notice(endpoint.failure());
        return true;
    }

    /// A peer's endpoint that is up; null when it is not.
    @Nullable
    EndpointPort up(final int peer) {
        final EndpointPort endpoint = endpoints[peer];
        return endpoint == null || endpoint.state() != State.UP ? null : endpoint;
    }

    /// The values that the peer needs; null until its endpoint is up.
    byte @Nullable [] descriptor(final int peer) {
        final EndpointPort endpoint = isBroken(peer) ? null : up(peer);
        return endpoint == null ? null : endpoint.descriptor();
    }

    /// Disconnects a peer, which acts no more when this returns.
    ///
    /// @return whether it had an endpoint
    boolean cut(final int peer) {
        final EndpointPort endpoint = endpoints[peer];
        if (endpoint == null) {
            return false;
        }
        endpoint.close();
        endpoints[peer] = null;
        while (used > 0 && endpoints[used - 1] == null) {
            used--;
        }
        return true;
    }

    /// Peers from here on have no endpoint.
    int used() {
        return used;
    }

    /// Disconnects all peers.
    @Override
    public void close() {
        for (int peer = used - 1; peer >= 0; peer--) {
            cut(peer);
        }
    }
}
