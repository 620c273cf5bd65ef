package io.framecast.samples.doctor;

import io.framecast.api.Channel;
import io.framecast.api.error.FramecastException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.provider.ProviderLookup;
import io.framecast.api.provider.ProviderLookup.NamedDevice;
import io.framecast.engine.memory.NumaPolicy;
import io.framecast.engine.node.HostPlace;
import io.framecast.engine.topology.Distance;
import io.framecast.engine.topology.Nic;
import io.framecast.engine.topology.NumaNode;
import io.framecast.engine.topology.PciPath;
import io.framecast.engine.topology.Topology;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The map of this host: NUMA nodes, GPUs, network interfaces, how far they are from each other; and the places that
/// a subscriber of a channel takes.
///
/// @param json of the same content
record TopologyMap(List<String> lines, Map<String, Object> json) {
    private static final String UNKNOWN = "-";

    /// A GPU, and where it is.
    ///
    /// @param path null where that is not known
    record Gpu(String name, String address, @Nullable PciPath path) {
        int node() {
            return path == null ? NumaNode.UNKNOWN : path.node();
        }
    }

    TopologyMap {
        lines = List.copyOf(lines);
    }

    /// This host's, with the choice for a channel.
    static TopologyMap ofHost(final Channel channel) {
        final Topology topology = Topology.ofHost();
        final TopologyMap map = of(topology, gpus(topology));
        final List<String> lines = new ArrayList<>(map.lines);
        final Map<String, Object> json = new LinkedHashMap<>(map.json);
        choose(channel, lines, json);
        return new TopologyMap(lines, json);
    }

    // Devices of providers that know their places, and GPUs that no provider has.
    private static List<Gpu> gpus(final Topology topology) {
        final List<Gpu> gpus = new ArrayList<>();
        for (final DeviceBackendProvider provider : ProviderLookup.devices()) {
            for (int i = 0; provider.unavailable().isEmpty() && i < provider.deviceCount(); i++) {
                final NamedDevice device = new NamedDevice(provider, i);
                device.pciAddress()
                        .map(PciPath::address)
                        .ifPresent(address -> gpus.add(new Gpu(device.name(), address, topology.function(address))));
            }
        }
        for (final PciPath path : topology.gpus()) {
            if (gpus.stream().noneMatch(gpu -> gpu.address().equals(path.address()))) {
                gpus.add(new Gpu("gpu", path.address(), path));
            }
        }
        return gpus;
    }

    static TopologyMap of(final Topology topology, final List<Gpu> gpus) {
        final List<NumaNode> nodes = topology.nodes();
        final List<Nic> nics = topology.nics();
        final List<List<String>> table = new ArrayList<>();
        final List<String> head = new ArrayList<>(List.of("", "place", "node", "link"));
        gpus.forEach(gpu -> head.add(gpu.name()));
        table.add(head);
        for (final Gpu gpu : gpus) {
            table.add(row(
                    gpu.name(),
                    gpu.address(),
                    gpu.node(),
                    "",
                    gpus,
                    gpu.path() == null ? List.of() : List.of(gpu.path())));
        }
        for (final Nic nic : nics) {
            table.add(row(nic.name(), place(nic), nic.node(), nic.isUp() ? "up" : "down", gpus, nic.functions()));
        }
        final List<String> lines = new ArrayList<>();
        for (final NumaNode node : nodes) {
            lines.add("NUMA node " + node.id() + ": CPUs " + (node.cpus().isEmpty() ? "none" : node.cpus()) + ", "
                    + (node.memoryBytes() >> 20) + " MiB");
        }
        if (nodes.isEmpty()) {
            lines.add("the system shows no NUMA nodes");
        }
        if (table.size() > 1) {
            lines.addAll(aligned(table));
        }
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("nodes", nodes.stream().map(TopologyMap::json).toList());
        json.put("gpus", gpus.stream().map(TopologyMap::json).toList());
        json.put("nics", nics.stream().map(nic -> json(nic, gpus)).toList());
        return new TopologyMap(lines, json);
    }

