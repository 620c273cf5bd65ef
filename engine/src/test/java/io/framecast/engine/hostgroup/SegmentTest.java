package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
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
import io.framecast.reliability.group.FollowersToAwait;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.group.TableLayout;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The memory that leader and followers share: files, mappings, locks and descriptors. The rules of the words
/// have their tests beside [io.framecast.reliability.group.LeaderTable].
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
        leader.freeRing();
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
        final int waker = EventCount.open();
        final int member = leader.admit(1, waker, Delivery.RELIABLE);
        leader.table().onHandoverComplete();
        final int[] descriptors = {
            Libc.fcntl(leader.ringDescriptor(), 0, 0), copy(leader.wordsDescriptor()), waker, EventCount.open()
        };
        final FollowerSegment made = FollowerSegment.of(connection(), device, false, descriptors, member);
        assertNotNull(made);
        return made;
    }

    private SharedWords words() {
        return SharedWords.attach(copy(leader.wordsDescriptor()), TableLayout.FULL.wordsBytes());
    }

    @Test
    void shouldRefuseAFileThatCouldBeMadeShorter(@TempDir final Path folder) throws IOException {
        final Path file = folder.resolve("words");
        Files.write(file, new byte[TableLayout.FULL.wordsBytes()]);
        try (Arena arena = Arena.ofConfined()) {
            final int descriptor = Libc.open(arena.allocateFrom(file.toString()), Linux.O_RDWR | Linux.O_CLOEXEC);
            assertTrue(descriptor >= 0);
            assertThrows(TransportException.class, () -> SharedWords.attach(descriptor, TableLayout.FULL.wordsBytes()));
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
        leader.table().become(SegmentLayout.RUNNING);
        try (FollowerSegment follower = follower()) {
            assertNull(takeover(follower), "nothing was promised");
            leader.table().checkpoint(checkpoint(6, 9, 8), 2048);
            assertTrue(leader.table().isClaimed());
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

    /// By the words that a member has open, and by no number of its process: that may be of another PID
    /// namespace.
    @Test
    void shouldNameASuccessorTheMembersThatLive() {
        leader.table().become(SegmentLayout.RUNNING);
        final int lives = leader.admit(1, 0, Delivery.RELIABLE);
        final int died = leader.admit(1, 0, Delivery.RELIABLE);
        final int own = leader.admit(1, 0, Delivery.RELIABLE);
        leader.table().name(lives, 11, false);
        leader.table().name(died, 12, false);
        leader.table().name(own, 13, true);
        // As it comes with a message.
        final int words = Libc.fcntl(leader.wordsOf(lives), 0, 0);
        leader.sent(lives);
        leader.sent(died);
        try (FollowerSegment successor = follower()) {
            leader.table().checkpoint(checkpoint(6, 9, 8), 2048);
            final Takeover found = takeover(successor);
            assertNotNull(found);
            try (found;
                    FollowersToAwait followersToAwait = found.followersToAwait()) {
                assertTrue(followersToAwait.members().contains(11L));
                assertFalse(followersToAwait.members().contains(12L));
                assertFalse(followersToAwait.members().contains(13L));
                assertTrue(followersToAwait.lives(11));
                assertFalse(followersToAwait.lives(12));
                Libc.close(words);
                assertFalse(followersToAwait.lives(11));
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
        final SharedWords words = words();
        final SplittableRandom random = new SplittableRandom(7);
        try (FollowerSegment follower = follower()) {
            for (int round = 0; round < 2_000; round++) {
                final long number = leader.table().publishLoss(round, 1, LossReason.EXPIRED, 0);
                final int entry = TableLayout.FULL.entry(number);
                words.putInt(entry + SegmentLayout.ENTRY_KIND, random.nextInt(4));
                words.putLong(entry + SegmentLayout.ENTRY_OFFSET, random.nextLong());
                words.putLong(entry + SegmentLayout.ENTRY_LENGTH, random.nextLong());
                assertEquals(number, follower.take());
                assertThrows(IllegalStateException.class, () -> follower.frame(number));
                follower.release(number);
            }
            words.putLong(TableLayout.FULL.entry(2_000) + SegmentLayout.ENTRY_LENGTH, RING_BYTES + 1);
            assertThrows(IllegalStateException.class, () -> follower.frame(2_000));
        }
    }

    @Test
    void shouldRefuseWhatIsNoSegment() {
        final SharedWords words = words();
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
            leader.table().publishLoss(0, 1, LossReason.EXPIRED, 0);
            final long number = follower.take();
            assertTrue(follower.enter());
            final FollowerCopies.Place place =
                    copies.copy(follower, number, ring.segment().asSlice(0, 64));
            copies.release(place, null);
            assertFalse(copies.hasRoom(), "its place is written to");
            assertEquals(0, leader.table().released());
            done.set(true);
            assertTrue(copies.hasRoom());
            assertEquals(1, leader.table().released());
        }
    }
}
