package io.framecast.rdma;

import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.rdma.verbs.CmLibrary;
import io.framecast.rdma.verbs.Context;
import io.framecast.rdma.verbs.Device;
import io.framecast.rdma.verbs.GidEntry;
import io.framecast.rdma.verbs.PortAttributes;
import io.framecast.rdma.verbs.ProtectionDomain;
import io.framecast.rdma.verbs.VerbsLibrary;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The device, port and GID that a channel uses; owns the open device.
///
/// @param context the open device
/// @param domain of everything on it
/// @param gid own GID, of the group's family
/// @param datagramBytesMax largest datagram: a longer one completes as sent and goes nowhere
/// @param lid local identifier of the port on InfiniBand; 0 over RoCE
/// @param ipoib the interface by which groups of InfiniBand are asked for; null over RoCE
record RdmaPort(
        Context context,
        ProtectionDomain domain,
        GidEntry gid,
        int datagramBytesMax,
        int lid,
        @Nullable Ipoib ipoib) implements AutoCloseable {
    // RoCE v2 after the IP header: UDP, base and datagram transport headers, checksum.
    private static final int HEADERS_BYTES = 8 + 12 + 8 + 4;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final Set<String> LOOPBACKS = Set.of("lo", "localhost", "::1");

    /// A port that a channel can use.
    ///
    /// @param ipoib as for the port of a channel
    private record Place(
            PortAttributes port, GidEntry gid, @Nullable Ipoib ipoib) {}

    boolean isInfiniBand() {
        return ipoib != null;
    }

    /// Where the own GID stands in the port's table: one that was away stands elsewhere once it is back while something
    /// still uses the old entry. Calls of the system.
    ///
    /// @throws TransportException when the port has it no more
    int gidIndex() {
        return findGid()
                .orElseThrow(() -> new TransportException("verbs: " + context + " port " + gid.port()
                        + " has lost its address "
                        + (isInfiniBand() ? gid.gid() : gid.gid().toAddress().getHostAddress())
                        + ", by which peers reach this end: give it back to its interface, or start this end anew"));
    }

    /// Whether the own GID stands in the port's table. Calls of the system.
    boolean hasGid() {
        return findGid().isPresent();
    }

    private Optional<Integer> findGid() {
        if (context.gid(gid.port(), gid.index()).filter(this::isOwn).isPresent()) {
            return Optional.of(gid.index());
        }
        return context.gids(gid.port()).stream()
                .filter(this::isOwn)
                .map(GidEntry::index)
                .findFirst();
    }

    private boolean isOwn(final GidEntry entry) {
        return entry.gid().equals(gid.gid()) && entry.type() == gid.type();
    }

    /// Opens the first device that can: an active Ethernet port with a GID of the group's family, or an
    /// active InfiniBand port with an interface that has an address of it.
    ///
    /// @param wanted device, network interface or address; empty for any
    /// @param mtuBytes largest IP packet, 0 for the port's
    static RdmaPort open(final VerbsLibrary library, final InetAddress group, final String wanted, final int mtuBytes) {
        final boolean ipv4 = group instanceof Inet4Address;
        final String fitting = isLoopback(wanted) ? "" : wanted;
        return first(
                library,
                context -> openOn(context, ipv4, fitting, mtuBytes),
                (ipv4 ? "an IPv4" : "an IPv6") + " address"
                        + (fitting.isEmpty() ? "" : " for interface=" + fitting)
                        + "; give its network interface one, or choose another");
    }

    /// @param use of a device that it opens no more: returns the port it finds there, or null
    /// @param what the thing that no device has
    private static <T> T first(
            final VerbsLibrary library, final Function<Context, @Nullable T> use, final String what) {
        final List<Device> devices =
                library.devices().stream().filter(Device::isInfiniBandVerbs).toList();
        TransportException refusal = null;
        for (final Device device : devices) {
            try {
                final T found = use.apply(library.open(device.name()));
                if (found != null) {
                    return found;
                }
            } catch (final TransportException e) {
                // The next may do.
                refusal = e;
            }
        }
        if (refusal != null) {
            throw refusal;
        }
        if (devices.isEmpty()) {
            throw new ConfigException("verbs: no RDMA device; plug one in and load its driver, or add Soft-RoCE:"
                    + " rdma link add rxe0 type rxe netdev eth0");
        }
        final List<String> names = devices.stream().map(Device::name).toList();
        throw new ConfigException("verbs: none of the devices " + names + " has an active port with " + what);
    }

    // Closes the device unless it is used.
    private static @Nullable RdmaPort openOn(
            final Context context, final boolean ipv4, final String wanted, final int mtuBytes) {
        RdmaPort port = null;
        try {
            port = overRoce(
                            context,
                            entry -> speaks(entry, ipv4)
                                    && isWanted(
                                            context,
                                            wanted,
                                            interfaceName(entry),
                                            entry.gid().toAddress()))
                    .or(() -> onSubnet(context, ipv4, wanted))
                    .map(place -> of(context, place, ipv4, mtuBytes))
                    .orElse(null);
            return port;
        } finally {
            if (port == null) {
                context.close();
            }
        }
    }

    private static RdmaPort of(final Context context, final Place place, final boolean ipv4, final int mtuBytes) {
        final Ipoib ipoib = place.ipoib();
        int bytes = place.port().mtu().activeBytes();
        if (ipoib == null) {
            final int headersBytes = (ipv4 ? IPV4_BYTES : IPV6_BYTES) + HEADERS_BYTES;
            bytes = mtuBytes == 0 ? bytes : Math.min(bytes, mtuBytes - headersBytes);
        } else {
            // Groups of a subnet need librdmacm: without it the port is of no use, and the user must learn that.
            CmLibrary.load();
            bytes = Math.min(bytes, ipoib.datagramBytesMax());
            bytes = mtuBytes == 0 ? bytes : Math.min(bytes, mtuBytes);
        }
        final int lid = ipoib == null ? 0 : place.port().lid();
        return new RdmaPort(context, context.protectionDomain(), place.gid(), bytes, lid, ipoib);
    }

    /// @throws ConfigException unless some device has an active port with an address
    static void requireAny(final VerbsLibrary library) {
        first(library, RdmaPort::anyOn, "an address; bring its network interface up and give it one");
    }

    private static @Nullable Place anyOn(final Context context) {
        try (context) {
            return overRoce(context, _ -> true)
                    .or(() -> onSubnet(context, true, ""))
                    .or(() -> onSubnet(context, false, ""))
                    .orElse(null);
        }
    }

    /// Whether a channel's `interface=` is the host's own, which has no device: any will do then.
    static boolean isLoopback(final String wanted) {
        return LOOPBACKS.contains(wanted) || wanted.startsWith("127.");
    }

    /// The RDMA device's name.
    String device() {
        return context.name();
    }

    /// One line that an operator compares at both ends when nothing arrives.
    String describe() {
        final String own = isInfiniBand()
                ? "InfiniBand, local identifier " + lid() + ", " + gid.gid()
                : "RoCE v2, " + gid.gid().toAddress().getHostAddress();
        return context.name() + " port " + gid.port() + ", GID " + gid.index() + " (" + own + "), MTU "
                + datagramBytesMax;
    }

    private static Optional<Place> overRoce(final Context context, final Predicate<GidEntry> isFit) {
        final int ports = context.attributes().ports();
        for (int number = 1; number <= ports; number++) {
            final PortAttributes port = context.port(number);
            if (!port.isActive() || port.linkLayer() != PortAttributes.LinkLayer.ETHERNET) {
                continue;
            }
            final Optional<GidEntry> gid = context.gids(number).stream()
                    .filter(isFit)
                    .min(Comparator.comparing(entry -> entry.gid().isLinkLocal()));
            if (gid.isPresent()) {
                return Optional.of(new Place(port, gid.get(), null));
            }
        }
        return Optional.empty();
    }

    // An active port of InfiniBand, with IP over InfiniBand on it. Its own GID is the first of its table.
    private static Optional<Place> onSubnet(final Context context, final boolean ipv4, final String wanted) {
        final int ports = context.attributes().ports();
        for (int number = 1; number <= ports; number++) {
            final PortAttributes port = context.port(number);
            if (!port.isActive() || port.linkLayer() != PortAttributes.LinkLayer.INFINIBAND || port.lid() == 0) {
                continue;
            }
            final Ipoib ipoib = Ipoib.on(context.name(), number, ipv4).orElse(null);
            final Optional<GidEntry> gid = context.gid(number, 0);
            if (ipoib != null && gid.isPresent() && isWanted(context, wanted, ipoib.name(), ipoib.address())) {
                return Optional.of(new Place(port, gid.get(), ipoib));
            }
        }
        return Optional.empty();
    }

    private static boolean speaks(final GidEntry entry, final boolean ipv4) {
        return entry.gid().isIpv4Mapped() == ipv4 && entry.type() == GidEntry.Type.ROCE_V2;
    }

    private static boolean isWanted(
            final Context context, final String wanted, final String networkName, final InetAddress address) {
        return wanted.isEmpty()
                || wanted.equals(context.name())
                || wanted.equals(networkName)
                || isAddress(wanted, address);
    }

    /// Whether a text is this address, however it is written.
    static boolean isAddress(final String wanted, final InetAddress address) {
        try {
            return Arrays.equals(InetAddress.ofLiteral(wanted).getAddress(), address.getAddress());
        } catch (final IllegalArgumentException _) {
            return false;
        }
    }

    private static String interfaceName(final GidEntry entry) {
        try {
            final NetworkInterface network = NetworkInterface.getByIndex(entry.interfaceIndex());
            return network == null ? "" : network.getName();
        } catch (final SocketException e) {
            throw new ConfigException("interface: cannot be looked up: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        domain.close();
        context.close();
    }
}
