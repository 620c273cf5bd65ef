package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.api.DeviceSourceReport;
import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.session.CounterBoard;
import io.framecast.engine.session.EncryptionLimits;
import io.framecast.engine.session.Failures;
import io.framecast.engine.session.SessionHost;
import io.framecast.reliability.window.FrameWriter;
import io.framecast.reliability.wire.DataLayout;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A publisher's frames out of a device's memory. The device is opened at the first use.
///
/// Publisher's thread; the thread that closes the publisher closes the device, behind the lanes and before the window
/// is freed.
final class DeviceFrames implements AutoCloseable {
    private final Channel channel;
    private final SourceParts parts;
    private final SessionHost host;
    private final FrameIntake intake;
    private final PublisherClosing closing;
    private final Runnable abandon;
    private final FrameWriter writer;
    private final Object lock = new Object();
    private volatile @Nullable DeviceSource source;
    // Region of the frame that is being copied out of the device; null for none.
    private @Nullable DeviceRegion offered;
    // The device's window has room for more once the sequences below are free; -1 while no claim was refused.
    private long claimableBehind = -1;

    /// @param abandon closes the publisher without end of stream
    DeviceFrames(
            final Channel channel,
            final SourceParts parts,
            final SessionHost host,
            final FrameIntake intake,
            final PublisherClosing closing,
            final Runnable abandon) {
        this.channel = channel;
        this.parts = parts;
        this.host = host;
        this.intake = intake;
        this.closing = closing;
        this.abandon = abandon;
        writer = parts.writer();
    }

    /// Adds its counters.
    void count(final CounterBoard counters) {
        counters.add(EngineCounter.GATHERED_BYTES, () -> ofDevice(DeviceSource::gatheredBytes))
                .add(EngineCounter.LOADED_BYTES, () -> ofDevice(DeviceSource::loadedBytes))
                .add(EngineCounter.COPIED_OUT_BYTES, () -> ofDevice(DeviceSource::copiedBytes));
    }

    private long ofDevice(final ToLongFunction<DeviceSource> count) {
        final DeviceSource from = source;
        return from == null ? 0 : count.applyAsLong(from);
    }

    /// Whether a frame is being copied out.
    boolean isOffering() {
        return offered != null;
    }

    DeviceBackend device() {
        return source().device();
    }

    Optional<DeviceSourceReport> report() {
        return Optional.ofNullable(source).map(DeviceSource::report);
    }

    // One locked step checks for the close, opens the device and registers the window. A close in between would else
    // free the window, and no thread would close the device.
    private DeviceSource source() {
        final DeviceSource known = source;
        if (known != null) {
            return known;
        }
        synchronized (lock) {
            requireOpen();
            final DeviceSource made = open();
            source = made;
            // The closing thread waits for the lock, and then closes the device.
            requireOpen();
            return made;
        }
    }

    private void requireOpen() {
        if (closing.isBegun()) {
            throw new IllegalStateException("publisher: closed; make another");
        }
    }

