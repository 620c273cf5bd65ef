package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.LossReason;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.memory.SharedWords;
import io.framecast.engine.session.EpochClock;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Ages of frames where the leader's process read another calendar than the follower's.
final class DropChoiceTest {
    private static final long RING_BYTES = 1 << 16;
    private static final int PATIENCE_MS = 50_000;
    private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);
    private static final StreamInfo STREAM =
            new StreamInfo(77, "test", 1024, 64, 10_000, 1000, new byte[] {1, 2}, new byte[] {3});

    private final MirroredMemory ring = MirroredMemory.allocateShared(RING_BYTES);
    private final LeaderSegment leader;

    DropChoiceTest() {
        assumeTrue(ring.mirrored(), "no memory that is mapped twice on this system");
        leader = new LeaderSegment(
                ring.descriptor(), RING_BYTES, STREAM, 1, 0, () -> true, Delivery.deadline(PATIENCE_MS));
        leader.onHandoverComplete();
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

    private FollowerSegment follower() {
        final int waker = EventCount.open();
        final int member = leader.admit(1, waker, Delivery.deadline(PATIENCE_MS));
        final int[] descriptors = {
            Libc.fcntl(leader.ringDescriptor(), 0, 0),
            SegmentTest.copy(leader.wordsDescriptor()),
            waker,
            EventCount.open()
        };
        final FollowerSegment made =
                FollowerSegment.of(SegmentTest.connection(), new HostProvider().open(0), true, descriptors, member);
        assertNotNull(made);
        return made;
    }

    // A frame that the source published so long ago.
    private void publish(final long id, final long sourceAheadNs, final long ageNs) {
        final long stampNs = EpochClock.ofProcess().epochNs() + sourceAheadNs - ageNs;
        leader.publish(id, 0, 64, 0, stampNs, true, null, null, 0);
    }

    /// The words are as a leader writes them whose calendar is an hour ahead, or behind: relative to the clock that all
    /// processes of the host share.
    @ParameterizedTest
    @ValueSource(longs = {-1, 0, 1})
    void shouldCountAgesWhateverTheCalendars(final long hours) {
        final long aheadNs = hours * HOUR_NS;
        leader.clock(aheadNs, 0);
        try (FollowerSegment follower = follower();
                SharedWords words =
                        SharedWords.attach(SegmentTest.copy(leader.wordsDescriptor()), SegmentLayout.wordsBytes())) {
            assertEquals(
                    EpochClock.ofProcess().hostOffsetNs() + aheadNs,
                    words.buffer().getLong(SegmentLayout.CLOCK_OFFSET_AT));
            final DropChoice choice = new DropChoice(Delivery.deadline(PATIENCE_MS));
            publish(0, aheadNs, 0);
            publish(1, aheadNs, TimeUnit.MILLISECONDS.toNanos(PATIENCE_MS) + 1);
            assertNull(choice.outdated(follower, 0), "it is new");
            assertEquals(LossReason.EXPIRED, choice.outdated(follower, 1));
            assertEquals(aheadNs, follower.clockOffsetNs());
            assertTrue(follower.clockErrorNs() < 1_000_000_000);
            assertEquals(0, follower.leaderClockNs());
        }
    }

    @Test
    void shouldDropNothingWhileTheSourcesClockIsNotKnown() {
        try (FollowerSegment follower = follower()) {
            final DropChoice choice = new DropChoice(Delivery.deadline(PATIENCE_MS));
            publish(0, 0, HOUR_NS);
            assertNull(choice.outdated(follower, 0));
            assertEquals(Long.MAX_VALUE, follower.clockErrorNs());
        }
    }
}
