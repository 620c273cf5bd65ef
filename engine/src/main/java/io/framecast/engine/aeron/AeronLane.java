package io.framecast.engine.aeron;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.exceptions.AeronException;
import io.aeron.logbuffer.BufferClaim;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneConfig.Role;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.engine.net.LaneCounts;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A lane on Aeron: publications to the group and to each connected peer, subscriptions to the group and to a
/// unicast stream of its own. Payloads are copied once out of, and once into, the driver's term buffers; a send
/// is complete as soon as it is accepted, but for a source's data lane, where it is when the driver has sent
/// it.
final class AeronLane implements Lane {
    /// Peers that one lane holds: each is a publication with three terms.
    private static final int PEERS_MAX = 1_024;

    private static final int PEERS_AT_FIRST = 4;
    private static final long DRIVER_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);
    // In words of the driver, which looks for space before it makes a file.
    private static final String NO_STORAGE = "usable storage";

    private final AeronTransport transport;
    private final LaneConfig config;
    private final LaneSizes sizes;
    private final LaneAddress address;
    private final int receiveCapacity;
    // The URI of the group publication; null where the lane has no receivers to multicast to.
    private final @Nullable String groupChannel;
    private final int groupStream;
    private final int unicastStream = ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE);
    private final @Nullable Placement placement;
    private final BufferClaim claim = new BufferClaim();
    private @Nullable Outbound group;
    // Null for a lane that only sends, and for a source's lane, which receives unicast only.
    private @Nullable Subscription groupSubscription;
    private @Nullable Subscription unicastSubscription;
    private @Nullable Outbound[] peers = new Outbound[PEERS_AT_FIRST];
    // Only a source must know how far the driver has sent its data lane: it announces the
    // sent datagrams to receivers.
    private final @Nullable SentPositions positions;
    private boolean isClosed;
    private boolean unicastFirst;

    private final LaneCounts counts = new LaneCounts();
    private long submitted;

    /// Opens the lane, and waits for the media driver to answer.
    ///
    /// @throws TransportException when the driver refuses or does not answer in time
    AeronLane(final AeronTransport transport, final LaneConfig config) {
        this.transport = transport;
        this.config = config;
        final LaneKind kind = config.kind();
        final LaneChannels channels = transport.channels();
        final ReceiveRing ring = config.receive();
        final int ownSession = ThreadLocalRandom.current().nextInt();
        sizes = LaneSizes.of(config, transport.link());
        placement = ring == null ? null : new Placement(ring, ownSession, counts);
        positions = kind == LaneKind.DATA ? new SentPositions() : null;
        groupStream = channels.groupStream(kind);
        groupChannel = config.send() == null ? null : channels.groupPublication(kind, config.role(), ownSession, sizes);
        final int port = open(channels);
        address = new PeerAddress(transport.link().ip(), port, ring == null ? 0 : unicastStream, ownSession).encode();
        receiveCapacity = ring == null || channels.isSharedMemory()
                ? UNLIMITED
                : LaneSizes.receiveCapacity(transport.link(), ring.headerBytes() + ring.payloadBytes());
    }

    // Its port; 0 for none.
    private int open(final LaneChannels channels) {
        final long deadlineNs = System.nanoTime() + DRIVER_TIMEOUT_NS;
        int port = 0;
        try {
            if (groupChannel != null && config.role() == Role.SOURCE) {
                group = transport.outbound(groupChannel, groupStream);
                awaitReady(group, deadlineNs);
            }
            if (config.receive() != null) {
                final Subscription unicast = openUnicast(deadlineNs);
                unicastSubscription = unicast;
                port = channels.isSharedMemory() ? 0 : awaitPort(unicast, deadlineNs);
                if (config.role() == Role.RECEIVER) {
                    groupSubscription = awaitSubscription(
                            channels.groupSubscription(config.kind(), sourceSession()), groupStream, deadlineNs);
                }
            }
            return port;
        } catch (final RuntimeException | InternalError e) {
            if (group != null) {
                group.close();
            }
            CloseHelper.quietCloseAll(groupSubscription, unicastSubscription);
            throw switch (e) {
                case AeronException refusal -> refused(refusal);
                case RuntimeException other -> other;
                default -> transport.fault().ofMemory();
            };
        }
    }

    /// The one source that a receiver's data lane receives from; null for the other lanes.
    private @Nullable Integer sourceSession() {
        final LaneAddress source = config.peer();
        return config.kind() == LaneKind.DATA && source != null
                ? PeerAddress.decode(source).sessionId()
                : null;
    }

    // Another process may have taken the port since it was found free.
    private Subscription openUnicast(final long deadlineNs) {
        final LaneChannels channels = transport.channels();
        while (true) {
            try {
                return awaitSubscription(channels.unicastSubscription(), unicastStream, deadlineNs);
            } catch (final AeronException e) {
                if (!channels.takeNextPort()) {
                    throw e;
                }
            }
        }
    }

    private void awaitReady(final Outbound outbound, final long deadlineNs) {
        await(
                () -> {
                    final ExclusivePublication publication = outbound.poll();
                    if (outbound.refusal() != null) {
                        throw new AeronException(outbound.refusal());
                    }
                    return publication;
                },
                deadlineNs);
    }

    private Subscription awaitSubscription(final String uri, final int stream, final long deadlineNs) {
        final Aeron client = transport.client();
        final long registrationId = client.asyncAddSubscription(uri, stream);
        return await(() -> client.getSubscription(registrationId), deadlineNs);
    }

    /// The port that the system gave to the socket of this transport's unicast.
    private int awaitPort(final Subscription subscription, final long deadlineNs) {
        final String endpoint = await(subscription::resolvedEndpoint, deadlineNs);
        return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
    }

    private <T> T await(final Supplier<@Nullable T> answer, final long deadlineNs) {
        T value = answer.get();
        while (value == null) {
            transport.fault().requireNone();
            if (System.nanoTime() - deadlineNs > 0) {
                throw new TransportException("aeron: the media driver took more than "
                        + TimeUnit.NANOSECONDS.toSeconds(DRIVER_TIMEOUT_NS)
                        + " s to open lane " + config.kind() + "; is the machine overloaded?");
            }
            Waiting.pause();
            value = answer.get();
        }
        return value;
    }

    private TransportException refused(final AeronException error) {
        final String line = Notices.firstLine(error);
        return new TransportException(
                "aeron: lane " + config.kind() + " of " + transport.channel() + " cannot open (" + line + "); "
                        + (line.contains(NO_STORAGE)
                                ? "free space there, enlarge it (docker run --shm-size=1g), or take framecast:udp"
                                : "free the port or address, or choose another"),
                error);
    }

    @Override
    public LaneAddress address() {
        return address;
    }

    @Override
    public int post(final int firstSlot, final int count) {
        return receiving().post(firstSlot, count);
    }

    @Override
    public boolean canRedirect() {
        return placement != null;
    }

    @Override
    public boolean redirect(final int slot, final @Nullable DeviceRegion memory, final long offset, final int bytes) {
        Objects.requireNonNull(placement).slots().redirect(slot, memory == null ? null : memory.host(), offset, bytes);
        return true;
    }

    /// Fragments beyond the posted slots stay unread in the driver, whose window then holds the sender back.
    @Override
    public int poll(final Completions completions) {
        final Placement target = receiving();
        final int before = completions.count();
        target.begin(completions);
        // The two take turns, so that a flood on one cannot starve the other.
        unicastFirst = !unicastFirst;
        final Subscription first = unicastFirst ? unicastSubscription : groupSubscription;
        final Subscription second = unicastFirst ? groupSubscription : unicastSubscription;
        try {
            pollOne(first, target);
            pollOne(second, target);
        } catch (final InternalError _) {
            throw transport.fault().ofMemory();
        }
        return completions.count() - before;
    }

    private Placement receiving() {
        requireOpen();
        final Placement target = placement;
        if (target == null) {
            throw new IllegalStateException("lane " + config.kind() + ": opened without a receive ring");
        }
        return target;
    }

    private void requireOpen() {
        if (isClosed) {
            throw new IllegalStateException("lane " + config.kind() + ": closed");
        }
        transport.fault().requireNone();
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
        return receiveCapacity;
    }

    @Override
    public int multicast(final int firstSlot, final int count) {
        final SendRing ring = sending();
        Outbound to = group;
        if (to == null) {
            if (groupChannel == null) {
                return 0;
            }
            // Receivers seldom multicast: the lane makes their publication when they first do.
            to = transport.outbound(groupChannel, groupStream);
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
        final SendRing ring = config.send();
        if (ring == null) {
            throw new IllegalStateException("lane " + config.kind() + ": opened without a send ring");
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
            counts.add(LaneCounter.SYSTEM_ERRORS, to.refusal() == null ? 0 : 1);
            return 0;
        }
        int accepted = 0;
        int slot = firstSlot;
        try {
            while (accepted < count && sendOne(publication, ring, slot)) {
                accepted++;
                slot = slot + 1 == ring.slots() ? 0 : slot + 1;
            }
        } catch (final InternalError _) {
            throw transport.fault().ofMemory();
        }
        submitted += accepted;
        counts.add(LaneCounter.SENT_DATAGRAMS, accepted);
        return accepted;
    }

    /// Claims and copies rather than offers two buffers. It is the same single copy, and needs no Agrona view of
    /// the rings: such views stop at 2 GiB and stay usable after their arena has closed.
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
        counts.add(LaneCounter.SENT_BYTES, bytes);
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
            counts.add(LaneCounter.SEND_BACK_PRESSURED, 1);
        }
    }

    private TransportException gone(final String what) {
        close();
        return new TransportException("aeron: " + what + " in lane " + config.kind()
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
        peers[handle] = transport.outbound(transport.channels().unicastPublication(peer, sizes), peer.streamId());
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
                    "aeron: lane " + config.kind() + " has " + PEERS_MAX + " peers; disconnect some");
        }
        peers = Arrays.copyOf(peers, 2 * handle);
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
        return counter == LaneCounter.RECEIVE_OVERRUNS && placement != null
                ? transport.receiveOverruns()
                : counts.value(counter);
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        try {
            if (group != null) {
                transport.retire(group);
            }
            for (final Outbound peer : peers) {
                if (peer != null) {
                    transport.retire(peer);
                }
            }
            CloseHelper.quietCloseAll(groupSubscription, unicastSubscription);
        } catch (final InternalError _) {
            transport.fault().noteMemory();
        }
        transport.forget(this);
    }
}
