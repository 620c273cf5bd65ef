package io.framecast.engine.hostgroup;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.PollSet;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.ready.Wakeup;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.group.FollowersToAwait;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.group.SharedFrames;
import io.framecast.reliability.group.SharedWindow;
import io.framecast.reliability.succession.SuccessionMachine;
import io.framecast.reliability.succession.SuccessionMachine.Term.Place;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The leader of a host group: listens for followers, gives each the descriptors of the memory that it shares,
/// and notices a follower's death by the end of its connection.
///
/// Threading: a thread of its own; [#share] and [#retire] by any, [#close] by one.
public final class GroupLeader implements AutoCloseable {
    private static final long END_WAIT_MS = 2_000;
    private static final long BACK_OFF_NS = 10_000_000;
    // Between two looks at its socket where no follower needs signs of life.
    private static final long LOOK_NS = 1_000_000_000;
    // Of the ring.
    private static final int CROWDED_PART = 4;
    private static final long OWN_PROCESS = ProcessHandle.current().pid();

    private final LeaderSocket place;
    // Of a publisher of the same channel on this host; null for a publisher itself.
    private final @Nullable Path source;
    private final long user;
    private final Wakeup receiver;
    private final Consumer<String> notices;
    // Time between two signs of life to followers.
    private final long beatNs;
    // The receiver's, each of which is a sign of life; the leader of a publisher's readers has none.
    private final AtomicLong cycles = new AtomicLong();
    // Under the lock.
    private final SuccessionMachine.Term term = new SuccessionMachine.Term();
    private final HolderNotices holders;
    // Followers write here when they released something; the leader itself when a segment came or it closes.
    private final int counter = EventCount.open();
    // Followers add to it when they released frames.
    private volatile int heard = counter;
    private final Thread thread;
    private final List<FollowerConnection> connections = new ArrayList<>();
    // Of this leader's own subscriber, the first that comes.
    private @Nullable FollowerConnection own;
    private final Object lock = new Object();
    private @Nullable LeaderSegment segment;
    // The segments in which it shows that it works: the newest, also when its session's memory is freed, and earlier
    // ones
    // until all members have that.
    private final List<LeaderSegment> shown = new ArrayList<>();
    private long generations;
    // Of the earlier leader whose membership goes on; null where there was none, or the session was opened.
    private @Nullable Takeover takeover;
    private long predecessor;
    private BooleanSupplier mayOpen = () -> true;
    // Members that followed it.
    private FollowersToAwait followersToAwait = FollowersToAwait.none();
    private boolean ended;
    // Of the last follower that speaks another version.
    private int refusedVersion = SegmentLayout.VERSION;
    // Receiver: true when a notice has said that a publisher of this host listens in another directory.
    private boolean elsewhereReported;
    private volatile boolean closed;

    GroupLeader(
            final Path path,
            final @Nullable Path source,
            final UnixSocket listener,
            final Wakeup receiver,
            final long beatNs,
            final Consumer<String> notices) {
        this.beatNs = beatNs;
        this.source = source;
        this.receiver = receiver;
        this.notices = notices;
        holders = new HolderNotices(line -> notices.accept("host group at " + path + ": " + line));
        user = Libc.getuid();
        place = new LeaderSocket(path, listener, notices);
        thread = Thread.ofPlatform().daemon().name("framecast-host-group").start(this::run);
    }

    /// Before a session is shared: goes on with the membership of an earlier leader. Some of its followers may
    /// have come already.
    void adopt(final Takeover from) {
        synchronized (lock) {
            takeover = from;
            predecessor = from.generation();
            mayOpen = from.isNewest();
            generations = from.generation();
            followersToAwait = from.followersToAwait();
            term.adopt(followersToAwait.members(), System.nanoTime());
            connections.stream().filter(FollowerConnection::followedEarlier).forEach(c -> term.onSurvivor(c.number()));
        }
    }

