package io.framecast.reliability.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.Delivery;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Frames that a user holds in its leader's ring while it reads on.
final class HeldFramesTest {
    private static final long FRAME_BYTES = 10_000;
    private static final long MIB = 1 << 20;

    private final SegmentFixture segment = new SegmentFixture(Delivery.RELIABLE);
    private final Runs runs = new Runs();
    // A publisher's: the ring keeps no room for a window.
    private final FollowerTable member;
    private final HeldFrames frames;

    HeldFramesTest() {
        segment.leader.ofSource(true, 0, 0);
        member = segment.follower();
        frames = member.heldFrames(runs, 256 * MIB);
    }

    /// Runs of the ring that are kept.
    private static final class Runs implements HeldFrames.Ring {
        private final List<Long> kept = new ArrayList<>();
        private boolean full;

        @Override
        public boolean isKept(final long offset, final long length) {
            return kept.contains(offset);
        }

        @Override
        public boolean keep(final long offset, final long length) {
            return !full && kept.add(offset);
        }

        @Override
        public void giveBack(final long offset, final long length) {
            assertTrue(kept.remove(offset));
        }
    }

    // Takes the next frame, which is published now.
    private HeldFrames.Held take(final long offset) {
        segment.leader.publish(0, offset, FRAME_BYTES, 0, 0, true, null, null, 0);
        member.makeRoom(frames);
        final long number = member.take();
        return member.give(frames, number, member.offset(number, FRAME_BYTES), FRAME_BYTES);
    }

    @Test
    void shouldCopyTheOldestFrameWhereTheLeaderMayLackItsRoom() {
        // A ring of 65 536 bytes has room for five such frames, beside one more and four slots.
        for (int i = 0; i < 6; i++) {
            take(i * FRAME_BYTES);
        }
        assertEquals(0, segment.leader.released());
        member.makeRoom(frames);
        assertEquals(List.of(0L), runs.kept);
        assertEquals(1, segment.leader.released());
        member.reportHeld(frames);
        assertEquals(6, segment.leader.heldBy(member.place()));
        assertEquals(1, segment.leader.copiedBy(member.place()));
    }

    @Test
    void shouldShowTheRingAgainWhenAKeptFrameIsGivenBack() {
        final HeldFrames.Held first = take(0);
        for (int i = 1; i < 6; i++) {
            take(i * FRAME_BYTES);
        }
        member.makeRoom(frames);
        assertEquals(1, segment.leader.released());
        member.giveBack(frames, first);
        assertEquals(List.of(), runs.kept);
        assertEquals(1, segment.leader.released(), "it was released before");
        assertEquals(5, frames.held());
    }

    @Test
    void shouldReleaseAFrameInPlaceWhenItIsGivenBack() {
        final HeldFrames.Held first = take(0);
        assertEquals(0, first.bufferBytes());
        member.giveBack(frames, first);
        assertEquals(1, segment.leader.released());
        assertEquals(0, frames.held());
    }

    @Test
    void shouldCopyAFrameElsewhereOfWhichAPageIsKept() {
        runs.kept.add(0L);
        final HeldFrames.Held first = take(0);
        assertEquals(16_384, first.bufferBytes());
        assertEquals(1, frames.copiedFrames());
        member.release(first.number());
        member.giveBack(frames, first);
        assertEquals(1, segment.leader.released());
        assertEquals(List.of(0L), runs.kept, "that run is another frame's");
    }

    @Test
    void shouldHoldTheLeaderUpWhereThereIsNoMemoryForCopies() {
        runs.full = true;
        for (int i = 0; i < 6; i++) {
            assertNotNull(take(i * FRAME_BYTES));
        }
        member.makeRoom(frames);
        assertEquals(0, segment.leader.released());
        assertFalse(frames.isFull(), "copies took none of it");
    }
}
