package io.framecast.rdma;

import io.framecast.api.error.FramecastException;
import io.framecast.api.provider.PseudoFiles;
import io.framecast.rdma.verbs.CmLibrary;
import io.framecast.rdma.verbs.Context;
import io.framecast.rdma.verbs.Device;
import io.framecast.rdma.verbs.DeviceAttributes;
import io.framecast.rdma.verbs.GidEntry;
import io.framecast.rdma.verbs.PortAttributes;
import io.framecast.rdma.verbs.ProtectionDomain;
import io.framecast.rdma.verbs.VerbsLibrary;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/// The survey of this machine for the transport `verbs`: its devices and libraries, and how to fix faults. Opens
/// each device for a moment; changes nothing.
public final class RdmaSurvey {
    private static final int DATAGRAM_BYTES_MAX = 4096;
    private static final int CAP_IPC_LOCK = 14;
    // A window and its receive buffers, with room.
    private static final long MEMLOCK_BYTES_MIN = 1L << 30;

    private final Supplier<VerbsLibrary> library;
    private final Path root;
    private final List<Finding> findings = new ArrayList<>();
    private boolean hasSubnet;

    /// One line of a survey.
    ///
    /// @param isGood whether nothing needs to be done
    /// @param what the state found
    /// @param fix how to fix it; empty where no fix exists, or none is needed
    public record Finding(boolean isGood, String what, String fix) {
        @Override
        public String toString() {
            return fix.isEmpty() ? what : what + ": " + fix;
        }
    }

    private RdmaSurvey(final Supplier<VerbsLibrary> library, final Path root) {
        this.library = library;
        this.root = root;
    }

    /// Looks at this machine. Without libibverbs the survey of devices is that one line. Never throws.
    public static List<Finding> look() {
        return look(VerbsLibrary::load, Path.of("/"));
    }

    static List<Finding> look(final Supplier<VerbsLibrary> library, final Path root) {
        final RdmaSurvey survey = new RdmaSurvey(library, root);
        survey.survey();
        return List.copyOf(survey.findings);
    }

    private void good(final String what) {
        findings.add(new Finding(true, what, ""));
    }

    private void bad(final String what, final String fix) {
        findings.add(new Finding(false, what, fix));
    }

    private void survey() {
        try {
            devices(library.get());
        } catch (final FramecastException e) {
            unusable(line(e));
        } catch (final LinkageError | IllegalCallerException _) {
            bad("no libibverbs", "native access is refused; run with --enable-native-access=ALL-UNNAMED");
        }
        memlock();
        peerMemory();
    }

    private void unusable(final String line) {
        if (line.startsWith("verbs: no ")) {
            bad(
                    "no libibverbs",
                    "install libibverbs1 and ibverbs-providers (Debian, Ubuntu) or libibverbs (Fedora, RHEL)");
        } else {
            bad("libibverbs", line);
        }
    }

    private void devices(final VerbsLibrary loaded) {
        final List<Device> devices;
        try {
            devices = loaded.devices();
        } catch (final FramecastException e) {
            bad("RDMA devices", line(e));
            return;
        }
        if (devices.isEmpty()) {
            bad(
                    "no RDMA device",
                    "load the driver of the card, or add Soft-RoCE: rdma link add rxe0 type rxe netdev eth0");
        }
        for (final Device device : devices) {
            if (!device.isInfiniBandVerbs()) {
                bad(
                        "device " + device.name() + ": iWARP, which has no multicast",
                        "take a card of RoCE or InfiniBand, or Soft-RoCE on this one's network interface; framecast:udp"
                                + " does without");
                continue;
            }
            try (Context context = loaded.open(device.name())) {
                device(context);
            } catch (final FramecastException e) {
                bad("device " + device.name(), line(e));
            }
        }
        if (hasSubnet) {
            connectionManager();
        }
    }

    // Only a subnet manager's groups need it.
    private void connectionManager() {
        try {
            CmLibrary.load();
            good("librdmacm: found, for groups of InfiniBand");
        } catch (final FramecastException e) {
            bad("librdmacm", line(e));
        }
    }

    private void device(final Context context) {
        final DeviceAttributes attributes = context.attributes();
        good("device " + context.name() + ": firmware "
                + (attributes.firmware().isEmpty() ? "unknown" : attributes.firmware()) + ", " + attributes.ports()
                + (attributes.ports() == 1 ? " port, " : " ports, ")
                + attributes.groupsMax() + " multicast groups");
        for (int port = 1; port <= attributes.ports(); port++) {
            port(context, port);
        }
        try (ProtectionDomain domain = context.protectionDomain()) {
            if (domain.takesDmaBuf()) {
                good("device " + context.name() + ": takes dma-buf");
            } else {
                bad(
                        "device " + context.name() + ": takes no dma-buf",
                        "GPU memory needs a driver and kernel that do, or nvidia-peermem; else it is staged in the host");
            }
        }
    }

