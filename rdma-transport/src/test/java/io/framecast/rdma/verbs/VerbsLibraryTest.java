package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.NativeException;
import io.framecast.api.error.TransportException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Loading, listing, opening and asking, on the stand-in.
final class VerbsLibraryTest {
    private StandIn standIn;
    private VerbsLibrary library;

    @BeforeEach
    void load() {
        standIn = StandIn.load();
        library = standIn.library();
    }

    @Test
    void shouldNameThePackageWhenThereIsNoLibrary() {
        final TransportException e = assertThrows(TransportException.class, () -> VerbsLibrary.load("libnowhere.so.1"));
        assertEquals(
                "verbs: no libnowhere.so.1 on this machine; install libibverbs1 and ibverbs-providers (Debian, Ubuntu)"
                        + " or libibverbs (Fedora, RHEL)",
                e.getMessage());
    }

    @Test
    void shouldNameTheFunctionThatALibraryLacks() {
        final TransportException e = assertThrows(TransportException.class, () -> VerbsLibrary.load("libc.so.6"));
        assertEquals(
                "verbs: the library lacks ibv_get_device_list; install libibverbs of rdma-core 44 or newer",
                e.getMessage());
    }

    @Test
    void shouldListDevices() {
        assertEquals(
                List.of(new Device("standin0", true), new Device("standin1", true), new Device("standin2", true)),
                library.devices());
        assertEquals(0, library.liveHandles());
    }

    @Test
    void shouldTellWhenTheKernelHasNoRdma() {
        standIn.fail("ibv_get_device_list", 38);
        final NativeException e = assertThrows(NativeException.class, library::devices);
        assertEquals(
                "ibv_get_device_list: errno 38, RDMA devices: the kernel has no RDMA; load ib_uverbs and the device's"
                        + " driver (modprobe)",
                e.getMessage());
    }

    @Test
    void shouldNameTheDevicesThereAreWhenOneIsNot() {
        final TransportException e = assertThrows(TransportException.class, () -> library.open("mlx5_7"));
        assertEquals("verbs: no device mlx5_7; there are standin0, standin1, standin2", e.getMessage());
    }

    @Test
    void shouldSayWhichFileWhenADeviceMayNotBeOpened() {
        standIn.fail("ibv_open_device", 13);
        final NativeException e = assertThrows(NativeException.class, () -> library.open("standin0"));
        assertEquals("ibv_open_device", e.function());
        assertEquals(13, e.errno());
        assertTrue(e.getMessage().endsWith("/dev/infiniband/uverbs*"), e.getMessage());
        assertEquals(0, library.liveHandles());
    }

    @Test
    void shouldReadWhatADeviceSays() {
        try (Context context = library.open("standin1")) {
            final DeviceAttributes attributes = context.attributes();
            assertEquals(new DeviceAttributes("stand-in 1", 1, 65536, 1 << 20, 64), attributes);
        }
    }

    @Test
    void shouldReadWhatAPortSays() {
        standIn.set("mtu", 1024);
        try (Context context = library.open("standin1")) {
            final PortAttributes port = context.port(1);
            assertTrue(port.isActive());
            assertEquals(PortAttributes.LinkLayer.ETHERNET, port.linkLayer());
            assertEquals(new PortAttributes.Mtu(1024, 4096), port.mtu());
            final NativeException e = assertThrows(NativeException.class, () -> context.port(2));
            assertEquals(
                    "ibv_query_port: errno 22, device standin1 port 2: no such port or table entry", e.getMessage());
        } finally {
            standIn.set("mtu", 4096);
        }
    }

    @Test
    void shouldReadTheGidTable() {
        try (Context context = library.open("standin1")) {
            final List<GidEntry> gids = context.gids(1);
            assertEquals(2, gids.size());
            assertEquals(
                    "fe80:0000:0000:0000:0000:00ff:fe00:0002",
                    gids.getFirst().gid().toString());
            assertTrue(gids.getFirst().gid().isLinkLocal());
            assertEquals("::ffff:10.77.0.2", gids.getLast().gid().toString());
            assertEquals(GidEntry.Type.ROCE_V2, gids.getLast().type());
            assertEquals(1, gids.getLast().index());
            assertEquals(1, gids.getLast().interfaceIndex());
            assertEquals(Optional.empty(), context.gid(1, 2));
            assertFalse(gids.getLast().gid().isMulticast());
        }
    }
}
