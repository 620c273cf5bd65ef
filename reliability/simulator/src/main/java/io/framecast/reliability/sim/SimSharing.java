package io.framecast.reliability.sim;

import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.group.FollowerReader;
import io.framecast.reliability.group.FollowerTable;
import io.framecast.reliability.group.HeldFrames;
import io.framecast.reliability.group.LeaderTable;
import io.framecast.reliability.group.SegmentMemory;
import io.framecast.reliability.group.SharedFrames;
import io.framecast.reliability.group.StreamStatus;
import io.framecast.reliability.group.TableLayout;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.CheckpointLog;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.shared.ProcessDeath;
import io.framecast.reliability.sim.shared.SimRing;
import io.framecast.reliability.sim.shared.SimSegment;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A leader's side of its segment in one session: a [LeaderTable] and its [SharedFrames], with checks in front,
/// and the listener that gives members their places.
final class SimSharing implements SimReception.Taker, CheckpointLog, SharedFrames.Group {
    // A table is short, so that it runs full.
    private static final int ENTRIES = 128;
    private static final int ROOM_MAX = 16;
    private static final int WAKE_MAX_NS = 50_000;
    private static final int LEADER_WAKE_MAX_NS = 1_000;
    private static final int CROWDED_PART = 4;

    private final SimMember process;
    private final int term;
    private final SimReception reception;
    private final ReceiverMachine machine;
    private final Assembly assembly;
    private final SimSegment segment;
    private final LeaderTable table;
    private final SharedFrames frames;
    private final SimReception.@Nullable Past past;
    private final List<Place> members = new ArrayList<>();
    // The state that members know.
    private boolean joined;
    private boolean over;
    private long seen;
    private boolean promised;
    // Goes on in place of the segment before, for all.
    private boolean adopted;
    // By the segment of a successor.
    private boolean inherited;
    // Of some member, the source gave up the leader if that were slow.
    private boolean evicts;
    // Of an injected bug: not in the segment yet.
    private @Nullable Checkpoint late;
    private long lateOffset;

    /// A member's place, in the leader's own memory.
    private record Place(int index, SimMember member) {}

    SimSharing(
            final SimMember process,
            final SimReception reception,
            final ReceiverMachine machine,
            final Assembly assembly,
            final byte[] ring,
            final Delivery policy,
            final SimReception.@Nullable Past past) {
        this.process = process;
        this.reception = reception;
        this.machine = machine;
        this.assembly = assembly;
        this.past = past;
        term = process.term();
        segment = new SimSegment(
                ring, new TableLayout(ENTRIES, 2 + process.random().nextInt(ROOM_MAX)));
        final StreamInfo stream = machine.stream();
        final long predecessor = past == null ? 0 : past.left().generation();
        final LeaderTable.Header header = new LeaderTable.Header(
                stream,
                ring.length,
                predecessor + 1,
                predecessor,
                process.host().address(),
                0);
        table = new LeaderTable(
                segment.map(process::pass), segment.layout(), header, policy, this::mayOpen, this::wake);
        final long slots = ring.length / stream.slotBytes();
        final int framesHeld = process.world().options().flow().framesHeld();
        frames = new SharedFrames(
                assembly,
                this,
                table,
                (framesHeld - 1L) * stream.frameMaxSlots(),
                slots / CROWDED_PART,
                machine::nextFrameSequence);
    }

    SimSegment segment() {
        return segment;
    }

    LeaderTable table() {
        return table;
    }

    /// The segment that this one continues; null for none.
    @Nullable
    SimSegment predecessor() {
        return past == null ? null : past.segment();
    }

    SimMember process() {
        return process;
    }

    /// The term of its process's leading in which it was made.
    int term() {
        return term;
    }

    SimReception reception() {
        return reception;
    }

    // A successor's segment counts for all from then on.
    private boolean mayOpen() {
        final SimReception.Past from = past;
        if (from == null || !from.isNewest()) {
            return false;
        }
        adopted = true;
        from.sharing().inherited = true;
        return true;
    }

    /// Whether a successor's segment has taken its place for all.
    boolean isInherited() {
        return inherited;
    }

    /// Whether a successor would go on from here, and not from the segment before.
    boolean counts() {
        return promised && (past == null || (adopted && past.isNewest()));
    }

    /// A member released what this leader waits for.
    void wakeLeader() {
        process.wakeAfter(process.random().nextInt(LEADER_WAKE_MAX_NS));
    }

