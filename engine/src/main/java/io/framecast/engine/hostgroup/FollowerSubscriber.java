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
import org.jspecify.annotations.Nullable;

/// A subscriber that reads its frames in the ring of its host group's leader. No agent works for it.
///
/// Threading: as [Subscriber] says; one thread at a time polls and waits.
final class FollowerSubscriber implements Subscriber {
    private static final io.framecast.reliability.receive.LossReason[] REASONS =
            io.framecast.reliability.receive.LossReason.values();
    // An interrupt ends a wait within this.
    private static final long SLICE_NS = 50_000_000;
    private static final long NS_PER_S = 1_000_000_000;

    private final Channel channel;
    private final DeviceBackend device;
    private final UnixSocket socket;
    private final UseGuard guard;
    private final DeviceEvent complete;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment polled = arena.allocate(2L * Linux.POLLFD_BYTES, Long.BYTES);
    private final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES, Long.BYTES);
    private final MemorySegment timeout = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
    private final int[] descriptors = new int[UnixSocket.DESCRIPTORS_MAX];
    private final long[] lost = new long[LossReason.values().length];
    private volatile @Nullable FollowerSegment segment;
    private @Nullable DeviceStream stream;
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

    FollowerSubscriber(final Channel channel, final DeviceBackend device, final UnixSocket socket) {
        this.channel = channel;
        this.device = device;
        this.socket = socket;
        guard = new UseGuard("subscriber of " + channel.name());
        complete = device.openEvent();
        leaderGone = !socket.send(GroupMessage.hello(message, ProcessHandle.current().pid()));
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

    DeviceStream stream() {
        if (stream == null) {
            stream = device.openStream();
        }
        return stream;
    }

    /// Whether its leader is gone in mid-stream, and every frame that the leader left was polled.
    boolean isOrphan() {
        final FollowerSegment shared = segment;
        return leaderGone
                && !closed
                && failure == null
                && (shared == null || (shared.state() == SegmentLayout.RUNNING && !shared.hasNext()));
    }

    @Override
    public State state() {
        final FollowerSegment shared = segment;
        if (closed) {
            return State.CLOSED;
        }
        if (failure != null) {
            return State.FAILED;
        }
        if (shared == null) {
            return State.JOINING;
        }
        if (shared.hasNext() || shared.state() == SegmentLayout.RUNNING) {
            return State.READY;
        }
        return shared.state() == SegmentLayout.END_OF_STREAM
                ? State.END_OF_STREAM
                : leaderGone || channel.stream().rejoinMs() == 0 ? State.SOURCE_LOST : State.JOINING;
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
        try (UseGuard _ = guard.enter()) {
            while (!closed && failure == null) {
                final FollowerSegment shared = segment;
                if (shared == null || (!shared.hasNext() && shared.state() != SegmentLayout.RUNNING)) {
                    if (!hear()) {
                        return null;
                    }
                    continue;
                }
                final long number = shared.take();
                if (number < 0) {
                    return null;
                }
                if (!shared.isLoss(number)) {
                    final DeviceFrame frame = new FollowerFrame(shared, number, this);
                    frames++;
                    bytes += frame.length();
                    inPlace += shared.detail(number);
                    return frame;
                }
                reportLoss(shared, number);
            }
            return null;
        } catch (final IllegalStateException e) {
            failure = e.getMessage();
            return null;
        }
    }

    private void reportLoss(final FollowerSegment shared, final long number) {
        final LossReason reason = Policies.reason(REASONS[Math.clamp(shared.detail(number), 0, REASONS.length - 1)]);
        final long first = shared.frameId(number);
        final long count = shared.length(number);
        shared.release(number, 0, false);
        lost[reason.ordinal()] += count;
        onLoss.onLoss(shared.session(), first, count, reason);
    }

    // Takes a message of the leader, which brings a session.
    private boolean hear() {
        final FollowerSegment former = segment;
        if (former != null && !over) {
            over = true;
            report(
                    former,
                    former.state() == SegmentLayout.END_OF_STREAM ? SourceEvent.Kind.ENDED : SourceEvent.Kind.LOST);
        }
        if (leaderGone) {
            return false;
        }
        final int length = socket.receive(message, descriptors, Linux.MSG_DONTWAIT);
        if (length < 0) {
            return false;
        }
        if (!GroupMessage.is(message, length, GroupMessage.SEGMENT)) {
            failure = GroupMessage.isForeign(message, length)
                    ? "host group: its leader speaks another version of docs/host-segment.md; run the same version of"
                            + " framecast in both processes, or use host-group=off"
                    : failure;
            leaderGone = true;
            return false;
        }
        final FollowerSegment made = FollowerSegment.of(device, descriptors, GroupMessage.member(message));
        if (made == null) {
            failure = "host group: its leader shared no segment that can be read; use host-group=off";
            return false;
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
        }
    }

    private boolean hasNews() {
        final FollowerSegment shared = segment;
        return !closed && shared != null && shared.hasNext();
    }

    private boolean isOver() {
        return closed || failure != null || leaderGone || (segment != null && !isStreaming() && state() != State.JOINING);
    }

    private boolean isStreaming() {
        final FollowerSegment shared = segment;
        return shared != null && shared.state() == SegmentLayout.RUNNING;
    }

    // Sleeps until the leader published something, or its connection has a message or an end.
    private void sleep(final long ns) {
        final FollowerSegment shared = isStreaming() ? segment : null;
        if (shared != null && !shared.sleeps()) {
            return;
        }
        Words.setInt(polled, 0, socket.descriptor());
        Words.setInt(polled, Linux.POLLFD_EVENTS, Linux.POLLIN);
        if (shared != null) {
            Words.setInt(polled, Linux.POLLFD_BYTES, shared.waker());
            Words.setInt(polled, Linux.POLLFD_BYTES + (long) Linux.POLLFD_EVENTS, Linux.POLLIN);
        }
        timeout.set(JAVA_LONG, 0, ns / NS_PER_S);
        timeout.set(JAVA_LONG, Linux.TIMESPEC_NANOS, ns % NS_PER_S);
        Libc.ppoll(polled.address(), shared == null ? 1 : 2, timeout.address());
        if (shared != null) {
            EventCount.drain(shared.waker(), message);
            shared.wakes();
        }
        if (Words.getShort(polled, Linux.POLLFD_EVENTS + (long) Short.BYTES) != 0) {
            if (shared == null) {
                hear();
            } else {
                // While the session runs, the leader's connection can only end.
                leaderGone = socket.receive(message, descriptors, Linux.MSG_DONTWAIT | Linux.MSG_PEEK) == 0;
            }
        }
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
        if (closed) {
            return;
        }
        closed = true;
        socket.close();
        final FollowerSegment shared = segment;
        if (shared != null) {
            shared.close();
        }
        if (stream != null) {
            stream.close();
        }
        complete.close();
    }
}
