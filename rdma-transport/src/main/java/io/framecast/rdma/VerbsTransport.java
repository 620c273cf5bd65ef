package io.framecast.rdma;

import io.framecast.api.Channel;
import io.framecast.api.HostPort;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.GatherSource;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import io.framecast.api.spi.TransportCapabilities.Placement;
import io.framecast.rdma.verbs.Access;
import io.framecast.rdma.verbs.AddressPath;
import io.framecast.rdma.verbs.CmLibrary;
import io.framecast.rdma.verbs.Gid;
import io.framecast.rdma.verbs.SubnetGroup;
import io.framecast.rdma.verbs.VerbsLibrary;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Lanes of one multicast channel on UD queue pairs, over RoCE v2 or InfiniBand. Receives headers into host memory,
/// payloads into the host's or a device's.
final class VerbsTransport implements Transport {
    static final String NAME = "verbs";
    static final String MULTICAST_ONLY = "verbs: expected group=; control= and ipc= need framecast:aeron";

    // Header and payload; the overflow is the transport's own.
    private static final int SCATTER_MAX = 2;

    // A subnet manager that is there answers in milliseconds, one that has much to do in some seconds.
    private static final long JOIN_MAX_NS = 10_000_000_000L;

    private final VerbsLink link;
    private final @Nullable SubnetGroup subnetGroup;
    private final Consumer<String> notices;
    private final VerbsOneSided oneSided;
    /// Opened by the conductor, closed by their own threads.
    private final List<VerbsLane> lanes = new CopyOnWriteArrayList<>();
    private boolean isRegistrationReported;
    private boolean closed;

    private VerbsTransport(
            final VerbsLink link, final @Nullable SubnetGroup subnetGroup, final Consumer<String> notices) {
        this.link = link;
        this.notices = notices;
        this.subnetGroup = subnetGroup;
        oneSided = new VerbsOneSided(link);
    }

    static VerbsTransport open(final VerbsLibrary library, final TransportConfig config) {
        if (!(config.channel() instanceof Channel.Multicast channel)) {
            throw new ConfigException(MULTICAST_ONLY);
        }
        final String wanted = channel.link().networkInterface();
        final RdmaPort port = RdmaPort.open(
                library, channel.group().address(), wanted, channel.link().mtuBytes());
        final AddressHandleCache handles = new AddressHandleCache(
                port, new AddressPath.Hops(channel.link().ttl(), channel.link().trafficClass(), 0));
        final HostPort group = channel.group();
        final Consumer<String> notices = config.warnings();
        try {
            final Ipoib ipoib = port.ipoib();
            final SubnetGroup joined = ipoib == null
                    ? null
                    : SubnetGroup.join(CmLibrary.load(), ipoib.address(), group.address(), JOIN_MAX_NS);
            final AddressPath path = joined == null ? handles.path(gid(group.address()), 0) : joined.path();
            notices.accept("verbs: " + port.describe() + ", group " + path.destination());
            final RegistrationCache registrations = new RegistrationCache(port.domain());
            return new VerbsTransport(
                    new VerbsLink(port, group, path, handles, registrations, new DeviceEvents(port, notices)),
                    joined,
                    notices);
        } catch (final RuntimeException e) {
            handles.close();
            throw e;
        }
    }

    // Of a group over RoCE v2.
    private static Gid gid(final InetAddress group) {
        final Gid gid = Gid.ofAddress(group);
        if (gid.isIpv4GroupOfRoceV1()) {
            final String address = gid.toRoceV2().toAddress().getHostAddress();
            throw new ConfigException("verbs: group=: " + group.getHostAddress() + " is how RoCE v1 has the group "
                    + address + ", and over RoCE v2 nothing would come by it; write " + address);
        }
        return gid;
    }

    @Override
    public String networkInterface() {
        return link.port().device();
    }

    @Override
    public TransportCapabilities capabilities() {
        return new TransportCapabilities(
                NAME,
                true,
                true,
                true,
                true,
                SCATTER_MAX,
                ReceiveSlots.RESERVE_BYTES,
                link.port().datagramBytesMax(),
                Placement.BY_ARRIVAL);
    }

    /// Registers it, as lanes do. The device may take dma-bufs or not, a driver may know the GPU's addresses or
    /// not, and either may stop at some length: only a trial registration shows it. One notice says which of the
    /// two it is.
    @Override
    public Optional<String> canReceiveInto(final DeviceRegion memory) {
        try (RegistrationCache.Lease lease = link.registrations().lease(memory, Access.LOCAL_WRITE)) {
            if (!memory.hostAddressable() && !isRegistrationReported) {
                isRegistrationReported = true;
                notices.accept("verbs: " + link.port().context().name() + " writes into device memory, registered by "
                        + (lease.region().isDmaBuf() ? "dma-buf" : "address (nvidia-peermem)"));
            }
            return Optional.empty();
        } catch (final TransportException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public GatherSource gatherFrom(final DeviceRegion memory) {
        return new RdmaGatherSource(memory, link.registrations().lease(memory, Access.LOCAL_READ));
    }

    @Override
    public String describe(final LaneAddress address) {
        final RdmaAddress peer = RdmaAddress.decode(address);
        return peer.gid() + ", queue pair " + peer.queuePair();
    }

    @Override
    public boolean isOneHost(final LaneAddress first, final LaneAddress second) {
        final RdmaAddress one = RdmaAddress.decode(first);
        final RdmaAddress other = RdmaAddress.decode(second);
        return one.gid().equals(other.gid()) && one.lid() == other.lid();
    }

    @Override
    public long memoryRegistrations() {
        return link.registrations().misses();
    }

    @Override
    public long registrationHits() {
        return link.registrations().hits();
    }

    RegistrationCache registrations() {
        return link.registrations();
    }

    @Override
    public OneSided oneSided() {
        return oneSided;
    }

    @Override
    public Lane open(final LaneConfig config) {
        if (closed) {
            throw new TransportException("verbs: the transport is closed; open another");
        }
        final VerbsLane lane = new VerbsLane(link, config, lanes::remove);
        lanes.add(lane);
        return lane;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        RuntimeException refused = null;
        for (final VerbsLane lane : lanes) {
            try {
                lane.close();
            } catch (final RuntimeException e) {
                refused = e;
            }
        }
        oneSided.close(() -> {
            link.registrations().close();
            link.events().close();
            if (subnetGroup != null) {
                subnetGroup.close();
            }
            link.handles().close();
        });
        if (refused != null) {
            throw refused;
        }
    }
}
