package io.framecast.rdma.verbs;

import io.framecast.api.error.TransportException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.opentest4j.TestAbortedException;

/// Devices to test on, which reach each other.
///
/// @param library that has them
/// @param devices their names, at least one; tests that need more use them in turn
public record Fabric(VerbsLibrary library, List<String> devices) {
    private static final String VARIABLE = "FRAMECAST_RDMA_DEVICE";

    public static Fabric standIn() {
        final VerbsLibrary library = StandIn.load().library();
        return new Fabric(library, library.devices().stream().map(Device::name).toList());
    }

    /// The devices named in the environment, with commas between; else all of this machine. Skips where there
    /// is none.
    public static Fabric real() {
        final String named = System.getenv(VARIABLE);
        final VerbsLibrary library;
        final List<String> devices;
        try {
            library = VerbsLibrary.load();
            devices = named == null
                    ? library.devices().stream()
                            .filter(Device::isInfiniBandVerbs)
                            .map(Device::name)
                            .filter(name -> isUsable(library, name))
                            .toList()
                    : List.of(named.split(","));
        } catch (final TransportException e) {
            throw new TestAbortedException(e.getMessage(), e);
        }
        Assumptions.assumeFalse(devices.isEmpty(), "no RDMA device here has an active Ethernet port with an IPv4 GID");
        return new Fabric(library, devices);
    }

    private static boolean isUsable(final VerbsLibrary library, final String device) {
        try (Context context = library.open(device)) {
            return context.port(1).isActive() && ipv4(context).isPresent();
        } catch (final TransportException _) {
            return false;
        }
    }

    /// The entry that speaks RoCE v2 over IPv4, on port 1.
    static Optional<GidEntry> ipv4(final Context context) {
        return context.gids(1).stream()
                .filter(entry -> entry.gid().isIpv4Mapped() && entry.type() != GidEntry.Type.ROCE_V1)
                .findFirst();
    }

    /// Opens a device, or skips the test where its port 1 does not speak RoCE v2 over IPv4, as on InfiniBand.
    public Context openRoce(final int index) {
        final Context context = library.open(device(index));
        if (ipv4(context).isEmpty()) {
            context.close();
            Assumptions.abort(device(index) + " port 1 has no GID of RoCE v2 over IPv4, on InfiniBand it has none");
        }
        return context;
    }

    /// Whether all devices have an address of IPv6 besides the link's own, over RoCE v2.
    public boolean hasIpv6() {
        return devices.stream().allMatch(this::hasIpv6);
    }

    private boolean hasIpv6(final String device) {
        try (Context context = library.open(device)) {
            return context.gids(1).stream()
                    .anyMatch(entry -> entry.type() == GidEntry.Type.ROCE_V2
                            && !entry.gid().isIpv4Mapped()
                            && !entry.gid().isLinkLocal());
        }
    }

    /// Sets a switch of the stand-in.
    public void set(final String name, final int value) {
        StandIn.load().set(name, value);
    }

    /// Has the next call of a function of the stand-in fail.
    public void fail(final String function, final int errno) {
        StandIn.load().fail(function, errno);
    }

    /// Has an event of a queue pair's device, or of its port 1, come to that queue pair's context.
    public void deviceEvent(final int queuePair, final int type) {
        StandIn.load().portEvent(queuePair, type);
    }

    /// Reads a count of the stand-in.
    public long count(final String name) {
        return StandIn.load().count(name);
    }

    public String device(final int index) {
        return devices.get(index % devices.size());
    }

    /// The path of datagrams over RoCE.
    static AddressPath path(final GidEntry source, final Gid destination) {
        return new AddressPath(source.port(), source.index(), destination, 0, AddressPath.Hops.DEFAULT);
    }
}
