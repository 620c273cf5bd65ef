package io.framecast.engine.hostgroup;

import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.session.FrameConsumer;

/// A leader's frames: each goes to its own subscriber and into the frame table, and its slots are free when that
/// subscriber and all followers have released it, in order.
///
/// Called by the session's thread, as a [FrameConsumer].
public final class SharedFrames implements FrameConsumer, AutoCloseable {
    private static final int MASK = SegmentLayout.ENTRIES - 1;

    private final FrameConsumer own;
    private final Assembly assembly;
    private final GroupLeader leader;
    private final LeaderSegment segment;
    // By entry: the session's place of the frame, and whether the own subscriber released it.
    private final long[] places = new long[SegmentLayout.ENTRIES];
    private final boolean[] done = new boolean[SegmentLayout.ENTRIES];
    private long oldest;
    private long next;
    private boolean abandoned;
    private long takenBack = NONE;

    SharedFrames(
            final FrameConsumer own, final Assembly assembly, final GroupLeader leader, final LeaderSegment segment) {
        this.own = own;
        this.assembly = assembly;
        this.leader = leader;
        this.segment = segment;
    }

    @Override
    public boolean hasRoom() {
        // One more for the losses in front of a frame.
        return own.hasRoom() && segment.hasRoom(oldest + 1);
    }

    @Override
    public boolean wantsPosted(final long bytes) {
        return false;
    }

    @Override
    public boolean isPostedGone(final long bytes) {
        return false;
    }

    @Override
    public void onFrame(final ReceivedFrame frame, final long place) {
        if (assembly.space() != Space.RING) {
            throw new IllegalStateException("a frame of a host group lies in " + assembly.space());
        }
        next = segment.publish(frame, assembly.offset(), assembly.isInPlace()) + 1;
        places[(int) (next - 1) & MASK] = place;
        done[(int) (next - 1) & MASK] = false;
        own.onFrame(frame, next - 1);
    }

    @Override
    public long nextReleased() {
        for (long number = own.nextReleased(); number != NONE; number = own.nextReleased()) {
            done[(int) number & MASK] = true;
        }
        final long limit = abandoned ? next : segment.released();
        while (oldest < limit && done[(int) oldest & MASK]) {
            final long place = places[(int) oldest & MASK];
            oldest++;
            if (place != NONE) {
                return place;
            }
        }
        return NONE;
    }

    @Override
    public long takeBack() {
        final long number = own.takeBack();
        if (number == NONE) {
            return NONE;
        }
        takenBack = own.takenBackId();
        final long place = places[(int) number & MASK];
        places[(int) number & MASK] = NONE;
        done[(int) number & MASK] = true;
        return place;
    }

    @Override
    public long takenBackId() {
        return takenBack;
    }

    @Override
    public void onLoss(final long firstFrameId, final long count, final LossReason reason) {
        publishLoss(firstFrameId, count, reason);
        own.onLoss(firstFrameId, count, reason);
    }

    @Override
    public void onLateLoss(final long firstFrameId, final long count, final LossReason reason) {
        publishLoss(firstFrameId, count, reason);
        own.onLateLoss(firstFrameId, count, reason);
    }

    private void publishLoss(final long firstFrameId, final long count, final LossReason reason) {
        if (segment.hasRoom(oldest)) {
            next = segment.publishLoss(firstFrameId, count, reason) + 1;
            places[(int) (next - 1) & MASK] = NONE;
            done[(int) (next - 1) & MASK] = true;
        }
    }

    @Override
    public boolean hasRoomForLosses() {
        return own.hasRoomForLosses();
    }

    @Override
    public boolean flushLosses() {
        return own.flushLosses();
    }

    @Override
    public boolean areLossesFlushed() {
        return own.areLossesFlushed();
    }

    @Override
    public boolean areLossesHeard() {
        return own.areLossesHeard();
    }

    /// The source's clock less this host's, and the error of that.
    public void onClock(final long offsetNs, final long errorNs) {
        segment.clock(offsetNs, errorNs);
    }

    /// The session is over: nothing follows.
    ///
    /// @param ended whether the stream ended; else the source was lost
    public void onOver(final boolean ended) {
        segment.finish(ended ? SegmentLayout.END_OF_STREAM : SegmentLayout.SOURCE_LOST);
        abandon();
    }

    /// The session writes no more: followers keep what they read by their own mappings, and hold nothing back.
    public void abandon() {
        abandoned = true;
    }

    @Override
    public void close() {
        leader.retire(segment);
    }
}
