package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.error.NativeException;
import io.framecast.api.error.TransportException;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.DeviceAllocation;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Access;
import io.framecast.rdma.verbs.Context;
import io.framecast.rdma.verbs.Fabric;
import io.framecast.rdma.verbs.MemoryRegion;
import io.framecast.rdma.verbs.NeedsGcc;
import io.framecast.rdma.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Sharing, keeping and forgetting, on the stand-in.
@NeedsGcc
final class RegistrationCacheTest {
    private static final int ENOMEM = 12;

    private Fabric fabric;
    private Context context;
    private ProtectionDomain domain;
    private RegistrationCache cache;

    @BeforeEach
    void open() {
        fabric = Fabric.standIn();
        context = fabric.library().open(fabric.device(0));
        domain = context.protectionDomain();
        cache = new RegistrationCache(domain);
    }

    @AfterEach
    void close() {
        cache.close();
        assertEquals(0, domain.dependants());
        domain.close();
        context.close();
    }

    private MemoryRegion leased(final MemorySegment memory, final int access) {
        try (RegistrationCache.Lease lease = cache.lease(memory, access)) {
            return lease.region();
        }
    }

    @Test
    void shouldRegisterOnceWhatLiesWithinAndAllowsNoMore() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment memory = arena.allocate(4096);
            final MemoryRegion writable = leased(memory, Access.LOCAL_WRITE);
            assertSame(writable, leased(memory, Access.LOCAL_WRITE));
            assertSame(writable, leased(memory.asSlice(64, 128), Access.LOCAL_READ));
            assertEquals(2, cache.hits());
            assertEquals(1, cache.misses());
            try (RegistrationCache.Lease reached = cache.lease(memory, Access.LOCAL_WRITE | Access.REMOTE_WRITE)) {
                assertNotEquals(writable, reached.region());
            }
            final MemoryRegion part = leased(arena.allocate(64).asSlice(0, 32), Access.LOCAL_READ);
            assertNotEquals(writable, part);
            assertEquals(2, cache.hits());
            assertEquals(3, cache.misses());
            assertEquals(2, cache.registered());
        }
    }

    @Test
    void shouldKeepNothingUnusedThatPeersMayReach() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment memory = arena.allocate(4096);
            for (final int access : new int[] {Access.REMOTE_READ, Access.LOCAL_WRITE | Access.REMOTE_WRITE}) {
                try (RegistrationCache.Lease first = cache.lease(memory, access);
                        RegistrationCache.Lease second = cache.lease(memory, access)) {
                    assertSame(first.region(), second.region());
                    assertEquals(1, cache.registered());
                }
                assertEquals(0, cache.registered());
            }
        }
    }

    @Test
    void shouldRefuseWhoComesAfterItWasClosed() {
        try (Arena arena = Arena.ofConfined()) {
            cache.close();
            final MemorySegment memory = arena.allocate(4096);
            assertThrows(TransportException.class, () -> cache.lease(memory, Access.LOCAL_READ));
            assertEquals(0, domain.dependants());
        }
    }

    @Test
    void shouldForgetMemoryWhoseArenaWasClosed() {
        final MemoryRegion gone;
        final MemorySegment memory;
        try (Arena arena = Arena.ofConfined()) {
            memory = arena.allocate(4096);
            gone = leased(memory, Access.LOCAL_WRITE);
            assertTrue(gone.isOpen());
        }
        try (Arena arena = Arena.ofConfined()) {
            // The same address under another owner.
            final MemorySegment other =
                    MemorySegment.ofAddress(memory.address()).reinterpret(4096, arena, null);
            assertNotEquals(gone, leased(other, Access.LOCAL_WRITE));
            assertFalse(gone.isOpen());
            assertEquals(1, cache.registered());
            assertEquals(0, cache.hits());
        }
    }

    @Test
    void shouldForgetWithinSecondsWhatIsGoneWhereNobodyLeasesAnything() {
        final MemoryRegion gone;
        try (Arena kept = Arena.ofConfined()) {
            final MemoryRegion idle = leased(kept.allocate(4096), Access.LOCAL_READ);
            final RegistrationCache.Lease lease;
            try (Arena arena = Arena.ofConfined()) {
                gone = leased(arena.allocate(4096), Access.LOCAL_READ);
                lease = cache.lease(arena.allocate(8192), Access.LOCAL_READ);
                cache.look();
                assertEquals(3, cache.registered());
            }
            assertTrue(gone.isOpen());
            Wait.until("it to be forgotten", () -> {
                cache.look();
                return cache.registered() == 2;
            });
            assertFalse(gone.isOpen());
            assertTrue(idle.isOpen());
            // The caller of such a lease answers for the memory.
            assertTrue(lease.region().isOpen());
            lease.close();
            assertFalse(lease.region().isOpen());
            assertEquals(3, cache.misses());
        }
    }

    @Test
    void shouldForgetWhatIsGoneWhileLanesHaveNothingToDo() {
        final LaneRings rings = new LaneRings(8, 24, 64);
        try (Arena arena = Arena.ofShared();
                Transport sleeping = LaneRings.openTransport();
                Transport spinning = LaneRings.openTransport()) {
            final Lane source = rings.source(spinning, arena);
            final Lane receiver = rings.receiver(sleeping, arena, source);
            assertForgets(sleeping, receiver::armReady);
            assertForgets(spinning, source::completed);
        }
    }

    private static void assertForgets(final Transport transport, final Runnable idle) {
        final RegistrationCache registrations = ((VerbsTransport) transport).registrations();
        final int before = registrations.registered();
        try (Arena arena = Arena.ofConfined()) {
            registrations.lease(arena.allocate(4096), Access.LOCAL_READ).close();
            assertEquals(before + 1, registrations.registered());
        }
        Wait.until("it to be forgotten", () -> {
            idle.run();
            return registrations.registered() == before;
        });
    }

    @Test
    void shouldKeepTheMostRecentlyUsed() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment[] parts = new MemorySegment[RegistrationCache.IDLE_MAX + 1];
            final MemoryRegion[] regions = new MemoryRegion[parts.length];
            for (int i = 0; i < parts.length; i++) {
                parts[i] = arena.allocate(256);
                regions[i] = leased(parts[i], Access.LOCAL_READ);
                leased(parts[0], Access.LOCAL_READ);
            }
            assertTrue(regions[0].isOpen());
            assertFalse(regions[1].isOpen());
            assertTrue(regions[2].isOpen());
            assertEquals(RegistrationCache.IDLE_MAX, cache.registered());
        }
    }

    @Test
    void shouldKeepNothingWhoseEndNobodyTells() {
        final MemorySegment forever = Arena.global().allocate(256);
        assertFalse(leased(forever, Access.LOCAL_READ).isOpen());
        try (Arena arena = Arena.ofConfined()) {
            final DeviceRegion device =
                    DeviceRegion.ofDevice(arena.allocate(256).address(), 256);
            final RegistrationCache.Lease first = cache.lease(device, Access.LOCAL_WRITE);
            final RegistrationCache.Lease second = cache.lease(device, Access.LOCAL_WRITE);
            assertSame(first.region(), second.region());
            first.close();
            assertTrue(second.region().isOpen());
            second.close();
            assertFalse(second.region().isOpen());
        }
        assertEquals(0, cache.registered());
    }

    /// Of a device: one is not another, though it lies at the same address.
    private static final class Known implements DeviceAllocation {
        private boolean freed;

        @Override
        public boolean isAlive() {
            return !freed;
        }
    }

    @Test
    void shouldKeepDeviceMemoryWhoseAllocationIsKnownAndNeverTakeALaterOneForIt() {
        try (Arena arena = Arena.ofConfined()) {
            final DeviceRegion memory =
                    DeviceRegion.ofDevice(arena.allocate(4096).address(), 4096);
            final Known first = new Known();
            final RegistrationCache.Lease before = cache.lease(memory.of(first), Access.LOCAL_WRITE);
            before.close();
            assertTrue(before.region().isOpen());
            try (RegistrationCache.Lease again = cache.lease(memory.of(first), Access.LOCAL_WRITE)) {
                assertSame(before.region(), again.region());
            }
            try (RegistrationCache.Lease later = cache.lease(memory.of(new Known()), Access.LOCAL_WRITE)) {
                assertNotEquals(before.region(), later.region());
            }
            assertEquals(1, cache.hits());
            assertEquals(2, cache.misses());
            first.freed = true;
            Wait.until("it to be forgotten", () -> {
                cache.look();
                return cache.registered() == 1;
            });
            assertFalse(before.region().isOpen());
        }
    }

    @Test
    void shouldGiveUpWhatIsUnusedWhereThereIsNoRoom() {
        try (Arena arena = Arena.ofConfined()) {
            final MemoryRegion unused = leased(arena.allocate(4096), Access.LOCAL_READ);
            try (RegistrationCache.Lease used = cache.lease(arena.allocate(4096), Access.LOCAL_READ)) {
                fabric.fail("ibv_reg_mr", ENOMEM);
                try (RegistrationCache.Lease more = cache.lease(arena.allocate(4096), Access.LOCAL_READ)) {
                    assertFalse(unused.isOpen());
                    assertTrue(more.region().isOpen());
                    fabric.fail("ibv_reg_mr", ENOMEM);
                    final MemorySegment last = arena.allocate(4096);
                    assertThrows(NativeException.class, () -> cache.lease(last, Access.LOCAL_READ));
                    assertTrue(used.region().isOpen());
                }
            }
        }
    }

    @Test
    void shouldRegisterDeviceMemoryByItsAddressWhereNoDmaBufIsTaken() {
        final DeviceRegion exported = new DeviceRegion(1L << 62, 4096, 1, MemorySegment.NULL);
        final NativeException refusal =
                assertThrows(NativeException.class, () -> cache.lease(exported, Access.LOCAL_WRITE));
        assertEquals("ibv_reg_dmabuf_mr", refusal.function());
        assertTrue(refusal.getMessage().endsWith("takes no dma-buf; use nvidia-peermem, or staged placement"));
        fabric.set("knows_devices", 1);
        final List<String> notices = new ArrayList<>();
        final Channel channel = Channel.parse("framecast:verbs?group=239.77.5.6:4000|channel=rings");
        try (RegistrationCache.Lease lease = cache.lease(exported, Access.LOCAL_WRITE);
                Transport transport =
                        VerbsTransport.open(fabric.library(), new TransportConfig(channel, notices::add))) {
            assertFalse(lease.region().isDmaBuf());
            // It uses these.
            notices.clear();
            assertEquals(Optional.empty(), transport.canReceiveInto(exported));
            assertEquals(Optional.empty(), transport.canReceiveInto(exported));
            assertEquals(
                    List.of("verbs: standin0 writes into device memory, registered by address (nvidia-peermem)"),
                    notices);
        } finally {
            fabric.set("knows_devices", 0);
        }
        assertEquals(0, cache.registered());
    }

    @Test
    void shouldNotGuessWhereADmaBufIsTakenButNotThisOne() {
        fabric.set("takes_dma_buf", 1);
        fabric.set("knows_devices", 1);
        try {
            final DeviceRegion closed = new DeviceRegion(1L << 62, 4096, 1_000_000, MemorySegment.NULL);
            assertThrows(NativeException.class, () -> cache.lease(closed, Access.LOCAL_WRITE));
        } finally {
            fabric.set("takes_dma_buf", 0);
            fabric.set("knows_devices", 0);
        }
    }

    @Test
    void shouldRegisterTheWindowOfASourceOnce() {
        final LaneRings rings = new LaneRings(8, 24, 64);
        try (Arena arena = Arena.ofShared();
                Transport transport = LaneRings.openTransport()) {
            final SendRing window = rings.send(arena);
            final RegistrationCache registrations = ((VerbsTransport) transport).registrations();
            final Lane data = transport.open(new LaneConfig(LaneKind.DATA, LaneConfig.Role.SOURCE, window, null, null));
            assertEquals(2, registrations.misses());
            final Lane repair =
                    transport.open(new LaneConfig(LaneKind.REPAIR, LaneConfig.Role.SOURCE, window, null, null));
            assertEquals(2, registrations.misses());
            assertEquals(2, registrations.hits());
            assertEquals(2, transport.memoryRegistrations());
            assertEquals(2, transport.registrationHits());
            data.close();
            assertEquals(1, repair.multicast(0, 1));
            assertEquals(1, repair.completed());
        }
    }
}
