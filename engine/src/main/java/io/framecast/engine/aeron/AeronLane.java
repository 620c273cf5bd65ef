package io.framecast.engine.aeron;

import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.logbuffer.BufferClaim;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.SendRing;
import org.jspecify.annotations.Nullable;

/// A lane on Aeron: publications to the group and to each connected peer, subscriptions to the group and to a
/// unicast stream of its own. Payloads are copied once out of, and once into, the driver's term buffers; a send is
/// complete as soon as it is accepted, but for a source's data lane, where it is when the driver has sent it.
final class AeronLane implements Lane {
    /// Peers that one lane holds: each is a publication with three terms.
    private static final int PEERS_MAX = 1_024;

    private static final int PEERS_AT_FIRST = 4;

    private final AeronTransport transport;
    private final LaneSetup setup;
    private final @Nullable Placement placement;
    private final BufferClaim claim = new BufferClaim();
    private @Nullable Outbound group;
    private @Nullable Outbound[] peers = new Outbound[PEERS_AT_FIRST];
    // What a source must know of its data lane only: what it tells its receivers to be sent is.
    private final @Nullable SentPositions positions;
    private boolean isClosed;
    private boolean unicastFirst;

    private long submitted;
    private long sentBytes;
    private long backPressured;
    private long systemErrors;

    AeronLane(final AeronTransport transport, final LaneSetup setup) {
        this.transport = transport;
        this.setup = setup;
        final var receive = setup.config().receive();
        placement = receive == null ? null : new Placement(receive, setup.ownSession());
        group = setup.group();
        positions = setup.config().kind() == LaneKind.DATA ? new SentPositions() : null;
    }

    @Override
    public LaneAddress address() {
        return setup.address();
    }

    @Override
    public int post(final int firstSlot, final int count) {
        return receiving().aim(firstSlot, count);
    }

    /// Fragments beyond the posted slots stay unread in the driver, whose window then holds the sender back.
    @Override
    public int poll(final Completions completions) {
        final Placement target = receiving();
        final int before = completions.count();
        target.begin(completions);
        // Turns, so that a flood on one of the two cannot starve the other.
        unicastFirst = !unicastFirst;
        final Subscription first = unicastFirst ? setup.unicastSubscription() : setup.groupSubscription();
        final Subscription second = unicastFirst ? setup.groupSubscription() : setup.unicastSubscription();
        pollOne(first, target);
        pollOne(second, target);
        return completions.count() - before;
    }

    private Placement receiving() {
        requireOpen();
        final Placement target = placement;
        if (target == null) {
            throw new IllegalStateException("lane " + setup.config().kind() + ": opened without a receive ring");
        }
        return target;
    }

    private void requireOpen() {
        if (isClosed) {
            throw new IllegalStateException("lane " + setup.config().kind() + ": closed");
        }
    }

    private void pollOne(final @Nullable Subscription subscription, final Placement target) {
        if (subscription == null) {
            return;
        }
        final int room = target.room();
        if (room > 0 && subscription.poll(target, room) == 0 && subscription.isClosed()) {
            throw gone("subscription closed");
        }
    }

    @Override
    public int receiveCapacity() {
        return setup.receiveCapacity();
    }

    @Override
    public int multicast(final int firstSlot, final int count) {
        final SendRing ring = sending();
        Outbound to = group;
        if (to == null) {
            if (setup.groupChannel() == null) {
                return 0;
            }
            // Receivers seldom speak to the group: their publication is made when first needed.
            to = transport.outbound(setup.groupChannel(), setup.groupStream());
            group = to;
        }
        final int accepted = send(to, ring, firstSlot, count);
        final ExclusivePublication publication = to.published();
        if (positions != null && publication != null) {
            positions.onAccepted(publication, transport.counters(), accepted);
        }
        return accepted;
    }

    @Override
    public int unicast(final int peer, final int firstSlot, final int count) {
        return send(peer(peer), sending(), firstSlot, count);
    }

    private SendRing sending() {
        requireOpen();
        final SendRing ring = setup.config().send();
        if (ring == null) {
            throw new IllegalStateException("lane " + setup.config().kind() + ": opened without a send ring");
        }
        return ring;
    }

    private Outbound peer(final int handle) {
        final Outbound to = handle < 0 || handle >= peers.length ? null : peers[handle];
        if (to == null) {
            throw new IllegalArgumentException("peer: expected a handle from connect, got " + handle);
        }
        return to;
    }

