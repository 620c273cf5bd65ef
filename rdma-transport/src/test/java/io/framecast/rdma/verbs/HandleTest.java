package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.NativeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Life and death of handles, on the stand-in: order, use after closing, failures, and that nothing stays
/// behind.
final class HandleTest {
    private static final int EIO = 5;
    private static final int ENODEV = 19;
    private static final QueuePairConfig.Limits LIMITS = new QueuePairConfig.Limits(4, 4, 1, 1, 0);

    private StandIn standIn;
    private VerbsLibrary library;
    private long nativeBefore;

    @BeforeEach
    void load() {
        standIn = StandIn.load();
        library = standIn.library();
        nativeBefore = standIn.count("live");
    }

    private void assertNothingLeft() {
        assertEquals(0, library.liveHandles());
        assertEquals(nativeBefore, standIn.count("live"));
    }

    @Test
    void shouldRefuseToCloseWhatIsInUse() {
        final Context context = library.open("standin0");
        final ProtectionDomain domain = context.protectionDomain();
        final CompletionChannel channel = context.completionChannel();
        final CompletionQueue completions = context.completionQueue(8, channel);
        final QueuePair queuePair =
                domain.queuePair(new QueuePairConfig(QueuePairConfig.Service.UD, completions, LIMITS));
        assertEquals(5, library.liveHandles());
        assertEquals(nativeBefore + 5, standIn.count("live"));
        assertRefused(context, "protection domain on standin0, completion channel on standin0, completion queue of 8");
        assertRefused(domain, "UD queue pair " + queuePair.number() + " on standin0");
        assertRefused(completions, "UD queue pair " + queuePair.number() + " on standin0");
        assertRefused(channel, "completion queue of 8 on standin0");
        assertTrue(channel.isOpen());
        for (final Handle handle : new Handle[] {queuePair, completions, channel, domain, context}) {
            assertEquals(0, handle.dependants());
            handle.close();
            handle.close();
            assertFalse(handle.isOpen());
        }
        assertNothingLeft();
    }

    private static void assertRefused(final Handle handle, final String dependants) {
        final String message =
                assertThrows(IllegalStateException.class, handle::close).getMessage();
        assertTrue(message.startsWith("verbs: " + handle + " cannot be closed before " + dependants), message);
    }

    @Test
    void shouldTellWhenAClosedHandleIsUsed() {
        try (Arena arena = Arena.ofConfined();
                Context context = library.open("standin0");
                ProtectionDomain domain = context.protectionDomain()) {
            final CompletionQueue completions = context.completionQueue(8, null);
            final QueuePair queuePair =
                    domain.queuePair(new QueuePairConfig(QueuePairConfig.Service.UD, completions, LIMITS));
            queuePair.close();
            completions.close();
            final ReceiveRequests receives = new ReceiveRequests(arena, 4, 1);
            final SendRequests sends = new SendRequests(arena, 4, 1);
            final WorkCompletions batch = new WorkCompletions(arena, 4);
            final String closed = "verbs: UD queue pair " + queuePair.number() + " on standin0 is closed";
            assertClosed(closed, () -> receives.post(queuePair, 0, 1));
            assertClosed(closed, () -> sends.post(queuePair, 0, 1));
            assertClosed(closed, () -> queuePair.startDatagrams(1, 0, 0));
            assertClosed(closed, queuePair::state);
            assertClosed(closed, queuePair::fail);
            assertClosed(closed, () -> queuePair.attach(new Gid(0xff0eL << 48, 1), 0));
            assertClosed("verbs: completion queue of 8 on standin0 is closed", () -> completions.poll(batch));
            assertClosed("verbs: completion queue of 8 on standin0 is closed", () -> completions.arm());
            assertClosed(
                    "verbs: completion queue of 8 on standin0 is closed",
                    () -> domain.queuePair(new QueuePairConfig(QueuePairConfig.Service.UD, completions, LIMITS)));
        }
        assertNothingLeft();
    }

    private static void assertClosed(final String message, final org.junit.jupiter.api.function.Executable use) {
        assertEquals(message, assertThrows(IllegalStateException.class, use).getMessage());
    }

    @Test
    void shouldTellWhenTheMemoryOfABatchIsGone() {
        try (Context context = library.open("standin0");
                CompletionQueue completions = context.completionQueue(8, null)) {
            final WorkCompletions batch;
            try (Arena arena = Arena.ofConfined()) {
                batch = new WorkCompletions(arena, 4);
                assertEquals(0, completions.poll(batch));
            }
            assertThrows(IllegalStateException.class, () -> completions.poll(batch));
        }
    }

    @Test
    void shouldStayOpenWhenTheLibraryRefusesToClose() {
        try (Context context = library.open("standin0");
                ProtectionDomain domain = context.protectionDomain();
                Arena arena = Arena.ofConfined()) {
            final MemoryRegion region = domain.register(arena.allocate(64), Access.LOCAL_READ);
            standIn.fail("ibv_dereg_mr", 16);
            final NativeException e = assertThrows(NativeException.class, region::close);
            assertEquals(
                    "ibv_dereg_mr: errno 16, memory region of 64 bytes on standin0: still in use; close the objects that"
                            + " were made from it first",
                    e.getMessage());
            assertTrue(region.isOpen());
            assertEquals(1, domain.dependants());
            region.close();
        }
        assertNothingLeft();
    }