    private DeviceSource open() {
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final DeviceBackend device =
                    opened.add(host.openDevice(channel.stream().device()));
            EncryptionLimits.requireHostFrames(channel, device);
            final DeviceSource made =
                    new DeviceSource(device, parts, channel.stream().placement(), host.notices());
            opened.keep();
            return made;
        }
    }

    /// Claims memory for a frame that fits the window; null without room, or once the publisher is closed.
    @Nullable
    DeviceRegion claim(final long length) {
        if (intake.isClosed()) {
            return null;
        }
        try {
            final DeviceSource from = source();
            final DeviceRegion claimed = from.claim(length).orElse(null);
            claimableBehind = claimed == null ? from.claimableBehind() : -1;
            return claimed;
        } catch (final IllegalStateException | DeviceException e) {
            intake.closedOr(e);
            return null;
        }
    }

    void abort(final DeviceRegion claim) {
        final DeviceSource from = source;
        if (from == null || !from.release(claim)) {
            throw new IllegalArgumentException(
                    "abort: expected an open claim of this publisher, got " + claim.bytes() + " bytes of other memory");
        }
    }

    /// Whether a frame in a part of this memory is not acknowledged.
    boolean isLent(final DeviceRegion region) {
        final DeviceSource from = source;
        return from != null && from.isSent(region);
    }

    /// Slots of the window that are free when the memory of a refused claim is.
    int slotsFreeOnceClaimable() {
        return claimableBehind < 0
                ? 0
                : (int) (parts.window().slots() - 1 - Math.max(0, parts.window().cursor() - claimableBehind));
    }

    /// There is room for the claim that was refused.
    void onRoom() {
        claimableBehind = -1;
    }

    /// Sends a frame from where it lies, or copies it into the window.
    ///
    /// @param lent whether its memory stays as it is until all subscribers have it
    /// @return bytes published so far, or a refusal
    long offer(final DeviceRegion frame, final DeviceEvent written, final FrameOptions options, final boolean lent) {
        final DeviceSource from;
        try {
            from = source();
        } catch (final IllegalStateException e) {
            return intake.closedOr(e);
        }
        final long length = frame.bytes();
        if (offered == null && writer.bundles(length) && options.metadata().length == 0) {
            return offerSmall(from, frame, written, options);
        }
        if (offered == null) {
            final long refusal = intake.reserve(length);
            if (refusal < 0) {
                return refusal;
            }
            try {
                final DeviceSource.Way way = intake.fits(length) ? from.way(frame, lent) : DeviceSource.Way.COPY;
                if (from.take(frame, written, intake.slots(length), way)) {
                    return commitWhole(from, frame, options, way);
                }
                intake.begin(length, options, 0);
                from.begin(written);
            } catch (final IllegalStateException | DeviceException e) {
                writer.abort();
                return intake.closedOr(e);
            }
        } else if (!offered.equals(frame)) {
            throw new IllegalStateException("offer: a frame of " + offered.bytes()
                    + " bytes is under way; offer the same memory again until it is taken");
        } else if (intake.isClosed()) {
            return Publisher.CLOSED;
        }
        offered = frame;
        return copyOut(from, frame, length);
    }

    // The CPU has read the frame, or the NIC will.
    private long commitWhole(
            final DeviceSource from, final DeviceRegion frame, final FrameOptions options, final DeviceSource.Way way) {
        final boolean gathered = way == DeviceSource.Way.GATHER;
        intake.begin(frame.bytes(), options, gathered ? DataLayout.FLAG_GATHERED : 0);
        if (!gathered) {
            from.release(frame);
        }
        writer.commitPart((int) intake.slots(frame.bytes()));
        return intake.finish(frame.bytes());
    }

    private long copyOut(final DeviceSource from, final DeviceRegion frame, final long length) {
        try {
            if (!from.run(frame, length, intake::wakeSender)) {
                return intake.refuse();
            }
        } catch (final DeviceException e) {
            offered = null;
            if (closing.isBegun()) {
                return Publisher.CLOSED;
            }
            if (from.hasCommitted()) {
                // Subscribers would wait for the rest of the frame for ever.
                parts.status().fail(Failures.line(parts.name(), e));
                abandon.run();
            } else {
                writer.abort();
            }
            throw e;
        } catch (final IllegalStateException e) {
            return intake.closedOr(e);
        }
        offered = null;
        from.release(frame);
        return intake.finish(length);
    }

    private long offerSmall(
            final DeviceSource from, final DeviceRegion frame, final DeviceEvent written, final FrameOptions options) {
        try {
            final long place = intake.place(frame.bytes());
            if (place < 0) {
                return place;
            }
            boolean whole = false;
            try {
                from.copySmall(frame, written, parts.memory().payload(), place);
                whole = true;
            } finally {
                if (!whole) {
                    writer.abort();
                }
            }
            intake.commit(options);
        } catch (final IllegalStateException | DeviceException e) {
            return intake.closedOr(e);
        }
        from.release(frame);
        return intake.finish(frame.bytes());
    }

    /// Closes the device, behind the lanes: the NIC may send out of its memory. The device copies into the
    /// window, which is freed later.
    @Override
    public void close() {
        synchronized (lock) {
            final DeviceSource made = source;
            source = null;
            CloseHelper.close(made);
        }
    }
}
