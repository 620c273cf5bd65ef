package io.framecast.rdma;

import io.framecast.api.error.ConfigException;
import io.framecast.api.provider.PseudoFiles;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;

/// IP over InfiniBand on a port: its network interface, by whose address a subnet manager is asked for
/// groups.
///
/// @param name of the network interface
/// @param address its own, of the wanted family
/// @param datagramBytesMax largest datagram of the interface's broadcast group, and so of a group that copies its
///     settings
record Ipoib(String name, InetAddress address, int datagramBytesMax) {
    /// System property that names another place for `/sys/class/net`.
    static final String PROPERTY = "framecast.verbs.networks";

    // Linux: ARPHRD_INFINIBAND.
    private static final String TYPE = "32";
    // An IP packet goes behind four bytes; in connected mode (RFC 4755) it may be far longer than a datagram.
    private static final int ENCAPSULATION_BYTES = 4;
    private static final int IB_MTU_MIN = 256;
    private static final int IB_MTU_MAX = 4096;
    private static final int IB_MTU_USUAL = 2048;

    /// The interface on a port, if there is one that is up and has an address of that family.
    static Optional<Ipoib> on(final String device, final int port, final boolean ipv4) {
        final Path networks = Path.of(System.getProperty(PROPERTY, "/sys/class/net"));
        try (DirectoryStream<Path> all = Files.newDirectoryStream(networks)) {
            for (final Path network : all) {
                final Optional<Ipoib> found =
                        isOn(network, device, port) ? of(network.getFileName().toString(), ipv4) : Optional.empty();
                if (found.isPresent()) {
                    return found;
                }
            }
        } catch (final IOException e) {
            throw new ConfigException("verbs: network interfaces cannot be listed: " + e.getMessage(), e);
        }
        return Optional.empty();
    }

    private static boolean isOn(final Path network, final String device, final int port) {
        return PseudoFiles.readOrEmpty(network.resolve("type")).equals(TYPE)
                && Files.exists(network.resolve("device/infiniband").resolve(device))
                && PseudoFiles.readOrEmpty(network.resolve("dev_port")).equals(Integer.toString(port - 1));
    }

    private static Optional<Ipoib> of(final String name, final boolean ipv4) throws IOException {
        final NetworkInterface network = NetworkInterface.getByName(name);
        if (network == null || !network.isUp()) {
            return Optional.empty();
        }
        final int bytes = datagramBytes(network.getMTU());
        return network.inetAddresses()
                .filter(address -> address instanceof Inet4Address == ipv4)
                .min(Comparator.comparing(InetAddress::isLinkLocalAddress))
                .map(address -> new Ipoib(name, address, bytes));
    }

    static int datagramBytes(final int interfaceMtu) {
        final int bytes = interfaceMtu + ENCAPSULATION_BYTES;
        return bytes > IB_MTU_MAX ? IB_MTU_USUAL : Math.max(IB_MTU_MIN, Integer.highestOneBit(bytes));
    }
}
