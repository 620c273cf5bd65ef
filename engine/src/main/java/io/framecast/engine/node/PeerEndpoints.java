package io.framecast.engine.node;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSided.Access;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.OneSidedEndpoint.State;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Endpoints through which peers act on this process's memory, and it on theirs, by number. One thread.
final class PeerEndpoints implements AutoCloseable {
    private final OneSided oneSided;
    private final Access access;
    private final int operationsMax;
    private final String refusal;
    private final Consumer<String> notices;
    private final @Nullable OneSidedEndpoint[] endpoints;
    private int used;
    private boolean noticed;

    /// What may be done over an endpoint.
    ///
    /// @param access of the peer
    /// @param operationsMax of this side's, under way at a time
    record Ways(Access access, int operationsMax) {
        /// Peers read.
        static final Ways READ = new Ways(Access.PEERS_READ, 0);
    }

    /// @param ways to each peer
    /// @param refusal what is said, once, when a peer cannot be connected to: this, and why
    PeerEndpoints(
            final OneSided oneSided,
            final int peersMax,
            final Ways ways,
            final String refusal,
            final Consumer<String> notices) {
        this.oneSided = oneSided;
        access = ways.access;
        operationsMax = ways.operationsMax;
        this.refusal = refusal;
        this.notices = notices;
        endpoints = new OneSidedEndpoint[peersMax];
    }

    /// Begins to connect to a peer's endpoint; its descriptor is from the wire. The one before was cut.
    boolean accept(final int peer, final byte[] descriptor) {
        try {
            endpoints[peer] = oneSided.accept(descriptor, access, operationsMax);
            used = Math.max(used, peer + 1);
            return true;
        } catch (final TransportException e) {
            notice(String.valueOf(e.getMessage()));
            return false;
        }
    }

    // Anybody can come with a bad descriptor, again and again.
    private void notice(final String why) {
        if (!noticed) {
            noticed = true;
            notices.accept(refusal + why);
        }
    }

    /// Whether a peer's endpoint failed.
    boolean isBroken(final int peer) {
        final OneSidedEndpoint endpoint = endpoints[peer];
        if (endpoint == null || endpoint.state() != State.BROKEN) {
            return false;
        }
        notice(endpoint.failure());
        return true;
    }

    /// A peer's endpoint that is up; null when it is not.
    @Nullable
    OneSidedEndpoint up(final int peer) {
        final OneSidedEndpoint endpoint = endpoints[peer];
        return endpoint == null || endpoint.state() != State.UP ? null : endpoint;
    }

    /// What the peer must be given; null until its endpoint is up.
    byte @Nullable [] descriptor(final int peer) {
        final OneSidedEndpoint endpoint = endpoints[peer];
        return endpoint == null || isBroken(peer) || endpoint.state() != State.UP ? null : endpoint.descriptor();
    }

    /// Cuts a peer off: it acts no more when this returns.
    ///
    /// @return whether there was anything to cut
    boolean cut(final int peer) {
        final OneSidedEndpoint endpoint = endpoints[peer];
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

    /// Cuts everybody off.
    @Override
    public void close() {
        for (int peer = used - 1; peer >= 0; peer--) {
            cut(peer);
        }
    }
}
