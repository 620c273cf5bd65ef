package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.PlacementOptions.Kind;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceHandle;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceSharing;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.reliability.group.DeviceWords;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.group.TableLayout;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// How members of a host group take frames from each other's device memory, with a device that only notes its
/// calls. The process that offers memory is a real one.
class DeviceShareTest {
    private static final long RING_BYTES = 1 << 16;
    private static final long SLOT_BYTES = 4096;
    private static final StreamInfo STREAM =
            new StreamInfo(77, "test", 1024, 64, SLOT_BYTES, 1000, new byte[] {1, 2}, new byte[] {3});
    private static final UUID DEVICE = new UUID(7, 7);
    private static final long MEMORY_ADDRESS = 1 << 20;

    private final MirroredMemory ring = MirroredMemory.allocateShared(RING_BYTES);
    private final LeaderSegment leader;
    private final Process process;
    private final List<String> calls = new ArrayList<>();
    private boolean done;
    private int exporters;

    DeviceShareTest() throws IOException {
        assumeTrue(ring.mirrored(), "no memory that is mapped twice on this system");
        leader = new LeaderSegment(ring.descriptor(), RING_BYTES, STREAM, 1, 0, () -> true, Delivery.RELIABLE);
        process = new ProcessBuilder("sleep", "60").start();
    }

