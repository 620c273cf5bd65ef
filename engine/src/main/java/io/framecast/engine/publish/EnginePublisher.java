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
import io.framecast.engine.session.Failures;
import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.UseGuard;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.wire.Counts;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A publisher: the producer's side of a send window. The publisher writes or copies frames into window slots and
/// commits them; the sender's thread sends them from there. Frames come out of host memory by [HostFrames], out
/// of a device's memory by [DeviceFrames], one at a time.
public final class EnginePublisher implements Publisher, FrameClaim.Owner {
    private static final String UNDER_WAY = "a frame is under way: commit or abort the claim, or finish the offer";

    private final Channel channel;
    private final SourceSession session;
    private final SourceParts parts;
    private final SourceStatus status;
    private final SessionHost host;
    private final Consumer<EnginePublisher> removal;
    private final UseGuard guard;
    private final PublisherClosing closing = new PublisherClosing();
    private final FrameIntake intake;
    private final HostFrames fromHost;
    private final DeviceFrames fromDevice;
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
        parts = session.parts();
        status = parts.status();
        intake = new FrameIntake(parts, closing, host.senderWakeup());
        fromHost = new HostFrames(parts, intake);
        fromDevice = new DeviceFrames(channel, parts, host, intake, closing, this::abandon);
        intake.count(parts.counters());
        fromDevice.count(parts.counters());
    }

    @Override
    public Channel channel() {
        return channel;
    }

    public SourceSession session() {
        return session;
    }

    @Override
    public long tryClaim(final long length, final FrameClaim claim) {
        try (UseGuard _ = guard.enter()) {
            intake.checkLength(length);
            intake.checkFits(length, "enlarge window= or use offer");
            requireIdle(UNDER_WAY);
            return fromHost.claim(length, claim, this);
        }
    }

    private void requireIdle(final String otherwise) {
        if (fromHost.isClaimed() || fromHost.isOffering() || fromDevice.isOffering()) {
            throw new IllegalStateException(otherwise);
        }
    }

    @Override
    public void format(final FrameFormat format) {
        final byte[] encoded = format.equals(FrameFormat.EMPTY) ? null : FormatCodec.encode(format);
        try (UseGuard _ = guard.enter()) {
            requireIdle(UNDER_WAY + ", before another format");
            if (!isClosed()) {
                parts.writer().format(encoded);
            }
        }
    }

    @Override
    public void commit(final FrameOptions options) {
        try (UseGuard _ = guard.enter()) {
            fromHost.commit(options);
        }
    }

    @Override
    public boolean isClosed() {
        return intake.isClosed();
    }

    @Override
    public void abort() {
        try (UseGuard _ = guard.enter()) {
            fromHost.abort();
        }
    }

    @Override
    public long offer(final MemorySegment frame, final FrameOptions options) {
        try (UseGuard _ = guard.enter()) {
            intake.checkLength(frame.byteSize());
            if (fromHost.isClaimed() || fromDevice.isOffering()) {
                throw new IllegalStateException("a claim is open: commit or abort it first");
            }
            return fromHost.offer(frame, options);
        }
    }

    @Override
    public DeviceBackend device() {
        return fromDevice.device();
    }

    @Override
    public @Nullable DeviceRegion tryClaimDevice(final long length) {
        try (UseGuard _ = guard.enter()) {
            intake.checkLength(length);
            intake.checkFits(length, "enlarge window=");
            return fromDevice.claim(length);
        }
    }

    @Override
    public void abortDevice(final DeviceRegion claim) {
        try (UseGuard _ = guard.enter()) {
            fromDevice.abort(claim);
        }
    }

    @Override
    public boolean isLent(final DeviceRegion region) {
        try (UseGuard _ = guard.enter()) {
            return fromDevice.isLent(region);
        } catch (final IllegalStateException e) {
            // The lanes are closed, so nothing is sent from anywhere.
            intake.closedOr(e);
            return false;
        }
    }

    @Override
    public Optional<DeviceSourceReport> deviceReport() {
        return fromDevice.report();
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
            intake.checkLength(frame.bytes());
            if (fromHost.isClaimed() || fromHost.isOffering()) {
                throw new IllegalStateException(UNDER_WAY);
            }
            return fromDevice.offer(frame, written, options, lent);
        }
    }

    @Override
    public boolean awaitRoom(final long length, final Duration longest) {
        try (UseGuard _ = guard.enter()) {
            intake.checkLength(length);
            // A frame in progress continues with a part of any length.
            final int needed = fromHost.isOffering() || fromDevice.isOffering() ? 1 : intake.slotsToBegin(length);
            final int slots = Math.max(parts.writer().awaitedSlots(needed), fromDevice.slotsFreeOnceClaimable());
            status.awaitRoom(host, slots, this::isClosed, longest);
            if (status.hasRoom(slots)) {
                fromDevice.onRoom();
            }
            return isClosed() || status.hasRoom(slots);
        }
    }

    @Override
    public int readySubscribers() {
        return status.readySubscribers();
    }

    @Override
    public List<String> unreadySubscribers() {
        return parts.notices().unready().lines();
    }

    @Override
    public PublisherStats stats() {
        final Counts<SenderCount> counts = parts.machine().counts();
        return new PublisherStats(
                intake.frames(),
                intake.bytes(),
                intake.backPressured(),
                counts.get(SenderCount.SENT_DATAGRAMS),
                counts.get(SenderCount.REPAIRED_DATAGRAMS),
                counts.get(SenderCount.EVICTIONS),
                parts.memberStats(),
                parts.members().evictions());
    }

    @Override
    public Optional<String> failure() {
        return Optional.ofNullable(status.failure());
    }

    @Override
    public boolean close(final Duration linger) {
        if (!beginClose(linger)) {
            return all;
        }
        final Counts<SenderCount> counts = parts.machine().counts();
        final long evictionsBefore = counts.get(SenderCount.EVICTIONS);
        status.end();
        host.senderWakeup().wake();
        final boolean settled =
                host.await(() -> status.isSettled() || status.failure() != null, linger) && status.failure() == null;
        // A member that was evicted during the linger did not acknowledge everything.
        all = settled && status.isDrained() && counts.get(SenderCount.EVICTIONS) == evictionsBefore;
        free();
        return all;
    }

    private boolean beginClose(final Duration linger) {
        final boolean begun = closing.begin(linger);
        if (begun) {
            status.wake();
        }
        return begun;
    }

    @Override
    public void close() {
        close(Duration.ZERO);
    }

    @Override
    public void abandon() {
        if (beginClose(Duration.ZERO)) {
            // Without end(), the session's last message is that the publisher closed, not end of stream.
            free();
        }
    }

    private void free() {
        try {
            removal.accept(this);
        } finally {
            closing.onDone();
        }
    }

    /// When its lanes are closed: closes the device, then frees the rest.
    public void release() {
        try {
            fromDevice.close();
        } catch (final DeviceException e) {
            host.notices().accept(Failures.line(session.name(), e));
        } finally {
            CloseHelper.closeAll(session, fromHost);
        }
    }
}
