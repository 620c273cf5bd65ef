package io.framecast.engine.udp;

import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import io.framecast.api.spi.TransportCapabilities.Placement;
import io.framecast.engine.ready.ReadySet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Lanes of one multicast channel on Linux UDP sockets.
final class UdpTransport implements Transport {
    static final String NAME = "udp";

    // Header and payload.
    private static final int SCATTER_MAX = 2;

    private final UdpLink link;
    private final SocketBuffers buffers;
    private final Offload offload;
    private final SystemFaults faults;
    private final @Nullable Readiness readiness;
    /// Opened by the conductor, closed by their own threads.
    private final List<UdpLane> lanes = new CopyOnWriteArrayList<>();
    private boolean closed;

    UdpTransport(final UdpLink link, final SocketBuffers buffers, final Offload offload, final SystemFaults faults) {
        this.link = link;
        this.buffers = buffers;
        this.offload = offload;
        this.faults = faults;
        readiness = Readiness.open();
    }

    static UdpTransport open(final TransportConfig config) {
        return switch (config.channel()) {
            case Channel.Multicast channel -> open(channel, config);
            case Channel.Fanout channel -> throw onlyGroups("control=", channel);
            case Channel.Ipc channel -> throw onlyGroups("ipc=", channel);
        };
    }

    private static UdpTransport open(final Channel.Multicast channel, final TransportConfig config) {
        final UdpLink link = UdpLink.of(channel, config.warnings());
        return new UdpTransport(
                link,
                new SocketBuffers((int) channel.link().socketBufferBytes(), config.warnings()),
                Offload.on(link.name(), config.warnings()),
                new SystemFaults(
                        link.name(),
                        TimeUnit.MILLISECONDS.toNanos(channel.stream().aliveTimeoutMs()),
                        config.warnings()));
    }

    private static ConfigException onlyGroups(final String key, final Channel channel) {
        return new ConfigException("udp: expected group=, for " + key + " needs framecast:aeron; got " + channel);
    }

    @Override
    public TransportCapabilities capabilities() {
        return new TransportCapabilities(
                NAME, true, false, false, false, SCATTER_MAX, 0, link.datagramBytesMax(), Placement.BY_SEQUENCE);
    }

    @Override
    public String networkInterface() {
        return link.name();
    }

    @Override
    public Lane open(final LaneConfig config) {
        if (closed) {
            throw new TransportException("udp: the transport is closed; open another");
        }
        final UdpLane lane = new UdpLane(link, buffers, offload, faults, readiness, config, lanes::remove);
        lanes.add(lane);
        return lane;
    }

    @Override
    public String describe(final LaneAddress address) {
        return Endpoint.decode(address, link.group().family()).toString();
    }

    @Override
    public boolean isOneHost(final LaneAddress first, final LaneAddress second) {
        final IpFamily family = link.group().family();
        return Endpoint.decode(first, family)
                .address()
                .equals(Endpoint.decode(second, family).address());
    }

    @Override
    public int readyDescriptor() {
        return readiness == null ? ReadySet.NONE : readiness.descriptor();
    }

    @Override
    public void close() {
        closed = true;
        lanes.forEach(UdpLane::close);
        if (readiness != null) {
            readiness.close();
        }
    }
}