    @BeforeEach
    void requireLinux() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
    }

    @AfterEach
    void close() {
        process.destroyForcibly();
        leader.freeRing();
        leader.close();
        ring.close();
    }

    private static <T> T as(final Class<T> type, final InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private DeviceBackend device() {
        final DeviceEvent event = as(DeviceEvent.class, (_, method, _) -> switch (method.getName()) {
            case "isComplete" -> done;
            default -> null;
        });
        final DeviceStream stream = as(DeviceStream.class, (_, method, arguments) -> switch (method.getName()) {
            case "copyWithin" -> calls.add("within from " + ((long) arguments[1] - MEMORY_ADDRESS));
            case "copyToDevice" -> calls.add("from the ring");
            case "synchronize" -> {
                done = true;
                yield null;
            }
            default -> null;
        });
        final DeviceSharing sharing = as(DeviceSharing.class, (_, method, arguments) -> switch (method.getName()) {
            case "refusal", "reachRefusal" -> Optional.empty();
            case "identity" -> DEVICE;
            case "open" -> DeviceRegion.ofDevice(MEMORY_ADDRESS, 8 * SLOT_BYTES);
            case "close" -> {
                ((Runnable) arguments[1]).run();
                yield null;
            }
            default -> throw new IllegalStateException(method.getName());
        });
        return as(DeviceBackend.class, (_, method, _) -> switch (method.getName()) {
            case "openEvent" -> event;
            case "openStream" -> stream;
            case "allocate" -> DeviceRegion.ofDevice(4096, SLOT_BYTES);
            case "capability" -> Optional.of(sharing);
            case "hostAddressable" -> false;
            default -> null;
        });
    }

    private FollowerSegment member() {
        return member(process.pid());
    }

    private FollowerSegment member(final long pid) {
        final int waker = EventCount.open();
        final int place = leader.admit(pid, waker, Delivery.RELIABLE);
        leader.table().onHandoverComplete();
        final int[] descriptors = {
            Libc.fcntl(leader.ringDescriptor(), 0, 0),
            SegmentTest.copy(leader.wordsDescriptor()),
            waker,
            EventCount.open()
        };
        final FollowerSegment made =
                FollowerSegment.of(SegmentTest.connection(), new HostProvider().open(0), false, descriptors, place);
        assertNotNull(made);
        return made;
    }

    private DeviceWords.Offer offer(final int member) {
        final DeviceWords.Handle handle = new DeviceWords.Handle(DEVICE, 8 * SLOT_BYTES, "memory");
        return new DeviceWords.Offer(member, 99, (int) process.pid(), Processes.namespace(), handle, 8, SLOT_BYTES, 0);
    }

    private DeviceShare share(final FollowerSegment segment, final PlacementCounts placements) {
        return new DeviceShare(placements, device(), segment, new RefCount(), _ -> {
            exporters++;
            return null;
        });
    }

    // A member offers memory with entry 0 in place 3, another one follows.
    private void withOne(final Kind wanted, final OneCopy body) throws InterruptedException {
        try (FollowerSegment other = member();
                FollowerSegment own = member(ProcessHandle.current().pid())) {
            final DeviceWords exporter = other.deviceWords();
            exporter.want(DEVICE);
            exporter.offer(offer(exporter.member()));
            final PlacementCounts placements = new PlacementCounts(wanted);
            final FollowerCopies copies = new FollowerCopies(device(), SLOT_BYTES, 2);
            copies.share(share(own, placements));
            assertTrue(copies.hasRoom());
            leader.table().publishLoss(0, 100, LossReason.EXPIRED, 0);
            assertTrue(copies.awaitsDevice(0));
            exporter.fill(3, 0);
            exporter.decide(1);
            assertFalse(copies.awaitsDevice(0));
            other.take();
            other.release(0);
            final long number = own.take();
            assertTrue(own.enter());
            body.run(exporter, copies, placements, copies.copy(own, number, MemorySegment.ofArray(new byte[100])));
            assertEquals(0, exporter.held(99));
            assertEquals(1, leader.table().released());
            copies.close();
            assertFalse(exporter.isOpen(99), "closed");
        }
    }

    private interface OneCopy {
        void run(DeviceWords exporter, FollowerCopies copies, PlacementCounts placements, FollowerCopies.Place place)
                throws InterruptedException;
    }

    @Test
    void shouldCopyFromDeviceToDeviceAndHoldRingAndPlaceMeanwhile() throws InterruptedException {
        withOne(Kind.AUTO, (exporter, copies, placements, place) -> {
            assertEquals(List.of("within from " + 3 * SLOT_BYTES), calls);
            assertFalse(copies.hasArrived(place));
            assertEquals(0, leader.table().released(), "the ring is held until the copy is known to be right");
            assertEquals(1 << 3, exporter.held(99));
            assertTrue(exporter.isOpen(99));
            done = true;
            assertTrue(copies.hasArrived(place));
            copies.release(place, null);
            assertEquals(Kind.PEER, placements.report().kind());
        });
    }

    @Test
    void shouldCopyFromTheRingOnceMoreWhenTheProcessDiedMeanwhile() throws InterruptedException {
        withOne(Kind.AUTO, (_, copies, placements, place) -> {
            process.destroyForcibly();
            process.waitFor();
            done = true;
            calls.clear();
            assertTrue(copies.hasArrived(place));
            assertEquals(List.of("from the ring"), calls);
            assertEquals(1L, placements.report().frames().get("staged"));
            assertEquals(0L, placements.report().frames().get("peer"));
            copies.release(place, null);
        });
    }

    @Test
    void shouldReadInPlaceWhereTheChannelSaysSo() throws InterruptedException {
        withOne(Kind.SHARED, (exporter, copies, placements, place) -> {
            assertEquals(List.of(), calls);
            done = true;
            assertTrue(copies.hasArrived(place));
            assertEquals(
                    MEMORY_ADDRESS + 3 * SLOT_BYTES,
                    FollowerCopies.region(place, 100).address());
            assertEquals(1 << 3, exporter.held(99), "as long as the user has it");
            assertTrue(copies.isIntact(place));
            process.destroyForcibly();
            process.waitFor();
            assertFalse(copies.isIntact(place), "the bytes there are unknown");
            copies.release(place, null);
            assertEquals(Kind.SHARED, placements.report().kind());
        });
    }

    @Test
    void shouldElectTheFirstThatWantsUnlessAnotherOffersAlready() {
        try (FollowerSegment host = member();
                FollowerSegment first = member();
                FollowerSegment second = member()) {
            host.deviceWords().refrain();
            final DeviceShare own = share(first, new PlacementCounts(Kind.AUTO));
            own.look();
            assertEquals(0, exporters, "another member has not said what it wants");
            final DeviceShare other = share(second, new PlacementCounts(Kind.AUTO));
            other.look();
            assertEquals(0, exporters);
            own.look();
            assertEquals(1, exporters);
            second.deviceWords().offer(offer(second.deviceWords().member()));
            final DeviceShare later = share(first, new PlacementCounts(Kind.AUTO));
            later.look();
            assertEquals(1, exporters);
        }
    }

    // As clients/c does it.
    private void takesWithoutOffering(final int member) throws IOException {
        final Path words = Path.of("/proc/self/fd/" + leader.wordsDescriptor());
        try (FileChannel file = FileChannel.open(words, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            final MappedByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, TableLayout.FULL.wordsBytes());
            mapped.putInt(
                    TableLayout.FULL.device(member) + SegmentLayout.DEVICE_WISH,
                    Integer.reverseBytes(SegmentLayout.TAKES));
        }
    }

    @Test
    void shouldOfferMemoryToAMemberThatOffersNone() throws IOException {
        try (FollowerSegment client = member();
                FollowerSegment later = member()) {
            client.deviceWords().want(DEVICE);
            takesWithoutOffering(client.deviceWords().member());
            final DeviceShare share = share(later, new PlacementCounts(Kind.AUTO));
            share.look();
            assertEquals(1, exporters, "the first of those that can");
            final DeviceShare other = share(client, new PlacementCounts(Kind.AUTO));
            takesWithoutOffering(client.deviceWords().member());
            takesWithoutOffering(later.deviceWords().member());
            other.look();
            assertEquals(1, exporters, "no member can");
        }
    }

    @Test
    void shouldOfferNothingWhereNobodyElseWantsIt() {
        try (FollowerSegment first = member();
                FollowerSegment host = member();
                FollowerSegment staged = member()) {
            host.deviceWords().refrain();
            share(staged, new PlacementCounts(Kind.STAGED)).look();
            final DeviceShare alone = share(first, new PlacementCounts(Kind.AUTO));
            alone.look();
            assertEquals(0, exporters);
            assertFalse(alone.awaits(0));
        }
    }

    @Test
    void shouldOfferTheLongestHandleThatADeviceMayHave() {
        try (FollowerSegment one = member();
                FollowerSegment two = member()) {
            final String text = "x".repeat(DeviceHandle.TEXT_MAX);
            final DeviceWords.Handle handle = new DeviceWords.Handle(DEVICE, SLOT_BYTES, text);
            final DeviceWords exporter = one.deviceWords();
            exporter.want(DEVICE);
            exporter.offer(new DeviceWords.Offer(exporter.member(), 99, 1, 1, handle, 1, SLOT_BYTES, 0));
            final DeviceWords.Offer seen = two.deviceWords().offered(exporter.member());
            assertNotNull(seen);
            assertEquals(handle, seen.handle());
        }
    }

    @Test
    void shouldCopyForItselfLongerEachTimeThatItWaitedInVain() {
        final DeviceShare.Patience patience = new DeviceShare.Patience();
        final long ms = 1_000_000;
        final List<Long> waits = new ArrayList<>();
        final List<Long> rests = new ArrayList<>();
        long now = -5 * ms;
        for (int i = 0; i < 8; i++) {
            final long from = now;
            while (patience.waits(patience.waitedNs(i, 1, now), now)) {
                now += ms;
            }
            waits.add((now - from) / ms);
            final long began = now;
            while (patience.rests(now)) {
                now += ms;
            }
            rests.add((now - began) / ms);
        }
        assertEquals(List.of(500L, 50L, 50L, 50L, 50L, 50L, 50L, 50L), waits);
        assertEquals(List.of(100L, 200L, 400L, 800L, 1600L, 3200L, 5000L, 5000L), rests);
        patience.onFrame();
        assertEquals(0, patience.waitedNs(9, 1, now));
        assertTrue(patience.waits(499 * ms, now), "as patient as at first");
        assertFalse(patience.waits(500 * ms, now));
        assertTrue(patience.rests(now));
        patience.onFrame();
        assertFalse(patience.rests(now), "the frame was there");
    }
}
