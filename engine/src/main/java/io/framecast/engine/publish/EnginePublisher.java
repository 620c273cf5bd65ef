package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.api.PublisherStats;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.ready.Uninterrupted;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.EpochClock;
import io.framecast.engine.session.Failures;
import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.SessionOwner;
import io.framecast.engine.session.UseGuard;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.SmallFrames;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A publisher: the producer's side of a send window. The publisher writes or copies frames into window slots and
/// commits them; the sender's thread sends them from there.
public final class EnginePublisher implements Publisher, FrameClaim.Owner, SessionOwner {
    private static final long CLOSE_MAX_NS = TimeUnit.DAYS.toNanos(1);
    // Time for the work that follows the linger.
    private static final long CLOSE_SLACK_NS = TimeUnit.SECONDS.toNanos(10);

    private final Channel channel;
    private final SourceSession session;
    private final SendWindow window;
    private final SmallFrames small;
    private final SessionHost host;
    private final Consumer<EnginePublisher> removal;
    private final Wakeup wakeup;
    private final EpochClock clock = new EpochClock();
    private final int slotBytes;
    private final long frameMaxBytes;
    private final Arena bounceArena = Arena.ofShared();
    private @Nullable MemorySegment bounce;
    private final PublisherDevice device;
    private final UseGuard guard;
    // Region of the frame that is being copied out of the device; null for none.
    private @Nullable DeviceRegion offeredRegion;
    private MemorySegment claimed = MemorySegment.NULL;
    private boolean claimBounced;
    // Whether the claim shares a datagram with other frames.
    private boolean claimSmall;
    // Written by the publisher's thread alone; the sender's thread may read an older value.
    private long frames;
    private long bytes;
    private long backPressured;
    // Bytes of the current frame that offer has taken; 0 between frames.
    private long offered;
    private MemorySegment offeredFrame = MemorySegment.NULL;
    private long offeredTimestampNs;
    // The node may also close the publisher, from another thread.
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile boolean closed;
    // Deadline of the thread that closes the publisher.
    private volatile long closeByNs;
    private volatile boolean done;
    // Whether every subscriber had acknowledged everything when the publisher closed.
    private volatile boolean all;
    private volatile @Nullable String failure;

    /// @param removal takes the publisher out of the duty cycle and closes its session
    public EnginePublisher(
            final Channel channel,
            final SourceSession session,
            final SessionHost host,
            final Consumer<EnginePublisher> removal) {
        this.channel = channel;
        this.session = session;
        this.host = host;
        this.removal = removal;
        guard = new UseGuard("publisher of " + channel.name());
        window = session.window();
        wakeup = host.senderWakeup();
        small = session.smallFrames();
        slotBytes = session.stream().slotBytes();
        frameMaxBytes = session.stream().frameMaxBytes();
        device = new PublisherDevice(channel, session, host, () -> closed);
        session.counters()
                .add(EngineCounter.FRAMES_PUBLISHED, () -> frames)
                .add(EngineCounter.BYTES_PUBLISHED, () -> bytes)
                .add(EngineCounter.PUBLISH_BACK_PRESSURED, () -> backPressured);
    }

    @Override
    public Channel channel() {
        return channel;
    }

    @Override
    public long tryClaim(final long length, final FrameClaim claim) {
        try (UseGuard _ = guard.enter()) {
            return claim(length, claim);
        }
    }

    private long claim(final long length, final FrameClaim claim) {
        checkLength(length);
        final long slots = StreamInfo.slots(length, slotBytes);
        if (slots >= window.slots()) {
            throw new IllegalArgumentException("window: expected at least the frame's " + length + " bytes, holds "
                    + (long) (window.slots() - 1) * slotBytes + "; enlarge window= or use offer");
        }
        if (claimed.byteSize() != 0 || offered != 0 || offeredRegion != null) {
            throw new IllegalStateException("a frame is under way: commit or abort the claim, or finish the offer");
        }
        claimSmall = small.takes(length);
        final long refusal = claimSmall ? claimSmall((int) length) : claimSlots(length, slots);
        if (refusal < 0) {
            return refusal;
        }
        claim.wrap(claimed, this);
        return bytes + length;
    }

    private long claimSmall(final int length) {
        final long refusal = refusal();
        if (refusal < 0) {
            return refusal;
        }
        final long offset = small.claim(length);
        if (offset == SmallFrames.NO_ROOM) {
            backPressured++;
            return BACK_PRESSURED;
        }
        claimBounced = false;
        claimed = session.memory().payload().asSlice(offset, length);
        return 0;
    }

