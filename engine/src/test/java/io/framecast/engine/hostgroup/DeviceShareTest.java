package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
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
import io.framecast.engine.memory.SharedWords;
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
import java.util.SplittableRandom;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
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
        leader.onHandoverComplete();
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
        final DeviceHandle handle = new DeviceHandle(DEVICE, 8 * SLOT_BYTES, "memory");
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
            leader.publishLoss(0, 100, LossReason.EXPIRED, 0);
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
            assertEquals(1, leader.released());
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
            assertEquals(0, leader.released(), "the ring is held until the copy is known to be right");
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
            final MappedByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, SegmentLayout.wordsBytes());
            mapped.putInt(
                    SegmentLayout.device(member) + SegmentLayout.DEVICE_WISH,
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
    void shouldTellTheSlowestFromTheFastestOfThoseThatTakeFrames() {
        try (FollowerSegment slow = member();
                FollowerSegment fast = member();
                FollowerSegment host = member()) {
            host.deviceWords().refrain();
            assertEquals(Long.MAX_VALUE, slow.deviceWords().passed(), "no member takes frames");
            assertEquals(Long.MAX_VALUE, slow.deviceWords().passedByFastest());
            slow.deviceWords().want(DEVICE);
            fast.deviceWords().want(DEVICE);
            leader.publishLoss(0, 100, LossReason.EXPIRED, 0);
            leader.publishLoss(1, 100, LossReason.EXPIRED, 0);
            for (final FollowerSegment member : List.of(fast, host)) {
                member.take();
                member.release(0);
            }
            host.take();
            host.release(1);
            assertEquals(0, slow.deviceWords().passed());
            assertEquals(1, slow.deviceWords().passedByFastest());
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

    @Test
    void shouldGiveNoPlaceThatIsWrittenAnew() {
        try (FollowerSegment one = member();
                FollowerSegment two = member()) {
            final DeviceWords exporter = one.deviceWords();
            final DeviceWords user = two.deviceWords();
            exporter.want(DEVICE);
            exporter.offer(offer(exporter.member()));
            final DeviceWords.Offer seen = user.offered(exporter.member());
            assertNotNull(seen);
            assertTrue(user.use(seen));
            exporter.fill(2, 5);
            assertEquals(DeviceWords.NONE, user.hold(seen, 4));
            assertEquals(2, user.hold(seen, 5));
            exporter.vacate(2);
            assertEquals(1 << 2, exporter.held(99), "who holds it is waited for");
            user.leave(2);
            assertEquals(0, exporter.held(99));
            assertEquals(DeviceWords.NONE, user.hold(seen, 5));
            exporter.fill(2, 6);
            exporter.withdraw();
            assertEquals(DeviceWords.NONE, user.hold(seen, 6));
            assertFalse(user.use(seen), "a withdrawn offer is not opened");
            assertFalse(exporter.isOpen(99));
        }
    }

    @Test
    void shouldForgetAMemberThatIsGone() {
        try (FollowerSegment one = member();
                FollowerSegment two = member()) {
            final DeviceWords exporter = one.deviceWords();
            exporter.want(DEVICE);
            exporter.offer(offer(exporter.member()));
            final DeviceWords user = two.deviceWords();
            final DeviceWords.Offer seen = user.offered(exporter.member());
            assertNotNull(seen);
            assertTrue(user.use(seen));
            assertTrue(exporter.isOpen(99));
            leader.dismiss(user.member());
            assertFalse(exporter.isOpen(99));
            leader.dismiss(exporter.member());
            assertNull(user.offered(exporter.member()));
            assertFalse(user.isOffered(seen));
        }
    }

    @Test
    void shouldOpenNothingThatMakesNoSense() {
        try (FollowerSegment one = member();
                FollowerSegment two = member()) {
            final DeviceWords exporter = one.deviceWords();
            final SharedWords attached =
                    SharedWords.attach(SegmentTest.copy(leader.wordsDescriptor()), SegmentLayout.wordsBytes());
            final UnsafeBuffer words = attached.buffer();
            final int record = SegmentLayout.device(exporter.member());
            final SplittableRandom random = new SplittableRandom(5);
            for (int round = 0; round < 20_000; round++) {
                exporter.offer(offer(exporter.member()));
                for (int i = random.nextInt(4); i >= 0; i--) {
                    final int at = SegmentLayout.DEVICE_ID + random.nextInt(16) * Integer.BYTES;
                    words.putInt(record + at, random.nextInt() >> random.nextInt(32));
                }
                words.putByte(record + SegmentLayout.DEVICE_HANDLE + random.nextInt(6), (byte) random.nextInt());
                final DeviceWords.Offer seen = two.deviceWords().offered(exporter.member());
                if (seen != null) {
                    assertTrue(seen.slots() >= 1 && seen.slots() <= SegmentLayout.DEVICE_SLOTS_MAX);
                    assertTrue(seen.slotBytes() >= 1);
                    assertTrue(seen.slots() <= seen.handle().bytes() / seen.slotBytes());
                }
            }
            attached.close();
        }
    }
}