    private void wake(final int index) {
        for (final Place place : members) {
            if (place.index == index) {
                place.member.wakeAfter(process.random().nextInt(WAKE_MAX_NS));
            }
        }
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
        int index = 0;
        while (table.isTaken(index)) {
            index++;
        }
        final int address = member.host().address();
        members.add(new Place(index, member));
        final Delivery delivery = member.user().delivery();
        evicts |= delivery.kind() == Delivery.Kind.EVICT;
        table.admit(index, address, delivery);
        table.name(index, 1L + address, member == process);
        final SegmentMemory mapped = process.world().plant() == Plant.ACCEPT_TORN_ENTRY
                ? segment.mapTorn(member::pass)
                : segment.map(member::pass);
        if (!FollowerTable.isSound(mapped, segment.layout())) {
            reception.violation("shares no segment that can be read");
        }
        final FollowerTable read = map(mapped, index, member);
        if (read == null) {
            return;
        }
        final long startId = read.upcoming() > 0 ? reception.frames().expectedFrame() : SimFollower.FIRST;
        member.follower().add(new View(this, read, startId, continues));
    }

    // Null where it dies as it does.
    private @Nullable FollowerTable map(final SegmentMemory mapped, final int index, final SimMember member) {
        try {
            final boolean drops = !member.user().delivery().isWaitedFor();
            return new FollowerTable(mapped, segment.layout(), index, drops);
        } catch (final ProcessDeath e) {
            if (member == process) {
                throw e;
            }
            member.host().crash();
            return null;
        }
    }

    /// Gives the places back of members whose connections ended.
    ///
    /// @return members
    int dismissGone() {
        int count = 0;
        for (int i = members.size() - 1; i >= 0; i--) {
            final Place place = members.get(i);
            if (isGone(place)) {
                members.remove(i);
                table.dismiss(place.index);
                count++;
            }
        }
        if (count > 0) {
            wakeLeader();
        }
        return count;
    }

    // Its connection ended, or its words are not open any more.
    private boolean isGone(final Place place) {
        return place.member.isStopped() || place.member.follower().isOut(segment);
    }

    /// Members that a successor waits for: alive, and not on their way out.
    ///
    /// @param by words of a member
    List<SimMember> followersToAwait(final FollowerTable by) {
        final List<SimMember> found = new ArrayList<>();
        for (final Place place : members) {
            if (!isGone(place) && by.isAwaited(place.index)) {
                found.add(place.member);
            }
        }
        return found;
    }

    @Override
    public boolean hasFollowers() {
        return members.stream().anyMatch(place -> place.member != process && !isGone(place));
    }

    @Override
    public void retire() {
        // Members have mappings of their own.
    }

    @Override
    public void onCheckpoint(final Checkpoint checkpoint) {
        if (process.world().plant() == Plant.ACKNOWLEDGE_BEFORE_LOG) {
            writeLate(checkpoint);
        } else {
            frames.onCheckpoint(checkpoint);
        }
        promised = true;
    }

    @Override
    public boolean isSucceeded() {
        return frames.isSucceeded();
    }

    // Each comes into the segment in front of the next one.
    private void writeLate(final Checkpoint checkpoint) {
        final long offset = assembly.ringOffset(checkpoint.firstSequence);
        table.checkpoint(late == null ? checkpoint : late, late == null ? offset : lateOffset);
        late = new Checkpoint();
        late.copy(checkpoint);
        lateOffset = offset;
    }

    /// Whether the source may give its leader up for being slow.
    boolean evicts() {
        return evicts || (past != null && past.sharing().evicts());
    }

    /// The source's clock less the host's, which is the true one.
    void onClock(final long offsetNs, final long errorNs) {
        frames.onClock(offsetNs, errorNs);
    }

    /// The session has left: nothing is written any more.
    void abandon() {
        frames.abandon();
    }

    /// In each cycle of the session, before it is over: reports its members to the source.
    void report() {
        frames.report(machine, process.nowNs());
    }

    /// After each cycle of the session.
    void onCycle() {
        if (!joined && reception.session().isStarted()) {
            joined = true;
            frames.onJoined(reception.session().firstFrameId());
        }
        if (!over && isOver()) {
            over = true;
            frames.onOver(machine.state() == State.ENDED);
        }
        if (table.published() != seen) {
            // An agent that worked looks again at once, for frames that were released meanwhile.
            seen = table.published();
            wakeLeader();
        }
    }

    // The last word comes behind the last frame.
    private boolean isOver() {
        return switch (machine.state()) {
            case REFUSED -> true;
            case ENDED, LOST -> reception.session().isEnded() && frames.areLossesFlushed();
            case JOINING, PROBING, STARTING, RECEIVING -> false;
        };
    }

