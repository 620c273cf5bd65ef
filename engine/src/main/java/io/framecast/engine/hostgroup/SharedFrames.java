package io.framecast.engine.hostgroup;

import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.CheckpointLog;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.session.FrameConsumer;
import java.util.ArrayDeque;
import java.util.function.LongSupplier;

/// A leader's frames: each goes into the frame table, and its slots are free when all followers have released it, in
/// order. The leader's own subscriber is a follower as the others are.
///
/// Called by the session's thread, as a [FrameConsumer].
public final class SharedFrames implements FrameConsumer, CheckpointLog, AutoCloseable {
    private final Assembly assembly;
    private final GroupLeader leader;
    private final LeaderSegment segment;
    private final LongSupplier position;
    // By entry: the session's place of the frame; NONE of a loss.
    private final long[] places = new long[SegmentLayout.ENTRIES];
    // Not yet in the table.
    private final ArrayDeque<Loss> losses = new ArrayDeque<>();
    private long oldest;
    private long next;
    private boolean abandoned;

    private record Loss(long firstFrameId, long count, LossReason reason, long end) {}

    /// @param position sequence of the frame that the session gives out next
    SharedFrames(
            final Assembly assembly,
            final GroupLeader leader,
            final LeaderSegment segment,
            final LongSupplier position) {
        this.assembly = assembly;
        this.leader = leader;
        this.segment = segment;
        this.position = position;
    }

    @Override
    public void onCheckpoint(final Checkpoint checkpoint) {
        segment.checkpoint(checkpoint, assembly.ringOffset(checkpoint.firstSequence));
    }

    @Override
    public boolean isSucceeded() {
        return segment.isClaimed();
    }

    @Override
    public boolean hasRoom() {
        return segment.hasRoom(oldest);
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
        next = segment.publish(frame, assembly.offset(), assembly.isInPlace(), position.getAsLong()) + 1;
        places[SegmentLayout.index(next - 1)] = place;
    }

    @Override
    public long nextReleased() {
        final long limit = abandoned ? next : Math.min(next, segment.released());
        while (oldest < limit) {
            final long place = places[SegmentLayout.index(oldest)];
            oldest++;
            if (place != NONE) {
                return place;
            }
        }
        return NONE;
    }

    // Only for deliveries that drop frames, and at the end, when followers read on by mappings of their own.
    @Override
    public long takeBack() {
        abandoned = true;
        return nextReleased();
    }

    @Override
    public long takenBackId() {
        return 0;
    }

    @Override
    public void onLoss(final long firstFrameId, final long count, final LossReason reason) {
        losses.add(new Loss(firstFrameId, count, reason, position.getAsLong()));
    }

    @Override
    public void onLateLoss(final long firstFrameId, final long count, final LossReason reason) {
        onLoss(firstFrameId, count, reason);
        flushLosses();
    }

    @Override
    public boolean hasRoomForLosses() {
        return losses.isEmpty() && segment.hasRoom(oldest);
    }

    @Override
    public boolean flushLosses() {
        while (!losses.isEmpty() && segment.hasRoom(oldest)) {
            final Loss loss = losses.remove();
            next = segment.publishLoss(loss.firstFrameId, loss.count, loss.reason, loss.end) + 1;
            places[SegmentLayout.index(next - 1)] = NONE;
        }
        return losses.isEmpty();
    }

    @Override
    public boolean areLossesFlushed() {
        return losses.isEmpty();
    }

    @Override
    public boolean areLossesHeard() {
        return true;
    }

    /// The source's clock less this host's, and the error of that.
    public void onClock(final long offsetNs, final long errorNs) {
        segment.clock(offsetNs, errorNs);
    }

    /// The source counts the leader as a member.
    public void onJoined() {
        segment.become(SegmentLayout.RUNNING);
    }

    /// The session is over: nothing follows.
    ///
    /// @param ended whether the stream ended; else the source was lost
    public void onOver(final boolean ended) {
        segment.become(ended ? SegmentLayout.END_OF_STREAM : SegmentLayout.SOURCE_LOST);
    }

    /// Subscribers that read what this session receives.
    public int readers() {
        return Math.max(1, segment.members());
    }

    /// Whether all who followed when the session began, or an earlier leader, have what this one shares.
    public boolean isReunited() {
        return !segment.isAwaiting();
    }

    /// Whether a follower may go on with the membership.
    public boolean hasHeirs() {
        return leader.hasFollowers();
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
