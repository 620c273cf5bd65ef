package io.framecast.engine.topology;

import io.framecast.api.provider.PseudoFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The parts of sysfs and procfs that say where things are on this host. A file that is missing or makes no sense
/// counts
/// as absent: nothing here throws.
///
/// Each call reads anew; an object may be used by any thread.
public final class Topology {
    private static final String NODES = "sys/devices/system/node";
    private static final String NETWORK = "sys/class/net";
    private static final String RDMA = "sys/class/infiniband";
    private static final String PCI = "sys/bus/pci/devices";
    private static final String LOWER = "lower_";
    private static final String DISPLAY_CLASS = "0x03";
    private static final String NVIDIA = "0x10de";
    private static final int LOOPBACK = 8;
    private static final int UP = 1;
    // A vlan on a bond of bonds; more is a loop.
    private static final int LEVELS_MAX = 4;

    private final Path root;

    private Topology(final Path root) {
        this.root = root;
    }

    /// This host's.
    public static Topology ofHost() {
        return new Topology(Path.of("/"));
    }

    /// @param root of a file system with `sys` and `proc`
    public static Topology at(final Path root) {
        return new Topology(root);
    }

    /// By number; none where the system shows none, which is as good as one.
    public List<NumaNode> nodes() {
        return names(NODES).stream()
                .filter(name -> name.matches("node\\d{1,5}"))
                .map(name -> Integer.parseInt(name.substring("node".length())))
                .sorted()
                .map(id -> new NumaNode(id, read(NODES + "/node" + id + "/cpulist"), memoryBytes(id)))
                .toList();
    }

    // Node 0 MemTotal:       24576000 kB
    private long memoryBytes(final int node) {
        return read(NODES + "/node" + node + "/meminfo")
                .lines()
                .filter(line -> line.contains("MemTotal:"))
                .map(line -> line.replaceAll("\\D*\\d+\\D+(\\d{1,15})\\s*kB.*", "$1"))
                .filter(number -> number.matches("\\d{1,15}"))
                .map(number -> Long.parseLong(number) << 10)
                .findFirst()
                .orElse(0L);
    }

    /// The node with most of the CPUs that this process may run on, of several the first; [NumaNode#UNKNOWN] where
    /// there are no nodes.
    public int cpuNode() {
        final BitSet allowed = NumaNode.cpus(read("proc/self/status")
                .lines()
                .filter(line -> line.startsWith("Cpus_allowed_list:"))
                .map(line -> line.substring("Cpus_allowed_list:".length()))
                .findFirst()
                .orElse(""));
        int most = 0;
        int node = NumaNode.UNKNOWN;
        for (final NumaNode candidate : nodes()) {
            final int count = candidate.count(allowed);
            if (count > most) {
                most = count;
                node = candidate.id();
            }
        }
        return node;
    }

    /// @param address as [PciPath#address] makes it
    /// @return null where the system shows no such function
    public @Nullable PciPath function(final String address) {
        return path(root.resolve(PCI).resolve(address));
    }

    /// The functions of NVIDIA's GPUs, by address.
    public List<PciPath> gpus() {
        final List<PciPath> gpus = new ArrayList<>();
        for (final String address : names(PCI)) {
            final String directory = PCI + "/" + address;
            final PciPath path = read(directory + "/class").startsWith(DISPLAY_CLASS)
                            && read(directory + "/vendor").equals(NVIDIA)
                    ? function(address)
                    : null;
            if (path != null) {
                gpus.add(path);
            }
        }
        return gpus;
    }

    /// The network interfaces by name, then RDMA devices without one.
    public List<Nic> nics() {
        final List<Nic> nics = new ArrayList<>();
        final List<String> rdma = names(RDMA);
        for (final String name : names(NETWORK)) {
            // Beside them lies a file of the driver of bonds.
            if (Files.isDirectory(root.resolve(NETWORK).resolve(name))) {
                nics.add(nic(name, rdma));
            }
        }
        for (final String device : rdma) {
            final PciPath path = path(root.resolve(RDMA).resolve(device).resolve("device"));
            if (path != null && nics.stream().noneMatch(nic -> nic.rdmaDevice().equals(device))) {
                nics.add(new Nic(device, device, true, List.of(path), "RDMA device without a network interface"));
            }
        }
        return nics;
    }

