package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.window.FrameTable;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.HeartbeatValues;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Frames that are dropped, and frames that are not yet. Frames are named by number, length in slots and place.
final class DropPolicyTest {
    private static final int SLOT_BYTES = 64;
    private static final int SLOTS = 64;
    private static final int FRAME_MAX_SLOTS = 16;
    private static final int KEY = DataLayout.FLAG_KEYFRAME;
    private static final long PATIENCE_NS = 10_000_000;

    private final StreamInfo stream = new StreamInfo(
            7, "give", SLOT_BYTES, SLOTS, FRAME_MAX_SLOTS * (long) SLOT_BYTES, 1000, new byte[] {1}, new byte[] {2});
    private final FrameTable frames = new FrameTable(SLOTS);
    private final ReceiveWindow window = new ReceiveWindow(SLOTS);
    private final FrameQueue queue = new FrameQueue(frames, window, SLOT_BYTES);
    private final List<String> taken = new ArrayList<>();
    private final DropPolicy latest = policy(Delivery.LATEST);
    private final DropPolicy deadline = policy(Delivery.deadline(10));
    private long clockNs;

    DropPolicyTest() {
        queue.start(0, 0);
        window.reset(0);
    }

    private DropPolicy policy(final Delivery delivery) {
        return DropPolicy.of(delivery, stream, queue);
    }

    private void note(final DroppedFrames dropped) {
        taken.add(dropped.firstFrameId() + "+" + dropped.frames() + " " + dropped.reason() + " "
                + dropped.firstSequence() + "-" + dropped.endSequence());
    }

    // Number of frames that are dropped though they are whole.
    private long outdated(final DropPolicy policy, final long nowNs) {
        long count = 0;
        for (DroppedFrames dropped = policy.nextOutdated(nowNs);
                dropped != null;
                dropped = policy.nextOutdated(nowNs)) {
            note(dropped);
            count += dropped.frames();
        }
        return count;
    }

    private static MemorySegment header(final long id, final int slots, final int flags, final int attribute) {
        final MemorySegment header = MemorySegment.ofArray(new byte[DataLayout.LENGTH]);
        final DataHeader values = new DataHeader()
                .session(DataLayout.TYPE_DATA, 7)
                .frame(id, (long) slots * SLOT_BYTES, 1000 * id)
                .attributes(flags, attribute);
        DataLayout.write(header, 0, values, 0, 0);
        return header;
    }

    /// The first `here` datagrams of a frame arrive. It is stamped a thousand times its number.
    private void arrive(final long id, final long first, final int slots, final int flags, final int here) {
        frames.learn(header(id, slots, flags, flags == DataLayout.FLAG_BUNDLE ? 3 : 0), 0, first);
        for (int i = 0; i < here; i++) {
            window.receive(first + i);
        }
        queue.advance(0, 1_000);
    }

    private void arrive(final long id, final long first, final int slots, final int flags) {
        arrive(id, first, slots, flags, slots);
    }

    private void heartbeat(final DropPolicy policy, final long next, final long held, final int flags, final long id) {
        final MemorySegment datagram = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final HeartbeatValues values = new HeartbeatValues();
        values.progress(next, id).repairable(held).timing(0, 1_000, 1).clock(clockNs);
        HeartbeatLayout.write(new ControlWriter(7).in(datagram), flags, stream, new byte[] {'g'}, values);
        policy.onHeartbeat(datagram, 0, 0);
        clockNs++;
    }

    private boolean tick(final DropPolicy policy) {
        return unfinished(policy, FRAME_MAX_SLOTS, 0);
    }

    // Whether incomplete frames are dropped.
    private boolean unfinished(final DropPolicy policy, final long room, final long nowNs) {
        boolean any = false;
        for (DroppedFrames dropped = policy.nextUnfinished(room, 1_000, nowNs);
                dropped != null;
                dropped = policy.nextUnfinished(room, 1_000, nowNs)) {
            note(dropped);
            any = true;
        }
        return any;
    }

    @Test
    void shouldGiveNothingUpWhenTheSourceWaits() {
        assertNull(DropPolicy.of(Delivery.RELIABLE, stream, queue));
        assertNull(DropPolicy.of(Delivery.evict(5), stream, queue));
    }

    @Test
    void shouldLeaveWholeFramesToThoseWhoReadThem() {
        latest.shareWith(Delivery.LATEST);
        deadline.shareWith(Delivery.deadline(10));
        heartbeat(deadline, 0, 0, 0, 0);
        arrive(0, 0, 2, 0);
        arrive(1, 2, 3, 0);
        assertEquals(0, outdated(latest, 0));
        assertEquals(0, outdated(deadline, 10 * PATIENCE_NS));
        assertFalse(deadline.isTooOld(0, 10 * PATIENCE_NS));
        queue.take(queue.nextBytes());
        queue.take(queue.nextBytes());
        // Only a part of the third is here, and the source holds no more of it.
        arrive(2, 5, 3, 0, 1);
        heartbeat(latest, 12, 2, 0, 3);
        assertTrue(tick(latest));
        assertEquals(List.of("2+1 UNREPAIRABLE 5-8"), taken);
    }

