package io.framecast.reliability.sim;

import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.CheckpointLog;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.shared.SharedSegment;
import io.framecast.reliability.sim.shared.SharedSegment.Entry;
import io.framecast.reliability.window.StreamFormat;
import io.framecast.reliability.wire.BundleLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A leader's side of its segment in one session: each frame goes into the frame table, and its slots are free when all
/// members released it.
final class SimTable implements SimReception.Taker, CheckpointLog {
    private static final int ENTRIES_SPARE_MAX = 16;

    private final SimMember process;
    private final int term;
    private final SimReception reception;
    private final ReceiverMachine machine;
    private final Assembly assembly;
    private final SharedSegment segment;
    // By entry: the session's place of the frame; NO_PLACE of a loss.
    private final long[] places;
    private final List<Place> members = new ArrayList<>();
    private final ArrayDeque<Loss> losses = new ArrayDeque<>();
    private long oldest;
    private long written;
    // Until a member came, all is kept.
    private boolean admitted;
    // Members of the segment before may still come, and this process sends nothing until they did.
    private boolean awaiting;
    // Of an injected bug: not in the segment yet.
    private @Nullable Checkpoint late;
    private long lateOffset;

    /// A member's place, in the leader's own memory.
    private record Place(int index, SimMember member) {}

    private record Loss(long firstId, long count, LossReason reason, long end) {}

    SimTable(
            final SimMember process,
            final SimReception reception,
            final ReceiverMachine machine,
            final Assembly assembly,
            final byte[] ring,
            final SimReception.@Nullable Past past) {
        this.process = process;
        term = process.term();
        this.reception = reception;
        this.machine = machine;
        this.assembly = assembly;
        final int spare = 1 + process.random().nextInt(ENTRIES_SPARE_MAX);
        final int entries = BundleLayout.FRAMES_MAX + spare;
        segment = past == null
                ? new SharedSegment(ring, null, 0, entries, process::pass)
                : new SharedSegment(ring, past.segment(), past.claim(), entries, process::pass);
        places = new long[segment.entries()];
        awaiting = past != null;
    }

    SharedSegment segment() {
        return segment;
    }

    SimMember process() {
        return process;
    }

    /// The term of its process's leading in which it was made.
    int term() {
        return term;
    }

    /// A member released something.
    void wakeLeader() {
        process.wakeAfter(process.random().nextInt(1_000));
    }

    SimReception reception() {
        return reception;
    }

    boolean isAwaiting() {
        return awaiting;
    }

    /// All that followed the earlier leader have come, or do not count any more.
    void onHandoverComplete() {
        awaiting = false;
    }

    boolean has(final SimMember member) {
        for (final Place place : members) {
            if (place.member == member) {
                return true;
            }
        }
        return false;
    }

    /// A member reads from now on.
    ///
    /// @param continues whether it followed the earlier leader
    void admit(final SimMember member, final boolean continues) {
        members.removeIf(this::isGone);
        int index = 0;
        while (isTaken(index)) {
            index++;
        }
        final boolean fromHere = admitted && !(continues && awaiting);
        final long first = fromHere ? segment.published() : 0;
        segment.admit(index, first);
        members.add(new Place(index, member));
        admitted = true;
        final long startId = first > 0 ? reception.frames().expectedFrame() : SimFollower.FIRST;
        member.follower().add(new SimFollower.View(this, index, first, startId, continues));
    }

    private boolean isTaken(final int index) {
        for (final Place place : members) {
            if (place.index == index) {
                return true;
            }
        }
        return false;
    }

    // Its connection ended.
    private boolean isGone(final Place place) {
        return place.member.isStopped() || place.member.follower().isOut(segment);
    }

    /// Members that a successor waits for: alive, and not on their way out.
    List<SimMember> followersToAwait() {
        final List<SimMember> found = new ArrayList<>();
        for (final Place place : members) {
            if (!place.member.isStopped() && !segment.hasLeft(place.index)) {
                found.add(place.member);
            }
        }
        return found;
    }

    private long released() {
        if (!admitted || awaiting) {
            return 0;
        }
        long least = segment.published();
        for (final Place place : members) {
            if (!isGone(place)) {
                least = Math.min(least, segment.released(place.index));
            }
        }
        return least;
    }