    /// The interface of that name.
    public Optional<Nic> nic(final String name) {
        return nics().stream()
                .filter(nic -> nic.name().equals(name) || nic.rdmaDevice().equals(name))
                .findFirst();
    }

    private Nic nic(final String name, final List<String> rdma) {
        final Path directory = root.resolve(NETWORK).resolve(name);
        final List<PciPath> functions = functions(directory, LEVELS_MAX);
        final long flags = flags(name);
        final List<String> lower = lower(directory);
        final String kind = (flags & LOOPBACK) != 0
                ? "loopback"
                : isBridge(directory)
                        ? "bridge"
                        : !lower.isEmpty() ? "on " + String.join(", ", lower) : functions.isEmpty() ? "virtual" : "";
        final String state = read(NETWORK + "/" + name + "/operstate");
        final boolean isUp = state.equals("up") || (!state.equals("down") && (flags & UP) != 0);
        final String device = rdma.stream()
                .filter(candidate -> {
                    final PciPath path =
                            path(root.resolve(RDMA).resolve(candidate).resolve("device"));
                    return path != null && lower.isEmpty() && functions.contains(path);
                })
                .findFirst()
                .orElse("");
        return new Nic(name, device, isUp, functions, kind);
    }

    private long flags(final String name) {
        final String flags = read(NETWORK + "/" + name + "/flags");
        return flags.matches("0x[0-9a-fA-F]{1,8}") ? Long.parseLong(flags.substring(2), 16) : 0;
    }

    private static boolean isBridge(final Path directory) {
        return Files.exists(directory.resolve("bridge"));
    }

    private static List<String> lower(final Path directory) {
        return names(directory).stream()
                .filter(name -> name.startsWith(LOWER))
                .map(name -> name.substring(LOWER.length()))
                .toList();
    }

    // A bridge forwards by any of its ports: it is nowhere.
    private List<PciPath> functions(final Path directory, final int levels) {
        final PciPath own = path(directory.resolve("device"));
        if (own != null) {
            return List.of(own);
        }
        final List<PciPath> functions = new ArrayList<>();
        if (levels > 0 && !isBridge(directory)) {
            for (final String name : lower(directory)) {
                functions.addAll(functions(root.resolve(NETWORK).resolve(name), levels - 1));
            }
        }
        return functions;
    }

    /// The interface nearest to a function; where several are equally near the first by name.
    ///
    /// @param usable whether a stream can be received by it
    /// @return empty where none has a place
    public Optional<Nic> nearest(final PciPath function, final Predicate<Nic> usable) {
        return nics().stream()
                .filter(nic -> !nic.functions().isEmpty() && usable.test(nic))
                .min(Comparator.comparing((Nic nic) -> nic.to(function))
                        .thenComparing(nic -> !nic.isUp())
                        .thenComparing(Nic::name));
    }

    // Where a link of sysfs leads.
    private @Nullable PciPath path(final Path link) {
        try {
            final PciPath path = PciPath.of(link.toRealPath());
            return path == null
                    ? null
                    : new PciPath(path.elements(), node(read(PCI + "/" + path.address() + "/numa_node")));
        } catch (final IOException _) {
            return null;
        }
    }

    // Firmware of hosts with one node often names none.
    private int node(final String text) {
        if (text.matches("\\d{1,5}")) {
            return Integer.parseInt(text);
        }
        final List<NumaNode> nodes = nodes();
        return nodes.size() == 1 ? nodes.getFirst().id() : NumaNode.UNKNOWN;
    }

    private String read(final String file) {
        return PseudoFiles.readOrEmpty(root.resolve(file));
    }

    private List<String> names(final String directory) {
        return names(root.resolve(directory));
    }

    private static List<String> names(final Path directory) {
        final String[] names = directory.toFile().list();
        if (names == null) {
            return List.of();
        }
        Arrays.sort(names);
        return List.of(names);
    }
}
