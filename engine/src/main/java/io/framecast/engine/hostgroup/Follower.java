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
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Reads frames in the rings of its host group's leaders, one segment after the other, on the user's thread. No agent
/// works for it.
///
/// Threading: one thread polls and rests; another one ([GroupMembership]) brings segments; any thread closes it, asks
/// for its state and releases its frames.
final class Follower {
    private static final LossReason[] REASONS = LossReason.values();
    // A place of the device's memory gets free without a word.
    private static final long FULL_NS = 200_000;
    private static final long NS_PER_S = 1_000_000_000;

    private final StreamConfig config;
    private final DeviceBackend device;
    private final FollowerEvents events;
    private final DeviceEvent complete;
    // Calls of the user's thread, and frames that the user has.
    private final Holds uses = new Holds();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment polled = arena.allocate(2L * Linux.POLLFD_BYTES, Long.BYTES);
    private final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES, Long.BYTES);
    private final MemorySegment timeout = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
    // Wakes the user's thread for what is no entry.
    private final int news = EventCount.open();
    private volatile @Nullable FollowerSegment segment;
    // Of later sessions and leaders; read when everything before was.
    private final ConcurrentLinkedQueue<FollowerSegment> coming = new ConcurrentLinkedQueue<>();
    private volatile @Nullable FollowerCopies copies;
    private @Nullable DeviceStream stream;
    private volatile boolean closed;
    private volatile @Nullable String failure;
    private boolean endReported;

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
    Follower(final StreamConfig config, final DeviceBackend device, final FollowerEvents events) {
        this.config = config;
        this.device = device;
        this.events = events;
        try {
            complete = device.openEvent();
        } catch (final RuntimeException | Error e) {
            Libc.close(news);
            arena.close();
            throw e;
        }
    }

    DeviceBackend device() {
        return device;
    }

    /// Membership: the next segment.
    ///
    /// @param made this object's from now on
    void add(final FollowerSegment made) {
        if (!uses.take()) {
            made.close();
            return;
        }
        coming.add(made);
        wake();
        uses.give();
    }

    /// Any thread: the user's thread looks at its state again.
    void wake() {
        if (uses.take()) {
            EventCount.add(news);
            uses.give();
        }
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

    private Sight see() {
        final FollowerSegment shared = segment;
        final Sight sight = see(shared);
        if (sight == Sight.FRAMES || sight == Sight.ENDED) {
            return sight;
        }
        final FollowerSegment later = coming.peek();
        return later == null ? sight : see(later);
    }

    private static Sight see(final @Nullable FollowerSegment shared) {
        if (shared == null || !shared.enter()) {
            return Sight.NONE;
        }
        try {
            // The state first: what was published before it changed is seen then.
            final int state = shared.state();
            if (shared.hasNext()) {
                return Sight.FRAMES;
            }
            return switch (state) {
                case SegmentLayout.JOINING -> Sight.NONE;
                case SegmentLayout.RUNNING -> Sight.STREAMING;
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

    /// Whether it has a session. Any thread.
    boolean isInvited() {
        return segment != null || !coming.isEmpty();
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
                if (see(segment) == Sight.FRAMES) {
                    final FollowerFrame frame = take();
                    if (frame != null || isFull()) {
                        return frame;
                    }
                } else if (!moves()) {
                    return null;
                }
            }
            return null;
        } finally {
            uses.give();
        }
    }

    // The next frame; null for a loss, which is reported, and when there is no room.
    private @Nullable FollowerFrame take() {
        final FollowerSegment shared = isFull() ? null : segment;
        if (shared == null || !shared.enter()) {
            return null;
        }
        try {
            final long number = shared.take();
            if (number < 0) {
                return null;
            }
            if (events.isKnown(shared.session(), shared.lastFrameId(number))) {
                // Read in the ring of an earlier leader.
                shared.release(number, 0);
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
    void fail(final String line) {
        if (failure == null) {
            failure = line;
            wake();
            uses.close(this::end);
        }
    }

    // To the next segment, when nothing more comes in this one; tells the user of a session's beginning and end.
    private boolean moves() {
        final FollowerSegment former = segment;
        final Sight sight = see(former);
        if (former != null && !endReported && (sight == Sight.ENDED || sight == Sight.LOST)) {
            endReported = true;
            events.onSource(former.session(), sight == Sight.ENDED ? SourceEvent.Kind.ENDED : SourceEvent.Kind.LOST);
        }
        final FollowerSegment made = coming.peek();
        // Looked at again: an entry may have come in front of its leader's end.
        if (made == null || sight == Sight.FRAMES) {
            return sight == Sight.FRAMES;
        }
        if (!device.hostAddressable() && !renewCopies(made)) {
            return false;
        }
        segment = made;
        coming.remove();
        final boolean goesOn = former != null && !endReported && made.continues() && made.session() == former.session();
        endReported = false;
        if (!goesOn) {
            events.onSource(made.session(), SourceEvent.Kind.JOINED);
        }
        if (former != null) {
            former.close();
        }
        return true;
    }

    private boolean renewCopies(final FollowerSegment made) {
        final FollowerCopies earlier = copies;
        if (earlier != null && earlier.frameMaxBytes() == made.frameMaxBytes()) {
            return true;
        }
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
        if (!uses.take()) {
            LockSupport.parkNanos(Math.min(ns, FULL_NS));
            return;
        }
        try {
            final Sight sight = see();
            if (sight == Sight.FRAMES) {
                // All places of the device's memory are taken.
                LockSupport.parkNanos(Math.min(ns, FULL_NS));
                return;
            }
            sleep(ns);
        } finally {
            uses.give();
        }
    }

    // Until the leader published something, or there is other news.
    private void sleep(final long ns) {
        watch(polled, 0, news);
        // Nothing more comes in the present one where there is a later one.
        final FollowerSegment later = coming.peek();
        final FollowerSegment shared = later == null ? segment : later;
        if (shared == null || !shared.enter()) {
            ppoll(1, ns);
        } else {
            try {
                watch(polled, 1, shared.waker());
                ppoll(2, shared.sleeps(shared.state()) ? ns : 0);
                EventCount.drain(shared.waker(), message);
                shared.wakes();
            } finally {
                shared.exit();
            }
        }
        EventCount.drain(news, message);
    }

    private void ppoll(final int count, final long ns) {
        timeout.set(JAVA_LONG, 0, ns / NS_PER_S);
        timeout.set(JAVA_LONG, Linux.TIMESPEC_NANOS, ns % NS_PER_S);
        Libc.ppoll(polled.address(), count, timeout.address());
    }

    private static void watch(final MemorySegment polled, final int index, final int descriptor) {
        final long at = (long) index * Linux.POLLFD_BYTES;
        Words.setInt(polled, at, descriptor);
        // And clears what was seen.
        Words.setInt(polled, at + Linux.POLLFD_EVENTS, Linux.POLLIN);
    }

    /// Frames that the user holds stay readable; what they lie in is freed when he released the last. Idempotent.
    ///
    /// @param afterwards runs then, of the first call alone
    void close(final Runnable afterwards) {
        if (closed) {
            return;
        }
        closed = true;
        wake();
        final FollowerSegment shared = segment;
        if (shared != null) {
            shared.leave();
        }
        coming.forEach(FollowerSegment::leave);
        // The user's thread may be in a call of this object: the descriptors stay until it has left. And what he holds
        // is his until he releases it: at the end of the connection the leader would write there.
        if (failure == null) {
            uses.close(this::end);
        }
        uses.close(afterwards);
    }

    // Once, when nobody uses anything of this object any more.
    private void end() {
        final FollowerCopies copied = copies;
        if (copied != null) {
            copied.close();
        }
        final FollowerSegment shared = segment;
        if (shared != null) {
            shared.leave();
            shared.close();
        }
        for (FollowerSegment later = coming.poll(); later != null; later = coming.poll()) {
            later.leave();
            later.close();
        }
        if (stream != null) {
            stream.close();
        }
        complete.close();
        Libc.close(news);
        arena.close();
    }
}
