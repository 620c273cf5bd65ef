package io.framecast.samples.doctor;

import io.framecast.api.Channel;
import io.framecast.api.provider.ProviderLookup;
import io.framecast.api.provider.TransportProvider;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.rdma.RdmaSurvey.Finding;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ProtocolFamily;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/// The survey of this host's network for one channel: whether a datagram to the group comes back to a member on this
/// host, also one of full size; how the interface treats segments; and whether a process here that has the same
/// channel uses another transport.
///
/// The probes go to the group's third port, where subscribers drop them as foreign. Switches and other hosts are not
/// part of it: for these a subscriber's join sends a datagram of full size.
final class NetworkSurvey {
    private static final Path INTERFACES = Path.of("/sys/class/net");
    private static final long WAIT_NS = 500_000_000;
    private static final int TRIES = 3;
    private static final int HEADERS_V4_BYTES = 28;
    private static final int HEADERS_V6_BYTES = 48;
    private static final int PAYLOAD_BYTES_MAX = 65_507;
    private static final int SMALL_BYTES = 64;
    private static final int CONTROL_PORT_OFFSET = 2;

    private final Channel.Multicast channel;
    private final List<Finding> findings = new ArrayList<>();

    private NetworkSurvey(final Channel.Multicast channel) {
        this.channel = channel;
    }

    /// Never throws.
    static List<Finding> look(final Channel channel) {
        return look(channel, CounterReader.running());
    }

    /// @param files counters of the processes that run here
    static List<Finding> look(final Channel channel, final List<Path> files) {
        final List<Finding> findings = new ArrayList<>();
        if (channel instanceof Channel.Multicast multicast) {
            final NetworkSurvey survey = new NetworkSurvey(multicast);
            survey.probe();
            findings.addAll(survey.findings);
        } else {
            findings.add(new Finding(true, "no group: " + channel + " goes by unicast or shared memory", ""));
        }
        neighbours(channel, files, findings);
        return List.copyOf(findings);
    }

    private void good(final String what) {
        findings.add(new Finding(true, what, ""));
    }

    private void bad(final String what, final String fix) {
        findings.add(new Finding(false, what, fix));
    }

    private void probe() {
        try {
            final InetAddress group = channel.group().address();
            final NetworkInterface network = network(group);
            if (network == null) {
                return;
            }
            final boolean v4 = group instanceof Inet4Address;
            final int mtu = channel.link().mtuBytes() > 0 ? channel.link().mtuBytes() : network.getMTU();
            final int full = Math.min(PAYLOAD_BYTES_MAX, mtu - (v4 ? HEADERS_V4_BYTES : HEADERS_V6_BYTES));
            if (mtu > network.getMTU()) {
                bad(
                        "mtu=" + mtu + " is more than the " + network.getMTU() + " of " + network.getName(),
                        "ip link set " + network.getName() + " mtu " + mtu + ", or a smaller mtu=");
                return;
            }
            final String to = channel.group() + " on " + network.getName();
            try (DatagramChannel receiver = receiver(group, network);
                    DatagramChannel sender = sender(group, network)) {
                if (!comesBack(sender, receiver, group, SMALL_BYTES)) {
                    bad(
                            "a datagram to " + to + " does not come back to this host",
                            "let UDP to the group's ports in (nft list ruleset), see docs/network.md");
                } else if (!comesBack(sender, receiver, group, full)) {
                    bad(
                            "a datagram of full size, " + full + " bytes, to " + to + " does not come back",
                            "let it in, or lower mtu=");
                } else {
                    good("multicast to " + to + " comes back, also with " + full + " bytes");
                }
            }
            offload(network);
        } catch (final IOException | UnsupportedOperationException e) {
            bad(
                    "a datagram to " + channel.group() + " cannot be sent: " + e.getMessage(),
                    "ip route add " + channel.group().address().getHostAddress()
                            + " dev IFACE, or interface= in the channel");
        }
    }

    private @Nullable NetworkInterface network(final InetAddress group) throws IOException {
        final String wanted = channel.link().networkInterface();
        final NetworkInterface network = wanted.isEmpty() ? routed(group) : named(wanted);
        if (network == null && Files.exists(INTERFACES.resolve(wanted)) && !wanted.isEmpty()) {
            bad(wanted + " is down or has no address", "ip link set " + wanted + " up; ip addr add …/24 dev " + wanted);
        } else if (network == null) {
            bad(
                    wanted.isEmpty() ? "no route to " + group.getHostAddress() : "no interface is named " + wanted,
                    "interface= one of " + usable());
        } else if (!network.isUp()) {
            bad(network.getName() + " is down", "ip link set " + network.getName() + " up");
            return null;
        } else if (!network.supportsMulticast() && !network.isLoopback()) {
            bad(network.getName() + " has multicast off", "ip link set " + network.getName() + " multicast on");
            return null;
        }
        return network;
    }

    /// The interface that a channel receives by; empty where there is none, or it is not for a group.
    static String interfaceName(final Channel channel) {
        if (!(channel instanceof Channel.Multicast multicast)) {
            return "";
        }
        final String wanted = channel.link().networkInterface();
        try {
            final NetworkInterface network =
                    wanted.isEmpty() ? routed(multicast.group().address()) : named(wanted);
            return network == null ? wanted : network.getName();
        } catch (final IOException _) {
            return wanted;
        }
    }

