package io.framecast.perf.harness;

import io.framecast.api.error.ConfigException;
import io.framecast.samples.network.NamespaceNeeds;
import io.framecast.samples.network.NamespaceNeeds.Tool;
import io.framecast.samples.network.Namespaces;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The networks of a run, each made when it is first asked for.
public final class Networks implements AutoCloseable {
    private static final double TRIAL_LOSS = 0.5;

    private final Namespaces namespaces = new Namespaces();
    private final Map<Key, Network> networks = new HashMap<>();

    /// The shape of a network.
    ///
    /// @param offload whether the source's interface takes many datagrams at once
    public record Key(Links links, int receivers, boolean offload) {}

    /// Tries whether namespaces, filters and interfaces can be made here. Nothing is run where a tool or a privilege
    /// is missing.
    ///
    /// @return the reason when they cannot, and how to fix it; or empty
    public static String unavailable() {
        final String missing = NamespaceNeeds.missing(Tool.IP, Tool.TC, Tool.NFT, Tool.ETHTOOL);
        if (!missing.isEmpty()) {
            return missing;
        }
        try (Networks trial = new Networks()) {
            Namespaces.deleteAbandoned();
            trial.get(new Key(new Links(BenchNet.VETH, 1500, 0), 1, true)).set(TRIAL_LOSS, true, 1);
            return "";
        } catch (final IOException e) {
            return e.getMessage() + "; run as root, where the kernel has veth, bridges and nftables";
        }
    }

    /// @param asked for them, in front of the reason
    /// @throws ConfigException when namespaces, filters and interfaces cannot be made here
    public static void require(final String asked) {
        final String why = unavailable();
        if (!why.isEmpty()) {
            throw unmakeable(asked, why);
        }
    }

    /// The message where they cannot be made.
    public static ConfigException unmakeable(final String asked, final String why) {
        return new ConfigException(asked + "network namespaces cannot be made here: " + why);
    }

    /// The network of some links, whose source's interface takes many datagrams at once.
    ///
    /// @throws ConfigException when it cannot be made
    public Network get(final Links links, final int receivers) {
        try {
            return get(new Key(links, receivers, true));
        } catch (final IOException e) {
            throw new ConfigException("--net: " + e.getMessage(), e);
        }
    }

    /// @throws IOException when the network cannot be made; the message is one line
    public synchronized Network get(final Key key) throws IOException {
        if (!key.links().areOfHosts()) {
            return Network.LOOPBACK;
        }
        final Network known = networks.get(key);
        if (known != null) {
            return known;
        }
        final Network made = Network.make(namespaces, Integer.toString(networks.size()), key);
        networks.put(key, made);
        return made;
    }

    /// The namespaces of this run that exist; none after [#close].
    public List<String> leftovers() throws IOException {
        return namespaces.leftovers();
    }

    @Override
    public void close() {
        namespaces.close();
    }
}
