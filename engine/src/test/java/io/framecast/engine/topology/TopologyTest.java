package io.framecast.engine.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Reads made-up hosts.
final class TopologyTest {
    @TempDir
    Path root;

    private static PciPath function(final Topology topology, final String address) {
        return Objects.requireNonNull(topology.function(address), address);
    }

    private Nic nic(final Topology topology, final String name) {
        return topology.nic(name).orElseThrow(() -> new AssertionError(name + " of " + topology.nics()));
    }

    @Test
    void shouldReadNodesAndGpus() throws IOException {
        final Topology topology = FakeHost.twoSockets(root).topology();
        assertEquals(List.of(new NumaNode(0, "0-3", 16L << 30), new NumaNode(1, "4-7", 16L << 30)), topology.nodes());
        assertEquals(
                List.of(FakeHost.GPU_0, FakeHost.GPU_1, FakeHost.GPU_2, FakeHost.GPU_3),
                topology.gpus().stream().map(PciPath::address).toList());
        assertEquals(
                List.of("pci0000:16", "0000:16:00.0", "0000:17:00.0", "0000:18:00.0", FakeHost.GPU_0),
                topology.gpus().getFirst().elements());
        assertEquals(1, function(topology, FakeHost.GPU_3).node());
        assertNull(topology.function("0000:ff:00.0"));
    }

    @ParameterizedTest
    @CsvSource({
        "0000:19:00.0, 0000:19:00.0, X",
        "0000:19:00.0, 0000:1a:00.0, PIX",
        "0000:19:00.0, 0000:1d:00.0, PXB",
        "0000:1d:00.0, 0000:1a:00.0, PXB",
        "0000:19:00.0, 0000:1f:00.0, PHB",
        "0000:b1:00.0, 0000:c1:00.0, PHB",
        "0000:19:00.0, 0000:b1:00.0, SYS",
    })
    void shouldMeasureDistancesAsNvidiaSmiDoes(final String one, final String other, final Distance distance)
            throws IOException {
        final Topology topology = FakeHost.twoSockets(root).topology();
        assertEquals(distance, Distance.between(function(topology, one), function(topology, other)));
        assertEquals(distance, Distance.between(function(topology, other), function(topology, one)));
    }

    @Test
    void shouldKnowTwoHostBridgesOfOneNode() throws IOException {
        final FakeHost host = FakeHost.twoSockets(root);
        host.nic("eth5", "pci0000:40/0000:40:01.0/0000:41:00.0", "0", "up");
        final Topology topology = host.topology();
        assertEquals(Distance.NODE, nic(topology, "eth5").to(function(topology, FakeHost.GPU_0)));
        assertEquals(Distance.SYS, nic(topology, "eth5").to(function(topology, FakeHost.GPU_2)));
    }

    @ParameterizedTest
    @CsvSource({"0000:19:00.0, eth0", "0000:1d:00.0, eth0", "0000:b1:00.0, eth1", "0000:c1:00.0, eth1"})
    void shouldFindTheNearestInterface(final String gpu, final String nearest) throws IOException {
        final Topology topology = FakeHost.twoSockets(root).topology();
        assertEquals(
                nearest,
                topology.nearest(function(topology, gpu), _ -> true)
                        .orElseThrow()
                        .name());
    }

    /// Of those equally near the one that is up, then the first by name.
    @Test
    void shouldPreferALinkThatIsUp() throws IOException {
        final FakeHost host = new FakeHost(root);
        host.node(0, "0-1");
        host.gpu("pci0000:00/0000:00:01.0/0000:01:00.0", "-1");
        host.nic("a0", "pci0000:00/0000:00:02.0/0000:02:00.0", "-1", "down");
        host.nic("c0", "pci0000:00/0000:00:03.0/0000:03:00.0", "-1", "up");
        host.nic("b0", "pci0000:00/0000:00:04.0/0000:04:00.0", "-1", "up");
        final Topology topology = host.topology();
        final PciPath gpu = function(topology, "0000:01:00.0");
        assertEquals("b0", topology.nearest(gpu, _ -> true).orElseThrow().name());
        assertEquals(
                "a0", topology.nearest(gpu, nic -> !nic.isUp()).orElseThrow().name());
        assertTrue(topology.nearest(gpu, _ -> false).isEmpty());
    }

    /// Firmware of one-socket hosts names no node.
    @Test
    void shouldTakeTheOnlyNode() throws IOException {
        final FakeHost host = new FakeHost(root);
        host.node(0, "0-1");
        host.allow("0-1");
        host.gpu("pci0000:00/0000:00:01.0/0000:01:00.0", "-1");
        host.nic("eth0", "pci0000:80/0000:80:02.0/0000:81:00.0", "-1", "up");
        final Topology topology = host.topology();
        assertEquals(0, function(topology, "0000:01:00.0").node());
        assertEquals(Distance.NODE, nic(topology, "eth0").to(function(topology, "0000:01:00.0")));
        assertEquals(0, topology.cpuNode());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {"0-7; 0", "4-7; 1", "3,4-6; 1", "0-3,7; 0", "9; -1", "junk; -1"})
    void shouldFindTheNodeOfTheCpusThatTheProcessMayRunOn(final String cpus, final int node) throws IOException {
        final FakeHost host = FakeHost.twoSockets(root);
        host.allow(cpus);
        assertEquals(node, host.topology().cpuNode());
    }