    /// Returns the state of an earlier leader, once: the caller closes it.
    public @Nullable Takeover takeover() {
        synchronized (lock) {
            final Takeover taken = takeover;
            takeover = null;
            return taken;
        }
    }

    /// Shares the frames of a new session.
    ///
    /// @param ring where they lie, mapped twice
    /// @param continues whether it is the session that an earlier leader left
    /// @param delivery under which the leader is a member at first
    /// @param retainedSlots of frames that no follower holds and that stay: followers may be copying them
    public SharedFrames share(
            final Assembly assembly,
            final StreamInfo stream,
            final MirroredMemory ring,
            final long ringBytes,
            final boolean continues,
            final Delivery delivery,
            final long retainedSlots,
            final LongSupplier position) {
        final LeaderSegment made;
        synchronized (lock) {
            made = new LeaderSegment(
                    ring.descriptor(),
                    ringBytes,
                    stream,
                    ++generations,
                    continues ? predecessor : 0,
                    mayOpen,
                    delivery);
            offer(made);
        }
        return new SharedFrames(
                assembly,
                new Members(this, made),
                made.table(),
                retainedSlots,
                ringBytes / stream.slotBytes() / CROWDED_PART,
                position);
    }

    /// The members that read a segment.
    private record Members(GroupLeader leader, LeaderSegment shared) implements SharedFrames.Group {
        @Override
        public boolean hasFollowers() {
            return leader.hasFollowers();
        }

        @Override
        public void retire() {
            leader.retire(shared);
        }
    }

    /// Shares the window of a source, from its next frame on.
    LocalReaders shareWindow(final StreamInfo stream, final MirroredMemory window, final long windowBytes) {
        synchronized (lock) {
            final long sparedSlots = windowBytes / stream.slotBytes() - 2L * stream.frameMaxSlots() - 1;
            final LeaderSegment made = new LeaderSegment(
                            window.descriptor(), windowBytes, stream, ++generations, 0, mayOpen, Delivery.RELIABLE)
                    .ofSource(sparedSlots >= 0);
            final LocalReaders readers = new LocalReaders(this, made, new SharedWindow(made.table(), sparedSlots));
            heard = readers.releases();
            offer(made);
            return readers;
        }
    }

    // No member comes to an earlier segment any more.
    private void offer(final LeaderSegment made) {
        if (segment != null) {
            segment.table().onHandoverComplete();
        }
        shown.add(made);
        segment = made;
        wake();
    }

    // A segment whose session's memory is freed has no other use.
    private void showOnly(final @Nullable LeaderSegment newest) {
        shown.removeIf(one -> {
            if (one != newest && one.isFreed()) {
                one.close();
            }
            return one != newest;
        });
    }

    /// Receiver, before it joins a source: true when a publisher of the channel runs on this host. Then this
    /// leader resigns, and its followers read the publisher's window.
    public boolean defersToPublisher() {
        if (!closed && (source == null || !UnixSocket.isListening(source))) {
            elsewhereReported = elsewhereReported
                    || (source != null && HostGroups.lookElsewhere(source, "publishes the channel", notices));
            return false;
        }
        resign();
        return true;
    }

    /// The session's memory is to be freed.
    void retire(final LeaderSegment retired) {
        synchronized (lock) {
            connections.forEach(connection -> connection.places().remove(retired));
            retired.freeRing();
            segment = segment == retired ? null : segment;
            if (!shown.contains(retired)) {
                retired.close();
            }
            closeWakers();
        }
    }

    // After the end, a place that is taken needs its descriptor for as long as its segment wakes by it.
    private void closeWakers() {
        if (ended) {
            connections.removeIf(FollowerConnection::closeUnused);
        }
    }

    private void wake() {
        if (!ended) {
            EventCount.add(counter);
        }
    }