    private void port(final Context context, final int number) {
        final PortAttributes port = context.port(number);
        hasSubnet |= port.linkLayer() == PortAttributes.LinkLayer.INFINIBAND;
        final List<GidEntry> gids = context.gids(number);
        final String what = context.name() + " port " + number + ": " + port.state() + ", "
                + layer(port) + ", MTU " + port.mtu().activeBytes() + " of "
                + port.mtu().maxBytes() + ", GIDs "
                + gids.stream().map(RdmaSurvey::described).collect(Collectors.joining(", "));
        final String fix = fix(context.name(), number, port, gids);
        findings.add(new Finding(fix.isEmpty(), what, fix));
    }

    private static String layer(final PortAttributes port) {
        return switch (port.linkLayer()) {
            case ETHERNET -> "Ethernet (RoCE)";
            case INFINIBAND -> "InfiniBand";
            case UNKNOWN -> "unknown link layer";
        };
    }

    private static String described(final GidEntry entry) {
        return entry.index() + " " + entry.gid() + " (" + entry.type().name().toLowerCase(Locale.ROOT)
                + interfaceName(entry) + ")";
    }

    private static String interfaceName(final GidEntry entry) {
        try {
            final NetworkInterface network =
                    entry.interfaceIndex() == 0 ? null : NetworkInterface.getByIndex(entry.interfaceIndex());
            return network == null ? "" : ", " + network.getName();
        } catch (final SocketException _) {
            return "";
        }
    }

    private static boolean isJoinable(final String device, final int port) {
        return Ipoib.on(device, port, true).isPresent()
                || Ipoib.on(device, port, false).isPresent();
    }

    private static String fix(
            final String device, final int number, final PortAttributes port, final List<GidEntry> gids) {
        if (port.linkLayer() == PortAttributes.LinkLayer.INFINIBAND) {
            if (!port.isActive()) {
                return "start a subnet manager (opensm) on the fabric, and check cable and switch";
            }
            return isJoinable(device, number)
                    ? ""
                    : "groups are asked for by IPoIB: modprobe ib_ipoib, and give its interface an address";
        }
        if (!port.isActive()) {
            return "bring its network interface up (ip link set … up), and check cable and switch";
        }
        if (gids.stream().noneMatch(entry -> entry.gid().isIpv4Mapped())) {
            return "for groups of IPv4 give its network interface an IPv4 address (ip addr add …)";
        }
        if (gids.stream().allMatch(entry -> entry.type() == GidEntry.Type.ROCE_V1)) {
            return "only RoCE v1, which is not routed by IP; turn RoCE v2 on (cma_roce_mode, or the card's settings)";
        }
        return port.mtu().activeBytes()
                        < Math.min(DATAGRAM_BYTES_MAX, port.mtu().maxBytes())
                ? "datagrams of " + DATAGRAM_BYTES_MAX
                        + " bytes need jumbo frames: ip link set … mtu 9000, on switches too"
                : "";
    }

    // Registered memory is pinned and counts; CAP_IPC_LOCK lifts the limit.
    private void memlock() {
        final String limit =
                field("proc/self/limits", "Max locked memory").trim().split("\\s+", 2)[0];
        final String privileges = field("proc/self/status", "CapEff:").trim();
        if (limit.isEmpty() || "unlimited".equals(limit)) {
            good("locked memory: " + (limit.isEmpty() ? "limit unknown" : limit));
            return;
        }
        try {
            final long bytes = Long.parseLong(limit);
            if (!privileges.isEmpty() && (Long.parseUnsignedLong(privileges, 16) >>> CAP_IPC_LOCK & 1) != 0) {
                good("locked memory: " + bytes + " bytes, lifted by CAP_IPC_LOCK");
            } else if (bytes >= MEMLOCK_BYTES_MIN) {
                good("locked memory: " + bytes + " bytes");
            } else {
                bad(
                        "locked memory: " + bytes + " bytes",
                        "LimitMEMLOCK=infinity in the unit, or `* - memlock unlimited` in /etc/security/limits.d and a new"
                                + " login");
            }
        } catch (final NumberFormatException _) {
            good("locked memory: " + limit);
        }
    }

    private String field(final String file, final String name) {
        return PseudoFiles.readOrEmpty(root.resolve(file))
                .lines()
                .filter(line -> line.startsWith(name))
                .findFirst()
                .map(line -> line.substring(name.length()))
                .orElse("");
    }

    private void peerMemory() {
        if (!Files.exists(root.resolve("proc/driver/nvidia/version"))) {
            good("nvidia-peermem: not needed, for there is no NVIDIA driver");
        } else if (Files.exists(root.resolve("sys/module/nvidia_peermem"))) {
            good("nvidia-peermem: loaded");
        } else {
            bad("nvidia-peermem: not loaded", "modprobe nvidia-peermem where devices take no dma-buf");
        }
    }

    private static String line(final FramecastException e) {
        return String.valueOf(e.getMessage());
    }
}
