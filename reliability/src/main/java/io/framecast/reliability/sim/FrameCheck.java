package io.framecast.reliability.sim;

import io.framecast.reliability.GivenUp;
import io.framecast.reliability.LossReason;
import io.framecast.reliability.ReceivedFrame;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// What one member must be given: from its start on every frame, once, in order, whole, with the right bytes
/// at its final address for as long as it is held; or, where it is not waited for, told which it is not
/// given, and neither too early nor too late by the source's clock.
final class FrameCheck {
    private static final int UNSTARTED = -1;
    private static final long NS_PER_MS = 1_000_000;
    private static final long UNKNOWN = Long.MIN_VALUE;

    /// A frame in the user's hands.
    ///
    /// @param offsets where the payload of each of its datagrams lies, as told when it was delivered
    record Held(SimFrames.Frame truth, int[] offsets) {}

    private final SimWorld world;
    private final SimFrames frames;
    private final SimSession session;
    private final Delivery delivery;
    private final int address;
    private long expectedFrame = UNSTARTED;
    private long acknowledged;
    // How far the newest heartbeat's clock was behind when it was read, and when that was.
    private long clockLagNs = UNKNOWN;
    private long clockReadNs;
    private long newestClockNs = UNKNOWN;

    FrameCheck(final SimWorld world, final SimSession session, final Delivery delivery, final int address) {
        this.world = world;
        this.session = session;
        this.delivery = delivery;
        this.address = address;
        frames = session.frames();
    }

    /// The first frame this receiver must get, as the checker knows it.
    void start(final long firstFrame) {
        if (expectedFrame == UNSTARTED) {
            expectedFrame = firstFrame;
        }
    }

    boolean isStarted() {
        return expectedFrame != UNSTARTED;
    }

    /// It told the source that it has everything below.
    void onAcknowledged(final long sequence) {
        if (sequence < acknowledged) {
            violation("acknowledges " + sequence + " after " + acknowledged);
        }
        acknowledged = sequence;
    }

    /// It read the source's clock in a heartbeat.
    void onClock(final long clockNs) {
        if (clockNs <= newestClockNs) {
            return;
        }
        newestClockNs = clockNs;
        clockReadNs = world.events().nowNs();
        clockLagNs = session.calendarNs(clockReadNs) - clockNs;
        if (clockLagNs < 0) {
            violation("the source's clock is " + -clockLagNs + " ns ahead of itself");
        }
    }

    /// A frame is delivered.
    ///
    /// @return it, for [#check]; null when it is not the right one
    @Nullable
    Held onFrame(final ReceivedFrame frame, final SimPlacement placement, final long handle) {
        if (frame.frameId() != expectedFrame || !frames.contains(frame.frameId())) {
            violation("frame " + frame.frameId() + " delivered, expected " + expectedFrame);
            return null;
        }
        expectedFrame++;
        final long now = world.events().nowNs();
        world.journal().frame(now, address, frame.frameId());
        if (delivery.kind() == Delivery.Kind.RELIABLE) {
            world.journal().reliable(now);
        }
        world.tally().deliveredBytes += frame.bytes();
        final SimFrames.Frame truth = frames.get(frame.frameId());
        final byte[] metadata = frame.metadata();
        if (frame.bytes() != truth.bytes()
                || frame.firstSequence() != truth.firstSequence()
                || frame.flags() != truth.flags()
                || frame.timestampNs() != truth.timestampNs()
                || !Arrays.equals(metadata == null ? new byte[0] : metadata, truth.metadata())) {
            violation("frame " + frame.frameId() + " has other attributes than published");
            return null;
        }
        checkFresh(truth, now);
        final int slotBytes = world.options().stream().slotBytes();
        final int[] offsets = new int[(int) StreamInfo.slots(truth.bytes(), slotBytes)];
        for (int index = 0; index < offsets.length; index++) {
            offsets[index] = placement.offset(handle, truth.firstSequence(), index) + frame.slotOffset();
        }
        return new Held(truth, offsets);
    }

