package io.framecast.perf.chaos;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.Links;
import io.framecast.perf.harness.Network;
import io.framecast.perf.harness.Networks;
import io.framecast.samples.network.NamespaceNeeds;
import io.framecast.samples.network.Namespaces;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/// Hosts in network namespaces, on a bridge that floods multicast.
final class NamespaceNetwork implements ChaosNetwork {
    private static final Links LINKS = new Links(BenchNet.BRIDGE, 1500, 0);

    private final Networks networks;
    private final Network network;
    private final double loss;

    private NamespaceNetwork(final Networks networks, final Network network, final double loss) {
        this.networks = networks;
        this.network = network;
        this.loss = loss;
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
        final Networks networks = new Networks();
        try {
            final Network network = networks.get(new Networks.Key(LINKS, hosts - 1, true));
            final NamespaceNetwork made = new NamespaceNetwork(networks, network, loss);
            for (int host = 0; host < hosts; host++) {
                made.lose(host, loss);
            }
            return made;
        } catch (final IOException e) {
            networks.close();
            throw e;
        }
    }

    static String address(final int host) {
        return Network.address(host - 1);
    }

    @Override
    public String device(final int host) {
        return Namespaces.DEVICE;
    }

    @Override
    public List<String> within(final int host) {
        return network.host(host - 1).prefix();
    }

    @Override
    public void lose(final int host, final double share) throws IOException {
        network.lose(host - 1, share);
    }

    @Override
    public double loss() {
        return loss;
    }

    @Override
    public void plug(final int host, final boolean up) throws IOException {
        network.plug(host - 1, up);
    }

    @Override
    public Path carrier(final int host, final long pid) {
        return Path.of("/proc/" + pid + "/root/sys/class/net/" + Namespaces.DEVICE + "/carrier");
    }

    @Override
    public long dropped() throws IOException {
        return network.dropped();
    }

    @Override
    public List<String> leftovers() throws IOException {
        return networks.leftovers().stream()
                .map(name -> "network namespace " + name)
                .toList();
    }

    @Override
    public void close() {
        networks.close();
    }
}
