package io.framecast.engine.net;

import io.framecast.api.error.ConfigException;
import java.io.File;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// A network interface that is up, and the local address there that a channel's sockets are bound to.
public record LocalInterface(NetworkInterface network, InetAddress address) {
    // The JDK lists only interfaces that have an address.
    private static final String SYSTEM_INTERFACES = "/sys/class/net";

    /// The interface that a channel names.
    ///
    /// @param wanted name of an interface, or one of its addresses
    /// @param peer an address of the family that the local address must have
    /// @throws ConfigException when there is no such interface, or it is down or lacks an address of the family
    /// @throws IOException when the system lists no interfaces
    public static LocalInterface named(final String wanted, final InetAddress peer) throws IOException {
        final Optional<InetAddress> literal = literal(wanted);
        NetworkInterface found = NetworkInterface.getByName(wanted);
        if (found == null && literal.isPresent()) {
            found = NetworkInterface.getByInetAddress(literal.get());
        }
        if (found == null && new File(SYSTEM_INTERFACES, wanted).exists()) {
            throw new ConfigException("interface: " + wanted
                    + " has no address; give it one with ip addr add ADDRESS dev " + wanted + ", or choose another");
        }
        if (found == null) {
            throw new ConfigException("interface: expected one of "
                    + NetworkInterface.networkInterfaces()
                            .map(NetworkInterface::getName)
                            .toList()
                    + " or an address of theirs, got " + wanted);
        }
        final LocalInterface chosen = of(found, peer);
        return literal.filter(address -> isSameFamily(address, peer))
                .map(address -> new LocalInterface(chosen.network, address))
                .orElse(chosen);
    }

    /// The first interface that can multicast and is no loopback, else the first loopback.
    ///
    /// @param peer an address of the family that the local address must have
    /// @param linkLocal whether a link-local address will do
    /// @throws ConfigException when there is none
    /// @throws IOException when the system lists no interfaces
    public static LocalInterface first(final InetAddress peer, final boolean linkLocal) throws IOException {
        final List<NetworkInterface> usable = NetworkInterface.networkInterfaces()
                .filter(candidate -> address(candidate, peer)
                        .filter(address -> linkLocal || !address.isLinkLocalAddress())
                        .isPresent())
                .toList();
        for (final NetworkInterface candidate : usable) {
            if (candidate.isUp() && candidate.supportsMulticast() && !candidate.isLoopback()) {
                return of(candidate, peer);
            }
        }
        for (final NetworkInterface candidate : usable) {
            if (candidate.isUp() && candidate.isLoopback()) {
                return of(candidate, peer);
            }
        }
        throw new ConfigException("interface: none with an address of " + family(peer) + " is up; name one");
    }

    /// An interface, with its address of a family. A link-local address is the last choice.
    ///
    /// @param peer an address of that family
    /// @throws ConfigException when the interface is down or lacks an address of the family
    /// @throws IOException when the system does not know the interface any more
    public static LocalInterface of(final NetworkInterface network, final InetAddress peer) throws IOException {
        if (!network.isUp()) {
            throw new ConfigException("interface: " + network.getName() + " is down; run ip link set "
                    + network.getName() + " up, or choose another");
        }
        return address(network, peer)
                .map(address -> new LocalInterface(network, address))
                .orElseThrow(() -> new ConfigException("interface: " + network.getName() + " has no address of "
                        + family(peer) + "; give it one, or choose another group or interface"));
    }

    /// Whether a channel may use an interface: it is up, and has an address of the family.
    public static boolean isUsable(final String name, final InetAddress peer) {
        try {
            final NetworkInterface network = NetworkInterface.getByName(name);
            return network != null
                    && network.isUp()
                    && network.supportsMulticast()
                    && address(network, peer).isPresent();
        } catch (final IOException _) {
            return false;
        }
    }

    private static Optional<InetAddress> address(final NetworkInterface network, final InetAddress peer) {
        return network.getInterfaceAddresses().stream()
                .map(InterfaceAddress::getAddress)
                .filter(address -> isSameFamily(address, peer))
                .min(Comparator.comparing(InetAddress::isLinkLocalAddress));
    }

    private static boolean isSameFamily(final InetAddress one, final InetAddress other) {
        return one instanceof Inet4Address == other instanceof Inet4Address;
    }

    private static String family(final InetAddress peer) {
        return peer instanceof Inet4Address ? "IPV4" : "IPV6";
    }

    private static Optional<InetAddress> literal(final String text) {
        try {
            return Optional.of(InetAddress.ofLiteral(text));
        } catch (final IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