    /// A frame is delivered by number only.
    void onAgain(final long frameId) {
        if (frameId != expectedFrame) {
            violation("frame " + frameId + " delivered, expected " + expectedFrame);
        }
    }

    // What the receiver takes for the source's clock is behind by what the heartbeat was under way, and drifts.
    private void checkFresh(final SimFrames.Frame truth, final long now) {
        if (delivery.kind() == Delivery.Kind.DEADLINE && clockLagNs != UNKNOWN) {
            final long lateNs = session.calendarNs(now) - truth.timestampNs() - patienceNs();
            if (lateNs > clockLagNs + driftNs(now)) {
                violation("frame " + truth.id() + " delivered " + lateNs / 1000 + " us behind its deadline");
            }
        }
    }

    private long patienceNs() {
        return delivery.patienceMs() * NS_PER_MS;
    }

    private long driftNs(final long now) {
        return 1_000 + (now - clockReadNs) * 2 * SimClock.RATE_PPM_MAX / 1_000_000;
    }

    /// Compares every byte of a delivered frame at its place.
    void check(final Held held, final byte[] memory, final String when) {
        final SimFrames.Frame truth = held.truth;
        final int slotBytes = world.options().stream().slotBytes();
        long at = 0;
        for (final int offset : held.offsets) {
            final int bytes = (int) Math.min(slotBytes, truth.bytes() - at);
            final int wrong = frames.mismatch(truth.id(), at, memory, offset, bytes);
            if (wrong >= 0) {
                violation("frame " + truth.id() + " has a wrong byte at " + (at + wrong) + " when " + when);
                return;
            }
            at += bytes;
        }
    }

    /// Frames are given up.
    void onGivenUp(final GivenUp givenUp) {
        if (delivery.isWaitedFor()) {
            violation("gives up frame " + givenUp.firstFrameId() + " though it is waited for");
        }
        if (givenUp.firstFrameId() != expectedFrame || givenUp.frames() < 1) {
            violation("gives up " + givenUp.frames() + " frames from " + givenUp.firstFrameId() + ", expected "
                    + expectedFrame);
        }
        expectedFrame += world.options().plant() == Plant.FORGET_GIVEN_UP ? 0 : givenUp.frames();
        if (frames.firstSequence(expectedFrame) != givenUp.endSequence()) {
            violation("frame " + expectedFrame + " begins at " + frames.firstSequence(expectedFrame) + ", given up to "
                    + givenUp.endSequence());
        }
        world.tally().givenUp += givenUp.frames();
        world.journal().decide(world.events().nowNs(), address, givenUp.endSequence());
        if (givenUp.reason() == LossReason.EXPIRED) {
            checkExpired(givenUp);
        }
    }

    private void checkExpired(final GivenUp givenUp) {
        final long now = world.events().nowNs();
        final long last = givenUp.firstFrameId() + givenUp.frames() - 1;
        for (long id = givenUp.firstFrameId(); id <= last && frames.contains(id); id++) {
            // Frames that share a datagram share the first one's time.
            final long stampNs =
                    frames.get(frames.idFrom(frames.get(id).firstSequence())).timestampNs();
            final long leftNs = stampNs + patienceNs() - session.calendarNs(now);
            if (leftNs > driftNs(now)) {
                violation("gives frame " + id + " up " + leftNs / 1000 + " us before its deadline");
            }
        }
    }

    /// The session is over: all frames that it said it had must have been delivered.
    ///
    /// @param whole whether the source ended its stream, so that nothing may lack
    void conclude(final boolean whole) {
        if (whole && expectedFrame != frames.nextId()) {
            violation("ended at frame " + expectedFrame + " of " + frames.nextId());
        }
        if (isStarted() && frames.contains(expectedFrame) && frames.endSequence(expectedFrame) <= acknowledged) {
            violation("has frame " + expectedFrame + " and does not deliver it");
        }
    }

    private void violation(final String text) {
        world.violation("receiver " + address + ": " + text);
    }
}
