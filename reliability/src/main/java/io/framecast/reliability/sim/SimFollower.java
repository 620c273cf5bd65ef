package io.framecast.reliability.sim;

import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.shared.SharedSegment;
import io.framecast.reliability.sim.shared.SharedSegment.Entry;
import io.framecast.reliability.sim.shared.SharedSegment.State;
import io.framecast.reliability.wire.StreamInfo;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A member's user: reads the frames of its host group's leaders, one segment after the other, and keeps each for a
/// while. The leader's own user is one as well.
final class SimFollower {
    /// The first frame of the membership, as its leader knows it.
    static final long FIRST = -1;

    /// A segment as this member got it.
    static final class View {
        private final SimTable table;
        private final int member;
        private final long startId;
        private final boolean continues;
        private final boolean[] done;
        private final long madeNs;
        private long next;
        private long released;
        private int held;
        // Its leader went when it had promised the end of the stream.
        private boolean ended;

        /// @param table of the leader; its own memory is for checks alone
        /// @param first entry to read
        /// @param startId the first frame to get, as the checker knows it
        /// @param continues whether it goes on with the stream that this member read
        View(final SimTable table, final int member, final long first, final long startId, final boolean continues) {
            this.table = table;
            this.member = member;
            this.startId = startId;
            this.continues = continues;
            madeNs = table.process().events().nowNs();
            next = first;
            released = first;
            done = new boolean[table.segment().entries()];
        }

        SharedSegment segment() {
            return table.segment();
        }

        SimSession source() {
            return table.reception().source();
        }

        SimReception reception() {
            return table.reception();
        }

        StreamInfo stream() {
            return table.reception().machine().stream();
        }

        long heartbeat() {
            return segment().heartbeat();
        }

        boolean isOf(final SimMember leader, final int term) {
            return table.process() == leader && table.term() == term;
        }

        /// Processes that followed, and would follow a successor.
        List<SimMember> followersToAwait() {
            return table.followersToAwait();
        }

        /// Whether its membership is not over, by its words.
        boolean mayGoOn() {
            return segment().counts()
                    && !segment().isInherited()
                    && !segment().isComplete()
                    && segment().state() != State.ENDED
                    && segment().state() != State.LOST;
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
    private @Nullable FrameCheck checks;
    private boolean endSeen;
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
    boolean isOut(final SharedSegment segment) {
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
            current.segment().leave(current.member);
        }
        coming.forEach(waiting -> waiting.segment().leave(waiting.member));
    }

    /// The newest segment.
    @Nullable
    View newest() {
        final View waiting = coming.peekLast();
        return waiting == null ? view : waiting;
    }

    /// The newest segment from which a successor could go on: the last that counts, or that was made for a new
    /// membership.
    @Nullable
    View last() {
        final View newest = newest();
        return newest == null
                        || newest.segment().predecessor() == null
                        || newest.segment().counts()
                ? newest
                : past;
    }

    /// The leader of the newest segment is gone: the stream has ended, if it had promised that to the source.
    void onLeaderGone() {
        final View newest = last();
        if (newest != null && newest.segment().counts() && newest.segment().isComplete()) {
            endSeen &= newest != view;
            newest.ended = true;
        }
    }

    boolean hasEnded(final SimSession session) {
        return ended.contains(session.nonce());
    }

    /// Whether the user has everything, and holds nothing.
    boolean isSettled(final SimSession last) {
        final View current = view;
        final boolean read =
                current == null || current.next >= current.segment().published();
        return held == 0 && read && !hasLater() && (hasEnded(last) || last.isClosed());
    }

    /// The user takes the frames that are there.
    ///
    /// @return whether there was any
    boolean advance() {
        boolean any = false;
        while (true) {
            final View current = view;
            if (current != null && hasNext(current)) {
                if (held >= heldMax) {
                    return any;
                }
                take(current);
                any = true;
            } else {
                if (current != null) {
                    lookForEnd(current);
                }
                final View later = later();
                if (later == null) {
                    return any;
                }
                move(current, later);
            }
            if (!world.journal().isClean()) {
                return false;
            }
        }
    }

    // The next segment to read. A successor's counts from when it is open: until then the leader of the present one may
    // go on writing there, and another successor may go on behind that.
    private @Nullable View later() {
        if (!hasLater()) {
            return null;
        }
        while (!coming.element().segment().isOpen()) {
            coming.remove();
        }
        return coming.remove();
    }

