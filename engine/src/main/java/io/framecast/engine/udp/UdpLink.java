package io.framecast.engine.udp;

import io.framecast.api.Channel;
import io.framecast.api.PortRange;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.NativeException;
import io.framecast.engine.net.LocalInterface;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.function.Consumer;

/// The interface that a channel uses, and how.
///
/// @param group the group's address and data port; repair and control use the next two ports
/// @param name the interface
/// @param index the interface's number
/// @param local the interface's address that lanes are bound to
/// @param mtuBytes largest IP packet
/// @param loopback whether packets stay on this machine
/// @param ttl hop limit of multicast and unicast
/// @param trafficClass byte of the IP header that marks all packets sent
/// @param unicastPorts that sockets of a lane's own are bound to
record UdpLink(
        Endpoint group,
        String name,
        int index,
        InetAddress local,
        int mtuBytes,
        boolean loopback,
        int ttl,
        int trafficClass,
        PortRange unicastPorts) {
    /// The longest UDP payload that IPv4 can carry.
    static final int PAYLOAD_BYTES_MAX = 65_507;

    static UdpLink of(final Channel.Multicast channel, final Consumer<String> notices) {
        final Endpoint group =
                new Endpoint(channel.group().address(), channel.group().port());
        final String wanted = channel.link().networkInterface();
        try {
            final LocalInterface chosen =
                    wanted.isEmpty() ? choose(group) : LocalInterface.named(wanted, group.address());
            final NetworkInterface network = chosen.network();
            if (wanted.isEmpty()) {
                notices.accept("udp: interface " + network.getName() + " ("
                        + chosen.address().getHostAddress() + ")");
            }
            return new UdpLink(
                    group,
                    network.getName(),
                    network.getIndex(),
                    chosen.address(),
                    mtuBytes(network, channel.link().mtuBytes()),
                    network.isLoopback(),
                    channel.link().ttl(),
                    channel.link().trafficClass(),
                    channel.link().unicastPorts());
        } catch (final IOException e) {
            throw new ConfigException("interface: cannot be looked up: " + e.getMessage(), e);
        }
    }

    int datagramBytesMax() {
        return Math.min(PAYLOAD_BYTES_MAX, mtuBytes - group.family().headersBytes);
    }

    /// The group on one of the lanes' ports.
    Endpoint group(final int portOffset) {
        return new Endpoint(group.address(), group.port() + portOffset);
    }

    /// The interface by which the kernel would send to the group, else the first fit one. To connect a UDP
    /// socket sends nothing.
    private static LocalInterface choose(final Endpoint group) throws IOException {
        NetworkInterface routed = null;
        try (Arena arena = Arena.ofConfined();
                LinuxSocket socket = LinuxSocket.open(arena, group.family())) {
            socket.connect(group, 0);
            routed = NetworkInterface.getByInetAddress(socket.localEndpoint().address());
        } catch (final NativeException _) {
            // There is no route to the group.
        }
        return routed == null
                ? LocalInterface.first(group.address(), true)
                : LocalInterface.of(routed, group.address());
    }

    private static int mtuBytes(final NetworkInterface chosen, final int wantedBytes) throws IOException {
        final int linkBytes = chosen.getMTU();
        if (wantedBytes > linkBytes) {
            throw new ConfigException("mtu: expected at most the " + linkBytes + " bytes of " + chosen.getName()
                    + ", for datagrams are never fragmented, got " + wantedBytes);
        }
        return wantedBytes == 0 ? linkBytes : wantedBytes;
    }
}
