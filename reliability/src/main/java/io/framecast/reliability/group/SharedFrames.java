package io.framecast.reliability.group;

import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.CheckpointLog;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.session.FrameConsumer;
import io.framecast.reliability.wire.Delivery;
import java.util.ArrayDeque;
import java.util.function.LongSupplier;

/// A leader's frames: each goes into the frame table, and its slots are free when all followers have released it,
/// in order. The leader's own subscriber is a follower like any other. Where some followers hold nothing, the
/// newest frames stay a while, so that these can copy them out.
///
/// Called by the session's thread, as a [FrameConsumer].
public final class SharedFrames implements FrameConsumer, CheckpointLog, AutoCloseable {
    /// How far the handover of a membership is, from an earlier leader to this one.
    public enum Handover {
        /// Some that followed the earlier leader are to come.
        AWAITING,
        /// Each of them has this segment, or is not awaited.
        COMPLETE
    }

    private final Assembly assembly;
    private final Group group;
    private final LeaderTable table;
    private final TableLayout layout;
    private final long retainedSlots;
    private final long crowdedSlots;
    private final LongSupplier position;
    // By entry: sequence behind it.
    private final long[] ends;
    // By entry: the session's place of the frame; NO_PLACE of a loss.
    private final long[] places;
    // Not yet in the table.
    private final ArrayDeque<Loss> losses = new ArrayDeque<>();
    private long oldest;
    private long next;
    private long retained;
    // Sequence behind the last frame that was given back.
    private long freed;
    private long wanted;
    // Nothing is written any more: followers that hold nothing may still copy frames out.
    private boolean abandoned;

    private record Loss(long firstFrameId, long count, LossReason reason, long end) {}

    /// The members for which the frames are shared.
    public interface Group {
        /// True when a follower may go on with the membership.
        boolean hasFollowers();

        /// The session's memory is to be freed.
        void retire();
    }

    /// @param retainedSlots beside the newest frame
    /// @param crowdedSlots held by followers, beyond which they wake the receiver when they release
    /// @param position sequence of the frame that the session gives out next
    public SharedFrames(
            final Assembly assembly,
            final Group group,
            final LeaderTable table,
            final long retainedSlots,
            final long crowdedSlots,
            final LongSupplier position) {
        this.assembly = assembly;
        this.group = group;
        this.table = table;
        layout = table.layout();
        ends = new long[layout.entries()];
        places = new long[layout.entries()];
        this.retainedSlots = retainedSlots;
        this.crowdedSlots = crowdedSlots;
        this.position = position;
    }

    @Override
    public void onCheckpoint(final Checkpoint checkpoint) {
        table.checkpoint(checkpoint, assembly.ringOffset(checkpoint.firstSequence));
    }

    @Override
    public boolean isSucceeded() {
        return table.isClaimed() || !table.open();
    }

    @Override
    public boolean hasRoom() {
        return table.hasRoom(oldest);
    }

    @Override
    public void onFrame(final ReceivedFrame frame, final long place) {
        if (assembly.space() != Space.RING) {
            throw new IllegalStateException("a frame of a host group lies in " + assembly.space());
        }
        final long end = position.getAsLong();
        note(table.publish(frame, assembly.offset(), assembly.isInPlace(), end), place, end);
    }

    private void note(final long number, final long place, final long end) {
        next = number + 1;
        places[layout.index(number)] = place;
        ends[layout.index(number)] = end;
    }

    @Override
    public long nextReleased() {
        do {
            final long limit = abandoned ? next : releasable();
            if (!abandoned) {
                table.free(limit);
            }
            while (oldest < limit) {
                final int index = layout.index(oldest);
                oldest++;
                freed = ends[index];
                if (places[index] != NO_PLACE) {
                    return places[index];
                }
            }
        } while (wantsMore());
        return NO_PLACE;
    }

