package io.framecast.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.Channel;
import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.memory.NumaPolicy;
import io.framecast.engine.topology.FakeHost;
import io.framecast.engine.topology.Nic;
import io.framecast.engine.topology.Topology;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The choices of subscribers on a made-up host of two sockets, by [FakeHost#twoSockets].
final class HostPlaceTest {
    private static final List<String> GPUS = List.of(FakeHost.GPU_0, FakeHost.GPU_1, FakeHost.GPU_2, FakeHost.GPU_3);

    private final List<HostPlace> places = new ArrayList<>();
    // Members of one group see each other's devices, those of other tests must not.
    private final String group = UUID.randomUUID().toString();

    @TempDir
    Path root;

    /// Four GPUs that are never opened.
    private record Gpus(List<String> addresses) implements DeviceBackendProvider {
        @Override
        public String kind() {
            return "gpu";
        }

        @Override
        public Optional<String> unavailable() {
            return Optional.empty();
        }

        @Override
        public int rank() {
            return 300;
        }

        @Override
        public int deviceCount() {
            return addresses.size();
        }

        @Override
        public Optional<String> pciAddress(final int ordinal) {
            return Optional.of(addresses.get(ordinal));
        }

        @Override
        public DeviceBackend open(final int ordinal) {
            throw new DeviceException("no GPU");
        }
    }

    @BeforeEach
    void requireLinux() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
    }

    @AfterEach
    void close() {
        places.forEach(HostPlace::close);
    }

    private HostPlace place(final String keys) throws IOException {
        return place(keys, GPUS, Map.of());
    }

    private HostPlace place(final String keys, final List<String> gpus, final Map<String, String> environment) {
        return place(keys, gpus, environment, Topology.at(root));
    }

    private HostPlace place(
            final String keys,
            final List<String> gpus,
            final Map<String, String> environment,
            final Topology topology) {
        final Channel channel =
                Channel.parse("framecast:udp?group=224.20.30.39:24326|channel=" + group + "|host-group=auto" + keys);
        final Providers providers =
                new Providers(_ -> {}, List.of(), List.of(new Gpus(gpus), new HostProvider()), environment);
        final HostPlace place = HostPlace.of(channel, HostPlace.isGrouped(channel), providers, topology, Nic::isUp);
        places.add(place);
        return place;
    }

    @Test
    void shouldSpreadTheGpusOfAHostGroup() throws IOException {
        FakeHost.twoSockets(root);
        for (int i = 0; i < 8; i++) {
            final HostPlace place = place("");
            assertEquals("gpu:" + i % 4, place.deviceName());
            assertEquals(" (least used of the host group, others: " + i / 4 + ")", place.deviceOrigin());
        }
        // Two leave, and the next take their GPUs.
        places.get(2).close();
        places.get(6).close();
        places.get(1).close();
        assertEquals("gpu:2", place("").deviceName());
        assertEquals("gpu:1", place("").deviceName());
        assertEquals("gpu:2", place("").deviceName());
    }

    /// Other members named theirs, or a launcher did; one sees only two of the GPUs, with numbers of its own.
    @Test
    void shouldCountMembersThatHaveNoChoice() throws IOException {
        FakeHost.twoSockets(root);
        assertEquals("gpu:0", place("|device=gpu:0").deviceName());
        assertEquals("gpu:1", place("", GPUS, Map.of("LOCAL_RANK", "1")).deviceName());
        assertEquals("gpu:2", place("").deviceName());
        assertEquals(
                "gpu:1",
                place("", List.of(FakeHost.GPU_2, FakeHost.GPU_3), Map.of()).deviceName());
        assertEquals("gpu:0", place("").deviceName());
        assertEquals("gpu:0", place("", GPUS, Map.of("LOCAL_RANK", "0")).deviceName(), "a launcher has the last word");
        assertEquals("gpu:0", place("|delivery=evict=1s").deviceName(), "no member of a host group");
    }

    @ParameterizedTest
    @CsvSource({"0, eth0, PIX, 0", "1, eth0, PXB, 0", "2, eth1, PIX, 1", "3, eth1, PHB, 1"})
    void shouldReceiveByTheInterfaceNearestToItsGpu(
            final int gpu, final String nearest, final String distance, final int node) throws IOException {
        FakeHost.twoSockets(root);
        final HostPlace place = place("|leaders=nic|device=gpu:" + gpu);
        assertEquals(nearest, place.channel().link().networkInterface());
        assertEquals(
                List.of("interface: " + nearest + ", nearest to gpu:" + gpu + " (" + distance + ")"), place.reasons());
        assertEquals(node, place.memoryNode(nearest));
        assertEquals("", place.part());
    }

    @Test
    void shouldLeaveAnInterfaceThatTheChannelNames() throws IOException {
        FakeHost.twoSockets(root);
        final HostPlace place = place("|leaders=nic|device=gpu:0|interface=eth1");
        assertEquals("eth1", place.channel().link().networkInterface());
        assertEquals(List.of("interface: eth1, as the channel says"), place.reasons());
        assertEquals(1, place.memoryNode("eth1"), "frames land where the interface is");
    }

    @Test
    void shouldNameANearerInterfaceThatIsDown() throws IOException {
        final FakeHost host = FakeHost.twoSockets(root);
        host.gpu("pci0000:16/0000:16:02.0/0000:20:00.0", "0");
        final HostPlace place = place("|leaders=nic|device=gpu:0", List.of("0000:20:00.0"), Map.of());
        assertEquals(
                List.of(
                        "interface: eth0, nearest to gpu:0 (PHB); eth2 is nearer (PIX), but down or without an address"),
                place.reasons());
    }

    @Test
    void shouldTakeTheRouteWhereNothingIsKnown() throws IOException {
        FakeHost.twoSockets(root);
        final HostPlace host = place("|leaders=nic|device=host");
        assertEquals("", host.channel().link().networkInterface());
        assertTrue(host.reasons().getFirst().contains("the place of host is not known"), host.reasons()::toString);
        final HostPlace gone = place("|leaders=nic|device=gpu:0", List.of("0000:ee:00.0"), Map.of());
        assertTrue(gone.reasons().getFirst().contains("the place of gpu:0 is not known"), gone.reasons()::toString);
        assertEquals(1, gone.memoryNode("eth1"));
        assertEquals(NumaPolicy.ANY_NODE, gone.memoryNode("lo"));
    }

    @Test
    void shouldHaveALeaderForEachSocket() throws IOException {
        final FakeHost host = FakeHost.twoSockets(root);
        final HostPlace second = place("|leaders=socket|device=gpu:3");
        assertEquals("node1", second.part());
        assertEquals(1, second.memoryNode("eth0"), "followers read it on this socket");
        assertEquals(List.of("leader: one for NUMA node 1, that of gpu:3"), second.reasons());
        host.allow("4-5");
        assertEquals("node1", place("|leaders=socket|device=host").part());
        host.allow("0-7");
        assertEquals("node0", place("|leaders=socket|device=host").part());
        assertEquals("node0", place("|leaders=socket|device=gpu:0").part());
        assertEquals("", place("|device=gpu:3").part());
    }

    @Test
    void shouldPreferNoNodeWhereThereIsOne() throws IOException {
        final FakeHost host = new FakeHost(root);
        host.node(0, "0-1");
        host.allow("0-1");
        host.gpu("pci0000:00/0000:00:01.0/" + FakeHost.GPU_0, "-1");
        host.nic("eth0", "pci0000:00/0000:00:02.0/0000:02:00.0", "-1", "up");
        final HostPlace place = place("|leaders=nic", List.of(FakeHost.GPU_0), Map.of());
        assertEquals("eth0", place.channel().link().networkInterface());
        assertEquals(NumaPolicy.ANY_NODE, place.memoryNode("eth0"));
        assertEquals("node0", place("|leaders=socket").part());
    }

    @Test
    void shouldSayThatLeadersAreOfHostGroups() throws IOException {
        FakeHost.twoSockets(root);
        final HostPlace place = place("|leaders=nic|delivery=evict=1s|device=gpu:2");
        assertEquals("", place.channel().link().networkInterface());
        assertTrue(
                place.reasons().getFirst().startsWith("leaders: ignored without a host group"),
                place.reasons()::toString);
    }

    /// In a container, without any of that.
    @Test
    void shouldChooseWithoutSysfs() throws IOException {
        final HostPlace place = place("|leaders=socket", GPUS, Map.of(), Topology.at(root.resolve("none")));
        assertEquals("", place.part());
        assertEquals(NumaPolicy.ANY_NODE, place.memoryNode("eth0"));
        assertEquals(List.of("leader: one for the host, for it shows no NUMA nodes"), place.reasons());
    }
}