    @Test
    void shouldTakeTheNewestThatIsWholeWhenSeveralAre() {
        arrive(0, 0, 2, 0);
        arrive(1, 2, 3, 0);
        arrive(2, 5, 2, 0);
        arrive(3, 7, 2, 0, 1);
        assertEquals(2, outdated(latest, 0));
        assertEquals(List.of("0+2 SUPERSEDED 0-5"), taken);
        assertEquals(5, queue.first());
        assertEquals(2, queue.nextFrameId());
        assertEquals(0, outdated(latest, 0));
        assertEquals(2 * SLOT_BYTES, queue.nextBytes());
    }

    @Test
    void shouldCountEveryFrameOfABundleThatIsSuperseded() {
        arrive(0, 0, 1, DataLayout.FLAG_BUNDLE);
        arrive(3, 1, 1, 0);
        assertEquals(3, outdated(latest, 0));
        assertEquals(List.of("0+3 SUPERSEDED 0-1"), taken);
    }

    @Test
    void shouldSkipToKeyframesOnlyWhenTheStreamHasSome() {
        arrive(0, 0, 1, 0);
        arrive(1, 1, 1, KEY);
        arrive(2, 2, 1, 0);
        arrive(3, 3, 1, 0);
        assertEquals(1, outdated(latest, 0));
        assertEquals(List.of("0+1 SUPERSEDED 0-1"), taken);
        arrive(4, 4, 1, KEY);
        arrive(5, 5, 1, 0);
        assertEquals(3, outdated(latest, 0));
        assertEquals("1+3 SUPERSEDED 1-4", taken.getLast());
    }

    @Test
    void shouldGoOnAtAKeyframeWhenSomethingWasLost() {
        arrive(0, 0, 1, KEY);
        assertEquals(0, outdated(latest, 0));
        queue.take(queue.nextBytes());
        arrive(1, 1, 2, 0, 1);
        heartbeat(latest, 3, 0, 0, 0);
        assertTrue(tick(latest));
        assertEquals(List.of("1+1 UNREPAIRABLE 1-3"), taken);
        arrive(2, 3, 1, 0);
        assertEquals(1, outdated(latest, 0));
        assertEquals("2+1 AWAITS_KEYFRAME 3-4", taken.getLast());
        arrive(3, 4, 1, 0);
        assertEquals(1, outdated(latest, 0));
        assertEquals("3+1 AWAITS_KEYFRAME 4-5", taken.getLast());
        arrive(4, 5, 1, KEY);
        assertEquals(0, outdated(latest, 0));
        queue.take(queue.nextBytes());
        arrive(5, 6, 1, 0);
        assertEquals(0, outdated(latest, 0));
        assertEquals(3, taken.size());
    }

    @Test
    void shouldAwaitNothingWhenTheStreamHasNoKeyframes() {
        arrive(0, 0, 2, 0, 1);
        heartbeat(latest, 2, 0, 0, 0);
        assertTrue(tick(latest));
        arrive(1, 2, 1, 0);
        assertEquals(0, outdated(latest, 0));
        assertEquals(SLOT_BYTES, queue.nextBytes());
    }

    @Test
    void shouldGiveUpAWholeFrameWhenItIsTooOld() {
        heartbeat(deadline, 0, 0, 0, 0);
        arrive(0, 0, 1, 0);
        arrive(1, 1, 1, 0);
        assertEquals(0, outdated(deadline, PATIENCE_NS - 1));
        assertEquals(1, outdated(deadline, PATIENCE_NS));
        assertEquals(List.of("0+1 EXPIRED 0-1"), taken);
        assertEquals(0, outdated(deadline, PATIENCE_NS + 999));
        assertEquals(1, outdated(deadline, PATIENCE_NS + 1000));
        assertEquals(0, queue.nextBytes());
    }

    @Test
    void shouldGiveNothingUpByAgeBeforeTheClockIsKnown() {
        arrive(0, 0, 1, 0);
        assertEquals(0, outdated(deadline, Long.MAX_VALUE - 1));
    }

