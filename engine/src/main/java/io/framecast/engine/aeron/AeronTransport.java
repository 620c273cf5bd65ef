package io.framecast.engine.aeron;

import io.aeron.Aeron;
import io.aeron.driver.status.SystemCounterDescriptor;
import io.aeron.protocol.DataHeaderFlyweight;
import io.framecast.api.Channel;
import io.framecast.api.LinkConfig;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import io.framecast.api.spi.TransportCapabilities.Placement;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.agrona.concurrent.status.CountersReader;

/// Lanes of one channel on Aeron: UDP multicast, unicast fan-out (dynamic multi-destination-cast) or shared
/// memory. Reliability is Framecast's own, so every subscription on the network is unreliable.
///
/// Opening and closing wait briefly for the media driver of this machine, and never for a peer. Open lanes do
/// not wait.
final class AeronTransport implements Transport {
    static final String NAME = "aeron";

    private static final int MAX_SCATTER = 2;

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
        if (channel.link().ttl() != LinkConfig.DEFAULT.ttl() && !(channel instanceof Channel.Ipc)) {
            config.warnings()
                    .accept("aeron: ttl=" + channel.link().ttl()
                            + " holds for the group; Aeron's media driver sets no hop limit of unicast datagrams,"
                            + " as framecast:udp and framecast:verbs do");
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
        final AeronLane lane = new AeronLane(this, config);
        lanes.add(lane);
        return lane;
    }

    Channel channel() {
        return channel;
    }

    LocalLink link() {
        return link;
    }

    LaneChannels channels() {
        return channels;
    }

    Aeron client() {
        return lease.client();
    }

    DriverFault fault() {
        return lease.fault();
    }

    Outbound outbound(final String uri, final int streamId) {
        return new Outbound(lease.client(), uri, streamId);
    }

    /// Closes a publication; the driver still sends the accepted datagrams.
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

    /// Shared memory is of one host.
    @Override
    public boolean isOneHost(final LaneAddress first, final LaneAddress second) {
        return Objects.equals(
                PeerAddress.decode(first).ip(), PeerAddress.decode(second).ip());
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
}