    private static String place(final Nic nic) {
        final String addresses = nic.functions().stream().map(PciPath::address).collect(Collectors.joining(", "));
        return Stream.of(nic.kind(), addresses, nic.rdmaDevice().equals(nic.name()) ? "" : nic.rdmaDevice())
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(", "));
    }

    private static List<String> row(
            final String name,
            final String place,
            final int node,
            final String link,
            final List<Gpu> gpus,
            final List<PciPath> functions) {
        final List<String> row = new ArrayList<>(List.of(name, place, node < 0 ? UNKNOWN : String.valueOf(node), link));
        final Nic from = new Nic(name, "", true, functions, "");
        gpus.forEach(gpu -> row.add(from.to(gpu.path()).word()));
        return row;
    }

    private static List<String> aligned(final List<List<String>> table) {
        final int columns = table.getFirst().size();
        final int[] widths = new int[columns];
        table.forEach(row -> {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        });
        return table.stream()
                .map(row -> {
                    final StringBuilder line = new StringBuilder();
                    for (int i = 0; i < columns; i++) {
                        line.append(row.get(i))
                                .repeat(" ", widths[i] - row.get(i).length() + 2);
                    }
                    return line.toString().stripTrailing();
                })
                .toList();
    }

    private static void choose(final Channel channel, final List<String> lines, final Map<String, Object> json) {
        final Map<String, Object> choice = new LinkedHashMap<>();
        final List<String> notices = new ArrayList<>();
        final List<String> reasons = new ArrayList<>();
        try (HostPlace place = HostPlace.of(channel, notices::add)) {
            final String network = NetworkSurvey.interfaceName(place.channel());
            final int node = place.memoryNode(network);
            reasons.add("device: " + place.deviceName() + place.deviceOrigin());
            reasons.addAll(place.reasons());
            if (place.reasons().stream().noneMatch(reason -> reason.startsWith("interface: "))) {
                reasons.add("interface: " + (network.isEmpty() ? "none" : network)
                        + (channel.link().networkInterface().isEmpty() ? ", by the route" : ", as the channel says"));
            }
            reasons.add("memory: "
                    + (node == NumaPolicy.ANY_NODE
                            ? "of any NUMA node"
                            : "of NUMA node " + node + place.memoryOrigin(network)));
            choice.put("device", place.deviceName());
            choice.put("interface", network);
            choice.put("leaders", channel.stream().sources().leaders().name().toLowerCase(Locale.ROOT));
            choice.put("memory_node", node);
        } catch (final FramecastException e) {
            reasons.add("nothing can be chosen: " + e.getMessage());
        }
        choice.put("why", reasons);
        json.put("choice", choice);
        lines.add("a subscriber of " + channel.name() + " takes");
        reasons.forEach(reason -> lines.add("  " + reason));
    }

    private static Map<String, Object> json(final NumaNode node) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("node", node.id());
        json.put("cpus", node.cpus());
        json.put("memory_bytes", node.memoryBytes());
        return json;
    }

    private static Map<String, Object> json(final Gpu gpu) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", gpu.name());
        json.put("pci", gpu.address());
        json.put("node", gpu.node());
        json.put("path", gpu.path() == null ? List.of() : gpu.path().elements());
        return json;
    }

    private static Map<String, Object> json(final Nic nic, final Collection<Gpu> gpus) {
        final Map<String, Object> distances = new LinkedHashMap<>();
        gpus.forEach(gpu -> {
            final Distance distance = nic.to(gpu.path());
            distances.put(gpu.name().equals("gpu") ? gpu.address() : gpu.name(), distance.word());
        });
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", nic.name());
        json.put("rdma", nic.rdmaDevice());
        json.put("kind", nic.kind());
        json.put("up", nic.isUp());
        json.put("node", nic.node());
        json.put("pci", nic.functions().stream().map(PciPath::address).toList());
        json.put("distances", distances);
        return json;
    }
}
