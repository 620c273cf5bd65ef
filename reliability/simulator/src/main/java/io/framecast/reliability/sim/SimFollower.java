package io.framecast.reliability.sim;

import io.framecast.reliability.group.FollowerReader;
import io.framecast.reliability.group.FollowerTable;
import io.framecast.reliability.group.HeldFrames;
import io.framecast.reliability.group.SegmentOrder;
import io.framecast.reliability.group.StreamStatus;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.shared.ProcessDeath;
import io.framecast.reliability.sim.shared.SimSegment;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A member's user: reads the frames of its host group's leaders, one segment after the other, and keeps each for
/// a while. The leader's own user is one as well.
final class SimFollower {
    /// The first frame of the membership, as its leader knows it.
    static final long FIRST = -1;
    private static final long COPY_MAX_NS = 1_000_000;

    private final SimMember process;
    private final SimWorld world;
    private final FollowerReader reader;
    private final int heldMax;
    private final ArrayDeque<SimSharing.View> coming = new ArrayDeque<>();
    // Read to their end, with frames that the user holds.
    private final Set<SimSharing.View> former = new HashSet<>();
    private final Set<Long> ended = new HashSet<>();
    private SimSharing.@Nullable View view;
    // Of the segments before the newest one.
    private SimSharing.@Nullable View past;
    // In whose words this member sleeps.
    private SimSharing.@Nullable View asleep;
    private @Nullable FrameCheck checks;
    // A session in which it had no leader, or none whose membership went on, from a frame on.
    private @Nullable SimSession missedOf;
    private long missedFrom;
    // Taken, and given to the user when it is copied.
    private FrameCheck.@Nullable Copy arriving;
    private int held;

    SimFollower(final SimMember process) {
        this.process = process;
        world = process.world();
        reader = new FollowerReader(
                process.user().delivery(), (_, firstFrameId, count, reason) -> onLost(firstFrameId, count, reason));
        heldMax = world.options().flow().framesHeld();
    }

    /// Another segment to read, when everything before was read.
    void add(final SimSharing.View made) {
        past = last();
        coming.add(made);
        process.wakeAfter(process.random().nextInt(2_000));
    }

    /// Whether its connection for a segment ended: it reads nothing there any more.
    boolean isOut(final SimSegment segment) {
        final SimSharing.View current = view;
        if (current != null && current.segment() == segment) {
            return false;
        }
        for (final SimSharing.View waiting : coming) {
            if (waiting.segment() == segment) {
                return false;
            }
        }
        for (final SimSharing.View earlier : former) {
            if (earlier.segment() == segment) {
                return false;
            }
        }
        return true;
    }

    /// This member will not follow another leader.
    void leave() {
        final SimSharing.View current = view;
        if (current != null) {
            current.table.leave();
        }
        coming.forEach(waiting -> waiting.table.leave());
    }

    /// The newest segment.
    SimSharing.@Nullable View newest() {
        final SimSharing.View waiting = coming.peekLast();
        return waiting == null ? view : waiting;
    }

    /// The newest segment from which a successor could go on: the last that is open.
    SimSharing.@Nullable View last() {
        final SimSharing.View newest = newest();
        return newest == null || newest.table.isOpen() ? newest : past;
    }

    /// The leader of the newest segment is gone: the stream has ended, if it had promised that to the source.
    void onLeaderGone() {
        final SimSharing.View newest = last();
        if (newest != null) {
            newest.table.lookForEnd();
        }
    }

    boolean hasEnded(final SimSession session) {
        return ended.contains(session.nonce());
    }

    /// Whether the user has everything, and holds nothing.
    boolean isSettled(final SimSession last) {
        final SimSharing.View current = view;
        final boolean read = current == null || current.status() != StreamStatus.FRAMES;
        return held == 0
                && arriving == null
                && read
                && !hasLater()
                && (hasEnded(last) || last.isClosed() || isLeftOut(last));
    }