    @Override
    public void onCheckpoint(final Checkpoint checkpoint) {
        final long offset = assembly.ringOffset(checkpoint.firstSequence);
        if (process.world().plant() == Plant.ACKNOWLEDGE_BEFORE_LOG) {
            writeLate(checkpoint, offset);
        } else {
            segment.write(checkpoint, offset);
        }
    }

    @Override
    public boolean isSucceeded() {
        final SharedSegment before = segment.predecessor();
        return segment.isClaimed() || (before != null && !segment.counts() && !segment.open());
    }

    // Each comes into the segment in front of the next one.
    private void writeLate(final Checkpoint checkpoint, final long offset) {
        segment.write(late == null ? checkpoint : late, late == null ? offset : lateOffset);
        late = new Checkpoint();
        late.copy(checkpoint);
        lateOffset = offset;
    }

    /// After each cycle of the session.
    void onCycle() {
        final SharedSegment.State state = stateNow();
        if (state != segment.state()) {
            segment.become(state);
            process.group().wakeAll();
        }
    }

    // The last word comes behind the last frame.
    private SharedSegment.State stateNow() {
        final State state = machine.state();
        if (state == State.REFUSED) {
            return SharedSegment.State.LOST;
        }
        if (state == State.ENDED || state == State.LOST) {
            final boolean over = reception.session().isEnded() && losses.isEmpty();
            final SharedSegment.State end = state == State.ENDED ? SharedSegment.State.ENDED : SharedSegment.State.LOST;
            return over ? end : segment.state();
        }
        return state == State.RECEIVING ? SharedSegment.State.RUNNING : SharedSegment.State.JOINING;
    }

    @Override
    public boolean isQuiet() {
        return oldest == written && losses.isEmpty();
    }

    @Override
    public int held() {
        return (int) (written - oldest);
    }

    @Override
    public boolean advance() {
        return false;
    }

    @Override
    public boolean hasRoom() {
        return written - oldest < segment.entries() - BundleLayout.FRAMES_MAX || written > segment.published();
    }

    @Override
    public void onFrame(final ReceivedFrame frame, final long place) {
        final FrameCheck.Held one = reception.frames().onFrame(frame, segment.ring(), assembly.offset(), true);
        if (one == null || !reception.frames().onShared(one)) {
            return;
        }
        final Entry entry = segment.begin(written);
        entry.loss = false;
        entry.frameId = frame.frameId();
        entry.offset = assembly.offset() % segment.ring().length;
        segment.store();
        entry.length = frame.bytes();
        entry.flags = frame.flags();
        entry.timestampNs = frame.timestampNs();
        segment.store();
        final byte[] metadata = frame.metadata();
        entry.metadata = metadata == null ? new byte[0] : metadata;
        final StreamFormat format = frame.format();
        entry.format = format == null ? new byte[0] : format.bytes();
        finish(entry, place, machine.nextFrameSequence());
        if (frame.endsSlots()) {
            show();
        }
    }

    private void finish(final Entry entry, final long place, final long end) {
        entry.end = end;
        places[(int) (written % places.length)] = place;
        segment.seal(written++);
    }

    private void show() {
        segment.publish(written);
        process.group().wakeAll();
    }

    @Override
    public long nextReleased() {
        final long limit = released();
        while (oldest < limit) {
            final long place = places[(int) (oldest % places.length)];
            oldest++;
            if (place != NO_PLACE) {
                return place;
            }
        }
        return NO_PLACE;
    }

    @Override
    public long takeBack() {
        return nextReleased();
    }

    @Override
    public long takenBackId() {
        return 0;
    }

    @Override
    public void onLoss(final long firstFrameId, final long count, final LossReason reason) {
        if (machine.state() == State.LOST) {
            reception.frames().onSourceLost();
        }
        reception.frames().onLost(count, reason);
        losses.add(new Loss(firstFrameId, count, reason, machine.nextFrameSequence()));
    }

    @Override
    public void onLateLoss(final long firstFrameId, final long count, final LossReason reason) {
        onLoss(firstFrameId, count, reason);
        flushLosses();
    }

    @Override
    public boolean hasRoomForLosses() {
        return losses.isEmpty() && hasRoom();
    }

    @Override
    public boolean flushLosses() {
        while (!losses.isEmpty() && hasRoom()) {
            final Loss loss = losses.remove();
            final Entry entry = segment.begin(written);
            entry.loss = true;
            entry.frameId = loss.firstId;
            entry.length = loss.count;
            entry.reason = loss.reason;
            finish(entry, NO_PLACE, loss.end);
            show();
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
}
