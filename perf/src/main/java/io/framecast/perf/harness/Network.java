package io.framecast.perf.harness;

import io.framecast.samples.network.Namespaces;
import io.framecast.samples.network.Shell;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// The hosts of a stream's processes: the loopback of this machine, or network namespaces.
public final class Network {
    /// This machine's loopback.
    public static final Network LOOPBACK = new Network("", List.of());

    /// Of all hosts on the loopback.
    public static final String LOOPBACK_ADDRESS = "127.0.0.1";

    /// Bytes that a limited link that was idle lets through at once. A batch that the kernel cuts late has 64 KiB, and
    /// a header for each packet is counted: what is longer would be cut by the processor.
    public static final int BURST_BYTES = 72 << 10;

    private static final String ADDRESSES = "10.77.0.";
    private static final Pattern COUNTED = Pattern.compile("counter packets (\\d+)");
    private static final long LOSS_UNIT = 100_000;
    // More than a socket holds: a socket that waits is better than a queue that drops.
    private static final String QUEUE = "16mb";

    private final String bridge;
    // The source's first; none on the loopback.
    private final List<String> hosts;
    private double loss;
    private boolean filters;
    private int flooded;

    /// @param bridge empty where two hosts are connected to each other, and on the loopback
    private Network(final String bridge, final List<String> hosts) {
        this.bridge = bridge;
        this.hosts = hosts;
        flooded = hosts.size() - 1;
    }

    /// One end of a stream.
    ///
    /// @param prefix command that runs another on this host
    public record Host(List<String> prefix, String address) {}

    static Network make(final Namespaces namespaces, final String id, final Networks.Key key) throws IOException {
        final Links links = key.links();
        final String bridge = links.net() == BenchNet.VETH ? "" : namespaces.addBridge(id + "net");
        final List<String> hosts = new ArrayList<>();
        for (int index = Pool.SOURCE; index < key.receivers(); index++) {
            final String host = namespaces.add(id + "host" + hosts.size());
            hosts.add(host);
            if (!bridge.isEmpty()) {
                Namespaces.join(host, bridge, port(index), links.mtuBytes());
            } else if (index != Pool.SOURCE) {
                Namespaces.connect(hosts.getFirst(), host, Namespaces.DEVICE, links.mtuBytes());
            }
        }
        for (int index = Pool.SOURCE; index < key.receivers(); index++) {
            final String host = hosts.get(index + 1);
            Namespaces.configure(host, address(index));
            if (links.bytesPerSecond() > 0) {
                // Streams pause between frames, and go on at the rate that they had.
                Namespaces.run(host, "sh", "-c", "echo 0 >/proc/sys/net/ipv4/tcp_slow_start_after_idle");
                limit(host, Namespaces.DEVICE, links.bytesPerSecond());
                limit(bridge, port(index), links.bytesPerSecond());
            }
        }
        if (!key.offload()) {
            Namespaces.run(
                    hosts.getFirst(), "ethtool", "-K", Namespaces.DEVICE, "tx-udp-segmentation", "off", "tso", "off");
        }
        return new Network(bridge, hosts);
    }

    // A token bucket for what leaves by an interface.
    private static void limit(final String host, final String networkInterface, final long bytesPerSecond)
            throws IOException {
        final String command = "tc -n " + host + " qdisc add dev " + networkInterface + " root tbf rate "
                + bytesPerSecond + "bps burst " + BURST_BYTES + " limit " + QUEUE;
        Shell.run(command.split(" ", -1));
    }

    // The bridge's end of a host's cable.
    private static String port(final int index) {
        return "p" + (index + 1);
    }

    /// A host's address where it is a network namespace.
    ///
    /// @param index of a receiver, or [Pool#SOURCE]
    public static String address(final int index) {
        return ADDRESSES + (index + 2);
    }

    /// @param index of a receiver, or [Pool#SOURCE]
    public Host host(final int index) {
        return hosts.isEmpty()
                ? new Host(List.of(), LOOPBACK_ADDRESS)
                : new Host(Namespaces.within(hosts.get(index + 1)), address(index));
    }

    /// The interface whose counters are the stream's alone; empty on the loopback, which all processes share.
    public String device() {
        return hosts.isEmpty() ? "" : Namespaces.DEVICE;
    }

