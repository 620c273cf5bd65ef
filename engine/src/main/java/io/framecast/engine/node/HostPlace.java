package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.SourceOptions.Leaders;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.engine.hostgroup.HostGroups;
import io.framecast.engine.memory.NumaPolicy;
import io.framecast.engine.net.LocalInterface;
import io.framecast.engine.topology.Distance;
import io.framecast.engine.topology.Nic;
import io.framecast.engine.topology.NumaNode;
import io.framecast.engine.topology.PciPath;
import io.framecast.engine.topology.Topology;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// The place of a subscriber on this host: its device, its interface, its host group, and the NUMA node of its memory.
/// Chosen before anything is opened.
///
/// Until it is closed, the other members of a host group count the device as used. One thread makes it, any closes it.
public final class HostPlace implements AutoCloseable {
    private static final String WHOLE_HOST = "";

    private final Topology topology;
    private final Providers.Choice choice;
    private final @Nullable PciPath function;
    private final Channel channel;
    private final int part;
    private final List<String> reasons = new ArrayList<>();

    private HostPlace(
            final Channel wanted,
            final boolean grouped,
            final Providers providers,
            final Topology topology,
            final Predicate<Nic> usable) {
        this.topology = topology;
        choice = providers.choose(wanted.stream().device(), grouped ? wanted : null);
        function = choice.device()
                .pciAddress()
                .map(PciPath::address)
                .map(topology::function)
                .orElse(null);
        final Leaders leaders = wanted.stream().sources().leaders();
        if (!grouped && leaders != Leaders.HOST) {
            reasons.add("leaders: ignored without a host group, which needs host-group=, no delivery=evict, one source"
                    + " and join=frame");
        }
        channel = grouped && leaders == Leaders.NIC && wanted instanceof Channel.Multicast multicast
                ? nearest(multicast, usable)
                : wanted;
        part = grouped && leaders == Leaders.SOCKET ? socket() : NumaNode.UNKNOWN;
    }

    /// @param wanted with a transport other than `auto`
    static HostPlace of(
            final Channel wanted, final boolean grouped, final Providers providers, final Topology topology) {
        final InetAddress peer = wanted instanceof Channel.Multicast multicast
                ? multicast.group().address()
                : null;
        return of(
                wanted, grouped, providers, topology, nic -> peer != null && LocalInterface.isUsable(nic.name(), peer));
    }

    static HostPlace of(
            final Channel wanted,
            final boolean grouped,
            final Providers providers,
            final Topology topology,
            final Predicate<Nic> usable) {
        return new HostPlace(wanted, grouped, providers, topology, usable);
    }

    /// The choice of a subscriber of this channel that started on this host now.
    ///
    /// @param notices takes a line on a device that `auto` took
    /// @throws io.framecast.api.error.ConfigException when there is no such device or transport
    public static HostPlace of(final Channel wanted, final Consumer<String> notices) {
        final Providers providers = Providers.found(notices);
        final Channel channel = providers.resolve(wanted);
        return of(channel, isGrouped(channel), providers, Topology.ofHost());
    }

    /// Whether subscribers of a resolved channel share a leader.
    static boolean isGrouped(final Channel channel) {
        return HostGroups.isWanted(channel);
    }

    private Channel nearest(final Channel.Multicast wanted, final Predicate<Nic> usable) {
        final String own = wanted.link().networkInterface();
        if (!own.isEmpty()) {
            reasons.add("interface: " + own + ", as the channel says");
            return wanted;
        }
        if (function == null) {
            reasons.add("interface: the route's, for the place of " + device() + " is not known; interface= names one");
            return wanted;
        }
        final Optional<Nic> found = topology.nearest(function, usable);
        if (found.isEmpty()) {
            reasons.add(
                    "interface: the route's, for no interface on PCI is up and has an address of the group's family");
            return wanted;
        }
        final Distance distance = found.get().to(function);
        final Optional<Nic> nearer = topology.nearest(function, _ -> true)
                .filter(nic -> nic.to(function).compareTo(distance) < 0);
        reasons.add("interface: " + found.get().name() + ", nearest to " + device() + " (" + distance + ")"
                + nearer.map(nic -> "; " + nic.name() + " is nearer (" + nic.to(function)
                                + "), but down or without an address")
                        .orElse(""));
        return new Channel.Multicast(
                wanted.transport(),
                wanted.group(),
                wanted.name(),
                wanted.link().withNetworkInterface(found.get().name()),
                wanted.stream());
    }

    private int socket() {
        final int own = function == null ? NumaNode.UNKNOWN : function.node();
        final boolean placed = own != NumaNode.UNKNOWN;
        final int node = placed ? own : topology.cpuNode();
        reasons.add(
                node == NumaNode.UNKNOWN
                        ? "leader: one for the host, for it shows no NUMA nodes"
                        : "leader: one for NUMA node " + node + ", that of "
                                + (placed ? device() : "the CPUs of this process"));
        return node;
    }

    private String device() {
        return choice.device().name();
    }

    /// The channel, with the chosen interface.
    public Channel channel() {
        return channel;
    }

    /// The chosen device: `cuda:1`, `host`.
    public String deviceName() {
        return device();
    }

    /// Why this device, as the end of a sentence; may be empty.
    public String deviceOrigin() {
        return choice.origin();
    }

    /// Opens the chosen device, which is the caller's.
    DeviceBackend openDevice() {
        return choice.device().open();
    }

    /// The part of the host that a leader is for; empty for all of it.
    String part() {
        return part == NumaNode.UNKNOWN ? WHOLE_HOST : "node" + part;
    }

    /// The NUMA node that a subscriber lands frames in, or [NumaPolicy#ANY_NODE]: its part's, else its
    /// interface's, else its device's.
    ///
    /// @param networkInterface by which it receives; empty where that is not known
    public int memoryNode(final String networkInterface) {
        if (topology.nodes().size() < 2) {
            return NumaPolicy.ANY_NODE;
        }
        if (part != NumaNode.UNKNOWN) {
            return part;
        }
        final int node = memoryNode(topology, networkInterface);
        return node != NumaPolicy.ANY_NODE || function == null ? node : function.node();
    }

    /// Why that node, as the end of a sentence.
    public String memoryOrigin(final String networkInterface) {
        return part != NumaNode.UNKNOWN
                ? ", the leader's"
                : ", that of "
                        + (memoryNode(topology, networkInterface) == NumaPolicy.ANY_NODE ? device() : networkInterface);
    }

    /// The NUMA node of an interface, or [NumaPolicy#ANY_NODE], also on a host with one node.
    static int memoryNode(final Topology topology, final String networkInterface) {
        return networkInterface.isEmpty() || topology.nodes().size() < 2
                ? NumaPolicy.ANY_NODE
                : topology.nic(networkInterface).map(Nic::node).orElse(NumaPolicy.ANY_NODE);
    }

    /// Why interface and leader are these, a line each; none where the channel leaves no choice.
    public List<String> reasons() {
        return List.copyOf(reasons);
    }

    @Override
    public void close() {
        CloseHelper.close(choice.use());
    }
}