    private static @Nullable NetworkInterface named(final String wanted) throws IOException {
        final NetworkInterface byName = NetworkInterface.getByName(wanted);
        return byName == null && wanted.matches("[0-9a-fA-F.:%]+")
                ? NetworkInterface.getByInetAddress(InetAddress.getByName(wanted))
                : byName;
    }

    // To connect a UDP socket sends nothing.
    private static @Nullable NetworkInterface routed(final InetAddress group) throws IOException {
        try (DatagramChannel socket = DatagramChannel.open(family(group))) {
            socket.connect(new InetSocketAddress(group, 1));
            return NetworkInterface.getByInetAddress(((InetSocketAddress) socket.getLocalAddress()).getAddress());
        } catch (final SocketException _) {
            return null;
        }
    }

    private static List<String> usable() throws IOException {
        final List<String> names = new ArrayList<>();
        for (final NetworkInterface one : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            if (one.isUp() && (one.supportsMulticast() || one.isLoopback())) {
                names.add(one.getName());
            }
        }
        return names;
    }

    private static ProtocolFamily family(final InetAddress group) {
        return group instanceof Inet4Address ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6;
    }

    private DatagramChannel receiver(final InetAddress group, final NetworkInterface network) throws IOException {
        final DatagramChannel receiver = DatagramChannel.open(family(group));
        receiver.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        receiver.bind(new InetSocketAddress(group, port()));
        receiver.join(group, network);
        receiver.configureBlocking(false);
        return receiver;
    }

    private static DatagramChannel sender(final InetAddress group, final NetworkInterface network) throws IOException {
        final DatagramChannel sender = DatagramChannel.open(family(group));
        sender.setOption(StandardSocketOptions.IP_MULTICAST_IF, network);
        sender.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 0);
        sender.setOption(StandardSocketOptions.IP_MULTICAST_LOOP, true);
        sender.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
        return sender;
    }

    private int port() {
        return channel.group().port() + CONTROL_PORT_OFFSET;
    }

    private boolean comesBack(
            final DatagramChannel sender, final DatagramChannel receiver, final InetAddress group, final int bytes)
            throws IOException {
        final byte[] mark = ("doctor " + ThreadLocalRandom.current().nextLong()).getBytes(StandardCharsets.US_ASCII);
        final ByteBuffer datagram = ByteBuffer.allocate(bytes).put(mark).clear();
        final ByteBuffer received = ByteBuffer.allocate(PAYLOAD_BYTES_MAX);
        for (int tries = 0; tries < TRIES; tries++) {
            sender.send(datagram.clear(), new InetSocketAddress(group, port()));
            final long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < WAIT_NS) {
                if (receiver.receive(received.clear()) == null) {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
                } else if (received.flip().equals(datagram.clear())) {
                    return true;
                }
            }
        }
        return false;
    }

    // Asked of the interfaces of hardware: virtual ones pass segments on as they are.
    private void offload(final NetworkInterface network) throws SocketException {
        if (!Files.exists(INTERFACES.resolve(network.getName()).resolve("device"))) {
            return;
        }
        try {
            final Process process = new ProcessBuilder("ethtool", "-k", network.getName())
                    .redirectErrorStream(true)
                    .start();
            final String features = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            segments(network.getName(), features);
        } catch (final IOException _) {
            good("offload of " + network.getName() + ": unknown, for ethtool is missing");
        }
    }

    private void segments(final String name, final String features) {
        final List<String> off = new ArrayList<>();
        for (final Map.Entry<String, String> feature : Map.of(
                        "generic-segmentation-offload", "gso", "generic-receive-offload", "gro")
                .entrySet()) {
            if (features.contains(feature.getKey() + ": off")) {
                off.add(feature.getValue());
            }
        }
        off.sort(null);
        if (off.isEmpty()) {
            good("offload of " + name + ": gso and gro are on");
        } else {
            bad(
                    "offload of " + name + ": " + String.join(" and ", off) + " off, which costs CPU for each datagram",
                    "ethtool -K " + name + " " + String.join(" on ", off) + " on");
        }
    }

    private static void neighbours(final Channel channel, final List<Path> files, final List<Finding> findings) {
        final String own = transport(channel);
        for (final Path file : files) {
            try (CounterReader reader = CounterReader.open(file)) {
                for (final CounterSample sample : reader.samples()) {
                    final Map<String, String> labels = sample.labelMap();
                    final String other = labels.getOrDefault("transport", own);
                    if (sample.name().equals(EngineCounter.STREAM_INFO.exportedName())
                            && channel.name().equals(labels.get("channel"))
                            && !own.equals(other)) {
                        findings.add(new Finding(
                                false,
                                "a " + labels.get("role") + " of " + channel.name() + " here, process " + reader.pid()
                                        + ", uses " + other
                                        + "; this channel takes " + own,
                                "name the same transport at both ends, such as framecast:" + other + "?…"));
                    }
                }
            } catch (final RuntimeException _) {
                // It ended just now.
            }
        }
    }

    private static String transport(final Channel channel) {
        return !ProviderLookup.AUTO.equals(channel.transport())
                ? channel.transport()
                : ProviderLookup.transports().stream()
                        .filter(provider -> provider.carries(channel)
                                && provider.unavailable(channel).isEmpty())
                        .map(TransportProvider::name)
                        .findFirst()
                        .orElse(channel.transport());
    }
}