    private long claimSlots(final long length, final long slots) {
        final long refusal = refusal(slots);
        if (refusal < 0) {
            return refusal;
        }
        final int slot = window.slot(window.cursor());
        claimBounced = !session.memory().isContiguous(slot, length);
        claimed = claimBounced ? bounce(length) : session.memory().slice(slot, length);
        return 0;
    }

    private long refusal() {
        if (closed || failure != null) {
            return CLOSED;
        }
        return session.readyMembers() == 0 ? NOT_CONNECTED : 0;
    }

    // For a frame that takes slots of its own: the small frames before it are complete.
    private long refusal(final long slots) {
        final long refusal = refusal();
        if (refusal < 0) {
            return refusal;
        }
        small.close();
        final boolean room = window.freeSlots() >= slots;
        session.onClaim(room ? 0 : (int) slots);
        backPressured += room ? 0 : 1;
        return room ? 0 : BACK_PRESSURED;
    }

    @Override
    public void commit(final FrameOptions options) {
        try (UseGuard _ = guard.enter()) {
            commitClaim(options);
        }
    }

    private void commitClaim(final FrameOptions options) {
        final long length = claimed.byteSize();
        if (closed || failure != null || length == 0) {
            claimed = MemorySegment.NULL;
            return;
        }
        if (claimBounced) {
            session.memory().write(window.slot(window.cursor()), claimed, 0, length);
        }
        claimed = MemorySegment.NULL;
        if (claimSmall) {
            small.commit(flags(options), timestampNs(options), options.metadata());
            finish(length);
            return;
        }
        begin(length, timestampNs(options), options);
        window.commit(length, (int) StreamInfo.slots(length, slotBytes));
        finish(length);
    }

    @Override
    public boolean isClosed() {
        return closed || failure != null;
    }

    @Override
    public void abort() {
        try (UseGuard _ = guard.enter()) {
            abortClaim();
        }
    }

    private void abortClaim() {
        if (claimSmall && claimed.byteSize() != 0) {
            small.abort();
        }
        claimed = MemorySegment.NULL;
    }

    @Override
    public long offer(final MemorySegment frame, final FrameOptions options) {
        try (UseGuard _ = guard.enter()) {
            return offerGuarded(frame, options);
        }
    }

    private long offerGuarded(final MemorySegment frame, final FrameOptions options) {
        final long length = frame.byteSize();
        checkLength(length);
        if (claimed.byteSize() != 0 || offeredRegion != null) {
            throw new IllegalStateException("a claim is open: commit or abort it first");
        }
        if (offered == 0 && small.takes(length) && options.metadata().length == 0) {
            return offerSmall(frame, (int) length, options);
        }
        final long slots = StreamInfo.slots(length, slotBytes);
        if (offered == 0) {
            // A frame that fits the window waits until it fits as a whole; a longer one is taken in parts.
            final long refusal = refusal(Math.min(slots, window.slots() - 1L));
            if (refusal < 0) {
                return refusal;
            }
            offeredTimestampNs = timestampNs(options);
            begin(length, offeredTimestampNs, options);
            offeredFrame = frame;
        } else if (!isOffered(frame)) {
            throw new IllegalStateException("offer: a frame of " + offeredFrame.byteSize() + " bytes is under way, "
                    + offered + " of them taken; offer the same memory again until it is taken, got another of "
                    + length
                    + " bytes");
        } else if (closed || failure != null) {
            return CLOSED;
        }
        try {
            return take(frame, length, slots);
        } catch (final IllegalStateException e) {
            // The node closed meanwhile, and freed the window.
            return closedOr(e);
        }
    }

    private long offerSmall(final MemorySegment frame, final int length, final FrameOptions options) {
        final long refusal = refusal();
        if (refusal < 0) {
            return refusal;
        }
        try {
            final long offset = small.claim(length);
            if (offset == SmallFrames.NO_ROOM) {
                backPressured++;
                return BACK_PRESSURED;
            }
            MemorySegment.copy(frame, 0, session.memory().payload(), offset, length);
            small.commit(flags(options), timestampNs(options));
        } catch (final IllegalStateException e) {
            // The node closed meanwhile, and freed the window.
            return closedOr(e);
        }
        finish(length);
        return bytes;
    }

    @Override
    public DeviceBackend device() {
        return device.source().device();
    }

