package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneAddress;
import io.framecast.rdma.verbs.AddressHandle;
import io.framecast.rdma.verbs.AddressPath;
import io.framecast.rdma.verbs.Fabric;
import io.framecast.rdma.verbs.Gid;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Peers and ports, on the stand-in.
final class RdmaPeersTest {
    private static RdmaAddress address(final int host, final int queuePair) throws Exception {
        return new RdmaAddress(
                Gid.ofAddress(InetAddress.getByAddress(new byte[] {10, 77, 0, (byte) host})), 0, queuePair, 5);
    }

    private static RdmaPort port(final Fabric fabric) throws Exception {
        return RdmaPort.open(fabric.library(), InetAddress.getByName("239.1.1.1"), "", 0);
    }

    private static AddressHandle made(final RdmaPeers peers, final int peer) {
        final AddressHandleCache.Entry entry = peers.peer(peer).entry();
        Wait.until("a entry to be made", () -> entry.handle() != null);
        return entry.handle();
    }

    @Test
    void shouldShareAnAddressHandleUntilItsLastPeerIsGone() throws Exception {
        final Fabric fabric = Fabric.standIn();
        final RdmaPort port = port(fabric);
        try (AddressHandleCache handles = new AddressHandleCache(port, AddressPath.Hops.DEFAULT)) {
            final RdmaPeers peers = new RdmaPeers(handles);
            final RdmaPeers others = new RdmaPeers(handles);
            final int first = peers.add(address(2, 17));
            final int second = peers.add(address(2, 18));
            final int third = peers.add(address(3, 17));
            final int other = others.add(address(2, 17));
            final AddressHandle entry = made(peers, first);
            assertSame(entry, made(peers, second));
            assertSame(entry, made(others, other));
            assertNotSame(entry, made(peers, third));
            assertEquals(18, peers.peer(second).queuePair());
            peers.remove(first, 5);
            others.close();
            peers.settle(5);
            assertTrue(entry.isOpen());
            peers.remove(second, 7);
            peers.settle(6);
            assertTrue(entry.isOpen(), "a send may still need it");
            peers.settle(7);
            assertFalse(entry.isOpen());
            assertEquals(first, peers.add(address(2, 19)));
            assertTrue(made(peers, first).isOpen());
            peers.close();
            assertEquals(0, port.domain().dependants());
        }
        Wait.until("the port to close", () -> fabric.library().liveHandles() == 0);
    }

    @Test
    void shouldNotWaitForNeighboursThatNobodyAnswersFor() throws Exception {
        final Fabric fabric = Fabric.standIn();
        final RdmaPort port = port(fabric);
        fabric.set("ah_hangs", 1);
        try (AddressHandleCache handles = new AddressHandleCache(port, AddressPath.Hops.DEFAULT);
                RdmaPeers peers = new RdmaPeers(handles)) {
            final int[] bad = new int[20];
            for (int i = 0; i < bad.length; i++) {
                bad[i] = peers.add(address(100 + i, 17));
                assertNull(peers.peer(bad[i]).entry().handle());
            }
            for (final int peer : bad) {
                peers.remove(peer, 0);
            }
            peers.settle(0);
        } finally {
            assertTrue(port.context().isOpen(), "as long as a entry is being made");
            fabric.set("ah_hangs", 0);
        }
        Wait.until("the port to close", () -> fabric.library().liveHandles() == 0);
    }

    @Test
    void shouldTryAgainWhenAWayCouldNotBeMade() throws Exception {
        final Fabric fabric = Fabric.standIn();
        try (AddressHandleCache handles = new AddressHandleCache(port(fabric), AddressPath.Hops.DEFAULT);
                RdmaPeers peers = new RdmaPeers(handles)) {
            fabric.fail("ibv_create_ah", 110);
            AddressHandleCache.Entry entry = null;
            try {
                entry = peers.peer(peers.add(address(2, 17))).entry();
            } catch (final TransportException e) {
                assertTrue(e.getMessage().startsWith("ibv_create_ah: errno 110, "), e.getMessage());
            }
            if (entry != null) {
                Wait.until("the failure", entry::isFailed);
            }
            made(peers, peers.add(address(2, 17)));
        }
        Wait.until("the port to close", () -> fabric.library().liveHandles() == 0);
    }