    @Test
    void shouldGiveUpWhatTheSourceHoldsNoMore() {
        arrive(0, 0, 4, 0, 2);
        heartbeat(latest, 10, 8, 0, 0);
        assertEquals(Long.MIN_VALUE, latest.nextDeadlineNs());
        assertFalse(tick(latest), "what is missing is still held");
        assertEquals(Long.MAX_VALUE, latest.nextDeadlineNs());
        heartbeat(latest, 10, 7, 0, 0);
        assertTrue(tick(latest));
        assertEquals(List.of("0+1 UNREPAIRABLE 0-4"), taken);
        assertEquals(4, window.next());
        assertEquals(4, queue.described());
        assertFalse(tick(latest));
    }

    @Test
    void shouldGiveUpTheExpiredFrameOfWhichAPartIsHere() {
        heartbeat(deadline, 0, 0, 0, 0);
        arrive(0, 0, 4, 0, 2);
        unfinished(deadline, FRAME_MAX_SLOTS, 0);
        assertEquals(PATIENCE_NS, deadline.nextDeadlineNs());
        assertFalse(unfinished(deadline, FRAME_MAX_SLOTS, PATIENCE_NS - 1));
        assertTrue(unfinished(deadline, FRAME_MAX_SLOTS, PATIENCE_NS));
        assertEquals(List.of("0+1 EXPIRED 0-4"), taken);
        assertEquals(Long.MAX_VALUE, deadline.nextDeadlineNs());
    }

    @Test
    void shouldHaveNothingToDoByAgeWhileAWholeFrameWaits() {
        heartbeat(deadline, 0, 0, 0, 0);
        tick(deadline);
        arrive(0, 0, 2, 0, 1);
        assertEquals(PATIENCE_NS, deadline.nextDeadlineNs());
        window.receive(1);
        assertEquals(Long.MAX_VALUE, deadline.nextDeadlineNs());
        assertFalse(unfinished(deadline, FRAME_MAX_SLOTS, 2 * PATIENCE_NS));
    }

    @Test
    void shouldGiveUpToTheNextKnownFrameWhenNothingOfTheFirstIsHere() {
        window.extend(4);
        arrive(2, 4, 2, 0, 1);
        tick(latest);
        assertEquals(List.of(), taken);
        heartbeat(latest, 6, 5, 0, 0);
        assertTrue(tick(latest));
        assertEquals(List.of("0+2 UNREPAIRABLE 0-4"), taken);
        assertEquals(4, queue.first());
    }

    @Test
    void shouldGiveUpWhatIsUnknownWhenTheFrameBehindItHasExpired() {
        heartbeat(deadline, 0, 0, 0, 0);
        window.extend(4);
        arrive(2, 4, 2, 0, 1);
        deadline.onChange();
        heartbeat(deadline, 6, 6, HeartbeatLayout.FLAG_BOUNDARY, 3);
        assertFalse(unfinished(deadline, FRAME_MAX_SLOTS, PATIENCE_NS + 1998));
        heartbeat(deadline, 7, 7, HeartbeatLayout.FLAG_BOUNDARY, 4);
        assertTrue(unfinished(deadline, FRAME_MAX_SLOTS, PATIENCE_NS + 2000));
        assertEquals(List.of("0+2 EXPIRED 0-4", "2+1 EXPIRED 4-6"), taken);
    }

    @Test
    void shouldGoOnAtTheBoundaryOfAHeartbeatWhenThereIsRoom() {
        heartbeat(latest, 10, 0, 0, 3);
        assertFalse(tick(latest), "no boundary");
        heartbeat(latest, 10, 0, HeartbeatLayout.FLAG_BOUNDARY, 3);
        assertFalse(unfinished(latest, FRAME_MAX_SLOTS - 1, 0), "no room");
        assertFalse(tick(latest), "nothing has changed");
        latest.onChange();
        assertTrue(tick(latest));
        assertEquals(List.of("0+3 UNREPAIRABLE 0-10"), taken);
        assertEquals(10, queue.first());
        assertEquals(3, queue.nextFrameId());
        latest.onChange();
        assertFalse(tick(latest));
        // A heartbeat that was overtaken.
        heartbeat(latest, 9, 0, HeartbeatLayout.FLAG_BOUNDARY, 2);
        assertFalse(tick(latest));
    }

    @Test
    void shouldGoOnBehindAFrameThatFoundNoRoom() {
        assertEquals(Verdict.OVERRUN, latest.onOverrun(header(7, 4, 0, 0), 0, 20));
        assertEquals(Long.MIN_VALUE, latest.nextDeadlineNs());
        assertFalse(tick(latest), "all of it is still held");
        heartbeat(latest, 21, 0, 0, 0);
        assertTrue(tick(latest));
        assertEquals(List.of("0+8 UNREPAIRABLE 0-20"), taken);
        latest.onOverrun(header(8, 1, DataLayout.FLAG_BUNDLE, 3), 0, 21);
        assertTrue(tick(latest));
        assertEquals("8+3 UNREPAIRABLE 20-21", taken.getLast());
    }
}
