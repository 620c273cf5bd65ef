package io.framecast.engine.hostgroup;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
import io.framecast.api.LossCounts;
import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.api.SourceEvent;
import io.framecast.api.SourceHandler;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.session.Policies;
import io.framecast.engine.session.UseGuard;
import io.framecast.reliability.memory.Words;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// A subscriber that reads its frames in the ring of its host group's leader. No agent works for it.
///
/// Threading: as [Subscriber] says; one thread at a time polls and waits.
final class FollowerSubscriber implements Subscriber {
    private static final io.framecast.reliability.receive.LossReason[] REASONS =
            io.framecast.reliability.receive.LossReason.values();
    // An interrupt ends a wait within this.
    private static final long SLICE_NS = 50_000_000;
    // A place of the device's memory gets free without a word.
    private static final long FULL_NS = 200_000;
    private static final long LOOK_NS = 10_000_000;
    private static final long NS_PER_S = 1_000_000_000;

    private final Channel channel;
    private final DeviceBackend device;
    private final UnixSocket socket;
    private final UseGuard guard;
    private final DeviceEvent complete;
    private final Holds holds = new Holds();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment polled = arena.allocate(2L * Linux.POLLFD_BYTES, Long.BYTES);
    private final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES, Long.BYTES);
    private final MemorySegment timeout = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
    private final int[] descriptors = new int[UnixSocket.DESCRIPTORS_MAX];
    private final long[] lost = new long[LossReason.values().length];
    private volatile @Nullable FollowerSegment segment;
    private @Nullable DeviceStream stream;
    private volatile @Nullable FollowerCopies copies;
    private volatile boolean leaderGone;
    private volatile boolean over;
    private volatile boolean closed;
    private volatile @Nullable String failure;
    private LossHandler onLoss = (_, _, _) -> {};
    private @Nullable SourceHandler onSource;
    private long frames;
    private long bytes;
    private long inPlace;
    private long sessions;
    private long lookedNs;

    /// @param socket this subscriber's from now on, also where this throws
    FollowerSubscriber(final Channel channel, final DeviceBackend device, final UnixSocket socket) {
        this.channel = channel;
        this.device = device;
        this.socket = socket;
        guard = new UseGuard("subscriber of " + channel.name());
        complete = device.openEvent();
        leaderGone =
                !socket.send(GroupMessage.hello(message, ProcessHandle.current().pid()));
    }

    @Override
    public Channel channel() {
        return channel;
    }

    @Override
    public DeviceBackend device() {
        return device;
    }

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

    /// Copies of frames in the device's memory; null where the device reads the leader's ring.
    @Nullable
    FollowerCopies copies() {
        return copies;
    }

    /// The frames that the user has.
    Holds holds() {
        return holds;
    }

    void advance() {
        final FollowerCopies copied = copies;
        if (copied != null) {
            copied.advance();
        }
    }

    // The segment, in use: to be followed by its exit. Null when there is none.
    private @Nullable FollowerSegment entered() {
        final FollowerSegment shared = segment;
        return shared != null && shared.enter() ? shared : null;
    }

    /// Whether it has a session, or a message of its leader waits.
    boolean isInvited() {
        if (segment != null || closed) {
            return segment != null;
        }
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment one = scratch.allocate(Linux.POLLFD_BYTES, Long.BYTES);
            final MemorySegment now = scratch.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
            Words.setInt(one, 0, socket.descriptor());
            Words.setInt(one, Linux.POLLFD_EVENTS, Linux.POLLIN);
            Libc.ppoll(one.address(), 1, now.address());
            return (Words.getShort(one, Linux.POLLFD_EVENTS + (long) Short.BYTES) & Linux.POLLIN) != 0 && !leaderGone;
        }
    }

    /// Whether its leader is gone in mid-stream, and every frame that the leader left was polled.
    boolean isOrphan() {
        if (!leaderGone || closed || failure != null) {
            return false;
        }
        final Sight sight = see();
        return sight == Sight.STREAMING
                || sight == Sight.NONE
                || (sight == Sight.LOST && channel.stream().rejoinMs() > 0);
    }

    private enum Sight {
        /// There is no session yet, or its leader is no member yet.
        NONE,
        FRAMES,
        /// Nothing waits, and more may come.
        STREAMING,
        ENDED,
        LOST
    }

    private Sight see() {
        final FollowerSegment shared = entered();
        if (shared == null) {
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

    @Override
    public State state() {
        if (closed) {
            return State.CLOSED;
        }
        if (failure != null) {
            return State.FAILED;
        }
        return switch (see()) {
            case NONE -> State.JOINING;
            case FRAMES, STREAMING -> State.READY;
            case ENDED -> State.END_OF_STREAM;
            case LOST -> channel.stream().rejoinMs() == 0 ? State.SOURCE_LOST : State.JOINING;
        };
    }

    @Override
    public Optional<String> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public int poll(final FrameHandler handler, final int limit) {
        int count = 0;
        while (count < limit) {
            final DeviceFrame frame = poll();
            if (frame == null) {
                break;
            }
            count++;
            handler.onFrame(frame);
        }
        return count;
    }

    @Override
    public @Nullable DeviceFrame poll() {
        if (!holds.take()) {
            return null;
        }
        try (UseGuard _ = guard.enter()) {
            while (!closed && failure == null) {
                final Sight sight = see();
                if (sight == Sight.FRAMES) {
                    final DeviceFrame frame = take();
                    if (frame != null || failure != null || isFull()) {
                        return frame;
                    }
                } else if (sight == Sight.STREAMING) {
                    look();
                    return null;
                } else if (!hear()) {
                    return null;
                }
            }
            return null;
        } finally {
            holds.give();
        }
    }

    // Whether the user holds all places of the device's memory.
    private boolean isFull() {
        final FollowerCopies copied = copies;
        return copied != null && !copied.hasRoom();
    }

    // The next frame; null for a loss, which is reported.
    private @Nullable DeviceFrame take() {
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
            final DeviceFrame frame = new FollowerFrame(shared, number, this);
            frames++;
            bytes += frame.length();
            inPlace += shared.detail(number) == 0 ? 0 : 1;
            return frame;
        } catch (final IllegalStateException | DeviceException e) {
            fail(String.valueOf(e.getMessage()));
            return null;
        } finally {
            shared.exit();
        }
    }

    // It holds nobody back from now on: its connection ends when the user has released his frames.
    private void fail(final String line) {
        if (failure == null) {
            failure = line;
            holds.close(this::end);
        }
    }

    // The leader's connection may have ended while this thread only polls.
    private void look() {
        final long nowNs = System.nanoTime();
        if (nowNs - lookedNs >= LOOK_NS) {
            lookedNs = nowNs;
            watch(0, socket.descriptor());
            timeout.set(JAVA_LONG, 0, 0);
            timeout.set(JAVA_LONG, Linux.TIMESPEC_NANOS, 0);
            Libc.ppoll(polled.address(), 1, timeout.address());
            leaderGone |= (revents(0) & Linux.POLLHUP) != 0;
        }
    }

    private void watch(final int index, final int descriptor) {
        final long at = (long) index * Linux.POLLFD_BYTES;
        Words.setInt(polled, at, descriptor);
        Words.setInt(polled, at + Linux.POLLFD_EVENTS, Linux.POLLIN);
    }

    private int revents(final int index) {
        return Words.getShort(polled, (long) index * Linux.POLLFD_BYTES + Linux.POLLFD_EVENTS + Short.BYTES);
    }

    private void reportLoss(final FollowerSegment shared, final long number) {
        final LossReason reason = Policies.reason(REASONS[Math.clamp(shared.detail(number), 0, REASONS.length - 1)]);
        final long first = shared.frameId(number);
        final long count = shared.length(number);
        shared.release(number, 0);
        lost[reason.ordinal()] += count;
        onLoss.onLoss(shared.session(), first, count, reason);
    }

    // Takes a message of the leader, which brings a session.
    private boolean hear() {
        final FollowerSegment former = segment;
        final Sight sight = see();
        if (former != null && !over && (sight == Sight.ENDED || sight == Sight.LOST)) {
            over = true;
            report(former, sight == Sight.ENDED ? SourceEvent.Kind.ENDED : SourceEvent.Kind.LOST);
        }
        if (leaderGone) {
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
        if (!device.hostAddressable()) {
            final FollowerCopies earlier = copies;
            try {
                copies = new FollowerCopies(
                        device, made.frameMaxBytes(), channel.stream().framesHeld() + 1);
            } catch (final DeviceException | OutOfMemoryError e) {
                made.close();
                fail("host group: no room for " + (channel.stream().framesHeld() + 1) + " frames on " + device.name()
                        + ": " + e.getMessage());
                return false;
            }
            if (earlier != null) {
                earlier.close();
            }
        }
        segment = made;
        over = false;
        report(made, sessions++ == 0 ? SourceEvent.Kind.JOINED : SourceEvent.Kind.REJOINED);
        if (former != null) {
            former.close();
        }
        return true;
    }

    private void report(final FollowerSegment shared, final SourceEvent.Kind kind) {
        final SourceHandler handler = onSource;
        if (handler != null) {
            handler.onSource(new SourceEvent(shared.session(), kind, SourceEvent.NO_FRAME, ""));
        }
    }

    @Override
    public boolean awaitFrame(final Duration longest) {
        if (!holds.take()) {
            return false;
        }
        try (UseGuard _ = guard.enter()) {
            final long startNs = System.nanoTime();
            final long longestNs = longest.compareTo(Duration.ofDays(365)) < 0 ? longest.toNanos() : Long.MAX_VALUE;
            final boolean before = Thread.interrupted();
            while (!hasNews()
                    && !isOver()
                    && !Thread.currentThread().isInterrupted()
                    && System.nanoTime() - startNs < longestNs) {
                sleep(Math.min(SLICE_NS, longestNs - (System.nanoTime() - startNs)));
            }
            if (before) {
                Thread.currentThread().interrupt();
            }
            return hasNews();
        } finally {
            holds.give();
        }
    }

    /// Whether a poll would find something, or a loss.
    boolean hasNews() {
        return !closed && see() == Sight.FRAMES && !isFull();
    }

    private boolean isOver() {
        final State state = state();
        return leaderGone || (state != State.JOINING && state != State.READY);
    }

    // Sleeps until the leader published something, or its connection has a message or an end.
    private void sleep(final long ns) {
        final Sight sight = see();
        if (sight == Sight.FRAMES) {
            // All places of the device's memory are taken.
            LockSupport.parkNanos(Math.min(ns, FULL_NS));
            return;
        }
        final FollowerSegment shared = sight == Sight.STREAMING || sight == Sight.NONE ? entered() : null;
        try {
            final int state = sight == Sight.NONE ? SegmentLayout.JOINING : SegmentLayout.RUNNING;
            if (shared == null || shared.sleeps(state)) {
                sleep(shared, ns);
            }
        } finally {
            if (shared != null) {
                shared.exit();
            }
        }
        // Not within a use of the segment, which a message may replace.
        if (sight != Sight.STREAMING && (revents(0) & Linux.POLLIN) != 0) {
            hear();
        }
    }

    private void sleep(final @Nullable FollowerSegment shared, final long ns) {
        watch(0, socket.descriptor());
        if (shared != null) {
            watch(1, shared.waker());
        }
        timeout.set(JAVA_LONG, 0, ns / NS_PER_S);
        timeout.set(JAVA_LONG, Linux.TIMESPEC_NANOS, ns % NS_PER_S);
        Libc.ppoll(polled.address(), shared == null ? 1 : 2, timeout.address());
        if (shared != null) {
            EventCount.drain(shared.waker(), message);
            shared.wakes();
        }
        leaderGone |= (revents(0) & Linux.POLLHUP) != 0;
    }

    @Override
    public void onLoss(final LossHandler handler) {
        onLoss = handler;
    }

    @Override
    public void onSource(final SourceHandler handler) {
        onSource = handler;
    }

    /// Frames lie in the leader's ring: none goes into a posted buffer.
    @Override
    public boolean post(final DeviceRegion region) {
        return false;
    }

    @Override
    public SubscriberStats stats() {
        return new SubscriberStats(
                frames,
                bytes,
                inPlace,
                0,
                0,
                0,
                new LossCounts(
                        lost[LossReason.UNREPAIRABLE.ordinal()],
                        lost[LossReason.EXPIRED.ordinal()],
                        lost[LossReason.SUPERSEDED.ordinal()],
                        lost[LossReason.AWAITS_KEYFRAME.ordinal()],
                        lost[LossReason.DAMAGED.ordinal()],
                        lost[LossReason.NOT_A_MEMBER.ordinal()]),
                0,
                Math.max(0, sessions - 1));
    }

    @Override
    public void close() {
        close(() -> {});
    }

    /// Frames that the user holds stay readable; what they lie in is freed when he released the last.
    ///
    /// @param afterwards runs then
    void close(final Runnable afterwards) {
        if (closed) {
            return;
        }
        closed = true;
        // The user's thread may be in a call of this object: the descriptors stay until it has left. And what he holds
        // is his until he releases it: at the end of the connection the leader would write there.
        if (failure == null) {
            holds.close(this::end);
        }
        holds.close(afterwards);
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