    @Test
    void shouldRefuseAddressesThatAreNobodys() throws Exception {
        final RdmaAddress own = address(1, 17);
        address(2, 17).requireReachable(own);
        for (final String host : List.of("127.0.0.1", "0.1.2.3", "255.255.255.255", "fe80::1", "::1")) {
            final RdmaAddress bad = new RdmaAddress(Gid.ofAddress(InetAddress.getByName(host)), 0, 17, 5);
            assertThrows(TransportException.class, () -> bad.requireReachable(own), host);
        }
        final RdmaAddress elsewhere = new RdmaAddress(own.gid(), 4, 17, 5);
        assertThrows(TransportException.class, () -> elsewhere.requireReachable(own));
        assertThrows(TransportException.class, () -> own.requireReachable(elsewhere));
        elsewhere.requireReachable(elsewhere);
    }

    @Test
    void shouldReadBackAddressesOfBothKindsAndNoOthers() throws Exception {
        final RdmaAddress roce = address(2, 17);
        assertEquals(roce, RdmaAddress.decode(roce.toLaneAddress()));
        final RdmaAddress managed = new RdmaAddress(new Gid(0xfe80L << 48, 5), 0xbfff, 17, 5);
        assertEquals(managed, RdmaAddress.decode(managed.toLaneAddress()));
        for (final int lid : new int[] {0xc000, 0xffff}) {
            final RdmaAddress group = new RdmaAddress(managed.gid(), lid, 17, 5);
            assertThrows(TransportException.class, () -> RdmaAddress.decode(group.toLaneAddress()));
        }
        final byte[] bytes = managed.toLaneAddress().toBytes();
        bytes[bytes.length - 1] = 0;
        bytes[bytes.length - 2] = 0;
        assertThrows(TransportException.class, () -> RdmaAddress.decode(new LaneAddress(bytes)));
        for (int length = 1; length < bytes.length; length++) {
            final byte[] cut = java.util.Arrays.copyOf(bytes, length);
            assertThrows(TransportException.class, () -> RdmaAddress.decode(new LaneAddress(cut)));
        }
    }

    @Test
    void shouldSayWhyNoPortCanBeUsed() throws Exception {
        final Fabric fabric = Fabric.standIn();
        final InetAddress group = InetAddress.getByName("239.1.1.1");
        final ConfigException e =
                assertThrows(ConfigException.class, () -> RdmaPort.open(fabric.library(), group, "eth7", 0));
        assertEquals(
                "verbs: none of the devices [standin0, standin1, standin2] has an active port with an IPv4 address"
                        + " for interface=eth7; give its network interface one, or choose another",
                e.getMessage());
        assertEquals(0, fabric.library().liveHandles());
        try (RdmaPort port = RdmaPort.open(fabric.library(), group, "10.77.0.3", 1500)) {
            assertEquals("standin2", port.context().name());
            assertEquals(1448, port.datagramBytesMax());
        }
        try (RdmaPort port = RdmaPort.open(fabric.library(), InetAddress.getByName("ff12::5"), "", 0)) {
            assertTrue(port.gid().gid().isLinkLocal());
            assertEquals(4096, port.datagramBytesMax());
        }
    }

    @Test
    void shouldKnowAnAddressHoweverItIsWritten() throws Exception {
        final Fabric fabric = Fabric.standIn();
        final InetAddress group = InetAddress.getByName("ff12::5");
        for (final String written : List.of("fe80::ff:fe00:2", "FE80:0:0:0:0:ff:fe00:2")) {
            try (RdmaPort port = RdmaPort.open(fabric.library(), group, written, 0)) {
                assertEquals("standin1", port.context().name());
            }
        }
    }

    @Test
    void shouldTakeAnotherDeviceWhenOneCannotBeOpened() throws Exception {
        final Fabric fabric = Fabric.standIn();
        final InetAddress group = InetAddress.getByName("239.1.1.1");
        fabric.fail("ibv_open_device", 13);
        try (RdmaPort port = RdmaPort.open(fabric.library(), group, "", 0)) {
            assertEquals("standin1", port.context().name());
        }
        fabric.fail("ibv_open_device", 13);
        final TransportException e =
                assertThrows(TransportException.class, () -> RdmaPort.open(fabric.library(), group, "standin0", 0));
        assertTrue(e.getMessage().contains("/dev/infiniband"), e.getMessage());
        assertEquals(0, fabric.library().liveHandles());
    }
}
