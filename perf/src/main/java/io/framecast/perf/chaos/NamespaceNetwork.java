package io.framecast.perf.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A bridge that floods multicast, and hosts on it: network namespaces, each of which loses datagrams of
/// every lane, going out and coming in. Names carry this process's number; what a killed run left behind is
/// deleted by the next.
final class NamespaceNetwork implements ChaosNetwork {
    private static final String DEVICE = "eth0";

    private static final Pattern NAME = Pattern.compile("fcc(\\d+)x.*");
    private static final String MTU = "1500";
    private static final long LOSS_UNIT = 100_000;

    private final String id = "fcc" + ProcessHandle.current().pid() + "x";
    private final List<String> names = new ArrayList<>();
    private final double loss;

    private NamespaceNetwork(final double loss) {
        this.loss = loss;
    }

    /// Makes a network.
    ///
    /// @param hosts how many; the first is the source's
    /// @param loss share of datagrams that each host drops at its output, and again at its input
    /// @throws IOException when it cannot be made; the line says why, and nothing is left
    static NamespaceNetwork make(final int hosts, final double loss) throws IOException {
        deleteAbandoned();
        final NamespaceNetwork network = new NamespaceNetwork(loss);
        try {
            network.add(network.bridge());
            Shell.run("ip", "-n", network.bridge(), "link", "add", "bridge", "type", "bridge", "mcast_snooping", "0");
            Shell.run("ip", "-n", network.bridge(), "link", "set", "bridge", "up");
            for (int host = 0; host < hosts; host++) {
                network.addHost(host);
                network.filter(host, loss);
            }
            return network;
        } catch (final IOException e) {
            network.close();
            throw e;
        }
    }

    private static void deleteAbandoned() throws IOException {
        for (final String line : Shell.run("ip", "netns", "list").lines().toList()) {
            final String name = line.split(" ", 2)[0];
            final Matcher matcher = NAME.matcher(name);
            if (matcher.matches()
                    && ProcessHandle.of(Long.parseLong(matcher.group(1))).isEmpty()) {
                Shell.run("ip", "netns", "delete", name);
            }
        }
    }

    private String bridge() {
        return id + "net";
    }

    private String name(final int host) {
        return id + "h" + host;
    }

    /// A host's address.
    static String address(final int host) {
        return "10.78.0." + (host + 1);
    }

    @Override
    public String device(final int host) {
        return DEVICE;
    }

    @Override
    public List<String> within(final int host) {
        return List.of("ip", "netns", "exec", name(host));
    }

    private void add(final String name) throws IOException {
        // Known first: if making it fails half-way, it is deleted all the same.
        names.add(name);
        Shell.run("ip", "netns", "add", name);
        Shell.run("ip", "-n", name, "link", "set", "lo", "up");
    }

    private void addHost(final int host) throws IOException {
        final String name = name(host);
        add(name);
        final String port = "p" + host;
        Shell.run(
                "ip", "link", "add", DEVICE, "netns", name, "mtu", MTU, "type", "veth", "peer", "name", port, "netns",
                bridge(), "mtu", MTU);
        Shell.run("ip", "-n", bridge(), "link", "set", port, "master", "bridge", "up");
        Shell.run("ip", "-n", name, "address", "add", address(host) + "/24", "dev", DEVICE);
        Shell.run("ip", "-n", name, "link", "set", DEVICE, "up");
        Shell.run("ip", "-n", name, "route", "add", "224.0.0.0/4", "dev", DEVICE);
    }

    private void filter(final int host, final double share) throws IOException {
        final String which =
                share < 1 ? "numgen random mod " + LOSS_UNIT + " < " + Math.round(share * LOSS_UNIT) + " " : "";
        final String rule = "meta l4proto udp " + which + "counter drop; ";
        final String rules = share == 0
                ? ""
                : "add table inet chaos; "
                        + "add chain inet chaos output { type filter hook output priority 0; }; "
                        + "add chain inet chaos input { type filter hook input priority 0; }; "
                        + "add rule inet chaos output oifname \"" + DEVICE + "\" " + rule
                        + "add rule inet chaos input iifname \"" + DEVICE + "\" " + rule;
        nft(host, "add table inet chaos; delete table inet chaos; " + rules);
    }

    private void nft(final int host, final String rules) throws IOException {
        Shell.run("ip", "netns", "exec", name(host), "nft", rules);
    }

    @Override
    public void cut(final int host, final Cut cut) throws IOException {
        switch (cut) {
            case LINK -> Shell.run("ip", "-n", bridge(), "link", "set", "p" + host, "down");
            case FILTER -> filter(host, 1);
        }
    }

    @Override
    public void mend(final int host, final Cut cut) throws IOException {
        switch (cut) {
            case LINK -> Shell.run("ip", "-n", bridge(), "link", "set", "p" + host, "up");
            case FILTER -> filter(host, loss);
        }
    }

    @Override
    public boolean hasCarrier(final int host, final long pid) {
        try {
            return Files.readString(Path.of("/proc/" + pid + "/root/sys/class/net/" + DEVICE + "/carrier"))
                    .startsWith("1");
        } catch (final IOException e) {
            return true;
        }
    }

    /// How many packets all hosts' rules have dropped since they were set.
    @Override
    public long dropped() throws IOException {
        long sum = 0;
        for (int host = 0; host < names.size() - 1; host++) {
            final String rules = Shell.run("ip", "netns", "exec", name(host), "nft", "list", "ruleset");
            final Matcher matcher = Pattern.compile("counter packets (\\d+)").matcher(rules);
            while (matcher.find()) {
                sum += Long.parseLong(matcher.group(1));
            }
        }
        return sum;
    }

    @Override
    public List<String> leftovers() throws IOException {
        return Shell.run("ip", "netns", "list")
                .lines()
                .map(line -> line.split(" ", 2)[0])
                .filter(name -> name.startsWith(id))
                .map(name -> "network namespace " + name)
                .toList();
    }

    @Override
    public void close() {
        for (final String name : names) {
            try {
                Shell.run("ip", "netns", "delete", name);
            } catch (final IOException e) {
                // It was never made; leftovers() tells what else it may be.
            }
        }
        names.clear();
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%s, %.3f lost each way", id, loss);
    }
}
