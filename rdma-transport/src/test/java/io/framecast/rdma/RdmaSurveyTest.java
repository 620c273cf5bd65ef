package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.rdma.RdmaSurvey.Finding;
import io.framecast.rdma.verbs.CmLibrary;
import io.framecast.rdma.verbs.Fabric;
import io.framecast.rdma.verbs.NeedsGcc;
import io.framecast.rdma.verbs.StandInCm;
import io.framecast.rdma.verbs.VerbsLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The survey of a machine, on the stand-in and made-up files of the kernel.
@NeedsGcc
final class RdmaSurveyTest {
    @TempDir
    private Path root;

    private Fabric fabric;

    @BeforeEach
    void load() {
        fabric = Fabric.standIn();
    }

    @AfterEach
    void restore() {
        fabric.set("devices", 3);
        fabric.set("iwarp", 0);
        fabric.set("subnet", 0);
        fabric.set("port_state", 4);
        fabric.set("mtu", 4096);
        fabric.set("takes_dma_buf", 0);
        assertEquals(0, fabric.library().liveHandles());
    }

    private void write(final String file, final String text) throws IOException {
        final Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private Finding find(final String beginning) {
        return RdmaSurvey.look(fabric::library, root).stream()
                .filter(finding -> finding.what().startsWith(beginning))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldLookAtTheRestWhenThereIsNoLibrary() throws IOException {
        write("proc/self/limits", "Max locked memory         8388608              8388608              bytes\n");
        write("proc/driver/nvidia/version", "NVRM version\n");
        final List<Finding> findings = RdmaSurvey.look(() -> VerbsLibrary.load("libnowhere.so.1"), root);
        assertEquals(
                List.of(
                        "no libibverbs: install libibverbs1 and ibverbs-providers (Debian, Ubuntu) or libibverbs (Fedora,"
                                + " RHEL)",
                        "locked memory: 8388608 bytes: LimitMEMLOCK=infinity in the unit, or `* - memlock unlimited` in"
                                + " /etc/security/limits.d and a new login",
                        "nvidia-peermem: not loaded: modprobe nvidia-peermem where devices take no dma-buf"),
                findings.stream().map(Finding::toString).toList());
        assertFalse(findings.getFirst().isGood());
    }

    @Test
    void shouldDescribeEachDeviceAndPort() {
        fabric.set("takes_dma_buf", 1);
        assertEquals(
                "device standin1: firmware stand-in 1, 1 port, 64 multicast groups",
                find("device standin1").toString());
        final Finding port = find("standin1 port 1");
        assertTrue(port.isGood(), port::toString);
        assertEquals(
                "standin1 port 1: ACTIVE, Ethernet (RoCE), MTU 4096 of 4096, GIDs 0"
                        + " fe80:0000:0000:0000:0000:00ff:fe00:0002 (roce_v2, lo), 1 ::ffff:10.77.0.2 (roce_v2, lo)",
                port.toString());
        assertTrue(find("device standin1: takes dma-buf").isGood());
    }

    @Test
    void shouldNameTheMendOfWhatIsMissing() {
        assertTrue(find("device standin0: takes no dma-buf").fix().contains("nvidia-peermem"));
        fabric.set("mtu", 1024);
        assertTrue(find("standin0 port 1").fix().contains("mtu 9000"));
        fabric.set("port_state", 1);
        assertTrue(find("standin0 port 1: DOWN").fix().contains("ip link set"));
        fabric.set("devices", 0);
        assertTrue(find("no RDMA device").fix().contains("rdma link add"));
        fabric.fail("ibv_get_device_list", 38);
        assertTrue(find("RDMA devices").fix().contains("modprobe"));
        fabric.set("devices", 1);
        fabric.fail("ibv_open_device", 13);
        assertTrue(find("device standin0").fix().contains("/dev/infiniband/uverbs"));
    }

    @Test
    void shouldNameWhatDoesInPlaceOfIwarp() {
        fabric.set("iwarp", 1);
        final Finding finding = find("device standin0: iWARP");
        assertFalse(finding.isGood());
        assertTrue(finding.fix().contains("framecast:udp"), finding::fix);
    }

    @Test
    void shouldLookForTheConnectionManagerOnlyOnInfiniBand() {
        final String name = "librdmacm";
        assertTrue(RdmaSurvey.look(fabric::library, root).stream()
                .noneMatch(finding -> finding.what().startsWith(name)));
        fabric.set("subnet", 1);
        try {
            System.setProperty(CmLibrary.PROPERTY, "libnowhere.so.1");
            assertTrue(find(name).fix().contains("install librdmacm1"));
            System.setProperty(CmLibrary.PROPERTY, StandInCm.load().path().toString());
            assertTrue(find(name).isGood());
        } finally {
            System.clearProperty(CmLibrary.PROPERTY);
        }
    }

    @Test
    void shouldReadTheLimitOfLockedMemory() throws IOException {
        assertTrue(find("locked memory: limit unknown").isGood());
        write("proc/self/limits", "Max locked memory         8388608              8388608              bytes\n");
        assertTrue(find("locked memory: 8388608 bytes").fix().startsWith("LimitMEMLOCK=infinity"));
        write("proc/self/status", "Name:\tjava\nCapEff:\t000001ffffffffff\n");
        assertTrue(find("locked memory: 8388608 bytes, lifted by CAP_IPC_LOCK").isGood());
        write("proc/self/limits", "Max locked memory         unlimited            unlimited            bytes\n");
        assertTrue(find("locked memory: unlimited").isGood());
    }

    @Test
    void shouldLookForPeerMemoryOnlyWhereThereIsAGpuDriver() throws IOException {
        assertTrue(find("nvidia-peermem: not needed").isGood());
        write("proc/driver/nvidia/version", "NVRM version\n");
        assertEquals(
                "nvidia-peermem: not loaded: modprobe nvidia-peermem where devices take no dma-buf",
                find("nvidia-peermem").toString());
        write("sys/module/nvidia_peermem/version", "1\n");
        assertTrue(find("nvidia-peermem: loaded").isGood());
    }
}