    private boolean hasLater() {
        return coming.stream().anyMatch(waiting -> waiting.segment().isOpen());
    }

    private boolean hasNext(final View current) {
        if (world.plant() == Plant.ACCEPT_TORN_ENTRY) {
            return current.segment().entry(current.next).version >= SharedSegment.version(current.next) - 1;
        }
        return current.segment().published() > current.next;
    }

    private void lookForEnd(final View current) {
        final FrameCheck own = checks;
        final State state = current.segment().state();
        if (endSeen || (state != State.ENDED && !current.ended)) {
            return;
        }
        endSeen = true;
        if (own == null) {
            // Nothing came since this member is here.
            ended.add(current.source().nonce());
            return;
        }
        if (ended.add(current.source().nonce())) {
            begin(current, own);
            own.conclude(true);
        }
    }

    private void move(final @Nullable View from, final View to) {
        endSeen = false;
        if (from != null) {
            retire(from);
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

    private void retire(final View from) {
        if (from.held > 0) {
            former.add(from);
        }
    }

    // Whether this member rightly gets no more of the stream that it read.
    private boolean isOver(final View from) {
        final SimReception leader = from.table.reception();
        return hasEnded(from.source())
                || leader.isLost()
                || leader.membership().isOver()
                || from.source() != world.newest()
                || process.isExcused();
    }

    private void begin(final View current, final FrameCheck own) {
        own.start(current.startId == FIRST ? current.table.reception().frames().firstFrame() : current.startId);
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
        final SharedSegment segment = current.segment();
        final long number = current.next++;
        final Entry entry = segment.entry(number);
        current.done[index(current, number)] = false;
        if (entry.version != SharedSegment.version(number) && world.plant() != Plant.ACCEPT_TORN_ENTRY) {
            violation("entry " + number + " is torn: version " + entry.version);
            return;
        }
        final FrameCheck own = checks(current);
        final long lastId = entry.frameId + (entry.loss ? Math.max(1, entry.length) - 1 : 0);
        if (lastId < own.expectedFrame()) {
            // Read in the ring of an earlier leader.
            release(current, number);
            return;
        }
        if (entry.loss) {
            if (current.table.reception().isLost()) {
                own.onSourceLost();
            }
            final long known = own.expectedFrame() - entry.frameId;
            own.onLost(entry.length - Math.max(0, known), entry.reason);
            release(current, number);
            return;
        }
        final FrameCheck.Held one = own.onEntry(entry, segment.ring());
        if (one == null || !own.onTaken(one)) {
            return;
        }
        own.check(one, "read");
        held++;
        current.held++;
        if (world.plant() == Plant.RELEASE_CURSOR_EARLY) {
            release(current, number);
        }
        final long untilNs =
                process.user().keepUntilNs(process.random(), process.events().nowNs());
        process.events().at(untilNs, () -> returned(current, number, one, own));
    }

    private void returned(final View from, final long number, final FrameCheck.Held one, final FrameCheck own) {
        if (process.isStopped()) {
            return;
        }
        if (process.isPaused()) {
            process.events().at(process.pausedUntilNs(), () -> returned(from, number, one, own));
            return;
        }
        own.check(one, "returned");
        held--;
        from.held--;
        release(from, number);
        if (from.held == 0) {
            former.remove(from);
        }
        process.wakeAfter(0);
    }

    private void release(final View from, final long number) {
        from.done[index(from, number)] = true;
        while (from.released < from.next && from.done[index(from, from.released)]) {
            from.done[index(from, from.released)] = false;
            from.released++;
        }
        from.segment()
                .release(from.member, Math.max(from.released, from.segment().released(from.member)));
        from.table.wakeLeader();
    }

    private static int index(final View view, final long number) {
        return (int) (number % view.done.length);
    }

    String describe() {
        final View current = view;
        return "member " + process.host().address() + " holds " + held + ", expects "
                + (checks == null ? "nothing" : "frame " + checks.expectedFrame()) + ", reads entry "
                + (current == null
                        ? "nowhere"
                        : current.next + " of " + current.segment().published() + " in generation "
                                + current.segment().generation() + " "
                                + current.segment().state());
    }

    private void violation(final String text) {
        world.violation("member " + process.host().address() + ": " + text);
    }
}