    @Override
    public long offer(final DeviceRegion frame, final DeviceEvent written, final FrameOptions options) {
        try (UseGuard _ = guard.enter()) {
            return offerGuarded(frame, written, options);
        }
    }

    private long offerGuarded(final DeviceRegion frame, final DeviceEvent written, final FrameOptions options) {
        final long length = frame.bytes();
        checkLength(length);
        if (claimed.byteSize() != 0 || offered != 0) {
            throw new IllegalStateException("a frame is under way: commit or abort the claim, or finish the offer");
        }
        final DeviceSource source;
        try {
            source = device.source();
        } catch (final IllegalStateException e) {
            return closedOr(e);
        }
        if (offeredRegion == null && small.takes(length) && options.metadata().length == 0) {
            return offerSmall(source, frame, written, options);
        }
        if (offeredRegion == null) {
            final long slots = StreamInfo.slots(length, slotBytes);
            final long refusal = refusal(Math.min(slots, window.slots() - 1L));
            if (refusal < 0) {
                return refusal;
            }
            try {
                begin(length, timestampNs(options), options);
                source.begin(written);
            } catch (final IllegalStateException | DeviceException e) {
                return closedOr(e);
            }
        } else if (!offeredRegion.equals(frame)) {
            throw new IllegalStateException("offer: a frame of " + offeredRegion.bytes()
                    + " bytes is under way; offer the same memory again until it is taken");
        } else if (closed || failure != null) {
            return CLOSED;
        }
        offeredRegion = frame;
        return copyOut(source, frame, length);
    }

    private long copyOut(final DeviceSource source, final DeviceRegion frame, final long length) {
        try {
            if (!source.run(frame, length, wakeup::wake)) {
                backPressured++;
                return BACK_PRESSURED;
            }
        } catch (final DeviceException e) {
            offeredRegion = null;
            if (closed) {
                return CLOSED;
            }
            if (source.hasCommitted()) {
                // Subscribers would wait for the rest of the frame for ever.
                onFailure(Failures.line("publisher of " + channel.name(), e));
                abandon();
            }
            throw e;
        } catch (final IllegalStateException e) {
            // The node closed meanwhile, and freed the window.
            return closedOr(e);
        }
        offeredRegion = null;
        finish(length);
        return bytes;
    }

    private long offerSmall(
            final DeviceSource source,
            final DeviceRegion frame,
            final DeviceEvent written,
            final FrameOptions options) {
        final long refusal = refusal();
        if (refusal < 0) {
            return refusal;
        }
        try {
            final long offset = small.claim((int) frame.bytes());
            if (offset == SmallFrames.NO_ROOM) {
                backPressured++;
                return BACK_PRESSURED;
            }
            boolean whole = false;
            try {
                source.copySmall(frame, written, session.memory().payload(), offset);
                whole = true;
            } finally {
                if (!whole) {
                    small.abort();
                }
            }
            small.commit(flags(options), timestampNs(options));
        } catch (final IllegalStateException | DeviceException e) {
            // The node closed meanwhile, and freed window and device.
            return closedOr(e);
        }
        finish(frame.bytes());
        return bytes;
    }

    @Override
    public boolean awaitRoom(final long length, final Duration longest) {
        try (UseGuard _ = guard.enter()) {
            return awaitRoomGuarded(length, longest);
        }
    }

    private boolean awaitRoomGuarded(final long length, final Duration longest) {
        checkLength(length);
        // A frame in progress continues with a part of any length.
        final int slots = offered > 0 || offeredRegion != null
                ? 1
                : (int) Math.min(StreamInfo.slots(length, slotBytes), window.slots() - 1L);
        session.awaitRoom(host, slots, () -> closed || failure != null, longest);
        return closed || failure != null || session.hasRoom(slots);
    }

    private boolean isOffered(final MemorySegment frame) {
        return frame.byteSize() == offeredFrame.byteSize()
                && frame.address() == offeredFrame.address()
                && frame.heapBase().equals(offeredFrame.heapBase());
    }

    private long closedOr(final RuntimeException cause) {
        if (!closed) {
            throw cause;
        }
        return CLOSED;
    }

