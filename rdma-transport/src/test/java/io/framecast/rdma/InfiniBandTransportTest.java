package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportContract;
import io.framecast.rdma.verbs.CmLibrary;
import io.framecast.rdma.verbs.Fabric;
import io.framecast.rdma.verbs.NeedsGcc;
import io.framecast.rdma.verbs.StandInCm;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// [TransportContract] on an InfiniBand of stand-ins: nothing goes anywhere without the local identifiers
/// that a subnet manager gave. IP over InfiniBand is the loopback interface here.
@NeedsGcc
final class InfiniBandTransportTest extends TransportContract {
    private static final String GROUP = "framecast:verbs?group=239.77.5.5:4000|channel=contract|interface=";

    @TempDir
    private static Path networks;

    private static Fabric fabric;
    private static StandInCm manager;
    private int device;

    @BeforeAll
    static void goOnInfiniBand() throws Exception {
        fabric = Fabric.standIn();
        manager = StandInCm.load();
        final Path lo = networks.resolve("lo");
        for (final String name : fabric.devices()) {
            Files.createDirectories(lo.resolve("device/infiniband").resolve(name));
        }
        Files.writeString(lo.resolve("type"), "32\n");
        Files.writeString(lo.resolve("dev_port"), "0\n");
        System.setProperty(Ipoib.PROPERTY, networks.toString());
        System.setProperty(CmLibrary.PROPERTY, manager.path().toString());
        fabric.set("subnet", 1);
    }

    @AfterAll
    static void goBackToEthernet() {
        fabric.set("subnet", 0);
        System.clearProperty(Ipoib.PROPERTY);
        System.clearProperty(CmLibrary.PROPERTY);
        assertEquals(0, manager.live());
    }

    private Transport open(final String device) {
        return VerbsTransport.open(fabric.library(), new TransportConfig(Channel.parse(GROUP + device), _ -> {}));
    }

    @Override
    protected Transport openTransport() {
        return open(fabric.device(device++));
    }

    @Override
    protected boolean dropsAfterArrival() {
        return true;
    }

    @Test
    void shouldTellItsLocalIdentifier() {
        final LaneRings rings = new LaneRings(8, 32, 64);
        try (Arena arena = Arena.ofShared();
                Transport transport = open("standin1");
                Lane source = rings.source(transport, arena)) {
            final RdmaAddress address = RdmaAddress.decode(source.address());
            assertEquals(0x11, address.lid());
            assertTrue(address.gid().isLinkLocal());
            // As IP over InfiniBand, here of an interface of 65536 bytes, so in connected mode.
            assertEquals(2048, transport.capabilities().datagramBytesMax());
        }
    }

    @Test
    void shouldSayWhichGroupTheSubnetManagerGave() {
        final List<String> notices = new ArrayList<>();
        try (Transport transport = VerbsTransport.open(
                fabric.library(), new TransportConfig(Channel.parse(GROUP + "standin1"), notices::add))) {
            assertEquals(2048, transport.capabilities().datagramBytesMax());
        }
        assertEquals(1, notices.size(), notices::toString);
        final String notice = "verbs: standin1 port 1, GID 0 (InfiniBand, local identifier 17,"
                + " fe80:0000:0000:0000:0000:00ff:fe00:0002), MTU 2048, group ff1";
        assertTrue(notices.getFirst().startsWith(notice), notices::toString);
    }

    @Test
    void shouldLeaveNothingOpenWhenItCannotBeOpened() throws Exception {
        final int handles = fabric.library().liveHandles();
        final long joined = manager.live();
        shouldSayWhoRefusedTheGroup();
        shouldNeedAnInterfaceWithAnAddress();
        shouldNeedTheConnectionManagersLibrary();
        assertEquals(handles, fabric.library().liveHandles());
        assertEquals(joined, manager.live());
    }

    @Test
    void shouldSayWhoRefusedTheGroup() {
        manager.set("refuses", 13);
        try {
            final TransportException e = assertThrows(TransportException.class, () -> open("standin0"));
            assertTrue(e.getMessage().contains("rdma_join_multicast"), e.getMessage());
        } finally {
            manager.set("refuses", 0);
        }
    }

    @Test
    void shouldNeedAnInterfaceWithAnAddress() throws Exception {
        Files.writeString(networks.resolve("lo/type"), "1\n");
        try {
            final ConfigException e = assertThrows(ConfigException.class, () -> open("standin0"));
            assertTrue(e.getMessage().contains("has an active port with an IPv4 address"), e.getMessage());
        } finally {
            Files.writeString(networks.resolve("lo/type"), "32\n");
        }
    }

    @Test
    void shouldNeedTheConnectionManagersLibrary() {
        System.setProperty(CmLibrary.PROPERTY, "libnowhere.so.1");
        try {
            final String reason = new VerbsTransportProvider(fabric::library)
                    .unavailable(Channel.parse(GROUP + "standin0"))
                    .orElseThrow();
            assertTrue(reason.contains("librdmacm1"), reason);
        } finally {
            System.setProperty(CmLibrary.PROPERTY, manager.path().toString());
        }
    }

    @Test
    void shouldTakeTheGroupsMtuFromItsInterface() {
        assertEquals(2048, Ipoib.datagramBytes(2044));
        assertEquals(4096, Ipoib.datagramBytes(4092));
        assertEquals(1024, Ipoib.datagramBytes(1500));
        assertEquals(2048, Ipoib.datagramBytes(65_520));
        assertEquals(256, Ipoib.datagramBytes(68));
    }
}
