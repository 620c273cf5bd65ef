package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.api.DeviceSourceReport;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.api.PublisherStats;
import io.framecast.api.error.DeviceException;
import io.framecast.api.format.FrameFormat;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.codec.FormatCodec;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.ready.Uninterrupted;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.EncryptionLimits;
import io.framecast.engine.session.EpochClock;
import io.framecast.engine.session.Failures;
import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.UseGuard;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.window.FrameWriter;
import io.framecast.reliability.window.SendWindow;
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
import java.util.function.ToLongFunction;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A publisher: the producer's side of a send window. The publisher writes or copies frames into window slots and
/// commits them; the sender's thread sends them from there.
public final class EnginePublisher implements Publisher, FrameClaim.Owner {
    private static final long CLOSE_MAX_NS = TimeUnit.DAYS.toNanos(1);
    // Time for the work that follows the linger.
    private static final long CLOSE_SLACK_NS = TimeUnit.SECONDS.toNanos(10);

    private final Channel channel;
    private final SourceSession session;
    private final SendWindow window;
    private final FrameWriter writer;
    private final SessionHost host;
    private final Consumer<EnginePublisher> removal;
    private final Wakeup wakeup;
    private final EpochClock clock = EpochClock.ofProcess();
    private final int slotBytes;
    private final long frameMaxBytes;
    private final Arena bounceArena = Arena.ofShared();
    private @Nullable MemorySegment bounce;
    // The publisher's thread opens it on first use, and the thread that closes the publisher closes it.
    private volatile @Nullable DeviceSource source;
    private final Object deviceLock = new Object();
    private final UseGuard guard;
    // Region of the frame that is being copied out of the device; null for none.
    private @Nullable DeviceRegion offeredRegion;
    // The device's window has room for more once the sequences below are free; -1 while no claim was refused.
    private long claimableBehind = -1;
    private MemorySegment claimed = MemorySegment.NULL;
    private boolean claimBounced;
    // Written by the publisher's thread alone; the sender's thread may read an older value.
    private long frames;
    private long bytes;
    private long backPressured;
    // Bytes of the current frame that offer has taken; 0 between frames.
    private long offered;
    private MemorySegment offeredFrame = MemorySegment.NULL;
    // The node may also close the publisher, from another thread.
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile boolean closed;
    // Deadline of the thread that closes the publisher.
    private volatile long closeByNs;
    private volatile boolean done;
    // Whether every subscriber had acknowledged everything when the publisher closed.
    private volatile boolean all;