    private long take(final MemorySegment frame, final long length, final long slots) {
        final long done = offered / slotBytes;
        final int part = (int) Math.min(slots - done, window.freeSlots());
        if (part > 0) {
            final long partBytes = Math.min(length - offered, (long) part * slotBytes);
            session.memory().write(window.slot(window.cursor()), frame, offered, partBytes);
            window.commit(length, part);
            offered += partBytes;
        }
        if (offered < length) {
            backPressured++;
            if (part > 0) {
                wakeup.wake();
            }
            return BACK_PRESSURED;
        }
        offered = 0;
        offeredFrame = MemorySegment.NULL;
        finish(length);
        return bytes;
    }

    private void begin(final long length, final long timestampNs, final FrameOptions options) {
        window.beginFrame(length, flags(options), timestampNs, options.metadata());
    }

    private static int flags(final FrameOptions options) {
        return options.keyframe() ? DataLayout.FLAG_KEYFRAME : 0;
    }

    private void finish(final long length) {
        frames++;
        bytes += length;
        wakeup.wake();
    }

    private long timestampNs(final FrameOptions options) {
        return options.sourceTimestampNs() == FrameOptions.NOW ? clock.epochNs() : options.sourceTimestampNs();
    }

    private void checkLength(final long length) {
        if (length < 1 || length > frameMaxBytes) {
            throw new IllegalArgumentException("frame-max: expected a frame of 1 … " + frameMaxBytes + " bytes, got "
                    + length + "; set frame-max= in the channel");
        }
    }

    private MemorySegment bounce(final long length) {
        if (bounce == null) {
            bounce = bounceArena.allocate((long) window.slots() * slotBytes, 64);
        }
        return bounce.asSlice(0, length);
    }

    @Override
    public int readySubscribers() {
        return session.readyMembers();
    }

    @Override
    public List<String> unreadySubscribers() {
        return session.unready().lines();
    }

    @Override
    public PublisherStats stats() {
        return new PublisherStats(
                frames,
                bytes,
                backPressured,
                session.machine().counts().get(SenderCount.SENT_DATAGRAMS),
                session.machine().counts().get(SenderCount.REPAIRED_DATAGRAMS),
                session.machine().counts().get(SenderCount.EVICTIONS));
    }

    @Override
    public Optional<String> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public void onFailure(final String reason) {
        failure = reason;
        session.publisher().wake();
    }

    @Override
    public boolean close(final Duration linger) {
        if (!closing.compareAndSet(false, true)) {
            awaitClosed();
            return all;
        }
        closeByNs = System.nanoTime() + Math.min(linger.toNanos(), CLOSE_MAX_NS) + CLOSE_SLACK_NS;
        closed = true;
        session.publisher().wake();
        final long evictionsBefore = session.machine().counts().get(SenderCount.EVICTIONS);
        session.end();
        wakeup.wake();
        final boolean settled = host.await(() -> session.isSettled() || failure != null, linger) && failure == null;
        // A member that was evicted during the linger did not acknowledge everything.
        all = settled
                && session.isDrained()
                && session.machine().counts().get(SenderCount.EVICTIONS) == evictionsBefore;
        free();
        return all;
    }

    // Waits while another thread (the node's or the user's) closes. That thread runs the agents in invoker mode.
    private void awaitClosed() {
        Uninterrupted.await(() -> done || (closeByNs != 0 && System.nanoTime() - closeByNs >= 0), CLOSE_MAX_NS);
    }

    @Override
    public void close() {
        close(Duration.ZERO);
    }

    @Override
    public void abandon() {
        if (!closing.compareAndSet(false, true)) {
            awaitClosed();
            return;
        }
        closeByNs = System.nanoTime() + CLOSE_SLACK_NS;
        closed = true;
        session.publisher().wake();
        // Without end(), the session's last message is that the publisher closed, not end of stream.
        free();
    }

    private void free() {
        try {
            // The device copies into the window, so it closes before the window is freed.
            device.close();
        } catch (final DeviceException e) {
            host.notices().accept(Failures.line("publisher of " + channel.name(), e));
        } finally {
            freeSession();
        }
    }

    private void freeSession() {
        try {
            removal.accept(this);
        } finally {
            bounceArena.close();
            done = true;
        }
    }

    public SourceSession session() {
        return session;
    }

    /// Sender's thread, outside the duty cycle: sends end of stream once more, then frees everything.
    public void finishSession(final long nowNs) {
        try {
            if (failure == null) {
                session.doWork(nowNs);
            }
        } catch (final RuntimeException e) {
            session.fail();
            onFailure(Failures.line("publisher of " + channel.name(), e));
        } finally {
            session.close();
        }
    }
}
