package io.framecast.engine.aeron;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.driver.status.SystemCounterDescriptor;
import io.aeron.exceptions.AeronException;
import io.aeron.protocol.DataHeaderFlyweight;
import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneConfig.Role;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import io.framecast.api.spi.TransportCapabilities.Placement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.status.CountersReader;
import org.jspecify.annotations.Nullable;

/// Lanes of one channel on Aeron: UDP multicast, unicast fan-out (dynamic multi-destination-cast) or shared
/// memory. Reliability is Framecast's own, so every subscription on the network is unreliable.
///
/// Opening and closing wait for the media driver of this machine, briefly and never for a peer; lanes do not
/// wait.
final class AeronTransport implements Transport {
    static final String NAME = "aeron";

    private static final int MAX_SCATTER = 2;
    private static final long DRIVER_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    private final Channel channel;
    private final LocalLink link;
    private final DriverLease lease;
    private final LaneChannels channels;
    private final SendDrain drain;
    /// Opened by the conductor, closed by their own threads.
    private final List<AeronLane> lanes = new CopyOnWriteArrayList<>();
    private boolean isClosed;

    private AeronTransport(final Channel channel, final LocalLink link, final DriverLease lease) {
        this.channel = channel;
        this.link = link;
        this.lease = lease;
        channels = new LaneChannels(channel, link, lease.client().nextCorrelationId());
        drain = new SendDrain(lease.client().countersReader());
    }

    static AeronTransport open(final TransportConfig config) {
        final Notices notices = new Notices(config.warnings());
        final Channel channel = config.channel();
        if (channel.link().dscp() != 0) {
            throw new ConfigException("dscp: expected 0, for Aeron's media driver marks no packets; got "
                    + channel.link().dscp() + "; framecast:udp and framecast:verbs do");
        }
        LaneChannels.requireOddGroup(channel);
        final LocalLink link = LocalLink.of(channel, notices);
        final DriverLease lease = channel instanceof Channel.Ipc ipc
                ? DriverLease.sharedDriver(ipc.directory(), notices)
                : DriverLease.ownDriver(notices);
        return new AeronTransport(channel, link, lease);
    }

    @Override
    public TransportCapabilities capabilities() {
        return new TransportCapabilities(
                NAME,
                channel instanceof Channel.Multicast,
                false,
                false,
                false,
                MAX_SCATTER,
                0,
                link.mtuBytes() - DataHeaderFlyweight.HEADER_LENGTH,
                Placement.BY_SEQUENCE);
    }

    @Override
    public Lane open(final LaneConfig config) {
        if (isClosed) {
            throw new TransportException("aeron: the transport is closed; open another");
        }
        final AeronLane lane = new AeronLane(this, new LaneOpening(config).setup());
        lanes.add(lane);
        return lane;
    }

    LaneChannels channels() {
        return channels;
    }

    Outbound outbound(final String uri, final int streamId) {
        return new Outbound(lease.client(), uri, streamId);
    }

    /// Closes a publication; what it accepted is still sent.
    void retire(final Outbound outbound) {
        drain.add(outbound);
        outbound.close();
    }

    void forget(final AeronLane lane) {
        lanes.remove(lane);
    }

    void requireReachable(final PeerAddress peer, final LaneAddress address) {
        if (!peer.isReachable() || peer.isSharedMemory() != channels.isSharedMemory()) {
            throw new TransportException(
                    "aeron: lane address " + address + " takes no unicast on " + channel + "; connect to another lane");
        }
    }

    CountersReader counters() {
        return lease.client().countersReader();
    }

    /// Datagrams that arrived beyond a receiver's window; the driver counts them for all lanes together.
    long receiveOverruns() {
        return counters().getCounterValue(SystemCounterDescriptor.FLOW_CONTROL_OVER_RUNS.id());
    }

    @Override
    public String describe(final LaneAddress address) {
        return PeerAddress.decode(address).toString();
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        lanes.forEach(AeronLane::close);
        drain.await();
        lease.close();
    }

