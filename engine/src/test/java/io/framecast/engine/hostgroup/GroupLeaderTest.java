package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.PrivateDirectory;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.memory.SharedWords;
import io.framecast.reliability.group.FollowersToAwait;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.group.SharedFrames;
import io.framecast.reliability.group.TableLayout;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.session.FrameConsumer;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A successor waits for the followers of the leader before it.
class GroupLeaderTest {
    private static final int RING_BYTES = 1 << 16;
    private static final StreamInfo STREAM =
            new StreamInfo(7, "give", 64, 64, 1024, 1000, new byte[] {1}, new byte[] {2});
    // Less than the leader waits for a survivor that does not come.
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(60);

    private static final long BEAT_NS = 20_000_000;

    private final List<String> notices = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger wakes = new AtomicInteger();
    private final Path path =
            Path.of("/tmp/framecast-leader-test-" + ProcessHandle.current().pid() + ".sock");
    private final Arena arena = Arena.ofShared();
    private final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES);
    private final int process = (int) ProcessHandle.current().pid();
    // Places of members that live.
    private final Set<Integer> living = ConcurrentHashMap.newKeySet();
    private long numbers;
    private volatile boolean ended;
    private GroupLeader leader;

    @BeforeEach
    void lead() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
        living.addAll(List.of(0, 1));
        leader = new GroupLeader(path, null, UnixSocket.listen(path), wakes::incrementAndGet, BEAT_NS, notices::add);
    }

    @AfterEach
    void close() {
        if (leader != null) {
            leader.close();
        }
        arena.close();
    }

    // Each with a number of its own.
    private UnixSocket survivor() {
        final UnixSocket made = UnixSocket.connect(path);
        assertNotNull(made);
        made.send(GroupMessage.hello(message, ++numbers, 3, Delivery.RELIABLE));
        return made;
    }

    private void adopt() {
        leader.adopt(new Takeover(
                3,
                STREAM,
                new Checkpoint(),
                MemorySegment.NULL,
                true,
                () -> true,
                new FollowersToAwait(Map.of(1L, 0, 2L, 1), living::contains, () -> ended = true),
                () -> {}));
    }

    private static boolean comesTrue(final BooleanSupplier condition) throws InterruptedException {
        final long endNs = System.nanoTime() + WAIT_NS;
        while (!condition.getAsBoolean() && System.nanoTime() - endNs < 0) {
            Thread.sleep(5);
        }
        return condition.getAsBoolean();
    }

    @Test
    void shouldWaitForThoseWhoComeBeforeAndAfterItInherits() throws InterruptedException {
        try (UnixSocket _ = survivor();
                MirroredMemory ring = MirroredMemory.allocateShared(RING_BYTES)) {
            // The listener hears of it meanwhile.
            Thread.sleep(200);
            final long startNs = System.nanoTime();
            adopt();
            try (SharedFrames frames = share(ring)) {
                Thread.sleep(200);
                final boolean complete = frames.isHandoverComplete();
                // It gives those up that do not come within 5 s.
                assertTrue(!complete || System.nanoTime() - startNs > 4_000_000_000L, "the other one has not come");
                try (UnixSocket _ = survivor()) {
                    assertTrue(comesTrue(frames::isHandoverComplete));
                }
            }
        }
    }

    @Test
    void shouldNotWaitForOneWhoCameInFront() throws InterruptedException {
        try (UnixSocket _ = survivor();
                UnixSocket _ = survivor();
                MirroredMemory ring = MirroredMemory.allocateShared(RING_BYTES)) {
            Thread.sleep(200);
            adopt();
            try (SharedFrames frames = share(ring)) {
                assertTrue(comesTrue(frames::isHandoverComplete));
            }
        }
    }

    @Test
    void shouldNotWaitForOneThatDied() throws InterruptedException {
        try (UnixSocket _ = survivor();
                MirroredMemory ring = MirroredMemory.allocateShared(RING_BYTES)) {
            adopt();
            try (SharedFrames frames = share(ring)) {
                living.remove(1);
                assertTrue(comesTrue(frames::isHandoverComplete));
                assertTrue(comesTrue(() -> ended), "the leader still asks whether they live");
            }
        }
    }

    /// Its listener runs on, but what it leads for does not.
    @Test
    void shouldShowNoSignOfLifeWhereTheReceiverStandsStill() throws InterruptedException {
        try (UnixSocket first = survivor();
                UnixSocket _ = survivor();
                MirroredMemory ring = MirroredMemory.allocateShared(RING_BYTES);
                SharedFrames _ = share(ring)) {
            final int[] descriptors = new int[UnixSocket.DESCRIPTORS_MAX];
            final int length = first.receive(message, descriptors, 0);
            assertTrue(GroupMessage.is(message, length, GroupMessage.SEGMENT));
            try (SharedWords words = SharedWords.attach(descriptors[1], TableLayout.FULL.wordsBytes())) {
                final LongSupplier beats = () -> words.buffer().getLongVolatile(SegmentLayout.HEARTBEAT_AT);
                final long before = beats.getAsLong();
                assertTrue(comesTrue(() -> beats.getAsLong() > before + 2), "a leader without a receiver beats");
                leader.onCycle();
                // It wakes behind what may be a last beat.
                final int wakesBefore = wakes.get();
                assertTrue(
                        comesTrue(() -> wakes.get() >= wakesBefore + 2),
                        "the receiver is woken, so that it can show that it lives");
                final long still = beats.getAsLong();
                Thread.sleep(200);
                assertEquals(still, beats.getAsLong());
                assertTrue(comesTrue(() -> {
                    leader.onCycle();
                    return beats.getAsLong() > still + 2;
                }));
            }
        }
    }

    /// Followers wait with it for the source's next session, and none of them takes its place.
    @Test
    void shouldShowThatItWorksWhereItsSessionIsOver() throws InterruptedException {
        try (UnixSocket first = survivor();
                MirroredMemory ring = MirroredMemory.allocateShared(RING_BYTES)) {
            final SharedFrames frames = share(ring);
            final int[] descriptors = new int[UnixSocket.DESCRIPTORS_MAX];
            final int length = first.receive(message, descriptors, 0);
            assertTrue(GroupMessage.is(message, length, GroupMessage.SEGMENT));
            try (SharedWords words = SharedWords.attach(descriptors[1], TableLayout.FULL.wordsBytes())) {
                frames.close();
                final LongSupplier beats = () -> words.buffer().getLongVolatile(SegmentLayout.HEARTBEAT_AT);
                final long before = beats.getAsLong();
                assertTrue(comesTrue(() -> beats.getAsLong() > before + 2));
            }
        }
    }

    /// Sessions that end at once: their segments come to no member, or come late.
    @Test
    void shouldShowThatItWorksInTheNewestSegmentThatAMemberHas() throws InterruptedException {
        try (UnixSocket first = survivor();
                MirroredMemory ring = MirroredMemory.allocateShared(RING_BYTES)) {
            final int[] descriptors = new int[UnixSocket.DESCRIPTORS_MAX];
            SharedFrames frames = share(ring);
            assertTrue(GroupMessage.is(message, first.receive(message, descriptors, 0), GroupMessage.SEGMENT));
            int words = descriptors[1];
            for (int i = 0; i < 50; i++) {
                frames.close();
                frames = share(ring);
            }
            frames.close();
            while (first.receive(message, descriptors, Linux.MSG_DONTWAIT) > 0) {
                words = descriptors[1];
            }
            try (SharedWords newest = SharedWords.attach(words, TableLayout.FULL.wordsBytes())) {
                final LongSupplier beats = () -> newest.buffer().getLongVolatile(SegmentLayout.HEARTBEAT_AT);
                final long before = beats.getAsLong();
                assertTrue(comesTrue(() -> beats.getAsLong() > before + 2));
            }
        }
    }

    @Test
    void shouldAwaitNobodyInAnEarlierSegment() throws InterruptedException {
        try (UnixSocket _ = survivor();
                MirroredMemory ring = MirroredMemory.allocateShared(RING_BYTES)) {
            adopt();
            try (SharedFrames frames = share(ring);
                    SharedFrames _ = share(ring)) {
                assertTrue(frames.isHandoverComplete());
            }
        }
    }

    @Test
    void shouldNameOnceWhoHoldsTheStreamUp() throws InterruptedException {
        try (UnixSocket _ = survivor();
                UnixSocket _ = survivor();
                MirroredMemory ring = MirroredMemory.allocateShared(RING_BYTES);
                SharedFrames frames = share(ring)) {
            assertTrue(comesTrue(frames::isHandoverComplete));
            // No member reads them, and they are more than a quarter of the table.
            for (int i = 0; i <= SegmentLayout.ENTRIES / 4; i++) {
                frames.onLateLoss(i, 1, LossReason.EXPIRED);
            }
            assertEquals(FrameConsumer.NO_PLACE, frames.nextReleased());
            // After the alive timeout of a second.
            assertTrue(comesTrue(() -> notices.size() == 2), notices::toString);
            assertTrue(
                    notices.getFirst().contains("process " + process + " has released no frame for "),
                    notices::toString);
            Thread.sleep(300);
            assertEquals(2, notices.size(), notices::toString);
        }
    }

    private long refusal(final UnixSocket follower) {
        final int length = follower.receive(message, new int[UnixSocket.DESCRIPTORS_MAX], 0);
        assertTrue(GroupMessage.is(message, length, GroupMessage.REFUSED), () -> "got " + length + " bytes");
        return GroupMessage.reason(message);
    }

    @Test
    void shouldNameItsLayoutToAFollowerOfAnother() throws InterruptedException {
        for (int i = 0; i < 2; i++) {
            try (UnixSocket follower = UnixSocket.connect(path)) {
                assertNotNull(follower);
                final MemorySegment hello = GroupMessage.hello(message, 7, 0, Delivery.RELIABLE);
                hello.set(ValueLayout.JAVA_INT, 8, SegmentLayout.VERSION + 1);
                follower.send(hello);
                assertEquals(GroupMessage.OTHER_VERSION, refusal(follower));
                assertEquals(0, follower.receive(message, new int[UnixSocket.DESCRIPTORS_MAX], 0), "it hangs up");
            }
        }
        assertTrue(comesTrue(() -> !notices.isEmpty()));
        assertEquals(1, notices.size(), notices::toString);
        assertTrue(
                notices.getFirst()
                        .endsWith(": process " + process + " speaks layout " + (SegmentLayout.VERSION + 1)
                                + " of the host segment, this one layout " + SegmentLayout.VERSION
                                + "; run both from the same release"),
                notices::toString);
    }

    /// Though it did not read what the follower sent.
    @Test
    void shouldSayThatNoPlaceIsLeft() {
        final List<UnixSocket> members = new ArrayList<>();
        try {
            for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
                members.add(survivor());
            }
            try (UnixSocket late = survivor()) {
                assertEquals(GroupMessage.NO_PLACE, refusal(late));
                assertEquals(0, late.receive(message, new int[UnixSocket.DESCRIPTORS_MAX], 0), "it hangs up");
            }
        } finally {
            members.forEach(UnixSocket::close);
        }
    }

    /// Nothing of it is a HELLO: the leader ends the connection, and goes on.
    @Test
    void shouldAnswerNothingToAStranger() {
        for (final int bytes : new int[] {1, 8, 12, 40}) {
            try (UnixSocket stranger = UnixSocket.connect(path)) {
                assertNotNull(stranger);
                message.fill((byte) 0x5a);
                stranger.send(message.asSlice(0, bytes));
                assertEquals(0, stranger.receive(message, new int[UnixSocket.DESCRIPTORS_MAX], 0), "it hangs up");
            }
        }
        shouldSayThatNoPlaceIsLeft();
    }

    /// By a cleaner of temporary files, or by hand.
    @Test
    void shouldListenAgainWhereItsDirectoryWasRemoved(@TempDir final Path temporary) throws Exception {
        final Path directory = temporary.resolve("framecast");
        Files.createDirectory(directory, PrivateDirectory.ownerOnly());
        final Path socket = directory.resolve("0123456789abcdef.sock");
        try (GroupLeader removed = new GroupLeader(
                socket, null, UnixSocket.listen(socket), wakes::incrementAndGet, BEAT_NS, notices::add)) {
            Files.delete(socket);
            Files.delete(directory);
            assertTrue(comesTrue(() -> !notices.isEmpty()));
            assertTrue(UnixSocket.isListening(socket), notices::toString);
            assertEquals(1, notices.size(), notices::toString);
            assertTrue(notices.getFirst().contains(socket + " was removed, and is made again"), notices::toString);
            assertFalse(removed.isFenced());
        }
        assertFalse(Files.exists(socket), "it leaves nothing");
    }

    @Test
    void shouldSayOnceThatItsDirectoryCannotBeMadeAgain(@TempDir final Path temporary) throws Exception {
        final Path parent = Files.createDirectory(temporary.resolve("runtime"));
        final Path directory = Files.createDirectory(parent.resolve("framecast"), PrivateDirectory.ownerOnly());
        final Path socket = directory.resolve("0123456789abcdef.sock");
        try (GroupLeader _ = new GroupLeader(
                socket, null, UnixSocket.listen(socket), wakes::incrementAndGet, BEAT_NS, notices::add)) {
            PrivateDirectory.delete(parent);
            assertTrue(comesTrue(() -> !notices.isEmpty()));
            // It looks every second.
            Thread.sleep(2_500);
            assertEquals(1, notices.size(), notices::toString);
            assertTrue(
                    notices.getFirst().contains("cannot use " + directory + ": no such file or directory"),
                    notices::toString);
        }
    }

    private SharedFrames share(final MirroredMemory ring) {
        return leader.share(null, STREAM, ring, RING_BYTES, true, Delivery.RELIABLE, 0, () -> 0);
    }
}
