package io.framecast.perf.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Makes networks of network namespaces and deletes them again. Their names carry this process's number, so
/// that runs do not meet, and what a killed run left behind is deleted by the next.
final class Namespaces implements AutoCloseable {
    private static final Pattern NAME = Pattern.compile("fcb(\\d+)x.*");
    private static final String DEVICE = "eth0";
    private static final long STEP_SECONDS = 20;
    private static final double LOSS_UNIT = 100_000;
    private static final double TRIAL_LOSS = 0.5;

    private final Map<Key, Network> networks = new HashMap<>();
    private final List<String> names = new ArrayList<>();
    private boolean closed;

    /// What a network is like.
    record Key(BenchNet net, int mtuBytes, int receivers, boolean offload) {}

    /// Tries it out.
    ///
    /// @return why networks cannot be made here, or empty
    static String unavailable() {
        try (Namespaces trial = new Namespaces()) {
            trial.deleteAbandoned();
            trial.network(new Key(BenchNet.VETH, 1500, 1, true)).set(TRIAL_LOSS, true, 1);
            return "";
        } catch (final IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private void deleteAbandoned() throws IOException {
        for (final String line : run("ip", "netns", "list").lines().toList()) {
            final String name = line.split(" ", 2)[0];
            final Matcher matcher = NAME.matcher(name);
            if (matcher.matches()
                    && ProcessHandle.of(Long.parseLong(matcher.group(1))).isEmpty()) {
                run("ip", "netns", "delete", name);
            }
        }
    }

    /// Made when it is first asked for.
    ///
    /// @throws IOException when it cannot be made; the line says why
    synchronized BenchNetwork network(final Key key) throws IOException {
        final Network known = networks.get(key);
        if (known != null) {
            return known;
        }
        if (closed) {
            throw new IOException("stopped");
        }
        final Network made = make(key);
        networks.put(key, made);
        return made;
    }

    private Network make(final Key key) throws IOException {
        final String id = "fcb" + ProcessHandle.current().pid() + "x" + names.size() + "x";
        final Network network = new Network(id, key);
        addNamespace(network.sourceName());
        if (key.net == BenchNet.VETH) {
            addNamespace(network.receiverName(0));
            final String mtu = Integer.toString(key.mtuBytes);
            ip(
                    "link",
                    "add",
                    DEVICE,
                    "netns",
                    network.sourceName(),
                    "mtu",
                    mtu,
                    "type",
                    "veth",
                    "peer",
                    "name",
                    DEVICE,
                    "netns",
                    network.receiverName(0),
                    "mtu",
                    mtu);
        } else {
            makeBridge(network, key);
        }
        configure(network.sourceName(), network.source().address());
        for (int i = 0; i < key.receivers; i++) {
            configure(network.receiverName(i), network.receiver(i).address());
        }
        if (!key.offload) {
            within(network.sourceName(), "ethtool", "-K", DEVICE, "tx-udp-segmentation", "off", "tso", "off");
        }
        return network;
    }

    private void makeBridge(final Network network, final Key key) throws IOException {
        final String bridge = network.bridgeName();
        addNamespace(bridge);
        ip("-n", bridge, "link", "add", "bridge", "type", "bridge", "mcast_snooping", "0");
        ip("-n", bridge, "link", "set", "bridge", "up");
        joinBridge(network.sourceName(), bridge, "source", key);
        for (int i = 0; i < key.receivers; i++) {
            addNamespace(network.receiverName(i));
            joinBridge(network.receiverName(i), bridge, Network.port(i), key);
        }
    }

    private void joinBridge(final String host, final String bridge, final String port, final Key key)
            throws IOException {
        final String mtu = Integer.toString(key.mtuBytes);
        ip(
                "link", "add", DEVICE, "netns", host, "mtu", mtu, "type", "veth", "peer", "name", port, "netns", bridge,
                "mtu", mtu);
        ip("-n", bridge, "link", "set", port, "master", "bridge", "up");
    }

    private void addNamespace(final String name) throws IOException {
        // Known first: if making it fails half-way, it is deleted all the same.
        names.add(name);
        ip("netns", "add", name);
        ip("-n", name, "link", "set", "lo", "up");
    }

    private void configure(final String host, final String address) throws IOException {
        ip("-n", host, "address", "add", address + "/24", "dev", DEVICE);
        ip("-n", host, "link", "set", DEVICE, "up");
        ip("-n", host, "route", "add", "224.0.0.0/4", "dev", DEVICE);
    }

    // At the input of both ends, so that data and what is said about them are lost alike. At the output a batch would
    // still be one packet, whatever the interface then makes of it.
    private static void drop(final String host, final double loss, final boolean filters) throws IOException {
        final long share = Math.round(loss * LOSS_UNIT);
        final String clean = "add table inet loss; delete table inet loss; ";
        within(
                host,
                "nft",
                filters
                        ? clean + "add table inet loss; "
                                + "add chain inet loss input { type filter hook input priority 0; }; "
                                + "add rule inet loss input iifname \"" + DEVICE + "\" meta l4proto { tcp, udp } "
                                + "numgen random mod " + (long) LOSS_UNIT + " < " + Math.max(1, share) + " counter "
                                + (share == 0 ? "accept" : "drop")
                        : clean);
    }

    // Before the kernel looks for the packet's socket, which it does early.
    private static void divert(final String host, final double loss, final int port, final int divertedPort)
            throws IOException {
        final String random = "numgen random mod " + (long) LOSS_UNIT + " < " + Math.round(loss * LOSS_UNIT);
        final String arriving = "add rule inet tail door iifname \"" + DEVICE + "\" ";
        within(
                host,
                "nft",
                "add table inet tail; delete table inet tail; add table inet tail; "
                        + "add chain inet tail door { type filter hook prerouting priority -300; }; "
                        + (loss == 0
                                ? ""
                                : arriving + "udp dport " + port + " " + random + " counter udp dport set "
                                        + divertedPort + "; " + arriving + "udp dport != { " + port + ", "
                                        + divertedPort + " } " + random + " counter udp dport set "
                                        + (divertedPort + 1) + "; "));
    }

    private static void dropFrom(final String host, final Map<String, Double> losses) throws IOException {
        final StringBuilder rules =
                new StringBuilder("add table inet tail; delete table inet tail; add table inet tail; "
                        + "add chain inet tail door { type filter hook input priority 0; }; ");
        losses.forEach((address, loss) -> {
            if (loss > 0) {
                rules.append("add rule inet tail door ip saddr ")
                        .append(address)
                        .append(" meta l4proto udp numgen random mod ")
                        .append((long) LOSS_UNIT)
                        .append(" < ")
                        .append(Math.round(loss * LOSS_UNIT))
                        .append(" counter drop; ");
            }
        });
        within(host, "nft", rules.toString());
    }

    private static void ip(final String... words) throws IOException {
        final List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(words));
        run(command.toArray(String[]::new));
    }

    private static void within(final String host, final String... words) throws IOException {
        final List<String> command = new ArrayList<>(List.of("ip", "netns", "exec", host));
        command.addAll(List.of(words));
        run(command.toArray(String[]::new));
    }

    private static String run(final String... command) throws IOException {
        final Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        try {
            final String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(STEP_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException(String.join(" ", command) + ": still running");
            }
            if (process.exitValue() != 0) {
                throw new IOException(String.join(" ", command) + ": "
                        + said.strip().lines().findFirst().orElse("status " + process.exitValue()));
            }
            return said;
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(String.join(" ", command) + ": interrupted", e);
        } finally {
            process.destroyForcibly();
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        for (final String name : names) {
            try {
                run("ip", "netns", "delete", name);
            } catch (final IOException e) {
                // It was never made.
            }
        }
        names.clear();
        networks.clear();
    }

    /// One network.
    private static final class Network implements BenchNetwork {
        private static final String ADDRESSES = "10.77.0.";

        private final String id;
        private final Key key;
        private double loss;
        private boolean filters;
        private int receivers;

        Network(final String id, final Key key) {
            this.id = id;
            this.key = key;
            receivers = key.receivers;
        }

        String sourceName() {
            return id + "src";
        }

        String receiverName(final int index) {
            return id + "dst" + index;
        }

        String bridgeName() {
            return id + "net";
        }

        static String port(final int index) {
            return "r" + index;
        }

        @Override
        public Host source() {
            return new Host(List.of("ip", "netns", "exec", sourceName()), ADDRESSES + "1");
        }

        @Override
        public Host receiver(final int index) {
            return new Host(List.of("ip", "netns", "exec", receiverName(index)), ADDRESSES + (index + 2));
        }

        @Override
        public String device() {
            return DEVICE;
        }

        @Override
        public void divert(final List<Double> losses, final int port, final int divertedPort) throws IOException {
            final Map<String, Double> byAddress = new HashMap<>();
            for (int i = 0; i < losses.size(); i++) {
                Namespaces.divert(receiverName(i), losses.get(i), port, divertedPort);
                byAddress.put(receiver(i).address(), losses.get(i));
            }
            dropFrom(sourceName(), byAddress);
        }

        @Override
        public void set(final double wantedLoss, final boolean wantsFilters, final int wantedReceivers)
                throws IOException {
            if (wantedLoss != loss || wantsFilters != filters) {
                loss = wantedLoss;
                filters = wantsFilters;
                drop(sourceName(), loss, filters);
                for (int i = 0; i < key.receivers; i++) {
                    drop(receiverName(i), loss, filters);
                }
            }
            // A bridge sends multicast to every port that floods, and that is work for the source's processor.
            for (int i = 0; i < key.receivers && key.net == BenchNet.BRIDGE; i++) {
                if (i < wantedReceivers != i < receivers) {
                    final String flood = i < wantedReceivers ? "on" : "off";
                    ip("-n", bridgeName(), "link", "set", port(i), "type", "bridge_slave", "mcast_flood", flood);
                }
            }
            receivers = wantedReceivers;
        }
    }
}