    // No receiver joins a stream that ends.
    private boolean isLeftOut(final SimSession last) {
        final SimSharing.View current = view;
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
        final SimSharing.View present = view;
        if (present != null) {
            present.wakeLeader(present.table.makeRoom(present.frames));
        }
        boolean any = false;
        while (world.journal().isClean() && arriving == null) {
            final SimSharing.View current = view;
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
        return any;
    }

    private void wakeUp() {
        final SimSharing.View slept = asleep;
        if (slept != null) {
            asleep = null;
            slept.table.wakes();
        }
    }

    // Nothing more comes in the present one where there is a later one. A member that cannot sleep looks again at its
    // next look for its leader.
    private void sleep() {
        final SimSharing.View later = coming.peek();
        final SimSharing.View shared = later == null ? view : later;
        if (shared != null && shared.table.sleeps(shared.table.state())) {
            asleep = shared;
        }
    }

    // Whether the member reads another segment from now on, or skipped one.
    private boolean moves(final SimSharing.@Nullable View current, final StreamStatus status) {
        if (current != null && status == StreamStatus.ENDED) {
            conclude(current);
        }
        final SimSharing.View made = coming.peek();
        if (made == null) {
            return false;
        }
        final SegmentOrder.Step step = SegmentOrder.step(
                current == null ? null : current.table,
                status,
                made.table,
                made.status(),
                coming.stream().skip(1).map(SimSharing.View::table).toList(),
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

    private void conclude(final SimSharing.View current) {
        final FrameCheck own = checks;
        // Without checks nothing came since this member is here.
        if (ended.add(current.source().nonce()) && own != null) {
            begin(current, own);
            own.conclude(true);
        }
    }

    private void move(final SimSharing.@Nullable View from, final SimSharing.View to) {
        if (from != null && from.held > 0) {
            former.add(from);
        }
        if (!to.continues || from == null || from.source() != to.source()) {
            final FrameCheck own = checks;
            if (from != null && from.source() == to.source() && own != null && !isOver(from)) {
                violation("is cut off at frame " + own.expectedFrame() + " though its membership lives");
            }
            if (own != null) {
                missedOf = own.session();
                missedFrom = own.expectedFrame();
            }
            checks = null;
        }
        final FrameCheck present = checks;
        if (present != null && process.isExcused()) {
            // The others went on without it.
            present.allowLoss();
        }
        process.onMoved(to.madeNs);
        reader.begin(to.table);
        view = to;
    }

    // Whether this member rightly gets no more of the stream that it read.
    private boolean isOver(final SimSharing.View from) {
        final SimReception leader = from.reception();
        return hasEnded(from.source())
                || leader.isLost()
                || leader.membership().isOver()
                || from.source() != world.newest()
                || process.isExcused();
    }

    private void begin(final SimSharing.View current, final FrameCheck own) {
        final FollowerTable table = current.table;
        final long known = missedOf == current.source() ? missedFrom : 0;
        if (current.late && table.hasNext()) {
            own.start(Math.max(known, table.frameId(table.upcoming())));
        } else {
            final long first =
                    current.startId == FIRST ? current.reception().frames().firstFrame() : current.startId;
            own.start(Math.max(known, first));
        }
    }

    private FrameCheck checks(final SimSharing.View current) {
        FrameCheck own = checks;
        if (own == null) {
            own = new FrameCheck(
                    world,
                    current.source(),
                    process.user().delivery(),
                    process.host().address());
            checks = own;
            if (missedOf == current.source()) {
                own.resumeFrom(missedFrom);
            }
            begin(current, own);
        }
        return own;
    }

    private void take(final SimSharing.View current) {
        final FrameCheck own = checks(current);
        final long number = reader.next(current, process.events().nowNs());
        final FrameCheck.Held one = number < 0
                ? null
                : own.onEntry(current.table, number, current.segment().ring());
        if (one == null) {
            return;
        }
        own.checkFresh(one, current.table.clockErrorNs());
        if (current.table.isUnheld()) {
            final FrameCheck.Copy copy = new FrameCheck.Copy(current, number, one);
            arriving = copy;
            final long ns = 1 + process.random().nextLong(COPY_MAX_NS);
            process.events().at(process.events().nowNs() + ns, () -> onCopied(copy, own));
            return;
        }
        reader.onGiven(current.table.session(), one.truth().id());
        if (own.onTaken(one)) {
            hold(current, number, one, own);
        }
    }

    private void onLost(final long firstFrameId, final long reported, final LossReason reason) {
        final SimSharing.View current = Objects.requireNonNull(view);
        final FrameCheck own = checks(current);
        // A loss of before its beginning may stand behind the entry with which it begins, and does no harm.
        final long fromId = missedOf == current.source() ? firstFrameId : Math.max(firstFrameId, own.firstFrame());
        final long count = firstFrameId + reported - fromId;
        if (count <= 0) {
            return;
        }
        if (fromId != own.expectedFrame()) {
            violation("reports frames lost from " + fromId + " on, expected " + own.expectedFrame());
        }
        if (current.reception().isLost()) {
            own.allowLoss();
        }
        if (reason == LossReason.EXPIRED) {
            own.checkExpired(fromId, count, current.table.clockErrorNs());
        }
        own.onLost(count, reason);
    }

    private void onCopied(final FrameCheck.Copy copy, final FrameCheck own) {
        if (process.isStopped()) {
            return;
        }
        if (process.isPaused()) {
            process.events().at(process.pausedUntilNs(), () -> onCopied(copy, own));
            return;
        }
        arriving = null;
        final FrameCheck.Held one = copy.end();
        if (copy.isWhole() || world.plant() == Plant.GIVE_TORN_COPY) {
            reader.onGiven(copy.session(), one.truth().id());
            if (own.onTaken(one)) {
                own.check(one, "copied");
                held++;
                process.events().at(keepUntilNs(), this::onCopyReturned);
            }
        } else {
            world.count(SimCount.TORN_COPIES);
            reader.onTorn();
        }
        process.wakeAfter(0);
    }

    private void onCopyReturned() {
        if (!process.isStopped()) {
            held--;
            process.wakeAfter(0);
        }
    }

    private long keepUntilNs() {
        return process.user().keepUntilNs(process.random(), process.events().nowNs());
    }

    private void hold(
            final SimSharing.View current, final long number, final FrameCheck.Held one, final FrameCheck own) {
        own.check(one, "read");
        held++;
        current.held++;
        final long bytes = one.truth().bytes();
        final HeldFrames.Held given = current.table.give(current.frames, number, one.offset(), bytes);
        FrameCheck.Held seen = one;
        if (given.bufferBytes() > 0) {
            seen = one.at(current.segment().read(one.offset(), (int) bytes));
            current.release(number);
        }
        current.table.reportHeld(current.frames);
        if (world.plant() == Plant.RELEASE_CURSOR_EARLY) {
            current.release(number);
        }
        final FrameCheck.Held kept = seen;
        process.events().at(keepUntilNs(), () -> returned(current, given, kept, own));
    }

    private void returned(
            final SimSharing.View from, final HeldFrames.Held given, final FrameCheck.Held one, final FrameCheck own) {
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

    String describe() {
        final SimSharing.View current = view;
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