    private void run() {
        try (Arena arena = Arena.ofConfined()) {
            final PollSet polled = new PollSet(arena, 2 + SegmentLayout.MEMBERS);
            final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES, Long.BYTES);
            while (!closed) {
                polled.await(watch(polled), mustBeat() ? beatNs : LOOK_NS);
                if (polled.isReady(1)) {
                    EventCount.drain(counter, message);
                    receiver.wake();
                }
                synchronized (lock) {
                    hear(polled, message);
                    accept(polled, message);
                    announce(message);
                    completeHandover();
                    beat();
                    holders.look(heard == counter ? segment : null, System.nanoTime());
                }
                if (isReplaced()) {
                    notices.accept("host group at " + place.path()
                            + ": another process leads now, because this one stood still, or its socket was removed");
                    return;
                }
            }
        } catch (final RuntimeException | Error e) {
            notices.accept("host group at " + place.path() + " ended: " + e);
        } finally {
            end();
        }
    }

    /// Receiver, in each of its cycles.
    public void onCycle() {
        cycles.lazySet(cycles.getPlain() + 1);
    }

    // A heartbeat wakes the receiver, which has until the next one to show that it works.
    private void beat() {
        final long nowCycles = cycles.get();
        if (term.beats(nowCycles)) {
            shown.forEach(one -> one.table().beat());
        }
        if (nowCycles != 0 && connections.size() > 1) {
            receiver.wake();
        }
    }

    /// True when another process leads, because this one stood still.
    boolean isFenced() {
        synchronized (lock) {
            return term.isFenced();
        }
    }

    /// True when a process follows besides this leader's own subscriber.
    boolean hasFollowers() {
        synchronized (lock) {
            return !SuccessionMachine.endsMembership(connections.stream()
                    .filter(c -> c != own && c.subscribes() && !c.places().isEmpty())
                    .count());
        }
    }

    private boolean mustBeat() {
        synchronized (lock) {
            return term.mustBeat(connections.size());
        }
    }

    private void completeHandover() {
        final LeaderSegment shared = segment;
        if (!term.awaits(followersToAwait::lives, System.nanoTime())) {
            followersToAwait.close();
        }
        if (shared != null
                && shared.table().isAwaiting()
                && term.isHandoverComplete(shared.table().members(), isWithAll(shared))) {
            shared.table().onHandoverComplete();
            receiver.wake();
        }
    }

    // Whether each member that has said who it is has the segment.
    private boolean isWithAll(final LeaderSegment shared) {
        return connections.stream().allMatch(c -> !c.isKnown() || c.places().containsKey(shared));
    }

    // The frames of a fenced leader would have no reader. Where no process leads at the path, this leader listens there
    // again.
    private boolean isReplaced() {
        final long present = place.presentInode();
        if (place.inode() == 0 || closed) {
            return false;
        }
        final Place found;
        synchronized (lock) {
            found = term.look(place.inode(), present);
        }
        if (found == Place.REMOVED) {
            place.listenAgain();
        }
        return found == Place.TAKEN;
    }

    private int watch(final PollSet polled) {
        synchronized (lock) {
            polled.watch(0, place.descriptor());
            polled.watch(1, counter);
            for (int i = 0; i < connections.size(); i++) {
                polled.watch(2 + i, connections.get(i).socket().descriptor());
            }
            return 2 + connections.size();
        }
    }

    private void hear(final PollSet polled, final MemorySegment message) {
        final int[] descriptors = new int[UnixSocket.DESCRIPTORS_MAX];
        for (int i = connections.size() - 1; i >= 0; i--) {
            if (!polled.isReady(2 + i)) {
                continue;
            }
            final FollowerConnection connection = connections.get(i);
            final int bytes = connection.socket().receive(message, descriptors, Linux.MSG_DONTWAIT);
            for (final int descriptor : descriptors) {
                if (descriptor >= 0) {
                    Libc.close(descriptor);
                }
            }
            if (bytes < 0) {
                continue;
            }
            if (!connection.isKnown() && GroupMessage.is(message, bytes, GroupMessage.HELLO)) {
                connection.introduce(message);
                if (connection.followedEarlier()) {
                    term.onSurvivor(connection.number());
                }
            } else if (!connection.isKnown() || !GroupMessage.is(message, bytes, GroupMessage.PROBE)) {
                if (!connection.isKnown() && GroupMessage.isForeign(message, bytes)) {
                    refuseVersion(connection.socket(), message);
                }
                dismiss(i);
            }
        }
    }

    private void refuseVersion(final UnixSocket socket, final MemorySegment message) {
        final int version = GroupMessage.version(message);
        // It may try again and again.
        if (version != refusedVersion) {
            refusedVersion = version;
            notices.accept("host group at " + place.path() + ": " + UnixSocket.describe(socket.peerProcess())
                    + " speaks layout "
                    + Integer.toUnsignedString(version) + " of the host segment, this one layout "
                    + SegmentLayout.VERSION + "; run both from the same release");
        }
        socket.send(GroupMessage.refused(message, GroupMessage.OTHER_VERSION));
    }

    private void dismiss(final int index) {
        connections.remove(index).dismiss();
        receiver.wake();
    }

    private void accept(final PollSet polled, final MemorySegment message) {
        if (!polled.isReady(0)) {
            return;
        }
        final UnixSocket socket = place.accept();
        if (socket == null) {
            // Out of descriptors: the connection stays readable.
            LockSupport.parkNanos(BACK_OFF_NS);
            return;
        }
        try {
            final boolean admitted = socket.peerUser() == user;
            if (admitted && connections.size() < SegmentLayout.MEMBERS) {
                final FollowerConnection made = new FollowerConnection(socket);
                connections.add(made);
                own = own == null && made.process() == OWN_PROCESS ? made : own;
                return;
            }
            if (admitted) {
                socket.send(GroupMessage.refused(message, GroupMessage.NO_PLACE));
            }
        } catch (final TransportException e) {
            notices.accept(e.getMessage());
        }
        socket.close();
    }

    private void announce(final MemorySegment message) {
        final LeaderSegment shared = segment;
        for (int i = connections.size() - 1; shared != null && i >= 0; i--) {
            final FollowerConnection connection = connections.get(i);
            if (connection.isKnown() && !connection.places().containsKey(shared)) {
                final int member = connection.admit(shared);
                if (member < 0) {
                    connection.socket().send(GroupMessage.refused(message, GroupMessage.NO_PLACE));
                }
                if (member < 0 || !invite(connection, shared, member, message)) {
                    dismiss(i);
                }
            }
        }
        if (shared != null && isWithAll(shared)) {
            showOnly(shared);
        }
    }

    // True when the follower gets the segment.
    private boolean invite(
            final FollowerConnection connection,
            final LeaderSegment shared,
            final int member,
            final MemorySegment message) {
        shared.table().name(member, connection.number(), connection == own);
        final boolean sent = connection
                .socket()
                .send(
                        GroupMessage.segment(message, shared.table().generation(), member),
                        shared.ringDescriptor(),
                        shared.wordsOf(member),
                        connection.waker(),
                        heard);
        shared.sent(member);
        return sent;
    }

    // Followers see the end of their connections. Their places stay taken: as long as the membership lives, the frames
    // that they may still read are not written again.
    private void end() {
        synchronized (lock) {
            ended = true;
            followersToAwait.close();
            if (takeover != null) {
                takeover.close();
                takeover = null;
            }
            connections.forEach(connection -> connection.socket().close());
            place.close();
            Libc.close(counter);
            showOnly(null);
            closeWakers();
        }
    }

    /// Followers see the end of their connections soon, and one of them leads then. Any thread; does not wait.
    public synchronized void resign() {
        if (closed) {
            return;
        }
        // Before the connections end, so that a follower makes a socket of its own.
        place.leave();
        closed = true;
        synchronized (lock) {
            wake();
        }
    }

    /// Followers have seen the end of their connections: one of them leads then.
    @Override
    public void close() {
        resign();
        try {
            thread.join(END_WAIT_MS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
