package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.memory.SharedWords;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.window.StreamFormat;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The memory that leader and followers share, and how either takes words that make no sense.
class SegmentTest {
    private static final long RING_BYTES = 1 << 16;
    private static final StreamInfo STREAM =
            new StreamInfo(77, "test", 1024, 64, 10_000, 1000, new byte[] {1, 2}, new byte[] {3});

    private final DeviceBackend device = new HostProvider().open(0);
    private final MirroredMemory ring = MirroredMemory.allocateShared(RING_BYTES);
    private final LeaderSegment leader;

    SegmentTest() {
        assumeTrue(ring.mirrored(), "no memory that is mapped twice on this system");
        leader = new LeaderSegment(ring.descriptor(), RING_BYTES, STREAM, 1, 0, () -> true, Delivery.RELIABLE);
    }

    @BeforeEach
    void requireLinux() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
    }

    @AfterEach
    void close() {
        leader.close();
        ring.close();
    }

    static int copy(final int descriptor) {
        try (Arena scratch = Arena.ofConfined()) {
            return Libc.open(scratch.allocateFrom("/proc/self/fd/" + descriptor), 2 | Linux.O_CLOEXEC);
        }
    }

    // To no reader.
    static LeaderConnection connection() {
        final Path path =
                Path.of("/tmp/framecast-segment-test-" + ProcessHandle.current().pid() + ".sock");
        final UnixSocket listener = UnixSocket.listen(path);
        final UnixSocket made = UnixSocket.connect(path);
        listener.close();
        path.toFile().delete();
        assertNotNull(made);
        return new LeaderConnection(made);
    }

    private FollowerSegment follower() {
        return follower(Delivery.RELIABLE);
    }

    private FollowerSegment follower(final Delivery delivery) {
        final int waker = EventCount.open();
        final int member = leader.admit(1, waker, delivery);
        leader.onHandoverComplete();
        final int[] descriptors = {
            Libc.fcntl(leader.ringDescriptor(), 0, 0), copy(leader.wordsDescriptor()), waker, EventCount.open()
        };
        final FollowerSegment made =
                FollowerSegment.of(connection(), device, !delivery.isWaitedFor(), descriptors, member);
        assertNotNull(made);
        return made;
    }

    private UnsafeBuffer words() {
        return SharedWords.attach(copy(leader.wordsDescriptor()), SegmentLayout.wordsBytes())
                .buffer();
    }

    @Test
    void shouldRefuseAFileThatCouldBeMadeShorter(@TempDir final Path folder) throws IOException {
        final Path file = folder.resolve("words");
        Files.write(file, new byte[SegmentLayout.wordsBytes()]);
        try (Arena arena = Arena.ofConfined()) {
            final int descriptor = Libc.open(arena.allocateFrom(file.toString()), Linux.O_RDWR | Linux.O_CLOEXEC);
            assertTrue(descriptor >= 0);
            assertThrows(TransportException.class, () -> SharedWords.attach(descriptor, SegmentLayout.wordsBytes()));
        }
    }

    private static StreamFormat format(final int serial) {
        return new StreamFormat(serial, 1 + serial % 15, serial, ("format " + serial).getBytes(StandardCharsets.UTF_8));
    }

    /// A place is written again only when no member can read an entry that names it.
    @Test
    void shouldKeepTheFormatsOfFramesThatAreNotReleased() {
        try (FollowerSegment one = follower()) {
            final int last = SegmentLayout.FORMATS - 1;
            for (int i = 0; i < last; i++) {
                assertTrue(leader.hasRoom(0));
                leader.publish(i, 0, 64, 0, 0, true, null, format(i + 1), 0);
            }
            // The one that is left is a checkpoint's.
            assertFalse(leader.hasRoom(0));
            assertEquals(1, leader.sparingFormats());
            assertTrue(leader.hasRoom(1));
            leader.publish(last, 0, 64, 0, 0, true, null, format(last + 1), 0);
            assertFalse(leader.hasRoom(1));
            assertEquals(2, leader.sparingFormats());
            assertTrue(leader.hasRoom(2));
            leader.publish(SegmentLayout.FORMATS, 0, 64, 0, 0, true, null, format(1000), 1);
            for (int i = 1; i < SegmentLayout.FORMATS; i++) {
                assertArrayEquals(format(i + 1).bytes(), one.format(i));
            }
            assertArrayEquals(format(1000).bytes(), one.format(SegmentLayout.FORMATS));
            assertSame(one.format(5), one.format(5));
        }
    }

    @Test
    void shouldTellLossesInOrderAndFreeNothingBeforeItIsReleased() {
        try (FollowerSegment one = follower();
                FollowerSegment other = follower()) {
            assertEquals(0, leader.publishLoss(5, 2, LossReason.EXPIRED, 0));
            assertEquals(1, leader.publishLoss(7, 1, LossReason.DAMAGED, 0));
            assertEquals(0, leader.released());
            assertTrue(one.hasNext());
            assertEquals(0, one.take());
            assertTrue(one.isLoss(0));
            assertEquals(5, one.frameId(0));
            assertEquals(2, one.length(0));
            assertEquals(LossReason.EXPIRED.ordinal(), one.detail(0));
            assertEquals(1, one.take());
            assertEquals(-1, one.take());
            // Out of order.
            one.release(1);
            assertEquals(0, leader.released());
            one.release(0);
            assertEquals(0, leader.released(), "the other one has not");
            other.take();
            other.release(0);
            assertEquals(1, leader.released());
            leader.dismiss(1);
            assertEquals(2, leader.released());
        }
    }

    @Test
    void shouldHoldNothingForOneWhoDropsAndTellItWhatIsWrittenAgain() {
        try (FollowerSegment every = follower();
                FollowerSegment newest = follower(Delivery.LATEST)) {
            assertTrue(leader.isReadUnheld());
            assertEquals(Delivery.RELIABLE, leader.strongest());
            for (int i = 0; i < 5; i++) {
                leader.publishLoss(i, 1, LossReason.EXPIRED, 0);
            }
            assertEquals(0, leader.released());
            for (int i = 0; i < 4; i++) {
                every.release(every.take());
            }
            assertEquals(4, leader.released(), "the other one holds nothing");
            assertEquals(0, newest.take());
            assertTrue(newest.isIntact(0));
            leader.free(1);
            assertFalse(newest.isIntact(0), "it was given back while it was read");
            assertTrue(newest.isIntact(1));
            leader.free(3);
            assertEquals(3, newest.take(), "the first that is still there");
            assertEquals(0, newest.firstFrameId());
        }
    }

    @Test
    void shouldCountTheStrongestPolicyOfThoseWhoAreThere() {
        final int every = leader.admit(1, 0, Delivery.RELIABLE);
        final int young = leader.admit(1, 0, Delivery.deadline(40));
        leader.admit(1, 0, Delivery.LATEST);
        leader.admit(1, 0, Delivery.deadline(20));
        assertEquals(Delivery.RELIABLE, leader.strongest());
        leader.dismiss(every);
        assertEquals(Delivery.deadline(40), leader.strongest());
        leader.dismiss(young);
        assertEquals(Delivery.deadline(20), leader.strongest());
        leader.dismiss(3);
        assertEquals(Delivery.LATEST, leader.strongest());
        assertEquals(1, leader.members());
    }

    @Test
    void shouldBeginOnlyWhenTheSourceWaits() {
        leader.askToWait(false);
        try (FollowerSegment every = follower();
                FollowerSegment newest = follower(Delivery.LATEST)) {
            leader.publishLoss(0, 1, LossReason.EXPIRED, 0);
            assertFalse(every.hasBegun());
            assertTrue(newest.hasBegun());
            assertEquals(1, leader.released(), "what came before the source was asked is released");
            leader.askToWait(true);
            frame(1);
            assertFalse(every.hasBegun());
            assertEquals(1, leader.released(), "what comes then is kept");
            leader.publishLoss(2, 1, LossReason.EXPIRED, 0);
            assertFalse(every.hasBegun());
            assertEquals(3, leader.released(), "but for what comes in front of a loss");
            frame(3);
            leader.onWaitedFor();
            frame(4);
            assertTrue(every.hasBegun());
            assertEquals(3, every.take());
            assertEquals(3, leader.released());
            assertEquals(4, newest.published() - 1);
        }
    }

    private void frame(final long frameId) {
        leader.publish(frameId, 0, 64, 0, 0, true, null, null, 0);
    }

    @Test
    void shouldKeepEverythingUntilAllWhoAreAwaitedCame() {
        leader.publishLoss(0, 1, LossReason.EXPIRED, 0);
        leader.dismiss(leader.admit(1, 0, Delivery.RELIABLE));
        assertEquals(0, leader.released());
        try (FollowerSegment awaited = follower();
                FollowerSegment late = follower()) {
            assertEquals(0, awaited.take());
            assertFalse(late.hasNext());
        }
    }

    @Test
    void shouldBeginAtTheNextEntryAndHoldBackFromThereOn() {
        leader.dismiss(leader.admit(1, 0, Delivery.RELIABLE));
        leader.onHandoverComplete();
        leader.publishLoss(0, 1, LossReason.EXPIRED, 0);
        assertEquals(1, leader.released());
        try (FollowerSegment late = follower()) {
            assertFalse(late.hasNext());
            leader.publishLoss(1, 1, LossReason.EXPIRED, 0);
            assertEquals(1, leader.released());
            assertEquals(1, late.take());
        }
    }

    private static Checkpoint checkpoint(final long first, final long frameId, final long acknowledged) {
        final Checkpoint made = new Checkpoint();
        made.secret = 4711;
        made.firstSequence = first;
        made.frameId = frameId;
        made.acknowledged = acknowledged;
        made.granted = acknowledged + 10;
        made.frameBytes = 5_000;
        made.attributes = 3 << 8;
        made.metadata = new byte[] {7, 8, 9};
        return made;
    }

    private static @Nullable Takeover takeover(final FollowerSegment follower) {
        return follower.takeover("test", new RefCount());
    }

    @Test
    void shouldLeaveASuccessorWhatWasPromised() {
        leader.become(SegmentLayout.RUNNING);
        try (FollowerSegment follower = follower()) {
            assertNull(takeover(follower), "nothing was promised");
            leader.checkpoint(checkpoint(6, 9, 8), 2048);
            assertTrue(leader.isClaimed());
            ring.segment().set(ValueLayout.JAVA_BYTE, 2048 + 100, (byte) 5);
            final Takeover found = takeover(follower);
            assertNotNull(found);
            assertEquals(STREAM.session(), found.stream().session());
            assertEquals(STREAM.slotBytes(), found.stream().slotBytes());
            assertEquals(6, found.checkpoint().firstSequence);
            assertEquals(9, found.checkpoint().frameId);
            assertEquals(8, found.checkpoint().acknowledged);
            assertEquals(4711, found.checkpoint().secret);
            assertArrayEquals(new byte[] {7, 8, 9}, found.checkpoint().metadata);
            assertEquals(2L * STREAM.slotBytes(), found.payload().byteSize());
            assertEquals(5, found.payload().get(ValueLayout.JAVA_BYTE, 100));
            found.close();
            found.close();
            assertTrue(follower.enter(), "ended once");
            follower.exit();
        }
    }

    /// By the words that a member has open, and by no number of its process: that may be of another PID namespace.
    @Test
    void shouldNameASuccessorTheMembersThatLive() {
        leader.become(SegmentLayout.RUNNING);
        final int lives = leader.admit(1, 0, Delivery.RELIABLE);
        final int died = leader.admit(1, 0, Delivery.RELIABLE);
        final int own = leader.admit(1, 0, Delivery.RELIABLE);
        leader.name(lives, 11, false);
        leader.name(died, 12, false);
        leader.name(own, 13, true);
        // As it comes with a message.
        final int words = Libc.fcntl(leader.wordsOf(lives), 0, 0);
        leader.sent(lives);
        leader.sent(died);
        try (FollowerSegment successor = follower()) {
            leader.checkpoint(checkpoint(6, 9, 8), 2048);
            final Takeover found = takeover(successor);
            assertNotNull(found);
            try (found;
                    FollowersToAwait followersToAwait = found.followersToAwait()) {
                // The successor itself, which was given no name here.
                followersToAwait.remove(0);
                followersToAwait.removeDead();
                assertFalse(followersToAwait.isEmpty());
                Libc.close(words);
                followersToAwait.removeDead();
                assertTrue(followersToAwait.isEmpty());
            }
        }
    }

    @Test
    void shouldGiveNoPlaceWhoseMemberIsGoneAndUsesTheWords() {
        final int first = leader.admit(1, 0, Delivery.RELIABLE);
        final int words = Libc.fcntl(leader.wordsOf(first), 0, 0);
        leader.dismiss(first);
        assertEquals(first + 1, leader.admit(1, 0, Delivery.RELIABLE));
        Libc.close(words);
        assertEquals(first, leader.admit(1, 0, Delivery.RELIABLE));
    }

    @Test
    void shouldBeginBehindTheLastEntryWhereThatIsFurther() {
        leader.become(SegmentLayout.RUNNING);
        try (FollowerSegment follower = follower()) {
            leader.checkpoint(checkpoint(6, 9, 8), 2048);
            leader.publishLoss(9, 2, LossReason.DAMAGED, 11);
            final Takeover found = takeover(follower);
            assertNotNull(found);
            assertEquals(11, found.checkpoint().firstSequence);
            assertEquals(11, found.checkpoint().frameId);
            assertEquals(11, found.checkpoint().acknowledged);
            assertEquals(0, found.payload().byteSize());
            found.close();
        }
    }

    @Test
    void shouldTakeTheOlderCheckpointWhereTheNewerIsIncomplete() {
        leader.become(SegmentLayout.RUNNING);
        try (FollowerSegment follower = follower()) {
            leader.checkpoint(checkpoint(6, 9, 7), 0);
            leader.checkpoint(checkpoint(6, 9, 8), 0);
            words().putLong(SegmentLayout.checkpoint(2), 3);
            final Takeover found = takeover(follower);
            assertNotNull(found);
            assertEquals(7, found.checkpoint().acknowledged);
            found.close();
        }
    }

    @Test
    void shouldNotGoOnFromACheckpointThatCannotBe() {
        leader.become(SegmentLayout.RUNNING);
        final SplittableRandom random = new SplittableRandom(11);
        try (FollowerSegment follower = follower()) {
            for (int round = 0; round < 2_000; round++) {
                leader.checkpoint(checkpoint(6, 9, 8), 2048);
                final int at = SegmentLayout.checkpoint(round + 1L)
                        + SegmentLayout.CHECKPOINT_FIRST_SEQUENCE
                        + 8 * random.nextInt(8);
                words().putLong(at, random.nextLong());
                try (Takeover found = takeover(follower)) {
                    // A value that is accepted lies in the ring, and in the frame.
                    assertTrue(found == null || found.payload().byteSize() <= RING_BYTES);
                }
            }
        }
    }

    @Test
    void shouldCountSubscribersAlone() {
        leader.admit(1, 0, Delivery.RELIABLE);
        final int exporter = leader.admit(1, 0, null);
        assertEquals(1, leader.members());
        leader.dismiss(exporter);
        assertEquals(1, leader.members());
    }

    @Test
    void shouldTakeSixtyFourMembersAndNoMore() {
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            assertEquals(i, leader.admit(i, 0, Delivery.RELIABLE));
        }
        assertEquals(-1, leader.admit(99, 0, Delivery.RELIABLE));
        leader.dismiss(7);
        assertEquals(7, leader.admit(99, 0, Delivery.RELIABLE));
    }

    @Test
    void shouldNotReadOutsideTheRingWhateverTheTableSays() {
        final UnsafeBuffer words = words();
        final SplittableRandom random = new SplittableRandom(7);
        try (FollowerSegment follower = follower()) {
            for (int round = 0; round < 2_000; round++) {
                final long number = leader.publishLoss(round, 1, LossReason.EXPIRED, 0);
                final int entry = SegmentLayout.entry(number);
                words.putInt(entry + SegmentLayout.ENTRY_KIND, random.nextInt(4));
                words.putLong(entry + SegmentLayout.ENTRY_OFFSET, random.nextLong());
                words.putLong(entry + SegmentLayout.ENTRY_LENGTH, random.nextLong());
                words.putInt(entry + SegmentLayout.ENTRY_METADATA, random.nextInt());
                words.putInt(entry + SegmentLayout.ENTRY_DETAIL, random.nextInt());
                assertEquals(number, follower.take());
                assertThrows(IllegalStateException.class, () -> follower.frame(number));
                assertTrue(follower.metadata(number).length <= SegmentLayout.METADATA_BYTES_MAX);
                follower.release(number);
            }
            words.putLong(SegmentLayout.entry(2_000) + SegmentLayout.ENTRY_LENGTH, RING_BYTES + 1);
            assertThrows(IllegalStateException.class, () -> follower.frame(2_000));
        }
    }

    /// Memory that frames are copied to is as long as the longest frame was when the segment was mapped.
    @Test
    void shouldTakeNoLongerFrameWhenTheLeaderChangesTheLongest() {
        try (FollowerSegment follower = follower()) {
            words().putLong(SegmentLayout.FRAME_MAX_AT, RING_BYTES);
            leader.publish(0, 0, STREAM.frameMaxBytes(), 0, 0, true, null, null, 0);
            leader.publish(1, 0, STREAM.frameMaxBytes() + 1, 0, 0, true, null, null, 0);
            assertEquals(STREAM.frameMaxBytes(), follower.frameMaxBytes());
            assertEquals(STREAM.frameMaxBytes(), follower.frame(0).byteSize());
            assertThrows(IllegalStateException.class, () -> follower.frame(1));
        }
    }

    @Test
    void shouldLookAtNoMoreEntriesThanTheTableHas() {
        final UnsafeBuffer words = words();
        try (FollowerSegment newest = follower(Delivery.LATEST)) {
            final DropChoice choice = new DropChoice(Delivery.LATEST);
            choice.begin(newest);
            frame(0);
            for (final long published : new long[] {Long.MAX_VALUE, 1L << 40, Long.MIN_VALUE}) {
                words.putLong(SegmentLayout.PUBLISHED_AT, published);
                assertTimeoutPreemptively(Duration.ofSeconds(60), () -> choice.outdated(newest, 0));
            }
        }
    }

    @Test
    void shouldRefuseALossOfNoFrames() {
        try (FollowerSegment follower = follower()) {
            leader.publishLoss(0, 2, LossReason.EXPIRED, 0);
            assertEquals(2, follower.lost(0));
            for (final long count : new long[] {0, -1, Long.MIN_VALUE}) {
                words().putLong(SegmentLayout.entry(0) + SegmentLayout.ENTRY_LENGTH, count);
                assertThrows(IllegalStateException.class, () -> follower.lost(0));
            }
        }
    }

    @Test
    void shouldLeaveNothingToASuccessorWhenNoHeartbeatCouldAnnounceTheStream() {
        leader.become(SegmentLayout.RUNNING);
        leader.checkpoint(checkpoint(6, 9, 8), 2048);
        final UnsafeBuffer words = words();
        try (FollowerSegment follower = follower()) {
            for (final int at : new int[] {
                SegmentLayout.SLOT_BYTES_AT,
                SegmentLayout.WINDOW_SLOTS_AT,
                SegmentLayout.ALIVE_MS_AT,
                SegmentLayout.CONTROL_ADDRESS_AT,
                SegmentLayout.DATA_ADDRESS_AT
            }) {
                final int before = words.getInt(at);
                words.putInt(at, 0);
                assertNull(takeover(follower), "at " + at);
                words.putInt(at, before);
            }
            words.putInt(SegmentLayout.ALIVE_MS_AT, -1);
            assertNull(takeover(follower), "a timeout in the past");
            words.putInt(SegmentLayout.ALIVE_MS_AT, STREAM.aliveTimeoutMs());
            words.putInt(SegmentLayout.SLOT_BYTES_AT, 1000);
            assertNull(takeover(follower), "slots that are no multiple of 64 bytes");
            words.putInt(SegmentLayout.SLOT_BYTES_AT, STREAM.slotBytes());
            assertNotNull(takeover(follower));
        }
    }

    @Test
    void shouldRefuseATornEntry() {
        try (FollowerSegment follower = follower()) {
            leader.publishLoss(0, 1, LossReason.EXPIRED, 0);
            words().putLong(SegmentLayout.entry(0), SegmentLayout.version(0) - 1);
            assertThrows(IllegalStateException.class, follower::take);
        }
    }

    @Test
    void shouldFreeNothingThatWasNotPublishedWhateverAMemberSays() {
        try (FollowerSegment _ = follower()) {
            leader.publishLoss(0, 1, LossReason.EXPIRED, 0);
            words().putLong(SegmentLayout.member(0) + SegmentLayout.MEMBER_RELEASED, Long.MAX_VALUE);
            assertEquals(1, leader.released());
            words().putLong(SegmentLayout.member(0) + SegmentLayout.MEMBER_RELEASED, -5);
            assertTrue(leader.released() <= 0);
        }
    }

    @Test
    void shouldRefuseWhatIsNoSegment() {
        final UnsafeBuffer words = words();
        for (final int at : new int[] {
            SegmentLayout.MAGIC_AT, SegmentLayout.VERSION_AT, SegmentLayout.WORDS_BYTES_AT, SegmentLayout.RING_BYTES_AT
        }) {
            final long before = words.getLong(at);
            words.putLong(at, before + 13);
            final int[] descriptors = {
                Libc.fcntl(leader.ringDescriptor(), 0, 0),
                copy(leader.wordsDescriptor()),
                EventCount.open(),
                EventCount.open()
            };
            assertNull(FollowerSegment.of(connection(), device, false, descriptors, 0), "at " + at);
            words.putLong(at, before);
        }
        final int[] none = {-1, -1, -1, -1};
        assertNull(FollowerSegment.of(connection(), device, false, none, 0));
    }

    @Test
    void shouldLetFollowersReadTheRingAndNotWriteIt() {
        try (Arena arena = Arena.ofShared()) {
            ring.segment().set(ValueLayout.JAVA_BYTE, 3, (byte) 9);
            final MemorySegment view = MirroredMemory.view(leader.ringDescriptor(), RING_BYTES, arena);
            assertNotNull(view);
            assertEquals(9, view.get(ValueLayout.JAVA_BYTE, 3));
            assertEquals(9, view.get(ValueLayout.JAVA_BYTE, RING_BYTES + 3));
            assertEquals(
                    Linux.MAP_FAILED,
                    Libc.mmap(0, RING_BYTES, Linux.PROT_READ_WRITE, Linux.MAP_SHARED, leader.ringDescriptor()));
        }
    }

    /// A device whose copies are done when the test says so.
    private static DeviceBackend late(final AtomicBoolean done) {
        final DeviceEvent event = as(DeviceEvent.class, (_, method, _) -> switch (method.getName()) {
            case "isComplete" -> done.get();
            default -> null;
        });
        final DeviceStream stream = as(DeviceStream.class, (_, _, _) -> null);
        return as(DeviceBackend.class, (_, method, _) -> switch (method.getName()) {
            case "openEvent" -> event;
            case "openStream" -> stream;
            case "allocate" -> DeviceRegion.ofDevice(4096, 64);
            default -> null;
        });
    }

    private static <T> T as(final Class<T> type, final InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Test
    void shouldKeepTheRingUntilACopyIsDoneThoughItsFrameWasGivenBackAtOnce() {
        final AtomicBoolean done = new AtomicBoolean();
        try (FollowerSegment follower = follower();
                FollowerCopies copies = new FollowerCopies(late(done), 64, 1)) {
            leader.publishLoss(0, 1, LossReason.EXPIRED, 0);
            final long number = follower.take();
            assertTrue(follower.enter());
            final FollowerCopies.Place place =
                    copies.copy(follower, number, ring.segment().asSlice(0, 64));
            copies.release(place, null);
            assertFalse(copies.hasRoom(), "its place is written to");
            assertEquals(0, leader.released());
            done.set(true);
            assertTrue(copies.hasRoom());
            assertEquals(1, leader.released());
        }
    }

    @Test
    void shouldStayWithSuccessorsThatClaimedTheSegmentBeforeLast() {
        final AtomicBoolean newest = new AtomicBoolean();
        try (LeaderSegment successor =
                new LeaderSegment(ring.descriptor(), RING_BYTES, STREAM, 2, 1, newest::get, Delivery.RELIABLE)) {
            assertFalse(successor.open(), "another claimed what this one goes on from");
            newest.set(true);
            assertTrue(successor.open());
            newest.set(false);
            assertTrue(successor.open(), "once open, it is what others go on from");
        }
    }
}
