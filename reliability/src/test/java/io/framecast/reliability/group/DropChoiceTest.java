package io.framecast.reliability.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.wire.Delivery;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Frames that a member drops when it polls.
final class DropChoiceTest {
    private static final int PATIENCE_MS = 50_000;
    private static final long PATIENCE_NS = PATIENCE_MS * 1_000_000L;
    private static final long HOUR_NS = 3_600_000_000_000L;
    private static final long HOST_NS = 5 * HOUR_NS;

    private final SegmentFixture segment = new SegmentFixture(Delivery.deadline(PATIENCE_MS));

    private void publish(final long id, final int flags, final long timestampNs) {
        segment.leader.publish(id, 0, 64, flags, timestampNs, true, null, null, 0);
    }

    /// The source's clock is an hour ahead of the host's, or behind.
    @ParameterizedTest
    @ValueSource(longs = {-1, 0, 1})
    void shouldCountAgesBySourcesClock(final long hours) {
        final long aheadNs = hours * HOUR_NS;
        segment.leader.clock(aheadNs, 0);
        final FollowerTable member = segment.follower(Delivery.deadline(PATIENCE_MS));
        final DropChoice choice = new DropChoice(Delivery.deadline(PATIENCE_MS));
        publish(0, 0, HOST_NS + aheadNs - PATIENCE_NS + 1);
        publish(1, 0, HOST_NS + aheadNs - PATIENCE_NS);
        assertNull(choice.outdated(member, 0, HOST_NS), "it is young enough");
        assertEquals(LossReason.EXPIRED, choice.outdated(member, 1, HOST_NS));
        assertEquals(aheadNs, member.clockOffsetNs());
    }

    @Test
    void shouldDropNothingWhileTheSourcesClockIsNotKnown() {
        final FollowerTable member = segment.follower(Delivery.deadline(PATIENCE_MS));
        final DropChoice choice = new DropChoice(Delivery.deadline(PATIENCE_MS));
        publish(0, 0, 0);
        assertNull(choice.outdated(member, 0, HOST_NS));
        assertEquals(Long.MAX_VALUE, member.clockErrorNs());
    }

    @Test
    void shouldGiveTheNewestFrameUnderLatest() {
        final FollowerTable member = segment.follower(Delivery.LATEST);
        final DropChoice choice = new DropChoice(Delivery.LATEST);
        choice.begin(member);
        publish(0, 0, 0);
        publish(1, 0, 0);
        assertEquals(LossReason.SUPERSEDED, choice.outdated(member, 0, 0));
        assertNull(choice.outdated(member, 1, 0));
    }

    /// Frames depend on the keyframe before them.
    @Test
    void shouldGoOnAtAKeyframeBehindALoss() {
        final FollowerTable member = segment.follower(Delivery.LATEST);
        final DropChoice choice = new DropChoice(Delivery.LATEST);
        choice.begin(member);
        publish(0, SegmentLayout.KEYFRAME, 0);
        publish(1, 0, 0);
        assertNull(choice.outdated(member, 0, 0), "the newest keyframe");
        assertNull(choice.outdated(member, 1, 0), "it depends on that");
        choice.onLoss(LossReason.UNREPAIRABLE);
        publish(2, 0, 0);
        assertEquals(LossReason.AWAITS_KEYFRAME, choice.outdated(member, 2, 0));
        publish(3, SegmentLayout.KEYFRAME, 0);
        assertNull(choice.outdated(member, 3, 0));
        publish(4, 0, 0);
        assertNull(choice.outdated(member, 4, 0));
    }
}
