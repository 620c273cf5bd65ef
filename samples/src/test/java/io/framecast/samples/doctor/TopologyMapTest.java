package io.framecast.samples.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.engine.topology.PciPath;
import io.framecast.engine.topology.Topology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TopologyMapTest {
    @TempDir
    Path root;

    private void write(final String file, final String text) throws IOException {
        final Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    @Test
    void shouldPrintWhatIsNearToWhat() throws IOException {
        write("sys/devices/system/node/node0/cpulist", "0-3\n");
        write("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       1048576 kB\n");
        write("sys/devices/system/node/node1/cpulist", "\n");
        final String function = "sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0";
        write(function + "/numa_node", "0\n");
        write(function + "/net/eth0/operstate", "down\n");
        Files.createSymbolicLink(root.resolve(function + "/net/eth0/device"), Path.of("../.."));
        write("sys/class/net/lo/flags", "0x9\n");
        Files.createSymbolicLink(root.resolve("sys/class/net/eth0"), root.resolve(function + "/net/eth0"));
        Files.createDirectories(root.resolve("sys/bus/pci/devices"));
        Files.createSymbolicLink(root.resolve("sys/bus/pci/devices/0000:17:00.0"), root.resolve(function));
        final PciPath near = new PciPath(List.of("pci0000:16", "0000:16:04.0", "0000:19:00.0"), 0);
        final List<TopologyMap.Gpu> gpus = List.of(
                new TopologyMap.Gpu("cuda:0", "0000:19:00.0", near),
                new TopologyMap.Gpu("cuda:1", "0000:99:00.0", null));
        final TopologyMap map = TopologyMap.of(Topology.at(root), gpus);
        assertEquals("""
                NUMA node 0: CPUs 0-3, 1024 MiB
                NUMA node 1: CPUs none, 0 MiB
                        place         node  link  cuda:0  cuda:1
                cuda:0  0000:19:00.0  0           X       -
                cuda:1  0000:99:00.0  -           -       -
                eth0    0000:17:00.0  0     down  PHB     -
                lo      loopback      -     up    -       -
                """.strip(), String.join("\n", map.lines()));
        final List<?> nics = (List<?>) map.json().get("nics");
        assertEquals(Map.of("cuda:0", "PHB", "cuda:1", "-"), ((Map<?, ?>) nics.getFirst()).get("distances"));
    }

    @Test
    void shouldPrintThatThereIsNothing() {
        assertEquals(
                List.of("the system shows no NUMA nodes"),
                TopologyMap.of(Topology.at(root), List.of()).lines());
    }
}