    @ParameterizedTest
    @ValueSource(ints = {EIO, ENODEV})
    void shouldCountAsReleasedWhenTheDeviceIsGone(final int errno) {
        final Context context = library.open("standin0");
        try (Arena arena = Arena.ofConfined()) {
            final ProtectionDomain domain = context.protectionDomain();
            final CompletionChannel channel = context.completionChannel();
            final CompletionQueue completions = context.completionQueue(8, channel);
            final MemoryRegion region = domain.register(arena.allocate(64), Access.LOCAL_READ);
            final AddressHandle address =
                    domain.addressHandle(Fabric.path(context.gid(1, 1).orElseThrow(), new Gid(0, 0xffff0a4d0001L)));
            final QueuePair queuePair =
                    domain.queuePair(new QueuePairConfig(QueuePairConfig.Service.UD, completions, LIMITS));
            final MulticastAttachment attachment = queuePair.attach(new Gid(0xff0eL << 48, 1), 0);
            standIn.set("gone", errno);
            for (final Handle handle :
                    new Handle[] {attachment, queuePair, address, region, completions, channel, domain, context}) {
                handle.close();
                assertFalse(handle.isOpen(), handle::toString);
            }
        } finally {
            standIn.set("gone", 0);
        }
        assertNothingLeft();
    }

    @Test
    void shouldStayOpenWhenADeviceThatAnswersFailsToRelease() {
        try (Context context = library.open("standin0");
                ProtectionDomain domain = context.protectionDomain();
                Arena arena = Arena.ofConfined();
                MemoryRegion region = domain.register(arena.allocate(64), Access.LOCAL_READ)) {
            standIn.fail("ibv_dereg_mr", EIO);
            assertThrows(NativeException.class, region::close);
            assertTrue(region.isOpen());
        }
        assertNothingLeft();
    }

    @Test
    void shouldNameMemlockWhenRegistrationLacksMemory() {
        try (Context context = library.open("standin0");
                ProtectionDomain domain = context.protectionDomain();
                Arena arena = Arena.ofConfined()) {
            final MemorySegment memory = arena.allocate(4096);
            standIn.fail("ibv_reg_mr", 12);
            final NativeException e =
                    assertThrows(NativeException.class, () -> domain.register(memory, Access.LOCAL_WRITE));
            assertEquals(
                    "ibv_reg_mr: errno 12, 4096 bytes on standin0: out of lockable memory or of the device's room; raise"
                            + " ulimit -l (memlock), or use less",
                    e.getMessage());
            assertThrows(
                    IllegalArgumentException.class,
                    () -> domain.register(MemorySegment.ofArray(new byte[8]), Access.LOCAL_READ));
            assertThrows(IllegalArgumentException.class, () -> domain.register(8, 0, Access.LOCAL_READ));
        }
        assertNothingLeft();
    }

    @Test
    void shouldLeaveNothingBehindWhenMakingFails() {
        try (Context context = library.open("standin0");
                ProtectionDomain domain = context.protectionDomain();
                CompletionQueue completions = context.completionQueue(8, null)) {
            final QueuePairConfig config = new QueuePairConfig(QueuePairConfig.Service.RC, completions, LIMITS);
            final int before = library.liveHandles();
            standIn.fail("ibv_alloc_pd", 12);
            assertThrows(NativeException.class, context::protectionDomain);
            standIn.fail("ibv_create_cq", 12);
            assertThrows(NativeException.class, () -> context.completionQueue(8, null));
            assertThrows(NativeException.class, () -> context.completionQueue(0, null));
            standIn.fail("ibv_create_comp_channel", 24);
            assertThrows(NativeException.class, context::completionChannel);
            standIn.fail("ibv_create_qp", 1);
            assertThrows(NativeException.class, () -> domain.queuePair(config));
            standIn.fail("ibv_create_ah", 110);
            final AddressPath path = Fabric.path(context.gid(1, 1).orElseThrow(), new Gid(0, 0xffff0a4d0001L));
            assertThrows(NativeException.class, () -> domain.addressHandle(path));
            try (QueuePair queuePair = domain.queuePair(config)) {
                final NativeException e =
                        assertThrows(NativeException.class, () -> queuePair.attach(new Gid(0xff0eL << 48, 1), 0));
                assertEquals("ibv_attach_mcast", e.function());
                assertEquals(0, queuePair.dependants());
                assertThrows(IllegalArgumentException.class, () -> queuePair.attach(path.destination(), 0));
            }
            assertEquals(before, library.liveHandles());
        }
        assertNothingLeft();
    }

    /// A subnet manager gives groups what names it likes.
    @Test
    void shouldAttachToAnyGroupOnInfiniBand() {
        standIn.set("subnet", 1);
        try (Context context = library.open("standin0");
                ProtectionDomain domain = context.protectionDomain();
                CompletionQueue completions = context.completionQueue(8, null);
                QueuePair queuePair =
                        domain.queuePair(new QueuePairConfig(QueuePairConfig.Service.UD, completions, LIMITS))) {
            queuePair.startDatagrams(1, 0, 0);
            for (final Gid group : new Gid[] {
                new Gid(0xff12_401b_ffff_0000L, 0xf4d_0102L),
                new Gid(0xff12_601b_ffff_0000L, 0x77_0001L),
                new Gid(0xff0eL << 48, 0xffff_ef4d_0104L)
            }) {
                queuePair.attach(group, 0xC001).close();
            }
        } finally {
            standIn.set("subnet", 0);
        }
        assertNothingLeft();
    }

    @Test
    void shouldRefuseQueuesOfAnotherDevice() {
        try (Context context = library.open("standin0");
                Context other = library.open("standin1");
                ProtectionDomain domain = context.protectionDomain();
                CompletionChannel channel = other.completionChannel();
                CompletionQueue completions = other.completionQueue(8, channel)) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> domain.queuePair(new QueuePairConfig(QueuePairConfig.Service.UD, completions, LIMITS)));
            assertThrows(IllegalArgumentException.class, () -> context.completionQueue(8, channel));
        }
        assertNothingLeft();
    }
}
