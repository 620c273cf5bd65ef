package io.framecast.engine.hostgroup;

import io.framecast.api.Channel;
import io.framecast.api.Subscriber;
import io.framecast.api.error.FramecastException;
import io.framecast.engine.auth.AuthKeys;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.PollSet;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.Policies;
import io.framecast.engine.session.Waiter;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.succession.SuccessionMachine;
import io.framecast.reliability.succession.SuccessionMachine.Entry;
import io.framecast.reliability.succession.SuccessionMachine.Found;
import io.framecast.reliability.succession.SuccessionMachine.Look;
import io.framecast.reliability.succession.SuccessionMachine.Past;
import io.framecast.reliability.wire.Delivery;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A subscriber's place in its host group: it brings the follower the segments that leaders share. When a leader
/// is gone or stands still, it follows the next leader, or becomes that leader and goes on with the membership. A
/// [SuccessionMachine] decides; this class sees, does and waits.
///
/// Threading: a thread of its own; [#close] by another.
final class GroupMembership implements AutoCloseable {
    private static final long END_WAIT_MS = 5_000;
    // As the file of a socket.
    private static final long NO_LEADER = 0;
    private static final long FOR_EVER = -1;
    // Two clocks that differ by more are named: no process of this host reads the calendar that badly.
    private static final long CLOCKS_NS = 100_000_000;
    // Measured, from the signal to the next frame: 127 to 171 ms after one, 75 to 169 after ten.
    private static final int WARM_UPS_MAX = 8;
    private static final long WARM_UP_PAUSE_NS = 200_000_000;
    // No further one after so long, pauses included.
    private static final long WARM_UPS_NS = 3_000_000_000L;
    private static final AtomicBoolean WARMED_UP = new AtomicBoolean();

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
    private final PollSet polled = new PollSet(arena, 2);
    private final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES, Long.BYTES);
    private final int[] descriptors = new int[UnixSocket.DESCRIPTORS_MAX];
    private final int waker = EventCount.open();
    private final SuccessionMachine machine;
    private final Thread thread;
    private LeaderConnection connection;
    // Socket of a leader that this member left because it stands still.
    private long still = NO_LEADER;
    // The newest; the follower closes it.
    private @Nullable FollowerSegment segment;
    // Before that one, as long as a successor made that and has not opened it.
    private @Nullable FollowerSegment past;
    // True when a notice has said that the leader's process has another clock.
    private boolean clockNamed;
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
        machine = new SuccessionMachine(HostGroups.succession(channel), System.nanoTime());
        try {
            keyTag = AuthKeys.hostTagOfReceiver(channel.link().security());
            connection = enterFirst();
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
                polled.watch(0, waker);
                polled.watch(1, isConnected() ? connection.socket().descriptor() : waker);
                polled.await(2, machine.isOver() ? FOR_EVER : machine.waitNs(System.nanoTime()));
                EventCount.drain(waker, message);
                step(System.nanoTime());
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

    private boolean isConnected() {
        return !machine.isOver() && !machine.isEntering();
    }

    private void giveUp(final String line) {
        machine.end();
        follower.fail(line);
    }

    private void step(final long nowNs) {
        stopSharing();
        // Entries that are not for its user are released, though the user does not poll.
        follower.state();
        if (closed) {
            return;
        }
        if (isConnected()) {
            watchLeader(nowNs);
        }
        // The publisher on this host whose window it read did not come back, nor did another source.
        if (machine.isGivenUp(nowNs)) {
            stopLeading();
            machine.end();
            follower.onLostForGood();
        }
        if (machine.isEntryDue(nowNs)) {
            move();
        }
    }

    private void watchLeader(final long nowNs) {
        if (hear(nowNs)) {
            onGone(nowNs);
        } else if (machine.isLookDue(nowNs)) {
            still = connection.socket().inode();
            lookAtLeader(nowNs);
        }
        if (machine.isEntering() && isFinal(segment)) {
            machine.end();
        }
    }

    private void onGone(final long nowNs) {
        if (machine.isOver()) {
            return;
        }
        final GroupLeader led = leader;
        machine.onGone(led != null && led.isFenced(), nowNs);
        still = NO_LEADER;
        final FollowerSegment newest = segment;
        if (newest != null) {
            newest.onLeaderLost();
            follower.wake();
        }
    }

    private void lookAtLeader(final long nowNs) {
        if (!machine.isShared()) {
            final UnixSocket socket = connection.socket();
            if (machine.onSilentLook(socket.isUnread(), socket.isReplaced(), nowNs) == Look.PROBE) {
                socket.send(GroupMessage.probe(message));
            }
            return;
        }
        final FollowerSegment shared = segment;
        if (shared == null || !shared.enter()) {
            machine.onNoLook(nowNs);
            return;
        }
        try {
            machine.onLook(shared.heartbeat(), nowNs);
        } finally {
            shared.exit();
        }
    }

    // Takes the leader's messages, each of which brings a session. Returns true when the leader is gone.
    private boolean hear(final long nowNs) {
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
            machine.onShared(made.heartbeat(), nowNs);
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
            machine.onRefused();
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
        final AtomicInteger left = new AtomicInteger(WARM_UPS_MAX);
        Waiter.repeat(() -> closed || left.get() == 0, WARM_UPS_NS, _ -> {
            left.set(isWarmUpOpened() ? left.get() - 1 : 0);
            LockSupport.parkNanos(left.get() == 0 ? 0 : WARM_UP_PAUSE_NS);
        });
    }

    private boolean isWarmUpOpened() {
        try {
            final HostGroups.Role role = HostGroups.apart(channel, () -> {}, _ -> {});
            try (GroupLeader stage = role.leader();
                    UnixSocket _ = role.connection()) {
                members.warmUp(Objects.requireNonNull(stage));
            }
            return true;
        } catch (final RuntimeException e) {
            // A successor would report it, if it came to that.
            notices.accept("host group: cannot warm up for leading: " + e.getMessage());
            return false;
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

    // Enters the group once more.
    private void move() {
        final FollowerSegment last = last();
        final boolean wasFenced = machine.isFenced();
        if (last != null) {
            last.lookForEnd();
        }
        if (isFinal(last) || isFinal(segment)) {
            end();
            return;
        }
        stopLeading();
        final LeaderConnection former = connection;
        final LeaderConnection made = enter();
        if (made == null) {
            return;
        }
        connection = made;
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
        machine.end();
        follower.wake();
    }

    private LeaderConnection enterFirst() {
        while (true) {
            final long nowNs = System.nanoTime();
            final LeaderConnection made = machine.isEntryDue(nowNs) ? enter() : null;
            if (made != null) {
                return made;
            }
            LockSupport.parkNanos(machine.waitNs(nowNs));
        }
    }

    // Follows the present leader, or leads; null where it is to wait.
    private @Nullable LeaderConnection enter() {
        final HostGroups.Role role =
                HostGroups.enter(channel, keyTag, part, still, last() == null, this::choose, receiver, notices);
        if (role == null) {
            return null;
        }
        final GroupLeader leads = role.leader();
        if (leads == null) {
            machine.onFollows(role.connection().inode(), role.local(), System.nanoTime());
            notices.accept(
                    role.local()
                            ? "host group: reads the window of the publisher of " + channel.name() + " on this host"
                            : "host group: follows a subscriber of " + channel.name() + " on this host");
            return connect(role.connection());
        }
        LeaderConnection made = null;
        try {
            final Takeover takeover = machine.onLeads(history()) ? takeover() : null;
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

    private Past history() {
        return last() == null ? Past.NONE : Past.OPEN;
    }

    private Entry choose(final Found found, final long present) {
        final Entry entry = machine.choose(found, present, history(), System.nanoTime());
        if (entry == Entry.APART) {
            notices.accept("host group: no place is left for this subscriber of " + channel.name()
                    + "; it receives the stream itself");
        }
        return entry;
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
