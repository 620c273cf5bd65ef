package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.Channel;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.memory.SharedWords;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.group.TableLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The part of a window that a publisher frees while readers read it, whatever their words say.
class LocalReadersTest {
    private static final int SLOTS = 64;
    private static final int SLOT_BYTES = 1024;

    private final DeviceBackend device = new HostProvider().open(0);
    private final Arena arena = Arena.ofShared();
    private final MirroredMemory window = MirroredMemory.allocateShared(SLOTS * SLOT_BYTES);
    private final LocalReaders readers;
    private final List<UnixSocket> connections = new ArrayList<>();
    private final Channel channel = StreamFixture.channel("udp", "|host-group=auto");
    private UnsafeBuffer words;

    LocalReadersTest() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
        assumeTrue(window.mirrored(), "no memory that is mapped twice on this system");
        final StreamInfo stream =
                new StreamInfo(77, channel.name(), SLOT_BYTES, SLOTS, 10_000, 1000, new byte[4], new byte[4]);
        readers = HostGroups.share(channel, "", stream, window, SLOTS * SLOT_BYTES, Wakeup.NONE, _ -> {})
                .orElseThrow();
        assertNotNull(readers);
    }

    @AfterEach
    void close() {
        connections.forEach(UnixSocket::close);
        readers.close();
        window.close();
        arena.close();
    }

    // Enters as another process does.
    private FollowerSegment enter() {
        final UnixSocket connection = UnixSocket.connect(HostGroups.sourcePath(HostGroups.directory(), channel, ""));
        assertNotNull(connection);
        connections.add(connection);
        final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES, Long.BYTES);
        connection.send(GroupMessage.hello(message, 1, 0, Delivery.RELIABLE));
        final int[] descriptors = new int[UnixSocket.DESCRIPTORS_MAX];
        final int bytes = connection.receive(message, descriptors, 0);
        assertTrue(GroupMessage.is(message, bytes, GroupMessage.SEGMENT));
        words = SharedWords.attach(SegmentTest.copy(descriptors[1]), TableLayout.FULL.wordsBytes())
                .buffer();
        final FollowerSegment made = FollowerSegment.of(
                new LeaderConnection(connection), device, false, descriptors, GroupMessage.member(message));
        assertNotNull(made);
        assertEquals(connections.size(), readers.count());
        return made;
    }

    private void publish(final long sequence, final int bytes) {
        readers.begin(sequence, sequence, 0, 5, new byte[0], null);
        readers.publish(sequence % SLOTS * SLOT_BYTES, bytes);
    }

    @Test
    void shouldFreeInOrderOfTheFramesWhatAllReleased() {
        try (FollowerSegment reader = enter()) {
            publish(0, 2 * SLOT_BYTES);
            publish(2, SLOT_BYTES);
            publish(3, SLOT_BYTES);
            assertEquals(0, readers.freeable(4, false));
            assertEquals(0, reader.take());
            assertEquals(1, reader.take());
            assertEquals(2, reader.take());
            reader.release(1);
            assertEquals(0, readers.freeable(4, false));
            reader.release(0);
            assertEquals(3, readers.freeable(4, false));
            assertEquals(1, readers.freeable(1, false), "members lack the others");
            reader.release(2);
            assertEquals(4, readers.freeable(4, false));
        }
    }

    @Test
    void shouldBelieveNoWordThatMakesNoSense() {
        final SplittableRandom random = new SplittableRandom(1);
        try (FollowerSegment reader = enter()) {
            for (int round = 0; round < 2000; round++) {
                publish(round, 10);
                for (int i = 0; i < 8; i++) {
                    final int at = random.nextInt(
                                    SegmentLayout.HEADER_BYTES + SegmentLayout.MEMBERS * SegmentLayout.MEMBER_BYTES)
                            & -8;
                    words.putLong(at, random.nextInt(3) == 0 ? random.nextLong() : random.nextLong(2L * round + 2));
                }
                words.putLong(SegmentLayout.member(0) + SegmentLayout.MEMBER_RELEASED, random.nextLong());
                final long limit = random.nextLong(round + 2L);
                final long freed = readers.freeable(limit, false);
                assertTrue(freed >= 0 && freed <= limit, freed + " of " + limit);
                assertEquals(1, readers.stats(round, SLOTS).size());
                readers.look(true, round, 0);
            }
            assertNotNull(reader);
        }
    }

    @Test
    void shouldWakeAPublisherThatRestsWhenTheLastReaderReleased() throws Exception {
        try (FollowerSegment reader = enter()) {
            publish(0, 10);
            assertEquals(0, reader.take());
            assertEquals(0, readers.freeable(1, false));
            final Thread releases = Thread.ofPlatform().start(() -> {
                LockSupport.parkNanos(20_000_000);
                reader.release(0);
            });
            // A rest ends every 50 ms, for an interrupt that it does not hear.
            for (int slices = 0; readers.freeable(1, false) == 0; slices++) {
                readers.rest(() -> false, TimeUnit.MINUTES.toNanos(10));
                assertTrue(slices < 1_000);
            }
            releases.join();
        }
    }

    @Test
    void shouldNameAReaderThatHoldsThePublisherUpOnce() {
        try (FollowerSegment reader = enter()) {
            publish(0, 10);
            readers.freeable(1, false);
            assertNull(readers.look(true, 0, 100));
            assertNull(readers.look(true, 50_000_000, 100_000_000));
            final String notice = readers.look(true, 150_000_000, 100_000_000);
            assertNotNull(notice);
            assertTrue(notice.contains("process " + ProcessHandle.current().pid() + " on this host"), notice);
            assertNull(readers.look(true, 250_000_000, 100_000_000));
            assertEquals(250, readers.stats(1, SLOTS).getFirst().heldBack().toMillis());
            reader.release(reader.take());
            readers.freeable(1, false);
            assertNull(readers.look(true, 300_000_000, 100_000_000));
        }
    }
}