    /// Makes this the network of a case: loss at every input, and multicast to no more receivers than these.
    ///
    /// @param wantedFilters whether the filter looks at packets even without loss, for looking costs time too
    /// @throws IOException when that fails; the message is one line
    public void set(final double wantedLoss, final boolean wantedFilters, final int wantedReceivers)
            throws IOException {
        if (hosts.isEmpty()) {
            return;
        }
        if (wantedLoss != loss || wantedFilters != filters) {
            loss = wantedLoss;
            filters = wantedFilters;
            // At the input of both ends, so that data and control are lost alike. At the output a batch would
            // still be one packet, whatever the interface then makes of it.
            for (final String host : hosts) {
                Namespaces.filter(host, "loss", filters ? drop("input", loss) : "");
            }
        }
        // A bridge sends multicast to every port that floods, and that is work for the source's processor.
        for (int i = 0; i < hosts.size() - 1 && !bridge.isEmpty(); i++) {
            if (i < wantedReceivers != i < flooded) {
                final String flood = i < wantedReceivers ? "on" : "off";
                Shell.run("ip", "-n", bridge, "link", "set", port(i), "type", "bridge_slave", "mcast_flood", flood);
            }
        }
        flooded = wantedReceivers;
    }

    /// Loses a share of a host's datagrams from now on, at its output and again at its input.
    ///
    /// @param index of a receiver, or [Pool#SOURCE]
    public void lose(final int index, final double share) throws IOException {
        final String rules = share == 0 ? "" : drop("output", share) + drop("input", share);
        Namespaces.filter(hosts.get(index + 1), "loss", rules);
    }

    // A chain at a hook; one that drops nothing looks at packets all the same.
    private static String drop(final String hook, final double share) {
        final String chain = "inet loss " + hook + " ";
        return "add table inet loss; add chain " + chain + "{ type filter hook " + hook + " priority 0; }; add rule "
                + chain + hook.charAt(0) + "ifname \"" + Namespaces.DEVICE + "\" meta l4proto { tcp, udp } "
                + random(Math.max(share, 1.0 / LOSS_UNIT)) + (share == 0 ? "accept; " : "drop; ");
    }

    private static String random(final double share) {
        return (share < 1 ? "numgen random mod " + LOSS_UNIT + " < " + Math.round(share * LOSS_UNIT) : "")
                + " counter ";
    }

    /// Packets that the rules of all hosts dropped, of those set last.
    public long dropped() throws IOException {
        long sum = 0;
        for (final String host : hosts) {
            sum += COUNTED.matcher(Namespaces.run(host, "nft", "list", "ruleset"))
                    .results()
                    .mapToLong(found -> Long.parseLong(found.group(1)))
                    .sum();
        }
        return sum;
    }

    /// Takes the bridge's end of a host's cable up or down.
    ///
    /// @param index of a receiver, or [Pool#SOURCE]
    public void plug(final int index, final boolean up) throws IOException {
        Shell.run("ip", "-n", bridge, "link", "set", port(index), up ? "up" : "down");
    }

    /// Loses datagrams on the last step to each receiver and on the first step from it, and shows the losses:
    /// lost data comes to another port of the receiver's host, and every other lost datagram to the port
    /// behind that.
    ///
    /// @param losses of each receiver's link
    /// @param port of data
    /// @throws IOException when that fails; the message is one line
    public void divert(final List<Double> losses, final int port, final int divertedPort) throws IOException {
        final StringBuilder atSource = new StringBuilder(
                "add table inet tail; add chain inet tail tap { type filter hook input priority 0; }; ");
        for (int i = 0; i < losses.size(); i++) {
            // Before the kernel looks for the packet's socket, which it does early.
            final String arriving = "add rule inet tail tap iifname \"" + Namespaces.DEVICE + "\" udp dport ";
            final String lost = random(losses.get(i)) + "udp dport set ";
            final String rules = arriving + port + " " + lost + divertedPort + "; " + arriving + "!= { " + port + ", "
                    + divertedPort + " } " + lost + (divertedPort + 1) + "; ";
            Namespaces.filter(
                    hosts.get(i + 1),
                    "tail",
                    "add table inet tail; add chain inet tail tap { type filter hook prerouting priority -300; }; "
                            + (losses.get(i) == 0 ? "" : rules));
            if (losses.get(i) > 0) {
                atSource.append("add rule inet tail tap ip saddr " + address(i) + " meta l4proto udp "
                        + random(losses.get(i)) + "drop; ");
            }
        }
        Namespaces.filter(hosts.getFirst(), "tail", atSource.toString());
    }
}
