package io.framecast.reliability.sim;

import io.framecast.reliability.group.FollowerTable;
import io.framecast.reliability.group.HeldFrames;
import io.framecast.reliability.group.SegmentOrder;
import io.framecast.reliability.group.StreamStatus;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.shared.ProcessDeath;
import io.framecast.reliability.sim.shared.SimRing;
import io.framecast.reliability.sim.shared.SimSegment;
import io.framecast.reliability.wire.StreamInfo;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A member's user: reads the frames of its host group's leaders, one segment after the other, and keeps each for
/// a while. The leader's own user is one as well.
final class SimFollower {
    /// The first frame of the membership, as its leader knows it.
    static final long FIRST = -1;

    /// A segment as this member got it.
    static final class View {
        private final SimSharing sharing;
        private final FollowerTable table;
        private final SimRing ring;
        private final HeldFrames frames;
        private final long startId;
        private final boolean continues;
        private final long madeNs;
        private int held;

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

        FollowerTable table() {
            return table;
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

        private StreamStatus status() {
            // The state first: then this sees all entries that were published before the state changed.
            final int state = table.state();
            wakeLeader(table.begin());
            return table.status(state);
        }

        private void wakeLeader(final boolean wakes) {
            if (wakes) {
                sharing.wakeLeader();
            }
        }
    }

    private final SimMember process;
    private final SimWorld world;
    private final int heldMax;
    private final ArrayDeque<View> coming = new ArrayDeque<>();
    // Read to their end, with frames that the user holds.
    private final Set<View> former = new HashSet<>();
    private final Set<Long> ended = new HashSet<>();
    private @Nullable View view;
    // Of the segments before the newest one.
    private @Nullable View past;
    // In whose words this member sleeps.
    private @Nullable View asleep;
    private @Nullable FrameCheck checks;
    private int held;

    SimFollower(final SimMember process) {
        this.process = process;
        world = process.world();
        heldMax = world.options().flow().framesHeld();
    }

    /// Another segment to read, when everything before was read.
    void add(final View made) {
        past = last();
        coming.add(made);
        process.wakeAfter(process.random().nextInt(2_000));
    }

    /// Whether its connection for a segment ended: it reads nothing there any more.
    boolean isOut(final SimSegment segment) {
        final View current = view;
        if (current != null && current.segment() == segment) {
            return false;
        }
        for (final View waiting : coming) {
            if (waiting.segment() == segment) {
                return false;
            }
        }
        for (final View earlier : former) {
            if (earlier.segment() == segment) {
                return false;
            }
        }
        return true;
    }

    /// This member will not follow another leader.
    void leave() {
        final View current = view;
        if (current != null) {
            current.table.leave();
        }
        coming.forEach(waiting -> waiting.table.leave());
    }

    /// The newest segment.
    @Nullable
    View newest() {
        final View waiting = coming.peekLast();
        return waiting == null ? view : waiting;
    }

    /// The newest segment from which a successor could go on: the last that is open.
    @Nullable
    View last() {
        final View newest = newest();
        return newest == null || newest.table.isOpen() ? newest : past;
    }

    /// The leader of the newest segment is gone: the stream has ended, if it had promised that to the source.
    void onLeaderGone() {
        final View newest = last();
        if (newest != null) {
            newest.table.lookForEnd();
        }
    }

    boolean hasEnded(final SimSession session) {
        return ended.contains(session.nonce());
    }

    /// Whether the user has everything, and holds nothing.
    boolean isSettled(final SimSession last) {
        final View current = view;
        final boolean read = current == null || !current.table.hasNext();
        return held == 0 && read && !hasLater() && (hasEnded(last) || last.isClosed() || isLeftOut(last));
    }

    // No receiver joins a stream that ends.
    private boolean isLeftOut(final SimSession last) {
        final View current = view;
        return last.isEnding() && (current == null || isOver(current) || (checks == null && current.isForsaken()));
    }

    private boolean hasLater() {
        return coming.stream().anyMatch(waiting -> waiting.status() != StreamStatus.NONE);
    }

    /// The user takes the frames that are there.
    ///
    /// @return whether there was any
    boolean advance() {
        wakeUp();
        final View present = view;
        if (present != null) {
            present.wakeLeader(present.table.makeRoom(present.frames));
        }
        boolean any = false;
        while (world.journal().isClean()) {
            final View current = view;
            final StreamStatus status = current == null ? StreamStatus.NONE : current.status();
            if (current != null && status == StreamStatus.FRAMES) {
                if (held >= heldMax) {
                    return any;
                }
                take(current);
                any = true;
            } else if (!moves(current, status)) {
                sleep();
                return any;
            }
        }
        return false;
    }

    private void wakeUp() {
        final View slept = asleep;
        if (slept != null) {
            asleep = null;
            slept.table.wakes();
        }
    }

    // Nothing more comes in the present one where there is a later one. A member that cannot sleep looks again at its
    // next look for its leader.
    private void sleep() {
        final View later = coming.peek();
        final View shared = later == null ? view : later;
        if (shared != null && shared.table.sleeps(shared.table.state())) {
            asleep = shared;
        }
    }