    /// One lane's way through the driver: everything is asked for first and awaited then.
    private final class LaneOpening {
        private final LaneConfig config;
        private final LaneSizes sizes;
        private final Aeron client = lease.client();
        private final int ownSession = ThreadLocalRandom.current().nextInt();
        private final int unicastStream = ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE);
        private final long deadlineNs = System.nanoTime() + DRIVER_TIMEOUT_NS;
        private @Nullable Outbound group;
        private @Nullable Subscription groupSubscription;
        private @Nullable Subscription unicastSubscription;

        LaneOpening(final LaneConfig config) {
            this.config = config;
            sizes = LaneSizes.of(config, link);
        }

        LaneSetup setup() {
            try {
                return open();
            } catch (final RuntimeException e) {
                if (group != null) {
                    group.close();
                }
                org.agrona.CloseHelper.quietCloseAll(groupSubscription, unicastSubscription);
                throw e instanceof AeronException refused ? refused(refused) : e;
            }
        }

        private LaneSetup open() {
            final LaneKind kind = config.kind();
            final int stream = channels.groupStream(kind);
            final String groupChannel =
                    config.send() == null ? null : channels.groupPublication(kind, config.role(), ownSession, sizes);
            if (groupChannel != null && config.role() == Role.SOURCE) {
                group = outbound(groupChannel, stream);
                awaitReady(group);
            }
            PeerAddress own = new PeerAddress(link.ip(), 0, 0, ownSession);
            int capacity = Lane.UNLIMITED;
            final var ring = config.receive();
            if (ring != null) {
                unicastSubscription = addUnicast();
                own = new PeerAddress(link.ip(), awaitPort(unicastSubscription), unicastStream, ownSession);
                if (config.role() == Role.RECEIVER) {
                    groupSubscription = await(client.asyncAddSubscription(groupSubscriptionChannel(kind), stream));
                }
                if (!channels.isSharedMemory()) {
                    capacity = LaneSizes.receiveCapacity(link, ring.headerBytes() + ring.payloadBytes());
                }
            }
            return new LaneSetup(
                    config,
                    sizes,
                    own.encode(),
                    group,
                    groupChannel,
                    stream,
                    groupSubscription,
                    unicastSubscription,
                    ownSession,
                    capacity);
        }

        // Another process may have taken the port since it was found free.
        private Subscription addUnicast() {
            while (true) {
                try {
                    return await(client.asyncAddSubscription(channels.unicastSubscription(), unicastStream));
                } catch (final AeronException e) {
                    if (!channels.takeNextPort()) {
                        throw e;
                    }
                }
            }
        }

        private String groupSubscriptionChannel(final LaneKind kind) {
            final LaneAddress source = config.peer();
            final Integer session =
                    source == null ? null : PeerAddress.decode(source).sessionId();
            return channels.groupSubscription(kind, kind == LaneKind.DATA ? session : null);
        }

        private void awaitReady(final Outbound outbound) {
            @Nullable ExclusivePublication publication = outbound.poll();
            while (publication == null) {
                final String refusal = outbound.refusal();
                if (refusal != null) {
                    throw new AeronException(refusal);
                }
                pause();
                publication = outbound.poll();
            }
        }

        private Subscription await(final long registrationId) {
            @Nullable Subscription subscription = client.getSubscription(registrationId);
            while (subscription == null) {
                pause();
                subscription = client.getSubscription(registrationId);
            }
            return subscription;
        }

        /// The port that the system gave to the socket of this transport's unicast.
        private int awaitPort(final Subscription subscription) {
            if (channels.isSharedMemory()) {
                return 0;
            }
            @Nullable String endpoint = subscription.resolvedEndpoint();
            while (endpoint == null) {
                pause();
                endpoint = subscription.resolvedEndpoint();
            }
            return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
        }

        private void pause() {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new TransportException("aeron: the media driver took more than "
                        + TimeUnit.NANOSECONDS.toSeconds(DRIVER_TIMEOUT_NS)
                        + " s to open lane " + config.kind() + "; is the machine overloaded?");
            }
            Waiting.pause();
        }

        private TransportException refused(final AeronException error) {
            return new TransportException(
                    "aeron: lane " + config.kind() + " of " + channel + " cannot open (" + Notices.firstLine(error)
                            + "); free the port or address, or choose another",
                    error);
        }
    }
}
