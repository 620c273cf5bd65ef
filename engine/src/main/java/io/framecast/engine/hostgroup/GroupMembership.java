package io.framecast.engine.hostgroup;

import io.framecast.api.Channel;
import io.framecast.api.Subscriber;
import io.framecast.api.error.FramecastException;
import io.framecast.engine.auth.AuthKeys;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.Policies;
import io.framecast.reliability.memory.Words;
import io.framecast.reliability.wire.Delivery;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A subscriber's place in its host group: it brings the follower the segments that leaders share. When a leader is
/// gone or stands still, it follows the next leader, or becomes that leader and goes on with the membership.
///
/// Threading: a thread of its own; [#close] by another.
final class GroupMembership implements AutoCloseable {
    // A leader whose sign of life did not change for that many looks stands still. The count of looks decides, not the
    // time: this process may have stood still itself.
    static final int STILL_LOOKS = 4;
    private static final long NS_PER_S = 1_000_000_000;
    // Between two moves: a leader may have no room. The first comes at once, and so does the second: the socket of a
    // process that dies may have taken the first.
    private static final long MOVE_NS = 100_000_000;
    private static final int MOVES_AT_ONCE = 2;
    private static final long END_WAIT_MS = 5_000;
    // As the file of a socket.
    private static final long NO_LEADER = 0;
    private static final int REFUSALS_MAX = 3;
    // Two clocks that differ by more are named: no process of this host reads the calendar that badly.
    private static final long CLOCKS_NS = 100_000_000;
    // Measured, from the signal to the next frame: 127 to 171 ms after one, 75 to 169 after ten.
    private static final int WARM_UPS_MAX = 8;
    private static final long WARM_UP_PAUSE_NS = 200_000_000;
    // No further one after so long.
    private static final long WARM_UPS_NS = 1_500_000_000;
    private static final AtomicBoolean WARMED_UP = new AtomicBoolean();
    // A newcomer lets the followers of a leader that died come first.
    private static final long FIRST_NS = 300_000_000;
    private static final long FIRST_LOOK_NS = 20_000_000;

