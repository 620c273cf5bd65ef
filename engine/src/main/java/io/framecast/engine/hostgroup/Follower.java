package io.framecast.engine.hostgroup;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.SourceEvent;
import io.framecast.api.StreamConfig;
import io.framecast.api.Subscriber.State;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.session.Policies;
import io.framecast.reliability.memory.Words;
import io.framecast.reliability.receive.LossReason;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Reads frames in the ring of one leader, on the user's thread. No agent works for it.
///
/// Threading: one thread polls and rests; any thread closes it, asks for its state and releases its frames.
final class Follower {
    private static final LossReason[] REASONS = LossReason.values();
    // A place of the device's memory gets free without a word.
    private static final long FULL_NS = 200_000;
    // A thread that only polls looks after its leader this often; one that rests, when it has none.
    private static final long LOOK_NS = 10_000_000;
    private static final long NS_PER_S = 1_000_000_000;

    private final StreamConfig config;
    private final DeviceBackend device;
    private final UnixSocket socket;
    private final FollowerEvents events;
    private final DeviceEvent complete;
    // Calls of the user's thread, and frames that the user has.
    private final Holds uses = new Holds();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment polled = arena.allocate(2L * Linux.POLLFD_BYTES, Long.BYTES);
    private final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES, Long.BYTES);
    private final MemorySegment timeout = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
    private final int[] descriptors = new int[UnixSocket.DESCRIPTORS_MAX];
    private volatile @Nullable FollowerSegment segment;
    private volatile @Nullable FollowerCopies copies;
    private @Nullable DeviceStream stream;
    private volatile boolean leaderGone;
    private volatile boolean closed;
    private volatile @Nullable String failure;
    private boolean endReported;
    private long lookedNs;

    private enum Sight {
        /// There is no session yet, or its leader is no member yet.
        NONE,
        FRAMES,
        /// Nothing waits, and more may come.
        STREAMING,
        ENDED,
        LOST
    }

    /// @param device of the frames; outlives this object and its frames
    /// @param socket this object's from now on, also where this throws
    Follower(
            final StreamConfig config,
            final DeviceBackend device,
            final UnixSocket socket,
            final FollowerEvents events) {
        this.config = config;
        this.device = device;
        this.socket = socket;
        this.events = events;
        try {
            complete = device.openEvent();
        } catch (final RuntimeException | Error e) {
            socket.close();
            arena.close();
            throw e;
        }
        leaderGone =
                !socket.send(GroupMessage.hello(message, ProcessHandle.current().pid()));
    }

    /// An event that is complete.
    DeviceEvent complete() {
        return complete;
    }

    DeviceStream streamBehind(final DeviceEvent ready) {
        if (stream == null) {
            stream = device.openStream();
        }
        stream.await(ready);
        return stream;
    }

    Holds uses() {
        return uses;
    }

    // The segment, in use: to be followed by its exit. Null when there is none.
    private @Nullable FollowerSegment entered() {
        final FollowerSegment shared = segment;
        return shared != null && shared.enter() ? shared : null;
    }

    private Sight see() {
        final FollowerSegment shared = entered();
        if (shared == null) {
            return Sight.NONE;
        }
        try {
            // The state first: what was published before it changed is seen then. And before it the end of the
            // connection, behind which nothing changes.
            final boolean dead = leaderGone && shared.isOfSource();
            final int state = shared.state();
            if (shared.hasNext()) {
                return Sight.FRAMES;
            }
            return switch (state) {
                case SegmentLayout.JOINING -> Sight.NONE;
                case SegmentLayout.RUNNING -> dead ? Sight.LOST : Sight.STREAMING;
                case SegmentLayout.END_OF_STREAM -> Sight.ENDED;
                default -> Sight.LOST;
            };
        } finally {
            shared.exit();
        }
    }

    State state() {
        if (failure != null) {
            return State.FAILED;
        }
        return switch (see()) {
            case NONE -> State.JOINING;
            case FRAMES, STREAMING -> State.READY;
            case ENDED -> State.END_OF_STREAM;
            case LOST -> config.rejoinMs() == 0 ? State.SOURCE_LOST : State.JOINING;
        };
    }

    /// Why no frame will come, in one line; null where one may.
    @Nullable
    String failure() {
        return failure;
    }

    /// Whether its leader is gone while more was to come, and every frame that the leader left was polled.
    boolean isOrphan() {
        if (!leaderGone || closed || failure != null) {
            return false;
        }
        final Sight sight = see();
        return sight == Sight.STREAMING || sight == Sight.NONE || (sight == Sight.LOST && config.rejoinMs() > 0);
    }

    /// Whether it has a session, or a message of its leader waits. Any thread.
    boolean isInvited() {
        if (segment != null || leaderGone || !uses.take()) {
            return segment != null;
        }
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment one = scratch.allocate(Linux.POLLFD_BYTES, Long.BYTES);
            watch(one, 0, socket.descriptor());
            Libc.ppoll(
                    one.address(),
                    1,
                    scratch.allocate(Linux.TIMESPEC_BYTES, Long.BYTES).address());
            return (seen(one, 0) & Linux.POLLIN) != 0;
        } finally {
            uses.give();
        }
    }

    /// Whether a poll would find something, or a loss.
    boolean hasNews() {
        return !closed && failure == null && see() == Sight.FRAMES && !isFull();
    }

    // Whether the user holds all places of the device's memory.
    private boolean isFull() {
        final FollowerCopies copied = copies;
        return copied != null && !copied.hasRoom();
    }

    /// The next frame; null when there is none now.
    @Nullable
    FollowerFrame poll() {
        if (!uses.take()) {
            return null;
        }
        try {
            while (failure == null) {
                switch (see()) {
                    case FRAMES -> {
                        final FollowerFrame frame = take();
                        if (frame != null || isFull()) {
                            return frame;
                        }
                    }
                    case STREAMING -> {
                        look();
                        return null;
                    }
                    case NONE, ENDED, LOST -> {
                        if (!hear()) {
                            return null;
                        }
                    }
                }
            }
            return null;
        } finally {
            uses.give();
        }
    }

    // The next frame; null for a loss, which is reported, and when there is no room.
    private @Nullable FollowerFrame take() {
        final FollowerSegment shared = isFull() ? null : entered();
        if (shared == null) {
            return null;
        }
        try {
            final long number = shared.take();
            if (number < 0) {
                return null;
            }
            if (shared.isLoss(number)) {
                reportLoss(shared, number);
                return null;
            }
            return new FollowerFrame(this, shared, number, copies);
        } catch (final IllegalStateException | DeviceException e) {
            fail(String.valueOf(e.getMessage()));
            return null;
        } finally {
            shared.exit();
        }
    }

    private void reportLoss(final FollowerSegment shared, final long number) {
        final LossReason reason = REASONS[Math.clamp(shared.detail(number), 0, REASONS.length - 1)];
        final long first = shared.frameId(number);
        final long count = shared.length(number);
        shared.release(number, 0);
        events.onLoss(shared.session(), first, count, Policies.reason(reason));
    }

    // It holds nobody back from now on: its connection ends when the user has released his frames.
    private void fail(final String line) {
        if (failure == null) {
            failure = line;
            uses.close(this::end);
        }
    }

    // The leader's connection may have ended while this thread only polls.
    private void look() {
        final long nowNs = System.nanoTime();
        if (nowNs - lookedNs >= LOOK_NS) {
            lookedNs = nowNs;
            watch(polled, 0, socket.descriptor());
            ppoll(1, 0);
        }
    }

    // Takes a message of the leader, which brings a session.
    private boolean hear() {
        final FollowerSegment former = segment;
        final Sight sight = see();
        if (former != null && !endReported && (sight == Sight.ENDED || sight == Sight.LOST)) {
            endReported = true;
            events.onSource(former.session(), sight == Sight.ENDED ? SourceEvent.Kind.ENDED : SourceEvent.Kind.LOST);
        }
        if (leaderGone && former != null) {
            return false;
        }
        final int length = socket.receive(message, descriptors, Linux.MSG_DONTWAIT);
        if (length < 0) {
            return false;
        }
        if (!GroupMessage.is(message, length, GroupMessage.SEGMENT)) {
            leaderGone = true;
            if (GroupMessage.isForeign(message, length)) {
                fail("host group: its leader speaks another version of docs/host-segment.md; run the same version of"
                        + " framecast in both processes, or use host-group=off");
            }
            return false;
        }
        final FollowerSegment made = FollowerSegment.of(device, descriptors, GroupMessage.member(message));
        if (made == null) {
            fail("host group: its leader shared no segment that can be read; use host-group=off");
            return false;
        }
        if (!device.hostAddressable() && !renewCopies(made)) {
            made.close();
            return false;
        }
        segment = made;
        endReported = false;
        events.onSource(made.session(), SourceEvent.Kind.JOINED);
        if (former != null) {
            former.close();
        }
        return true;
    }

    private boolean renewCopies(final FollowerSegment made) {
        final FollowerCopies earlier = copies;
        final int count = config.framesHeld() + 1;
        try {
            copies = new FollowerCopies(device, made.frameMaxBytes(), count);
        } catch (final DeviceException | OutOfMemoryError e) {
            fail("host group: no room for " + count + " frames on " + device.name() + ": " + e.getMessage());
            return false;
        }
        if (earlier != null) {
            earlier.close();
        }
        return true;
    }

    /// Sleeps until there may be news, for `ns` nanoseconds at most.
    void rest(final long ns) {
        if (leaderGone || !uses.take()) {
            LockSupport.parkNanos(Math.min(ns, LOOK_NS));
            return;
        }
        try {
            final Sight sight = see();
            if (sight == Sight.FRAMES) {
                // All places of the device's memory are taken.
                LockSupport.parkNanos(Math.min(ns, FULL_NS));
                return;
            }
            sleep(sight, ns);
            // Not within a use of the segment, which a message may replace.
            if (sight != Sight.STREAMING && (seen(polled, 0) & Linux.POLLIN) != 0) {
                hear();
            }
        } finally {
            uses.give();
        }
    }

    // Until the leader published something, or its connection has a message or an end.
    private void sleep(final Sight sight, final long ns) {
        watch(polled, 0, socket.descriptor());
        final FollowerSegment shared = sight == Sight.STREAMING || sight == Sight.NONE ? entered() : null;
        if (shared == null) {
            ppoll(1, ns);
            return;
        }
        try {
            watch(polled, 1, shared.waker());
            final boolean asleep = shared.sleeps(sight == Sight.NONE ? SegmentLayout.JOINING : SegmentLayout.RUNNING);
            ppoll(2, asleep ? ns : 0);
            EventCount.drain(shared.waker(), message);
            shared.wakes();
        } finally {
            shared.exit();
        }
    }

    private void ppoll(final int count, final long ns) {
        timeout.set(JAVA_LONG, 0, ns / NS_PER_S);
        timeout.set(JAVA_LONG, Linux.TIMESPEC_NANOS, ns % NS_PER_S);
        Libc.ppoll(polled.address(), count, timeout.address());
        leaderGone |= (seen(polled, 0) & Linux.POLLHUP) != 0;
    }

    private static void watch(final MemorySegment polled, final int index, final int descriptor) {
        final long at = (long) index * Linux.POLLFD_BYTES;
        Words.setInt(polled, at, descriptor);
        // And clears what was seen.
        Words.setInt(polled, at + Linux.POLLFD_EVENTS, Linux.POLLIN);
    }

    private static int seen(final MemorySegment polled, final int index) {
        return Words.getShort(polled, (long) index * Linux.POLLFD_BYTES + Linux.POLLFD_EVENTS + Short.BYTES);
    }

    /// Frames that the user holds stay readable; what they lie in is freed when he released the last. Idempotent.
    ///
    /// @param afterwards runs then, of the first call alone
    void close(final Runnable afterwards) {
        if (closed) {
            return;
        }
        closed = true;
        // The user's thread may be in a call of this object: the descriptors stay until it has left. And what he holds
        // is his until he releases it: at the end of the connection the leader would write there.
        if (failure == null) {
            uses.close(this::end);
        }
        uses.close(afterwards);
        final FollowerSegment shared = entered();
        if (shared != null) {
            EventCount.add(shared.waker());
            shared.exit();
        }
    }

    // Once, when nobody uses anything of this object any more.
    private void end() {
        final FollowerCopies copied = copies;
        if (copied != null) {
            copied.close();
        }
        final FollowerSegment shared = segment;
        if (shared != null) {
            shared.close();
        }
        if (stream != null) {
            stream.close();
        }
        complete.close();
        // Last: then the leader may give this member's place to another.
        socket.close();
        arena.close();
    }
}
