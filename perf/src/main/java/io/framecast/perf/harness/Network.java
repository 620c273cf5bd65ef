package io.framecast.perf.harness;

import io.framecast.samples.network.Namespaces;
import io.framecast.samples.network.Shell;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// The hosts of a stream's processes: the loopback of this machine, or network namespaces.
public final class Network {
    /// This machine's loopback.
    public static final Network LOOPBACK = new Network("", "", List.of());

    /// Of all hosts on the loopback.
    public static final String LOOPBACK_ADDRESS = "127.0.0.1";
    private static final String ADDRESSES = "10.77.0.";
    private static final long LOSS_UNIT = 100_000;
    /// Bytes that a limited link that was idle lets through at once. A batch that the kernel cuts late has 64 KiB, and
    /// a
    /// header for each packet is counted: what is longer would be cut by the processor.
    public static final int BURST_BYTES = 72 << 10;

    // More than a socket holds: a socket that waits is better than a queue that drops.
    private static final String QUEUE = "16mb";

    private final String source;
    private final String bridge;
    private final List<String> receivers;
    private double loss;
    private boolean filters;
    private int flooded;

    private Network(final String source, final String bridge, final List<String> receivers) {
        this.source = source;
        this.bridge = bridge;
        this.receivers = receivers;
        flooded = receivers.size();
    }

    /// One end of a stream.
    ///
    /// @param prefix command that runs another on this host
    public record Host(List<String> prefix, String address) {}

    static Network make(final Namespaces namespaces, final String id, final Networks.Key key) throws IOException {
        final String source = namespaces.add(id + "src");
        final String bridge = key.net() == BenchNet.VETH ? "" : namespaces.addBridge(id + "net");
        if (!bridge.isEmpty()) {
            Namespaces.join(source, bridge, "source", key.mtuBytes());
        }
        final List<String> receivers = new ArrayList<>();
        for (int i = 0; i < key.receivers(); i++) {
            final String receiver = namespaces.add(id + "dst" + i);
            receivers.add(receiver);
            if (bridge.isEmpty()) {
                Namespaces.connect(source, receiver, Namespaces.DEVICE, key.mtuBytes());
            } else {
                Namespaces.join(receiver, bridge, port(i), key.mtuBytes());
            }
            Namespaces.configure(receiver, address(i));
        }
        Namespaces.configure(source, address(Pool.SOURCE));
        if (key.bytesPerSecond() > 0) {
            keepWindows(source);
            limit(source, Namespaces.DEVICE, key.bytesPerSecond());
            limit(bridge, "source", key.bytesPerSecond());
            for (int i = 0; i < receivers.size(); i++) {
                keepWindows(receivers.get(i));
                limit(receivers.get(i), Namespaces.DEVICE, key.bytesPerSecond());
                limit(bridge, port(i), key.bytesPerSecond());
            }
        }
        if (!key.offload()) {
            Namespaces.run(source, "ethtool", "-K", Namespaces.DEVICE, "tx-udp-segmentation", "off", "tso", "off");
        }
        return new Network(source, bridge, receivers);
    }

    // Streams pause between frames, and go on at the rate that they had.
    private static void keepWindows(final String host) throws IOException {
        Namespaces.run(host, "sh", "-c", "echo 0 >/proc/sys/net/ipv4/tcp_slow_start_after_idle");
    }

    // A token bucket for what leaves by an interface.
    private static void limit(final String host, final String networkInterface, final long bytesPerSecond)
            throws IOException {
        Shell.run(
                "tc",
                "-n",
                host,
                "qdisc",
                "add",
                "dev",
                networkInterface,
                "root",
                "tbf",
                "rate",
                bytesPerSecond + "bps",
                "burst",
                Integer.toString(BURST_BYTES),
                "limit",
                QUEUE);
    }

    private static String port(final int receiver) {
        return "r" + receiver;
    }

    /// A host's address where it is a network namespace.
    ///
    /// @param index of a receiver, or [Pool#SOURCE]
    public static String address(final int index) {
        return ADDRESSES + (index + 2);
    }

    public Host source() {
        return source.isEmpty()
                ? new Host(List.of(), LOOPBACK_ADDRESS)
                : new Host(Namespaces.within(source), address(Pool.SOURCE));
    }

    /// A receiver's host, or the source's for [Pool#SOURCE].
    public Host host(final int index) {
        return index == Pool.SOURCE ? source() : receiver(index);
    }

    public Host receiver(final int index) {
        return source.isEmpty() ? source() : new Host(Namespaces.within(receivers.get(index)), address(index));
    }

    /// The interface whose counters are the stream's alone; empty on the loopback, which all processes share.
    public String device() {
        return source.isEmpty() ? "" : Namespaces.DEVICE;
    }

    /// Makes this the network of a case: loss at every input, and multicast to no more receivers than these.
    ///
    /// @param wantedFilters whether the filter looks at packets even without loss, for looking costs time too
    /// @throws IOException when that fails; the message is one line
    public void set(final double wantedLoss, final boolean wantedFilters, final int wantedReceivers)
            throws IOException {
        if (wantedLoss != loss || wantedFilters != filters) {
            loss = wantedLoss;
            filters = wantedFilters;
            drop(source);
            for (final String receiver : receivers) {
                drop(receiver);
            }
        }
        // A bridge sends multicast to every port that floods, and that is work for the source's processor.
        for (int i = 0; i < receivers.size() && !bridge.isEmpty(); i++) {
            if (i < wantedReceivers != i < flooded) {
                final String flood = i < wantedReceivers ? "on" : "off";
                Shell.run("ip", "-n", bridge, "link", "set", port(i), "type", "bridge_slave", "mcast_flood", flood);
            }
        }
        flooded = wantedReceivers;
    }

    // At the input of both ends, so that data and control are lost alike. At the output a batch would still be
    // one packet, whatever the interface then makes of it.
    private void drop(final String host) throws IOException {
        final String chain = "add table inet loss; "
                + "add chain inet loss input { type filter hook input priority 0; }; "
                + "add rule inet loss input iifname \"" + Namespaces.DEVICE + "\" meta l4proto { tcp, udp } "
                + random(Math.max(loss, 1.0 / LOSS_UNIT)) + (loss == 0 ? "accept" : "drop");
        Namespaces.filter(host, "loss", filters ? chain : "");
    }

    private static String random(final double share) {
        return "numgen random mod " + LOSS_UNIT + " < " + Math.round(share * LOSS_UNIT) + " counter ";
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
                    receivers.get(i),
                    "tail",
                    "add table inet tail; add chain inet tail tap { type filter hook prerouting priority -300; }; "
                            + (losses.get(i) == 0 ? "" : rules));
            if (losses.get(i) > 0) {
                atSource.append("add rule inet tail tap ip saddr " + address(i) + " meta l4proto udp "
                        + random(losses.get(i)) + "drop; ");
            }
        }
        Namespaces.filter(source, "tail", atSource.toString());
    }
}
