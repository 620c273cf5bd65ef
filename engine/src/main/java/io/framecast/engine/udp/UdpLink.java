package io.framecast.engine.udp;

import io.framecast.api.Channel;
import io.framecast.api.PortRange;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.NativeException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// The interface that a channel uses, and how.
///
/// @param group the group's address and data port; repair and control use the next two ports
/// @param name the interface
/// @param index the interface's number
/// @param local the interface's address that lanes are bound to
/// @param mtuBytes largest IP packet
/// @param loopback whether packets stay on this machine
/// @param ttl multicast hop limit
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
    // The JDK lists only interfaces that have an address.
    private static final Path INTERFACES = Path.of("/sys/class/net");

    /// The longest UDP payload that IPv4 can carry.
    static final int PAYLOAD_BYTES_MAX = 65_507;

    static UdpLink of(final Channel.Multicast channel, final Consumer<String> notices) {
        final Endpoint group =
                new Endpoint(channel.group().address(), channel.group().port());
        final String wanted = channel.link().networkInterface();
        try {
            final NetworkInterface chosen = wanted.isEmpty() ? choose(group) : find(wanted);
            if (!chosen.isUp()) {
                throw new ConfigException("interface: " + chosen.getName() + " is down; run ip link set "
                        + chosen.getName() + " up, or choose another");
            }
            final InetAddress local = localAddress(chosen, wanted, group.family());
            if (wanted.isEmpty()) {
                notices.accept("udp: interface " + chosen.getName() + " (" + local.getHostAddress() + ")");
            }
            return new UdpLink(
                    group,
                    chosen.getName(),
                    chosen.getIndex(),
                    local,
                    mtuBytes(chosen, channel.link().mtuBytes()),
                    chosen.isLoopback(),
                    channel.link().ttl(),
                    channel.link().trafficClass(),
                    channel.link().unicastPorts());
        } catch (final IOException e) {
            throw new ConfigException("interface: cannot be looked up: " + e.getMessage(), e);
        }
    }

    int datagramBytesMax() {
        return Math.min(PAYLOAD_BYTES_MAX, mtuBytes - group.family().headersBytes());
    }

    /// The group on one of the lanes' ports.
    Endpoint group(final int portOffset) {
        return new Endpoint(group.address(), group.port() + portOffset);
    }

    private static NetworkInterface find(final String wanted) throws IOException {
        final NetworkInterface byName = NetworkInterface.getByName(wanted);
        if (byName != null) {
            return byName;
        }
        final Optional<InetAddress> literal = literal(wanted);
        final NetworkInterface byAddress =
                literal.isPresent() ? NetworkInterface.getByInetAddress(literal.get()) : null;
        if (byAddress == null && INTERFACES.resolve(wanted).toFile().exists()) {
            throw new ConfigException("interface: " + wanted
                    + " has no address; give it one with ip addr add ADDRESS dev " + wanted + ", or choose another");
        }
        if (byAddress == null) {
            throw new ConfigException("interface: expected one of "
                    + all().map(NetworkInterface::getName).toList() + " or an address of theirs, got " + wanted);
        }
        return byAddress;
    }

    private static Optional<InetAddress> literal(final String text) {
        try {
            return Optional.of(InetAddress.ofLiteral(text));
        } catch (final IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static NetworkInterface choose(final Endpoint group) throws IOException {
        final Optional<NetworkInterface> routed = routed(group);
        if (routed.isPresent()) {
            return routed.get();
        }
        final List<NetworkInterface> usable =
                all().filter(candidate -> hasFamily(candidate, group.family())).toList();
        for (final NetworkInterface candidate : usable) {
            if (candidate.isUp() && candidate.supportsMulticast() && !candidate.isLoopback()) {
                return candidate;
            }
        }
        for (final NetworkInterface candidate : usable) {
            if (candidate.isUp() && candidate.isLoopback()) {
                return candidate;
            }
        }
        throw new ConfigException("interface: none with an address of " + group.family() + " is up; name one");
    }

    /// The interface by which the kernel would send to the group. Connecting a UDP socket sends nothing.
    private static Optional<NetworkInterface> routed(final Endpoint group) throws IOException {
        try (Arena arena = Arena.ofConfined();
                LinuxSocket socket = LinuxSocket.open(arena, group.family())) {
            socket.connect(group, 0);
            return Optional.ofNullable(
                    NetworkInterface.getByInetAddress(socket.localEndpoint().address()));
        } catch (final NativeException e) {
            // No route to the group: the caller looks on.
            return Optional.empty();
        }
    }

    private static Stream<NetworkInterface> all() throws IOException {
        return NetworkInterface.networkInterfaces();
    }

    private static boolean hasFamily(final NetworkInterface candidate, final IpFamily family) {
        return candidate.getInterfaceAddresses().stream()
                .anyMatch(address -> IpFamily.of(address.getAddress()) == family);
    }

    private static InetAddress localAddress(final NetworkInterface chosen, final String wanted, final IpFamily family) {
        final Optional<InetAddress> literal = literal(wanted);
        if (literal.isPresent() && IpFamily.of(literal.get()) == family) {
            return literal.get();
        }
        final List<InetAddress> addresses = chosen.getInterfaceAddresses().stream()
                .map(InterfaceAddress::getAddress)
                .filter(address -> IpFamily.of(address) == family)
                .toList();
        return addresses.stream()
                .filter(address -> !address.isLinkLocalAddress())
                .findFirst()
                .or(() -> addresses.stream().findFirst())
                .orElseThrow(() -> new ConfigException("interface: " + chosen.getName() + " has no address of " + family
                        + "; give it one, or choose another group or interface"));
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