    @Test
    void shouldPlaceBondsAndVlansByWhatTheyStandOn() throws IOException {
        final FakeHost host = FakeHost.twoSockets(root);
        host.virtual("bond0", "0x1443", "up");
        host.lower("bond0", "eth0");
        host.lower("bond0", "eth1");
        host.virtual("vlan7", "0x1003", "up");
        host.lower("vlan7", "eth0");
        host.virtual("vlan8", "0x1003", "up");
        host.lower("vlan8", "bond0");
        host.bridge("br0");
        host.lower("br0", "eth0");
        host.virtual("veth0", "0x1003", "up");
        final Topology topology = host.topology();
        final PciPath gpu = function(topology, FakeHost.GPU_2);
        assertEquals(Distance.PIX, nic(topology, "bond0").to(gpu));
        assertEquals("on eth0, eth1", nic(topology, "bond0").kind());
        assertEquals(NumaNode.UNKNOWN, nic(topology, "bond0").node());
        assertEquals(Distance.SYS, nic(topology, "vlan7").to(gpu));
        assertEquals(0, nic(topology, "vlan7").node());
        assertEquals(Distance.PIX, nic(topology, "vlan8").to(gpu));
        assertEquals(Distance.NONE, nic(topology, "br0").to(gpu));
        assertEquals("bridge", nic(topology, "br0").kind());
        assertEquals("virtual", nic(topology, "veth0").kind());
        assertEquals("loopback", nic(topology, "lo").kind());
        assertTrue(nic(topology, "lo").isUp());
        assertEquals("mlx5_0", nic(topology, "eth0").rdmaDevice());
        assertEquals("eth0", nic(topology, "mlx5_0").name());
        assertEquals("", nic(topology, "vlan7").rdmaDevice());
    }

    @Test
    void shouldEndWhereInterfacesStandOnEachOther() throws IOException {
        final FakeHost host = new FakeHost(root);
        host.virtual("a", "0x1003", "up");
        host.virtual("b", "0x1003", "up");
        host.lower("a", "b");
        host.lower("b", "a");
        assertEquals(List.of(), host.topology().nic("a").orElseThrow().functions());
    }

    @Test
    void shouldSeeNothingInAContainerWithoutPci() throws IOException {
        final FakeHost host = new FakeHost(root);
        host.virtual("eth0", "0x1003", "up");
        final Topology topology = host.topology();
        assertEquals(List.of(), topology.nodes());
        assertEquals(List.of(), topology.gpus());
        assertEquals(NumaNode.UNKNOWN, topology.cpuNode());
        assertNull(topology.function(FakeHost.GPU_0));
        assertEquals(List.of(new Nic("eth0", "", true, List.of(), "virtual")), topology.nics());
        assertEquals(List.of(), Topology.at(root.resolve("none")).nics());
    }

    @Test
    void shouldReadPastBrokenFiles() throws IOException {
        final FakeHost host = FakeHost.twoSockets(root);
        host.write("sys/devices/system/node/node0/cpulist", "3-1,x,,99999999-4,-");
        Files.write(root.resolve("sys/devices/system/node/node1/meminfo"), new byte[] {(byte) 0xff, 0, 'M'});
        host.write("sys/devices/system/node/nodex/cpulist", "0");
        host.write("sys/bus/pci/devices/rubbish", "no directory");
        host.gpu("pci0000:16/0000:16:05.0/0000:20:00.0", "many");
        host.gpu("odd/0000:21:00.0", "0");
        host.virtual("torn", "zero", "");
        Files.delete(root.resolve("sys/class/net/eth1"));
        Files.createSymbolicLink(root.resolve("sys/class/net/eth1"), Path.of("nowhere"));
        host.write("sys/class/net/bonding_masters", "bond0");
        final Topology topology = host.topology();
        assertEquals(2, topology.nodes().size());
        assertEquals(0, topology.nodes().get(1).memoryBytes());
        assertEquals(1, topology.cpuNode(), "node 0 has no CPU that can be read");
        assertEquals(5, topology.gpus().size());
        assertEquals(NumaNode.UNKNOWN, function(topology, "0000:20:00.0").node());
        assertNull(topology.function("0000:21:00.0"));
        assertNull(topology.function("rubbish"));
        assertTrue(topology.nic("eth1").isEmpty());
        assertTrue(topology.nic("bonding_masters").isEmpty());
        assertEquals(false, nic(topology, "torn").isUp());
        assertNotNull(topology.function(FakeHost.GPU_0));
    }

    @ParameterizedTest
    @CsvSource({
        "0000:3b:00.0, 0000:3b:00.0",
        "0000:3B:00.0, 0000:3b:00.0",
        "00000000:3B:00.1, 0000:3b:00.1",
        "00010000:E1:00.0, 00010000:e1:00.0",
        "0000:3b:00, 0000:3b:00.0",
    })
    void shouldReadAddressesAsDriversWriteThem(final String text, final String address) {
        // A domain beyond 16 bits has as many digits as it needs.
        assertEquals(address.replace("00010000", "10000"), PciPath.address(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "gpu0", "3b:00.0", "0000:3b:00.9", "../0000:3b:00.0"})
    void shouldRefuseOtherText(final String text) {
        assertNull(PciPath.address(text));
    }

    /// This machine, whatever it is.
    @Test
    void shouldReadThisHost() {
        final Topology topology = Topology.ofHost();
        assertTrue(topology.nics().stream().anyMatch(nic -> nic.kind().equals("loopback"))
                || topology.nics().isEmpty());
        topology.nodes().forEach(node -> assertTrue(node.id() >= 0));
        topology.gpus().forEach(gpu -> assertEquals(gpu.address(), PciPath.address(gpu.address())));
    }
}