    @Override
    public boolean isQuiet() {
        // The newest frame stays for members that hold nothing. A member for which the source did not wait before the
        // end
        // of the stream reads nothing.
        final boolean isRead = members.stream()
                .allMatch(place -> table.releasedBy(place.index) >= table.published()
                        || place.member.follower().hasEnded(reception.source()));
        return isRead && (table.published() == 0 || !table.isAwaiting()) && frames.areLossesFlushed();
    }

    @Override
    public int held() {
        return frames.held();
    }

    @Override
    public boolean advance() {
        return false;
    }

    @Override
    public boolean hasRoom() {
        return frames.hasRoom();
    }

    @Override
    public void onFrame(final ReceivedFrame frame, final long place) {
        final FrameCheck.Held one = reception.frames().onFrame(frame, segment.ring(), assembly.offset(), true);
        if (one != null && reception.frames().onShared(one)) {
            frames.onFrame(frame, place);
        }
    }

    @Override
    public long nextReleased() {
        return frames.nextReleased();
    }

    @Override
    public long takeBack() {
        return frames.takeBack();
    }

    @Override
    public long takenBackId() {
        return frames.takenBackId();
    }

    @Override
    public void onLoss(final long firstFrameId, final long count, final LossReason reason) {
        onLost(count, reason);
        frames.onLoss(firstFrameId, count, reason);
    }

    @Override
    public void onLateLoss(final long firstFrameId, final long count, final LossReason reason) {
        onLost(count, reason);
        frames.onLateLoss(firstFrameId, count, reason);
    }

    private void onLost(final long count, final LossReason reason) {
        if (machine.state() == State.LOST) {
            reception.frames().allowLoss();
        }
        reception.frames().onLost(count, reason);
    }

    @Override
    public boolean hasRoomForLosses() {
        return frames.hasRoomForLosses();
    }

    @Override
    public boolean flushLosses() {
        return frames.flushLosses();
    }

    @Override
    public boolean areLossesFlushed() {
        return frames.areLossesFlushed();
    }

    @Override
    public boolean areLossesHeard() {
        return frames.areLossesHeard();
    }

    /// A segment as this member got it.
    static final class View implements FollowerReader.Entries {
        final SimSharing sharing;
        final FollowerTable table;
        final SimRing ring;
        final HeldFrames frames;
        final long startId;
        final boolean continues;
        final long madeNs;
        int held;
        // It passed entries of before the source waited for the leader.
        boolean late;

        /// @param sharing of the leader; its own memory is for checks alone
        /// @param table the words, as this member mapped them
        /// @param startId the first frame to get, as the checker knows it
        /// @param continues whether it goes on with the stream that this member read
        View(final SimSharing sharing, final FollowerTable table, final long startId, final boolean continues) {
            this.sharing = sharing;
            this.table = table;
            this.startId = startId;
            this.continues = continues;
            ring = new SimRing(sharing.segment());
            frames = table.heldFrames(ring, Long.MAX_VALUE);
            madeNs = sharing.process().events().nowNs();
        }

        SimSegment segment() {
            return sharing.segment();
        }

        @Override
        public FollowerTable table() {
            return table;
        }

        @Override
        public long peek() {
            return table.peek();
        }

        @Override
        public long take() {
            return table.take();
        }

        @Override
        public void release(final long number) {
            wakeLeader(table.release(number));
        }

        SimSession source() {
            return sharing.reception().source();
        }

        SimReception reception() {
            return sharing.reception();
        }

        StreamInfo stream() {
            return sharing.reception().machine().stream();
        }

        long heartbeat() {
            return table.heartbeat();
        }

        SimMember leader() {
            return sharing.process();
        }

        boolean isOf(final SimMember leader, final int term) {
            return sharing.process() == leader && sharing.term() == term;
        }

        /// Processes that followed, and would follow a successor.
        List<SimMember> followersToAwait() {
            return sharing.followersToAwait(table);
        }

        /// Whether its membership is not over.
        boolean mayGoOn() {
            return table.isOpen() && table.hasPromise() && !sharing.isInherited();
        }

        /// Whether its leader is gone or has left the session, and nothing is left to go on with.
        boolean isForsaken() {
            final SimMember leader = sharing.process();
            final boolean isGone = leader.isStopped()
                    || !leader.listens()
                    || leader.term() != sharing.term()
                    || sharing.reception().hasLeft();
            return isGone && !mayGoOn();
        }

        StreamStatus status() {
            // The state first: then this sees all entries that were published before the state changed.
            final int state = table.state();
            final boolean passes = table.begin();
            late |= passes;
            wakeLeader(passes);
            return table.status(state);
        }

        void wakeLeader(final boolean wakes) {
            if (wakes) {
                sharing.wakeLeader();
            }
        }
    }
}