    /// @param removal takes the publisher out of the duty cycle, closes its session's lanes, and calls
    ///     [#release]
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
        writer = session.writer();
        slotBytes = session.stream().slotBytes();
        frameMaxBytes = session.stream().frameMaxBytes();
        session.counters()
                .add(EngineCounter.FRAMES_PUBLISHED, () -> frames)
                .add(EngineCounter.BYTES_PUBLISHED, () -> bytes)
                .add(EngineCounter.PUBLISH_BACK_PRESSURED, () -> backPressured)
                .add(EngineCounter.GATHERED_BYTES, () -> ofDevice(DeviceSource::gatheredBytes))
                .add(EngineCounter.LOADED_BYTES, () -> ofDevice(DeviceSource::loadedBytes))
                .add(EngineCounter.COPIED_OUT_BYTES, () -> ofDevice(DeviceSource::copiedBytes));
    }

    private long ofDevice(final ToLongFunction<DeviceSource> count) {
        final DeviceSource from = source;
        return from == null ? 0 : count.applyAsLong(from);
    }

    @Override
    public Channel channel() {
        return channel;
    }

    @Override
    public long tryClaim(final long length, final FrameClaim claim) {
        try (UseGuard _ = guard.enter()) {
            checkLength(length);
            final long slots = StreamInfo.slots(length, slotBytes);
            if (slots >= window.slots()) {
                throw new IllegalArgumentException("window: expected at least the frame's " + length + " bytes, holds "
                        + (long) (window.slots() - 1) * slotBytes + "; enlarge window= or use offer");
            }
            if (claimed.byteSize() != 0 || offered != 0 || offeredRegion != null) {
                throw new IllegalStateException("a frame is under way: commit or abort the claim, or finish the offer");
            }
            final long place = place(length);
            if (place < 0) {
                return place;
            }
            final int slot = (int) (place / slotBytes);
            claimBounced = !writer.bundles(length) && !session.memory().isContiguous(slot, length);
            claimed = claimBounced ? bounce(length) : session.memory().payload().asSlice(place, length);
            claim.wrap(claimed, this);
            return bytes + length;
        }
    }

    // The place of a frame in the window's payload, or a refusal.
    private long place(final long length) {
        final long refusal = refusal();
        return refusal < 0 ? refusal : orBackPressured(writer.claim(length));
    }

    private long orBackPressured(final long place) {
        if (place != FrameWriter.NO_ROOM) {
            return place;
        }
        backPressured++;
        return BACK_PRESSURED;
    }

    private long refusal() {
        return isClosed() ? CLOSED : session.readyMembers() == 0 ? NOT_CONNECTED : 0;
    }

    // For a frame that takes slots of its own.
    private long refusal(final long slots) {
        final long refusal = refusal();
        return refusal < 0 ? refusal : orBackPressured(writer.reserve(slots) ? 0 : FrameWriter.NO_ROOM);
    }

    @Override
    public void format(final FrameFormat format) {
        final byte[] encoded = format.equals(FrameFormat.EMPTY) ? null : FormatCodec.encode(format);
        try (UseGuard _ = guard.enter()) {
            if (claimed.byteSize() != 0 || offered != 0 || offeredRegion != null) {
                throw new IllegalStateException(
                        "a frame is under way: commit or abort the claim, or finish the offer, before another format");
            }
            if (!isClosed()) {
                writer.format(encoded);
            }
        }
    }

    @Override
    public void commit(final FrameOptions options) {
        try (UseGuard _ = guard.enter()) {
            final long length = claimed.byteSize();
            if (isClosed() || length == 0) {
                claimed = MemorySegment.NULL;
                return;
            }
            if (claimBounced) {
                session.memory().write(window.slot(window.cursor()), claimed, 0, length);
            }
            claimed = MemorySegment.NULL;
            commitClaim(options);
            finish(length);
        }
    }

    private void commitClaim(final FrameOptions options) {
        writer.commit(flags(options), timestampNs(options), options.metadata());
    }

    @Override
    public boolean isClosed() {
        return closed || session.failure() != null;
    }

    @Override
    public void abort() {
        try (UseGuard _ = guard.enter()) {
            if (claimed.byteSize() != 0) {
                writer.abort();
            }
            claimed = MemorySegment.NULL;
        }
    }

    @Override
    public long offer(final MemorySegment frame, final FrameOptions options) {
        try (UseGuard _ = guard.enter()) {
            final long length = frame.byteSize();
            checkLength(length);
            if (claimed.byteSize() != 0 || offeredRegion != null) {
                throw new IllegalStateException("a claim is open: commit or abort it first");
            }
            if (offered == 0 && writer.bundles(length) && options.metadata().length == 0) {
                return offerSmall(frame, (int) length, options);
            }
            final long slots = StreamInfo.slots(length, slotBytes);
            if (offered == 0) {
                // A frame that fits the window waits until it fits as a whole; a longer one is taken in parts.
                final long refusal = refusal(Math.min(slots, window.slots() - 1L));
                if (refusal < 0) {
                    return refusal;
                }
                begin(length, flags(options), options);
                offeredFrame = frame;
            } else if (!isOffered(frame)) {
                throw new IllegalStateException("offer: a frame of " + offeredFrame.byteSize() + " bytes is under way, "
                        + offered + " of them taken; offer the same memory again until it is taken, got another of "
                        + length
                        + " bytes");
            } else if (isClosed()) {
                return CLOSED;
            }
            try {
                return take(frame, length);
            } catch (final IllegalStateException e) {
                // The node closed meanwhile, and freed the window.
                return closedOr(e);
            }
        }
    }

    private long offerSmall(final MemorySegment frame, final int length, final FrameOptions options) {
        try {
            final long place = place(length);
            if (place < 0) {
                return place;
            }
            MemorySegment.copy(frame, 0, session.memory().payload(), place, length);
            commitClaim(options);
        } catch (final IllegalStateException e) {
            // The node closed meanwhile, and freed the window.
            return closedOr(e);
        }
        finish(length);
        return bytes;
    }

    @Override
    public DeviceBackend device() {
        return source().device();
    }

    // One locked step checks for the close, opens the device and registers the window. A close in between would else
    // free the window, and no thread would close the device.
    private DeviceSource source() {
        final DeviceSource known = source;
        if (known != null) {
            return known;
        }
        synchronized (deviceLock) {
            requireOpen();
            final DeviceSource made = openDevice();
            source = made;
            // The closing thread waits for the lock, and then closes the device.
            requireOpen();
            return made;
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("publisher: closed; make another");
        }
    }

    private DeviceSource openDevice() {
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final DeviceBackend device =
                    opened.add(host.openDevice(channel.stream().device()));
            EncryptionLimits.requireHostFrames(channel, device);
            final DeviceSource made =
                    new DeviceSource(device, session, channel.stream().placement(), host.notices());
            opened.keep();
            return made;
        }
    }

    @Override
    public @Nullable DeviceRegion tryClaimDevice(final long length) {
        try (UseGuard _ = guard.enter()) {
            checkLength(length);
            if (StreamInfo.slots(length, slotBytes) >= window.slots()) {
                throw new IllegalArgumentException("window: expected at least the frame's " + length + " bytes, holds "
                        + (long) (window.slots() - 1) * slotBytes + "; enlarge window=");
            }
            return isClosed() ? null : claim(length);
        }
    }

    private @Nullable DeviceRegion claim(final long length) {
        try {
            final DeviceSource from = source();
            final DeviceRegion claimedRegion = from.claim(length).orElse(null);
            claimableBehind = claimedRegion == null ? from.claimableBehind() : -1;
            return claimedRegion;
        } catch (final IllegalStateException | DeviceException e) {
            closedOr(e);
            return null;
        }
    }

    @Override
    public void abortDevice(final DeviceRegion claim) {
        try (UseGuard _ = guard.enter()) {
            final DeviceSource from = source;
            if (from == null || !from.release(claim)) {
                throw new IllegalArgumentException("abort: expected an open claim of this publisher, got "
                        + claim.bytes() + " bytes of other memory");
            }
        }
    }

    @Override
    public boolean isLent(final DeviceRegion region) {
        try (UseGuard _ = guard.enter()) {
            final DeviceSource from = source;
            return from != null && from.isSent(region);
        } catch (final IllegalStateException e) {
            // The lanes are closed, so nothing is sent from anywhere.
            closedOr(e);
            return false;
        }
    }

    @Override
    public Optional<DeviceSourceReport> deviceReport() {
        return Optional.ofNullable(source).map(DeviceSource::report);
    }

    @Override
    public long offer(final DeviceRegion frame, final DeviceEvent written, final FrameOptions options) {
        return offer(frame, written, options, false);
    }

    @Override
    public long lend(final DeviceRegion frame, final DeviceEvent written, final FrameOptions options) {
        return offer(frame, written, options, true);
    }

    private long offer(
            final DeviceRegion frame, final DeviceEvent written, final FrameOptions options, final boolean lent) {
        try (UseGuard _ = guard.enter()) {
            final long length = frame.bytes();
            checkLength(length);
            if (claimed.byteSize() != 0 || offered != 0) {
                throw new IllegalStateException("a frame is under way: commit or abort the claim, or finish the offer");
            }
            final DeviceSource from;
            try {
                from = source();
            } catch (final IllegalStateException e) {
                return closedOr(e);
            }
            if (offeredRegion == null && writer.bundles(length) && options.metadata().length == 0) {
                return offerSmall(from, frame, written, options);
            }
            if (offeredRegion == null) {
                final long slots = StreamInfo.slots(length, slotBytes);
                final long refusal = refusal(Math.min(slots, window.slots() - 1L));
                if (refusal < 0) {
                    return refusal;
                }
                try {
                    final DeviceSource.Way way = slots < window.slots() ? from.way(frame, lent) : DeviceSource.Way.COPY;
                    if (from.take(frame, written, slots, way)) {
                        return commitWhole(from, frame, slots, options, way);
                    }
                    begin(length, flags(options), options);
                    from.begin(written);
                } catch (final IllegalStateException | DeviceException e) {
                    writer.abort();
                    return closedOr(e);
                }
            } else if (!offeredRegion.equals(frame)) {
                throw new IllegalStateException("offer: a frame of " + offeredRegion.bytes()
                        + " bytes is under way; offer the same memory again until it is taken");
            } else if (isClosed()) {
                return CLOSED;
            }
            offeredRegion = frame;
            return copyOut(from, frame, length);
        }
    }

    // The CPU has read the frame, or the NIC will.
    private long commitWhole(
            final DeviceSource from,
            final DeviceRegion frame,
            final long slots,
            final FrameOptions options,
            final DeviceSource.Way way) {
        final boolean gathered = way == DeviceSource.Way.GATHER;
        begin(frame.bytes(), flags(options) | (gathered ? DataLayout.FLAG_GATHERED : 0), options);
        if (!gathered) {
            from.release(frame);
        }
        writer.commitPart((int) slots);
        finish(frame.bytes());
        return bytes;
    }

    private long copyOut(final DeviceSource from, final DeviceRegion frame, final long length) {
        try {
            if (!from.run(frame, length, wakeup::wake)) {
                backPressured++;
                return BACK_PRESSURED;
            }
        } catch (final DeviceException e) {
            offeredRegion = null;
            if (closed) {
                return CLOSED;
            }
            if (from.hasCommitted()) {
                // Subscribers would wait for the rest of the frame for ever.
                session.onFailure(Failures.line(session.name(), e));
                abandon();
            } else {
                writer.abort();
            }
            throw e;
        } catch (final IllegalStateException e) {
            // The node closed meanwhile, and freed the window.
            return closedOr(e);
        }
        offeredRegion = null;
        from.release(frame);
        finish(length);
        return bytes;
    }

    private long offerSmall(
            final DeviceSource from, final DeviceRegion frame, final DeviceEvent written, final FrameOptions options) {
        try {
            final long place = place(frame.bytes());
            if (place < 0) {
                return place;
            }
            boolean whole = false;
            try {
                from.copySmall(frame, written, session.memory().payload(), place);
                whole = true;
            } finally {
                if (!whole) {
                    writer.abort();
                }
            }
            commitClaim(options);
        } catch (final IllegalStateException | DeviceException e) {
            // The node closed meanwhile, and freed window and device.
            return closedOr(e);
        }
        from.release(frame);
        finish(frame.bytes());
        return bytes;
    }

    @Override
    public boolean awaitRoom(final long length, final Duration longest) {
        try (UseGuard _ = guard.enter()) {
            checkLength(length);
            // A frame in progress continues with a part of any length.
            final int needed = offered > 0 || offeredRegion != null
                    ? 1
                    : (int) Math.min(StreamInfo.slots(length, slotBytes), window.slots() - 1L);
            final int slots = Math.max(writer.awaitedSlots(needed), slotsFreeOnceClaimable());
            session.awaitRoom(host, slots, () -> isClosed(), longest);
            claimableBehind = session.hasRoom(slots) ? -1 : claimableBehind;
            return isClosed() || session.hasRoom(slots);
        }
    }

    // As many slots of the window are free when the memory of a refused claim is.
    private int slotsFreeOnceClaimable() {
        return claimableBehind < 0 ? 0 : (int) (window.slots() - 1 - Math.max(0, window.cursor() - claimableBehind));
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

    private long take(final MemorySegment frame, final long length) {
        final int part = writer.roomForPart();
        if (part > 0) {
            final long partBytes = Math.min(length - offered, (long) part * slotBytes);
            session.memory().write(window.slot(window.cursor()), frame, offered, partBytes);
            offered += partBytes;
            writer.commitPart(part);
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

    private void begin(final long length, final int flags, final FrameOptions options) {
        writer.begin(length, flags, timestampNs(options), options.metadata());
    }

    private static int flags(final FrameOptions options) {
        return options.keyframe() ? DataLayout.FLAG_KEYFRAME : 0;
    }

    private void finish(final long length) {
        frames++;
        bytes += length;
        if (session.isHeard()) {
            wakeup.wake();
        }
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
            try {
                bounce = bounceArena.allocate((long) window.slots() * slotBytes, 64);
            } catch (final OutOfMemoryError e) {
                writer.abort();
                throw e;
            }
        }
        return bounce.asSlice(0, length);
    }

    @Override
    public int readySubscribers() {
        return session.readySubscribers();
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
                session.machine().counts().get(SenderCount.EVICTIONS),
                session.memberStats(),
                session.members().evictions());
    }

    @Override
    public Optional<String> failure() {
        return Optional.ofNullable(session.failure());
    }

    @Override
    public boolean close(final Duration linger) {
        if (!beginClose(Math.min(linger.toNanos(), CLOSE_MAX_NS))) {
            return all;
        }
        final long evictionsBefore = session.machine().counts().get(SenderCount.EVICTIONS);
        session.end();
        wakeup.wake();
        final boolean settled =
                host.await(() -> session.isSettled() || session.failure() != null, linger) && session.failure() == null;
        // A member that was evicted during the linger did not acknowledge everything.
        all = settled
                && session.isDrained()
                && session.machine().counts().get(SenderCount.EVICTIONS) == evictionsBefore;
        free();
        return all;
    }

    // False where another thread (the node's or the user's) has closed meanwhile: the caller waited for it. That thread
    // runs the agents in invoker mode.
    private boolean beginClose(final long lingerNs) {
        if (!closing.compareAndSet(false, true)) {
            Uninterrupted.await(() -> done || (closeByNs != 0 && System.nanoTime() - closeByNs >= 0), CLOSE_MAX_NS);
            return false;
        }
        closeByNs = System.nanoTime() + lingerNs + CLOSE_SLACK_NS;
        closed = true;
        session.wakePublisher();
        return true;
    }

    @Override
    public void close() {
        close(Duration.ZERO);
    }

    @Override
    public void abandon() {
        if (beginClose(0)) {
            // Without end(), the session's last message is that the publisher closed, not end of stream.
            free();
        }
    }

    private void free() {
        try {
            removal.accept(this);
        } finally {
            done = true;
        }
    }

    /// When its lanes are closed: frees the rest. The NIC may send out of the device's memory, so that comes
    /// behind the lanes. The device copies into the window, so it closes before the window is freed.
    public void release() {
        try {
            closeDevice();
        } catch (final DeviceException e) {
            host.notices().accept(Failures.line(session.name(), e));
        } finally {
            CloseHelper.closeAll(session, bounceArena);
        }
    }

    private void closeDevice() {
        synchronized (deviceLock) {
            final DeviceSource made = source;
            source = null;
            CloseHelper.close(made);
        }
    }

    public SourceSession session() {
        return session;
    }
}