    // Followers wake the receiver only where it runs short of room. Else it looks for released frames when data comes.
    // True when a follower released something before it could see the wish.
    private boolean wantsMore() {
        final boolean crowded = next > oldest
                && !abandoned
                && (next - oldest > layout.entries() / 4 || ends[layout.index(next - 1)] - freed > crowdedSlots);
        final long want = crowded ? oldest + 1 : 0;
        if (want == wanted) {
            return false;
        }
        wanted = want;
        table.want(want);
        return crowded && releasable() > oldest;
    }

    private long releasable() {
        final long released = Math.min(next, table.released());
        return table.isReadUnheld() ? Math.min(released, firstRetained()) : released;
    }

    // The newest frame, and before it as many as are to stay; no more than leave room for formats.
    private long firstRetained() {
        retained = Math.max(Math.max(retained, oldest), Math.min(table.sparingFormats(), next - 1));
        final long behind = next == 0 ? 0 : ends[layout.index(next - 1)];
        while (retained < next - 1
                && (next - retained > layout.room() / 2 || behind - ends[layout.index(retained)] > retainedSlots)) {
            retained++;
        }
        return retained;
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
        return losses.isEmpty() && table.hasRoom(oldest);
    }

    @Override
    public boolean flushLosses() {
        while (!losses.isEmpty() && table.hasRoom(oldest)) {
            final Loss loss = losses.remove();
            note(table.publishLoss(loss.firstFrameId, loss.count, loss.reason, loss.end), NO_PLACE, loss.end);
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

    /// The source's clock less this host's, and the error of that; MAX_VALUE where it is not known.
    public void onClock(final long offsetNs, final long errorNs) {
        table.clock(offsetNs, errorNs);
    }

    /// The source counts the leader as a member.
    ///
    /// @param frameId the first that it gets
    public void onJoined(final long frameId) {
        table.start(frameId);
    }

    /// The session is over: nothing follows.
    ///
    /// @param ended whether the stream ended; else the source was lost
    public void onOver(final boolean ended) {
        table.become(ended ? SegmentLayout.END_OF_STREAM : SegmentLayout.SOURCE_LOST);
    }

    /// Entries that some member has not released, as the session knows.
    public int held() {
        return (int) (next - oldest);
    }

    /// Subscribers that read this session's frames.
    public int readers() {
        return Math.max(1, table.members());
    }

    /// In each cycle: reports to the source how many members the leader stands for, and the strongest of their
    /// policies.
    ///
    /// @param machine the leader's
    public void report(final ReceiverMachine machine, final long nowNs) {
        if (machine.state() != ReceiverMachine.State.RECEIVING || !isHandoverComplete()) {
            return;
        }
        // A member that must miss nothing looks whether the source waits after the leader counted the member. So the
        // source hears that it need not wait only while no member was counted that might have seen it wait.
        if (!table.strongest().isWaitedFor()) {
            table.askToWait(false);
        }
        final Delivery strongest = table.strongest();
        if (strongest.isWaitedFor()) {
            table.askToWait(true);
        }
        machine.standFor(readers(), strongest, nowNs);
        // Earlier losses are reported first.
        if (machine.isWaitedFor() && losses.isEmpty()) {
            table.onWaitedFor();
        }
    }

    /// True when every follower at the session's beginning, of this leader or of an earlier one, has this table.
    public boolean isHandoverComplete() {
        return handover() == Handover.COMPLETE;
    }

    /// How far the handover from an earlier leader is; complete where there was none.
    public Handover handover() {
        return table.isAwaiting() ? Handover.AWAITING : Handover.COMPLETE;
    }

    /// Ends the membership, unless a follower may go on with it.
    public void endMembership(final Runnable end) {
        if (!group.hasFollowers()) {
            end.run();
        }
    }

    /// The session writes no more: followers keep their frames by mappings of their own, and hold nothing back.
    public void abandon() {
        abandoned = true;
    }

    @Override
    public void close() {
        group.retire();
    }
}
