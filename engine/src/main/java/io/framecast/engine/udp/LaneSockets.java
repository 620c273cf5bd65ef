package io.framecast.engine.udp;

import io.framecast.api.PortRange;
import io.framecast.api.error.ConfigException;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneConfig.Role;
import io.framecast.api.spi.LaneKind;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.SocketOption;
import java.lang.foreign.Arena;
import java.util.Objects;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// The sockets of one lane, by kind and role:
///
/// - a source's data lane: one socket, bound to the interface, which multicasts; receivers know it by its port;
/// - a receiver's data lane: one socket on the group's port, connected to its source, so that the kernel passes
///   it only that source's datagrams;
/// - repair and control lanes: one socket of their own for sending and for unicast, and at a receiver one more
///   that receives from the group.
///
/// @param own sends, and receives unicast; null for a receiver's data lane
/// @param group receives multicast; null for a source, and for a lane that receives nothing
/// @param address where peers reach the lane: the own socket, or else the group
/// @param sendsConnected whether the own socket is connected to the group, which saves a route look-up per
///     datagram
/// @param receiveBytes receive buffer that the kernel charges datagrams against; 0 for a lane that receives
///     nothing
record LaneSockets(
        @Nullable LinuxSocket own,
        @Nullable LinuxSocket group,
        Endpoint address,
        boolean sendsConnected,
        long receiveBytes)
        implements AutoCloseable {

    static LaneSockets open(
            final Arena arena, final UdpLink link, final SocketBuffers buffers, final LaneConfig config) {
        LinuxSocket group = null;
        try {
            // A receiver's lane without a receive ring only sends.
            final boolean isReceiver = config.role() == Role.RECEIVER && config.receive() != null;
            group = isReceiver ? LinuxSocket.open(arena, link.group().family()) : null;
            final long groupBytes = group == null ? 0 : setUpGroup(group, link, buffers, config);
            if (isReceiver && config.kind() == LaneKind.DATA) {
                return new LaneSockets(null, group, link.group(0), false, groupBytes);
            }
            return openOwn(arena, link, buffers, config, group);
        } catch (final RuntimeException e) {
            CloseHelper.close(group);
            throw e;
        }
    }

    private static long setUpGroup(
            final LinuxSocket socket, final UdpLink link, final SocketBuffers buffers, final LaneConfig config) {
        final IpFamily family = link.group().family();
        socket.option(new SocketOption(Linux.SOL_SOCKET, Linux.SO_REUSEADDR), 1);
        // Otherwise the socket receives from groups that any other program joined.
        socket.option(family.option(Linux.IP_MULTICAST_ALL, Linux.IPV6_MULTICAST_ALL), 0);
        final long bytes = buffers.sizeReceive(socket, config.kind());
        socket.bind(link.group(config.kind().portOffset()), link.index());
        if (config.kind() == LaneKind.DATA) {
            final Endpoint source = Endpoint.decode(Objects.requireNonNull(config.peer()), family);
            socket.connect(source, link.index());
        }
        // The join comes last: datagrams arrive from here on, and they must be the source's alone.
        socket.join(link.group().address(), link.index());
        return bytes;
    }

    private static LaneSockets openOwn(
            final Arena arena,
            final UdpLink link,
            final SocketBuffers buffers,
            final LaneConfig config,
            final @Nullable LinuxSocket group) {
        final IpFamily family = link.group().family();
        final LinuxSocket own = LinuxSocket.open(arena, family);
        try {
            bindOwn(own, link);
            own.multicastBy(link.group().address(), link.index());
            own.option(family.option(Linux.IP_MULTICAST_TTL, Linux.IPV6_MULTICAST_HOPS), link.ttl());
            // Unicast has no limit of 0: a datagram for this host alone goes to this host alone all the same.
            own.option(family.option(Linux.IP_TTL, Linux.IPV6_UNICAST_HOPS), Math.max(1, link.ttl()));
            own.option(family.option(Linux.IP_TOS, Linux.IPV6_TCLASS), link.trafficClass());
            own.option(family.option(Linux.IP_MULTICAST_LOOP, Linux.IPV6_MULTICAST_LOOP), 1);
            own.option(family.option(Linux.IP_MTU_DISCOVER, Linux.IPV6_MTU_DISCOVER), Linux.PMTUDISC_PROBE);
            buffers.sizeSend(own);
            final Endpoint address = own.localEndpoint();
            final long bytes = config.receive() == null ? 0 : buffers.sizeReceive(own, config.kind());
            final boolean connect = config.kind() == LaneKind.DATA && config.receive() == null;
            if (connect) {
                own.connect(link.group(config.kind().portOffset()), link.index());
                // Without this option the kernel silently drops datagrams that the interface's queue has no room
                // for. Only a connected socket may have it: other sockets would get errors meant for other peers.
                own.tryOption(family.option(Linux.IP_RECVERR, Linux.IPV6_RECVERR), 1);
            }
            return new LaneSockets(own, group, address, connect, bytes);
        } catch (final RuntimeException e) {
            own.close();
            throw e;
        }
    }

    // Binds to the first free port, because only the kernel knows which ports are free.
    private static void bindOwn(final LinuxSocket own, final UdpLink link) {
        final PortRange ports = link.unicastPorts();
        for (int port = ports.first(); port <= ports.last(); port++) {
            if (own.tryBind(new Endpoint(link.local(), port), link.index())) {
                return;
            }
        }
        throw new ConfigException("unicast-ports: none of " + ports + " is free on "
                + link.local().getHostAddress() + "; widen the range, or stop the programs that use them");
    }

    /// Datagrams that the kernel dropped for lack of room.
    long drops() {
        return drops(own) + drops(group);
    }

    private static long drops(final @Nullable LinuxSocket socket) {
        return socket == null ? 0 : socket.memoryInfo(Linux.MEMINFO_DROPS);
    }

    @Override
    public void close() {
        CloseHelper.closeAll(own, group);
    }
}