    private final Channel channel;
    private final String part;
    private final String keyTag;
    private final Follower follower;
    private final Wakeup receiver;
    private final Consumer<String> notices;
    private final MemberFactory members;
    // Its number, the same to each leader: a successor recognizes by it the followers of the leader before.
    private final long number = ThreadLocalRandom.current().nextLong() | 1;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment polled = arena.allocate(2L * Linux.POLLFD_BYTES, Long.BYTES);
    private final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES, Long.BYTES);
    private final MemorySegment look = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
    private final int[] descriptors = new int[UnixSocket.DESCRIPTORS_MAX];
    private final int waker = EventCount.open();
    private final Thread thread;
    private LeaderConnection connection;
    // Whether that is the publisher itself.
    private boolean local;
    // The newest; the follower closes it.
    private @Nullable FollowerSegment segment;
    // Before that one, as long as a successor made that and has not opened it.
    private @Nullable FollowerSegment past;
    // Whether the newest is of the present leader.
    private boolean present;
    private long heartbeat;
    private int stillLooks;
    // Connections in a row that ended before a session came.
    private int refusals;
    private boolean awaitsReturn;
    private long lostNs;
    // In a row, without a session.
    private int moves;
    // True when a notice has said that the leader's process has another clock.
    private boolean clockNamed;
    // Nothing more comes, or this subscriber cannot go on.
    private boolean over;
    // While this subscriber leads; the member is its membership at the source.
    private volatile @Nullable GroupLeader leader;
    private volatile @Nullable Subscriber member;
    private volatile boolean closed;

    /// Enters the channel's group.
    ///
    /// @param part of the host that the group is for; empty for all of it
    /// @param members makes the member that a leader is to the source
    /// @throws FramecastException where that fails
    GroupMembership(
            final Channel channel,
            final String part,
            final Follower follower,
            final Wakeup receiver,
            final Consumer<String> notices,
            final MemberFactory members) {
        this.channel = channel;
        this.part = part;
        this.follower = follower;
        this.receiver = receiver;
        this.notices = notices;
        this.members = members;
        final long lookNs = HostGroups.beatNs(channel);
        look.set(ValueLayout.JAVA_LONG, 0, lookNs / NS_PER_S);
        look.set(ValueLayout.JAVA_LONG, Linux.TIMESPEC_NANOS, lookNs % NS_PER_S);
        try {
            keyTag = AuthKeys.hostTagOfReceiver(channel.link().security());
            connection = enter(NO_LEADER, false);
        } catch (final RuntimeException | Error e) {
            free();
            throw e;
        }
        thread = Thread.ofPlatform().daemon().name("framecast-group-member").start(this::run);
    }

    /// This subscriber's membership at the source; null while another subscriber leads. Any thread.
    @Nullable
    Subscriber member() {
        return member;
    }

    /// Any thread: there may be something to do.
    void wake() {
        synchronized (arena) {
            if (arena.scope().isAlive()) {
                EventCount.add(waker);
            }
        }
    }

    private void run() {
        try {
            warmUpOnce();
            while (!closed) {
                watch(0, waker);
                watch(1, over ? waker : connection.socket().descriptor());
                Libc.ppoll(polled.address(), 2, over ? 0 : look.address());
                EventCount.drain(waker, message);
                step();
            }
        } catch (final FramecastException e) {
            giveUp(String.valueOf(e.getMessage()));
        } catch (final RuntimeException | Error e) {
            giveUp("host group: " + e);
        } finally {
            stopLeading();
            connection.close();
            free();
        }
    }

    private void giveUp(final String line) {
        over = true;
        follower.fail(line);
    }

    private void step() {
        stopSharing();
        // Entries that are not for its user are released, though the user does not poll.
        follower.state();
        if (over || closed) {
            return;
        }
        final boolean gone = hear();
        if (isGivenUp()) {
            stopLeading();
            over = true;
            follower.onLostForGood();
        }
        if (over || (!gone && !standsStill())) {
            return;
        }
        final FollowerSegment last = segment;
        if (last != null && gone) {
            last.onLeaderLost();
            follower.wake();
            if (present && last.isOfSource()) {
                awaitsReturn = true;
                lostNs = System.nanoTime();
            }
        }
        if (isFinal(last) || isFinal(segment)) {
            over = true;
            return;
        }
        move(gone ? NO_LEADER : connection.socket().inode());
    }

    // The publisher on this host whose window it read did not come back in time (`rejoin=`), nor did another source.
    private boolean isGivenUp() {
        awaitsReturn &= !present;
        return awaitsReturn
                && System.nanoTime() - lostNs
                        >= TimeUnit.MILLISECONDS.toNanos(channel.stream().rejoinMs());
    }

    private void watch(final int index, final int descriptor) {
        final long at = (long) index * Linux.POLLFD_BYTES;
        Words.setInt(polled, at, descriptor);
        Words.setInt(polled, at + Linux.POLLFD_EVENTS, Linux.POLLIN);
    }

    // Takes the leader's messages, each of which brings a session. Returns true when the leader is gone.
    private boolean hear() {
        while (true) {
            final int length = connection.socket().receive(message, descriptors, Linux.MSG_DONTWAIT);
            if (length < 0) {
                return false;
            }
            if (!GroupMessage.is(message, length, GroupMessage.SEGMENT)) {
                onRefused(length);
                return true;
            }
            final FollowerSegment made = FollowerSegment.of(
                    connection, follower.device(), follower.drops(), descriptors, GroupMessage.member(message));
            if (made == null) {
                giveUp("host group: its leader shared no segment that can be read; use host-group=off");
                return false;
            }
            nameClock(made);
            past = last();
            segment = made;
            moves = 0;
            present = true;
            refusals = 0;
            heartbeat = made.heartbeat();
            stillLooks = 0;
            follower.add(made);
        }
    }

    // Ages and deadlines do not depend on it. Timestamps, and latencies to other hosts, do.
    private void nameClock(final FollowerSegment made) {
        final long aheadNs = -made.leaderClockNs();
        if (!clockNamed && Math.abs(aheadNs) >= CLOCKS_NS) {
            clockNamed = true;
            notices.accept(String.format(
                    Locale.ROOT,
                    "host group: the clock of this process is %.1f s %s that of %s, whose frames it reads; restart the"
                            + " process that began before the system's clock was set",
                    Math.abs(aheadNs) / 1e9,
                    aheadNs > 0 ? "ahead of" : "behind",
                    UnixSocket.describe(connection.socket().peerProcess())));
        }
    }

    private void onRefused(final int length) {
        if (GroupMessage.isForeign(message, length)) {
            giveUp("host group: this program speaks layout " + SegmentLayout.VERSION
                    + " of the host segment, its leader ("
                    + UnixSocket.describe(connection.socket().peerProcess()) + ") layout "
                    + Integer.toUnsignedString(GroupMessage.version(message))
                    + "; run both from the same release, or use host-group=off");
        } else if (GroupMessage.is(message, length, GroupMessage.REFUSED)
                && GroupMessage.reason(message) == GroupMessage.NO_PLACE
                && segment == null) {
            // It need not ask again: it holds nothing that a place would keep.
            refusals = REFUSALS_MAX - 1;
        }
    }

    // From which a successor could go on; null for a newcomer.
    private @Nullable FollowerSegment last() {
        final FollowerSegment newest = segment;
        return newest == null || newest.isOpen() ? newest : past;
    }

    // Once in a process: most of the time without a leader would go into code that runs for the first time, or has not
    // been compiled. Before a stream comes, if that is late.
    private void warmUpOnce() {
        if (leader == null && WARMED_UP.compareAndSet(false, true)) {
            Thread.ofPlatform().daemon().name("framecast-warm-up").start(this::warmUp);
        }
    }

    private void warmUp() {
        long spentNs = 0;
        for (int i = 0; i < WARM_UPS_MAX && spentNs < WARM_UPS_NS && !closed; i++) {
            final long startNs = System.nanoTime();
            try {
                final HostGroups.Role role = HostGroups.apart(channel, () -> {}, _ -> {});
                try (GroupLeader stage = role.leader();
                        UnixSocket _ = role.connection()) {
                    members.warmUp(Objects.requireNonNull(stage));
                }
            } catch (final RuntimeException e) {
                // A successor would report it, if it came to that.
                notices.accept("host group: cannot warm up for leading: " + e.getMessage());
                return;
            }
            spentNs += System.nanoTime() - startNs;
            LockSupport.parkNanos(WARM_UP_PAUSE_NS);
        }
    }

    private boolean standsStill() {
        final FollowerSegment shared = segment;
        if (leader == null && !present && !local) {
            // It stood still before it shared anything, and another member has noticed; or it does not even read.
            if (connection.socket().isUnread()) {
                stillLooks++;
            } else {
                stillLooks = 0;
                connection.socket().send(GroupMessage.probe(message));
            }
            return stillLooks >= STILL_LOOKS || connection.socket().isReplaced();
        }
        if (shared == null || !present || leader != null || !shared.enter()) {
            return false;
        }
        try {
            final long beat = shared.heartbeat();
            stillLooks = beat == heartbeat ? stillLooks + 1 : 0;
            heartbeat = beat;
            return stillLooks >= STILL_LOOKS && !shared.isOfSource();
        } finally {
            shared.exit();
        }
    }

    // No successor is needed behind the end of a stream.
    private boolean isFinal(final @Nullable FollowerSegment last) {
        if (last == null) {
            return false;
        }
        if (!last.enter()) {
            // Its user has closed this subscriber.
            return true;
        }
        try {
            final int state = last.state();
            return state == SegmentLayout.END_OF_STREAM
                    || (state == SegmentLayout.SOURCE_LOST && channel.stream().rejoinMs() == 0);
        } finally {
            last.exit();
        }
    }

    private void move(final long fenced) {
        if (++moves > MOVES_AT_ONCE) {
            LockSupport.parkNanos(MOVE_NS);
        }
        refusals += present || leader != null ? 0 : 1;
        final FollowerSegment last = last();
        final GroupLeader led = leader;
        final boolean wasFenced = led != null && led.isFenced();
        if (last != null) {
            last.lookForEnd();
        }
        if (isFinal(last) || isFinal(segment)) {
            end();
            return;
        }
        final LeaderConnection former = connection;
        stopLeading();
        connection = enter(fenced, !wasFenced);
        present = false;
        stillLooks = 0;
        former.close();
        if (leader != null && wasFenced && last != null && channel.stream().rejoinMs() == 0) {
            // No process goes on with the membership that it had.
            last.onLost();
        }
        if (leader != null && isFinal(last)) {
            stopLeading();
            end();
        }
    }

    private void end() {
        over = true;
        follower.wake();
    }

    // Follows the present leader, or leads.
    private LeaderConnection enter(final long fenced, final boolean mayGoOn) {
        final boolean alone = refusals >= REFUSALS_MAX;
        if (alone) {
            notices.accept("host group: no place is left for this subscriber of " + channel.name()
                    + "; it receives the stream itself");
        }
        final HostGroups.Role role = alone ? HostGroups.apart(channel, receiver, notices) : enterGroup(fenced);
        local = role.local();
        final GroupLeader leads = role.leader();
        if (leads == null) {
            notices.accept(
                    role.local()
                            ? "host group: reads the window of the publisher of " + channel.name() + " on this host"
                            : "host group: follows a subscriber of " + channel.name() + " on this host");
            return connect(role.connection());
        }
        LeaderConnection made = null;
        try {
            final Takeover takeover = mayGoOn ? takeover() : null;
            notices.accept("host group: leads the subscribers of " + channel.name() + " on this host"
                    + (takeover == null ? "" : ", and goes on where the earlier leader stopped"));
            if (takeover != null) {
                leads.adopt(takeover);
            }
            made = connect(role.connection());
            leader = leads;
            member = members.open(leads);
            return made;
        } catch (final RuntimeException | Error e) {
            leader = null;
            leads.close();
            if (made != null) {
                made.close();
            }
            throw e;
        }
    }

    // Once it leads, so that its claim is newer than that of a successor before it.
    private @Nullable Takeover takeover() {
        final FollowerSegment last = last();
        final Takeover found = last == null ? null : last.takeover(channel.name(), follower.uses());
        final FollowerSegment now = last();
        if (now == last || now == null) {
            return found;
        }
        // A successor that stood still opened its segment before it could see this claim.
        if (found != null) {
            found.followersToAwait().close();
            found.close();
        }
        return now.takeover(channel.name(), follower.uses());
    }

    private HostGroups.Role enterGroup(final long fenced) {
        final long endNs = System.nanoTime() + FIRST_NS;
        while (true) {
            final boolean waits = last() == null && endNs - System.nanoTime() > 0;
            final HostGroups.Role role = HostGroups.enter(channel, keyTag, part, fenced, waits, receiver, notices);
            if (role != null) {
                return role;
            }
            LockSupport.parkNanos(FIRST_LOOK_NS);
        }
    }

    private long lastGeneration() {
        final FollowerSegment last = last();
        if (last == null || !last.enter()) {
            return 0;
        }
        final long generation = last.generation();
        last.exit();
        return generation;
    }

    private LeaderConnection connect(final UnixSocket socket) {
        // A leader that is gone again is noticed by the end of the connection.
        final Delivery delivery = Policies.onWire(channel.stream().delivery());
        socket.send(GroupMessage.hello(message, number, lastGeneration(), delivery));
        return new LeaderConnection(socket);
    }

    // A membership that is over has nothing for newcomers: they lead anew. The followers read on.
    private void stopSharing() {
        final Subscriber own = member;
        final GroupLeader sharing = leader;
        if (own != null && sharing != null && GroupSubscriber.isFinal(own.state())) {
            sharing.close();
        }
    }

    private void stopLeading() {
        final Subscriber own = member;
        final GroupLeader sharing = leader;
        member = null;
        leader = null;
        if (own != null) {
            own.close();
        }
        if (sharing != null) {
            sharing.close();
        }
    }

    private void free() {
        synchronized (arena) {
            Libc.close(waker);
            arena.close();
        }
    }

    @Override
    public void close() {
        closed = true;
        wake();
        try {
            thread.join(END_WAIT_MS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