    // Whether the member reads another segment from now on, or skipped one.
    private boolean moves(final @Nullable View current, final StreamStatus status) {
        if (current != null && status == StreamStatus.ENDED) {
            conclude(current);
        }
        final View made = coming.peek();
        if (made == null) {
            return false;
        }
        final SegmentOrder.Step step = SegmentOrder.step(
                current == null ? null : current.table,
                status,
                made.table,
                made.status(),
                coming.stream().skip(1).map(View::table).toList(),
                true);
        return switch (step) {
            case STAY -> false;
            case SKIP, REFUSE -> {
                coming.remove();
                yield true;
            }
            case MOVE -> {
                coming.remove();
                move(current, made);
                yield true;
            }
        };
    }

    private void conclude(final View current) {
        final FrameCheck own = checks;
        // Without checks nothing came since this member is here.
        if (ended.add(current.source().nonce()) && own != null) {
            begin(current, own);
            own.conclude(true);
        }
    }

    private void move(final @Nullable View from, final View to) {
        if (from != null && from.held > 0) {
            former.add(from);
        }
        if (!to.continues || from == null || from.source() != to.source()) {
            final FrameCheck own = checks;
            if (from != null && from.source() == to.source() && own != null && !isOver(from)) {
                violation("is cut off at frame " + own.expectedFrame() + " though its membership lives");
            }
            checks = null;
        }
        process.onMoved(to.madeNs);
        view = to;
    }

    // Whether this member rightly gets no more of the stream that it read.
    private boolean isOver(final View from) {
        final SimReception leader = from.reception();
        return hasEnded(from.source())
                || leader.isLost()
                || leader.membership().isOver()
                || from.source() != world.newest()
                || process.isExcused();
    }

    private void begin(final View current, final FrameCheck own) {
        own.start(current.startId == FIRST ? current.reception().frames().firstFrame() : current.startId);
    }

    private FrameCheck checks(final View current) {
        FrameCheck own = checks;
        if (own == null) {
            own = new FrameCheck(
                    world,
                    current.source(),
                    process.user().delivery(),
                    process.host().address());
            checks = own;
            begin(current, own);
        }
        return own;
    }

    private void take(final View current) {
        final FollowerTable table = current.table;
        final long number = table.take();
        final FrameCheck own = checks(current);
        if (table.lastFrameId(number) < own.expectedFrame()) {
            // Read in the ring of an earlier leader.
            release(current, number);
            return;
        }
        if (table.isLoss(number)) {
            if (current.reception().isLost()) {
                own.onSourceLost();
            }
            final long known = own.expectedFrame() - table.frameId(number);
            own.onLost(table.lost(number) - Math.max(0, known), table.lossReason(number));
            release(current, number);
            return;
        }
        final FrameCheck.Held one = own.onEntry(table, number, current.segment().ring());
        if (one != null && own.onTaken(one)) {
            hold(current, number, one, own);
        }
    }

    private void hold(final View current, final long number, final FrameCheck.Held one, final FrameCheck own) {
        own.check(one, "read");
        held++;
        current.held++;
        final long bytes = one.truth().bytes();
        final HeldFrames.Held given = current.table.give(current.frames, number, one.offset(), bytes);
        FrameCheck.Held seen = one;
        if (given.bufferBytes() > 0) {
            seen = one.at(current.segment().read(one.offset(), (int) bytes));
            release(current, number);
        }
        current.table.reportHeld(current.frames);
        if (world.plant() == Plant.RELEASE_CURSOR_EARLY) {
            release(current, number);
        }
        final FrameCheck.Held kept = seen;
        final long untilNs =
                process.user().keepUntilNs(process.random(), process.events().nowNs());
        process.events().at(untilNs, () -> returned(current, given, kept, own));
    }

    private void returned(
            final View from, final HeldFrames.Held given, final FrameCheck.Held one, final FrameCheck own) {
        if (process.isStopped()) {
            return;
        }
        if (process.isPaused()) {
            process.events().at(process.pausedUntilNs(), () -> returned(from, given, one, own));
            return;
        }
        final byte[] copy = given.bufferBytes() > 0 ? null : from.ring.copy(one.offset());
        own.check(copy == null ? one : one.at(copy), "returned");
        held--;
        from.held--;
        try {
            from.wakeLeader(from.table.giveBack(from.frames, given));
        } catch (final ProcessDeath e) {
            process.host().crash();
            return;
        }
        if (from.held == 0) {
            former.remove(from);
        }
        process.wakeAfter(0);
    }

    private void release(final View from, final long number) {
        from.wakeLeader(from.table.release(number));
    }

    String describe() {
        final View current = view;
        return "member " + process.host().address() + " holds " + held + ", expects "
                + (checks == null ? "nothing" : "frame " + checks.expectedFrame()) + ", reads entry "
                + (current == null
                        ? "nowhere"
                        : current.table.upcoming() + " of " + current.table.published() + " in generation "
                                + current.table.generation() + " in state " + current.table.state());
    }

    private void violation(final String text) {
        world.violation("member " + process.host().address() + ": " + text);
    }
}
