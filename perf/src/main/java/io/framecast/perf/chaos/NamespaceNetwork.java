package io.framecast.perf.chaos;

import io.framecast.samples.network.NamespaceNeeds;
import io.framecast.samples.network.Namespaces;
import io.framecast.samples.network.Shell;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// Hosts in network namespaces, on a bridge that floods multicast.
final class NamespaceNetwork implements ChaosNetwork {
    private static final Pattern DROPPED = Pattern.compile("counter packets (\\d+)");
    private static final int MTU_BYTES = 1500;
    private static final long LOSS_UNIT = 100_000;

    private final Namespaces namespaces;
    private final List<String> hosts = new ArrayList<>();
    private final String bridge;
    private final double loss;

    private NamespaceNetwork(final Namespaces namespaces, final double loss) throws IOException {
        this.namespaces = namespaces;
        this.loss = loss;
        bridge = namespaces.addBridge("net");
    }

    /// @param hosts how many; the first is the source's
    /// @param loss share of datagrams that each host drops at its output, and again at its input
    /// @throws IOException when it cannot be made; the message is one line, and nothing is left
    static NamespaceNetwork make(final int hosts, final double loss) throws IOException {
        final String missing = NamespaceNeeds.missing(NamespaceNeeds.Tool.IP, NamespaceNeeds.Tool.NFT);
        if (!missing.isEmpty()) {
            throw new IOException(missing);
        }
        Namespaces.deleteAbandoned();
        final Namespaces namespaces = new Namespaces();
        try {
            final NamespaceNetwork network = new NamespaceNetwork(namespaces, loss);
            for (int host = 0; host < hosts; host++) {
                final String name = namespaces.add("h" + host);
                network.hosts.add(name);
                Namespaces.join(name, network.bridge, port(host), MTU_BYTES);
                Namespaces.configure(name, address(host));
                network.lose(host, loss);
            }
            return network;
        } catch (final IOException e) {
            namespaces.close();
            throw e;
        }
    }

    private static String port(final int host) {
        return "p" + host;
    }

    static String address(final int host) {
        return "10.78.0." + (host + 1);
    }

    @Override
    public String device(final int host) {
        return Namespaces.DEVICE;
    }

    @Override
    public List<String> within(final int host) {
        return Namespaces.within(hosts.get(host));
    }

    @Override
    public void lose(final int host, final double share) throws IOException {
        final String which =
                share < 1 ? "numgen random mod " + LOSS_UNIT + " < " + Math.round(share * LOSS_UNIT) + " " : "";
        final String rule = "ifname \"" + Namespaces.DEVICE + "\" meta l4proto udp " + which + "counter drop; ";
        final String rules = "add table inet chaos; "
                + "add chain inet chaos output { type filter hook output priority 0; }; "
                + "add chain inet chaos input { type filter hook input priority 0; }; "
                + "add rule inet chaos output o" + rule + "add rule inet chaos input i" + rule;
        Namespaces.filter(hosts.get(host), "chaos", share == 0 ? "" : rules);
    }

    @Override
    public double loss() {
        return loss;
    }

    @Override
    public void plug(final int host, final boolean up) throws IOException {
        Shell.run("ip", "-n", bridge, "link", "set", port(host), up ? "up" : "down");
    }

    @Override
    public Path carrier(final int host, final long pid) {
        return Path.of("/proc/" + pid + "/root/sys/class/net/" + Namespaces.DEVICE + "/carrier");
    }

    @Override
    public long dropped() throws IOException {
        long sum = 0;
        for (final String host : hosts) {
            sum += DROPPED.matcher(Namespaces.run(host, "nft", "list", "ruleset"))
                    .results()
                    .mapToLong(found -> Long.parseLong(found.group(1)))
                    .sum();
        }
        return sum;
    }

    @Override
    public List<String> leftovers() throws IOException {
        return namespaces.leftovers().stream()
                .map(name -> "network namespace " + name)
                .toList();
    }

    @Override
    public void close() {
        namespaces.close();
    }
}
