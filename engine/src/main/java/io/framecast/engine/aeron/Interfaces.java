package io.framecast.engine.aeron;

import io.framecast.api.error.TransportException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// Finds the local address a channel uses.
final class Interfaces {
    // The JDK lists only those that have an address.
    private static final Path INTERFACES = Path.of("/sys/class/net");

    private Interfaces() {}

    /// @param name interface name or literal local address, as written in the channel
    /// @param peer an address of the family wanted
    /// @throws TransportException naming the interfaces there are
    static InetAddress named(final String name, final InetAddress peer) {
        for (final NetworkInterface candidate : up()) {
            final Optional<InetAddress> address = candidate.getName().equals(name)
                    ? address(candidate, peer)
                    : candidate
                            .inetAddresses()
                            .filter(ip -> isLiteral(ip, name))
                            .findFirst();
            if (address.isPresent()) {
                return address.get();
            }
        }
        if (INTERFACES.resolve(name).normalize().startsWith(INTERFACES) && Files.exists(INTERFACES.resolve(name))) {
            throw new TransportException("interface: " + name + " is down or has no address for "
                    + peer.getHostAddress() + "; run ip link set " + name + " up and ip addr add ADDRESS dev " + name
                    + ", or choose another");
        }
        throw new TransportException("interface: no interface or local address " + name + " for "
                + peer.getHostAddress() + " is up; there are " + names());
    }

    /// The first interface that is up and can multicast, loopback only when there is no other.
    static InetAddress firstMulticast(final InetAddress group) {
        Optional<InetAddress> loopback = Optional.empty();
        for (final NetworkInterface candidate : up()) {
            final Optional<InetAddress> address = address(candidate, group);
            if (address.isEmpty()) {
                continue;
            }
            if (isLoopback(candidate)) {
                loopback = address;
            } else if (canMulticast(candidate)) {
                return address.get();
            }
        }
        return loopback.orElseThrow(() -> new TransportException("interface: none is up for multicast to "
                + group.getHostAddress() + "; set interface=, there are " + names()));
    }

    private static Optional<InetAddress> address(final NetworkInterface candidate, final InetAddress peer) {
        final boolean ipv4 = peer instanceof Inet4Address;
        // Link-local IPv6 needs a scope that a lane address does not carry.
        return candidate
                .inetAddresses()
                .filter(ip -> ip instanceof Inet4Address == ipv4 && (ipv4 || !ip.isLinkLocalAddress()))
                .findFirst();
    }

    private static boolean isLiteral(final InetAddress ip, final String text) {
        try {
            return ip.equals(InetAddress.ofLiteral(text));
        } catch (final IllegalArgumentException e) {
            return false;
        }
    }

    private static List<NetworkInterface> up() {
        try {
            return NetworkInterface.networkInterfaces().filter(Interfaces::isUp).toList();
        } catch (final SocketException e) {
            throw new TransportException("interface: the system lists none: " + e.getMessage(), e);
        }
    }

    private static String names() {
        return up().stream().map(NetworkInterface::getName).toList().toString();
    }

    private static boolean isUp(final NetworkInterface candidate) {
        try {
            return candidate.isUp();
        } catch (final SocketException e) {
            return false;
        }
    }

    private static boolean isLoopback(final NetworkInterface candidate) {
        try {
            return candidate.isLoopback();
        } catch (final SocketException e) {
            return false;
        }
    }

    private static boolean canMulticast(final NetworkInterface candidate) {
        try {
            return candidate.supportsMulticast();
        } catch (final SocketException e) {
            return false;
        }
    }
}