    private int send(final Outbound to, final SendRing ring, final int firstSlot, final int count) {
        final ExclusivePublication publication = to.poll();
        if (publication == null) {
            systemErrors += to.refusal() == null ? 0 : 1;
            return 0;
        }
        int accepted = 0;
        int slot = firstSlot;
        while (accepted < count && sendOne(publication, ring, slot)) {
            accepted++;
            slot = slot + 1 == ring.slots() ? 0 : slot + 1;
        }
        submitted += accepted;
        return accepted;
    }

    /// Claims and copies rather than offers two buffers: the same single copy, and no Agrona view of the rings,
    /// whose offsets would stop at 2 GiB and which would outlive their arena.
    private boolean sendOne(final ExclusivePublication publication, final SendRing ring, final int slot) {
        final int headerBytes = ring.headerBytes();
        final int payloadBytes = ring.payloadLengths()[slot];
        final int bytes = headerBytes + payloadBytes;
        long position = publication.tryClaim(bytes, claim);
        if (position == Publication.ADMIN_ACTION) {
            // The term was rotated: the same claim now finds room in the next.
            position = publication.tryClaim(bytes, claim);
        }
        if (position < 0) {
            onRefused(position);
            return false;
        }
        final var term = claim.buffer();
        final int offset = claim.offset();
        TermViews.copyIn(ring.headers(), (long) slot * headerBytes, term, offset, headerBytes);
        TermViews.copyIn(ring.payload(), (long) slot * ring.payloadBytes(), term, offset + headerBytes, payloadBytes);
        claim.commit();
        sentBytes += bytes;
        return true;
    }

    private void onRefused(final long code) {
        if (code == Publication.CLOSED) {
            throw gone("publication closed");
        }
        if (code == Publication.MAX_POSITION_EXCEEDED) {
            throw gone("stream at its greatest position");
        }
        if (code != Publication.NOT_CONNECTED) {
            backPressured++;
        }
    }

    private TransportException gone(final String what) {
        close();
        return new TransportException(
                "aeron: " + what + " in lane " + setup.config().kind()
                        + ", the media driver is gone or the session too long; open the transport anew");
    }

    @Override
    public long submitted() {
        return submitted;
    }

    @Override
    public long completed() {
        return positions == null || isClosed ? submitted : submitted - positions.waiting();
    }

    @Override
    public int connect(final LaneAddress address) {
        sending();
        final PeerAddress peer = PeerAddress.decode(address);
        transport.requireReachable(peer, address);
        final int handle = freeHandle();
        peers[handle] =
                transport.outbound(transport.channels().unicastPublication(peer, setup.sizes()), peer.streamId());
        return handle;
    }

    private int freeHandle() {
        for (int i = 0; i < peers.length; i++) {
            if (peers[i] == null) {
                return i;
            }
        }
        final int handle = peers.length;
        if (handle == PEERS_MAX) {
            throw new TransportException(
                    "aeron: lane " + setup.config().kind() + " has " + PEERS_MAX + " peers; disconnect some");
        }
        peers = java.util.Arrays.copyOf(peers, 2 * handle);
        return handle;
    }

    @Override
    public void disconnect(final int peer) {
        if (isClosed) {
            return;
        }
        transport.retire(peer(peer));
        peers[peer] = null;
    }

    @Override
    public long counter(final LaneCounter counter) {
        final Placement in = placement;
        return switch (counter) {
            case SENT_DATAGRAMS -> submitted;
            case SENT_BYTES -> sentBytes;
            case RECEIVED_DATAGRAMS -> in == null ? 0 : in.receivedDatagrams();
            case RECEIVED_BYTES -> in == null ? 0 : in.receivedBytes();
            case TRUNCATED -> in == null ? 0 : in.truncated();
            case MALFORMED -> in == null ? 0 : in.malformed();
            case SEND_BACK_PRESSURED -> backPressured;
            case SYSTEM_ERRORS -> systemErrors;
            case RECEIVE_OVERRUNS -> in == null ? 0 : transport.receiveOverruns();
        };
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        if (group != null) {
            transport.retire(group);
        }
        for (final Outbound peer : peers) {
            if (peer != null) {
                transport.retire(peer);
            }
        }
        setup.closeSubscriptions();
        transport.forget(this);
    }
}
