package io.framecast.engine.publish;

import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.CounterBoard;
import io.framecast.engine.session.EpochClock;
import io.framecast.reliability.window.FrameWriter;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;

/// The way of a publisher's frames into the window, wherever they come from: refuses frames that have no place,
/// stamps and counts the others, and wakes the sender.
///
/// Used by the publisher's thread. Any thread reads the counts, and may find older values.
final class FrameIntake {
    private final FrameWriter writer;
    private final SourceStatus status;
    private final PublisherClosing closing;
    private final Wakeup sender;
    private final EpochClock clock = EpochClock.ofProcess();
    private final int windowSlots;
    private final int slotBytes;
    private final long frameMaxBytes;
    private long frames;
    private long bytes;
    private long backPressured;

    FrameIntake(final SourceParts parts, final PublisherClosing closing, final Wakeup sender) {
        this.closing = closing;
        this.sender = sender;
        writer = parts.writer();
        status = parts.status();
        windowSlots = parts.window().slots();
        slotBytes = parts.stream().slotBytes();
        frameMaxBytes = parts.stream().frameMaxBytes();
    }

    /// Adds its counters.
    void count(final CounterBoard counters) {
        counters.add(EngineCounter.FRAMES_PUBLISHED, () -> frames)
                .add(EngineCounter.BYTES_PUBLISHED, () -> bytes)
                .add(EngineCounter.PUBLISH_BACK_PRESSURED, () -> backPressured);
    }

    long frames() {
        return frames;
    }

    long bytes() {
        return bytes;
    }

    long backPressured() {
        return backPressured;
    }

    /// Any thread: whether no frame is taken any more.
    boolean isClosed() {
        return closing.isBegun() || status.failure() != null;
    }

    /// The answer to a call that failed because the node closed meanwhile, and freed window or device.
    ///
    /// @throws RuntimeException the cause, where the publisher is open
    long closedOr(final RuntimeException cause) {
        if (!closing.isBegun()) {
            throw cause;
        }
        return Publisher.CLOSED;
    }

    void checkLength(final long length) {
        if (length < 1 || length > frameMaxBytes) {
            throw new IllegalArgumentException("frame-max: expected a frame of 1 … " + frameMaxBytes + " bytes, got "
                    + length + "; set frame-max= in the channel");
        }
    }

    /// @param fix how to fix it
    void checkFits(final long length, final String fix) {
        if (!fits(length)) {
            throw new IllegalArgumentException("window: expected at least the frame's " + length + " bytes, holds "
                    + (long) (windowSlots - 1) * slotBytes + "; " + fix);
        }
    }

    long slots(final long length) {
        return StreamInfo.slots(length, slotBytes);
    }

    /// Whether a frame can lie in the window as a whole.
    boolean fits(final long length) {
        return slots(length) < windowSlots;
    }

    /// Slots that a frame needs before it begins. One that fits the window waits until it fits as a whole; a
    /// longer one is taken in parts.
    int slotsToBegin(final long length) {
        return (int) Math.min(slots(length), windowSlots - 1L);
    }

    /// The place of a claimed frame in the window's payload, or a refusal.
    long place(final long length) {
        final long refusal = refusal();
        if (refusal < 0) {
            return refusal;
        }
        final long place = writer.claim(length);
        return place == FrameWriter.NO_ROOM ? refuse() : place;
    }

    /// Whether a frame in slots of its own can begin: 0, or a refusal.
    long reserve(final long length) {
        final long refusal = refusal();
        if (refusal < 0) {
            return refusal;
        }
        return writer.reserve(slotsToBegin(length)) ? 0 : refuse();
    }

    private long refusal() {
        return isClosed() ? Publisher.CLOSED : status.readyMembers() == 0 ? Publisher.NOT_CONNECTED : 0;
    }

    /// Counts a frame, or the rest of one, that finds no room.
    long refuse() {
        backPressured++;
        return Publisher.BACK_PRESSURED;
    }

    /// Behind a [#reserve] of 0: begins a frame in slots of its own.
    ///
    /// @param moreFlags beside those of the options
    void begin(final long length, final FrameOptions options, final int moreFlags) {
        writer.begin(length, flags(options) | moreFlags, timestampNs(options), options.metadata());
    }

    /// Commits the frame that [#place] claimed.
    void commit(final FrameOptions options) {
        writer.commit(flags(options), timestampNs(options), options.metadata());
    }

    private static int flags(final FrameOptions options) {
        return options.keyframe() ? DataLayout.FLAG_KEYFRAME : 0;
    }

    private long timestampNs(final FrameOptions options) {
        return options.sourceTimestampNs() == FrameOptions.NOW ? clock.epochNs() : options.sourceTimestampNs();
    }

    /// A frame is committed as a whole: counts it, and wakes the sender where it has to do with it.
    ///
    /// @return bytes so far
    long finish(final long length) {
        frames++;
        bytes += length;
        if (status.isHeard()) {
            sender.wake();
        }
        return bytes;
    }

    /// A part of a frame is committed.
    void wakeSender() {
        sender.wake();
    }
}
