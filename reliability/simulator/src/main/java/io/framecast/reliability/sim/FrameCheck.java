package io.framecast.reliability.sim;

import io.framecast.reliability.group.FollowerTable;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.sim.net.SimClock;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimFrames;
import io.framecast.reliability.window.StreamFormat;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Checks a member's frames: from its start on every frame, once, in order, whole, with the right bytes at its
/// final address for as long as it is held. A member that is not waited for must get a report of each frame that
/// it is not given, neither too early nor too late by the source's clock.
final class FrameCheck {
    private static final int UNSTARTED = -1;
    private static final long NS_PER_MS = 1_000_000;
    private static final long UNKNOWN = Long.MIN_VALUE;
    // Clocks drift apart until a leader shares the source's clock again.
    private static final long SHARED_NS = 1_000 + 1_000_000_000L * 2 * SimClock.RATE_PPM_MAX / 1_000_000;

    /// A frame on its way to the user, or held by the user.
    ///
    /// @param memory its memory
    /// @param offset its offset there
    /// @param wraps whether it goes on at the memory's start when it passes its end
    record Held(SimFrames.Frame truth, byte[] memory, int offset, boolean wraps) {
        /// The same frame in a copy of its own.
        Held at(final byte[] copy) {
            return new Held(truth, copy, 0, false);
        }
    }

    private final SimWorld world;
    private final SimFrames frames;
    private final SimSession session;
    private final Delivery delivery;
    private final int address;
    private long expectedFrame = UNSTARTED;
    private long first;
    // Of an earlier membership in this session; MAX_VALUE where there was none.
    private long resumeFrom = Long.MAX_VALUE;
    private long acknowledged;
    // The lag of the newest heartbeat's clock when it was read, and the time of that reading.
    private long clockLagNs = UNKNOWN;
    private long clockReadNs;
    private long newestClockNs = UNKNOWN;
    private boolean lossIsAllowed;

    FrameCheck(final SimWorld world, final SimSession session, final Delivery delivery, final int address) {
        this.world = world;
        this.session = session;
        this.delivery = delivery;
        this.address = address;
        frames = session.frames();
    }

    SimSession session() {
        return session;
    }

    /// The first frame this receiver must get, as the checker knows it.
    void start(final long firstFrame) {
        if (expectedFrame == UNSTARTED) {
            expectedFrame = Math.min(resumeFrom, firstFrame);
            first = firstFrame;
        }
    }

    /// Before the start: frames from this one on must be reported lost, up to the first.
    void resumeFrom(final long frameId) {
        resumeFrom = frameId;
    }

    boolean isStarted() {
        return expectedFrame != UNSTARTED;
    }

    /// The first frame that it must get, once it is started.
    long firstFrame() {
        return first;
    }

    /// The receiver acknowledged all sequences below.
    void onAcknowledged(final long sequence) {
        if (sequence < acknowledged) {
            violation("acknowledges " + sequence + " after " + acknowledged);
        }
        acknowledged = sequence;
    }

    /// The receiver read the source's clock in a heartbeat.
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

    /// The number of the next frame that the user must get, or get reported lost.
    long expectedFrame() {
        return expectedFrame;
    }

    /// A frame was put where the user will find it.
    ///
    /// @return the frame, for [#onTaken]; null when there is no such frame
    @Nullable
    Held onFrame(final ReceivedFrame frame, final byte[] memory, final long offset, final boolean wraps) {
        if (!isStarted() || frame.frameId() < expectedFrame || !frames.contains(frame.frameId())) {
            violation("frame " + frame.frameId() + " delivered, expected " + expectedFrame);
            return null;
        }
        final SimFrames.Frame truth = frames.get(frame.frameId());
        final byte[] metadata = frame.metadata();
        final StreamFormat format = frame.format();
        if (frame.bytes() != truth.bytes()
                || frame.firstSequence() != truth.firstSequence()
                || frame.flags() != truth.flags()
                || frame.timestampNs() != truth.timestampNs()
                || !Arrays.equals(metadata == null ? new byte[0] : metadata, truth.metadata())) {
            violation("frame " + frame.frameId() + " has other attributes than published");
            return null;
        }
        if (!Arrays.equals(format == null ? new byte[0] : format.bytes(), truth.format())) {
            violation("frame " + frame.frameId() + " has another format than published");
            return null;
        }
        checkFresh(truth, world.events().nowNs());
        return new Held(truth, memory, (int) offset, wraps);
    }

    /// A member of a host group reads an entry of the frame table.
    ///
    /// @return the frame, for [#onTaken]; null when there is no such frame
    @Nullable
    Held onEntry(final FollowerTable table, final long number, final byte[] ring) {
        final long id = table.frameId(number);
        if (!isStarted() || !frames.contains(id)) {
            violation("frame " + id + " read, expected " + expectedFrame);
            return null;
        }
        final SimFrames.Frame truth = frames.get(id);
        final byte[] format = table.format(number);
        if (table.length(number) != truth.bytes()
                || table.isKeyframe(number) != ((truth.flags() & DataLayout.FLAG_KEYFRAME) != 0)
                || table.timestampNs(number) != truth.timestampNs()
                || !Arrays.equals(table.metadata(number), truth.metadata())
                || !Arrays.equals(format == null ? new byte[0] : format, truth.format())) {
            violation("frame " + id + " has other attributes than published");
            return null;
        }
        return new Held(truth, ring, (int) table.offset(number, truth.bytes()), true);
    }

    /// A leader puts a frame where its host's processes find it.
    ///
    /// @return whether it is the right one
    boolean onShared(final Held held) {
        if (held.truth.id() != expectedFrame) {
            violation("frame " + held.truth.id() + " shared, expected " + expectedFrame);
            return false;
        }
        expectedFrame++;
        return true;
    }

    /// The user takes a frame.
    ///
    /// @return whether it is the right one
    boolean onTaken(final Held held) {
        final long id = held.truth.id();
        if (id != expectedFrame) {
            violation("frame " + id + " given, expected " + expectedFrame);
            return false;
        }
        expectedFrame++;
        final long now = world.events().nowNs();
        world.count(SimCount.FRAMES);
        world.journal().decide(now, address, id);
        if (delivery.kind() == Delivery.Kind.RELIABLE) {
            world.journal().reliable(now);
        }
        world.journal().count(SimCount.DELIVERED_BYTES, held.truth.bytes());
        return true;
    }

    /// The next frames are reported lost to the user.
    void onLost(final long count, final LossReason reason) {
        final boolean wasMissed = reason == LossReason.NOT_A_MEMBER && expectedFrame + count <= first;
        final boolean isAllowed = wasMissed || lossIsAllowed || !delivery.isWaitedFor();
        if (reason == LossReason.DAMAGED || !isAllowed) {
            violation("loses frame " + expectedFrame + ": " + reason);
        }
        expectedFrame += count;
        world.journal().count(SimCount.GIVEN_UP, count);
    }

    /// The source is lost, and with it frames that had begun to arrive; or its host went on without this member.
    void allowLoss() {
        lossIsAllowed = true;
    }

    /// A frame is delivered by number only.
    void onAgain(final long frameId) {
        if (frameId != expectedFrame) {
            violation("frame " + frameId + " delivered, expected " + expectedFrame);
        }
    }

    // The receiver's estimate of the source's clock is behind by the heartbeat's time under way, and drifts.
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

    /// Compares every byte of a frame at its place.
    void check(final Held held, final String when) {
        final SimFrames.Frame truth = held.truth;
        // 8 bytes at a time: the memory's length and the offset are multiples of that.
        final long room = held.wraps ? held.memory.length - held.offset : truth.bytes();
        final int head = (int) Math.min(truth.bytes(), room);
        int wrong = frames.mismatch(truth.id(), 0, held.memory, held.offset, head);
        if (wrong < 0 && head < truth.bytes()) {
            wrong = frames.mismatch(truth.id(), head, held.memory, 0, (int) (truth.bytes() - head));
            wrong = wrong < 0 ? wrong : wrong + head;
        }
        if (wrong >= 0) {
            violation("frame " + truth.id() + " has a wrong byte at " + wrong + " when " + when);
        }
    }

    /// The receiver reports frames lost; the user has not polled that yet.
    void onDropped(final long firstId, final long count, final LossReason reason) {
        world.journal().decide(world.events().nowNs(), address, firstId + count);
        if (reason == LossReason.EXPIRED) {
            checkLeft(firstId, count, driftNs(world.events().nowNs()));
        }
    }

    /// A member of a host group takes a frame to be read: its deadline has not passed.
    ///
    /// @param errorNs of the clock that its leader shares; MAX_VALUE where it is not known
    void checkFresh(final Held held, final long errorNs) {
        final long lateNs = session.calendarNs(world.events().nowNs()) - held.truth.timestampNs() - patienceNs();
        if (delivery.kind() == Delivery.Kind.DEADLINE && errorNs != Long.MAX_VALUE && lateNs > errorNs + SHARED_NS) {
            violation("frame " + held.truth.id() + " read " + lateNs / 1000 + " us behind its deadline");
        }
    }

    /// A member of a host group reports frames as too old: their deadline has passed.
    ///
    /// @param errorNs of the clock that its leader shares; MAX_VALUE where it is not known
    void checkExpired(final long firstId, final long count, final long errorNs) {
        if (delivery.kind() == Delivery.Kind.DEADLINE && errorNs != Long.MAX_VALUE) {
            checkLeft(firstId, count, errorNs + SHARED_NS);
        }
    }

    private void checkLeft(final long firstId, final long count, final long slackNs) {
        final long now = world.events().nowNs();
        for (long id = firstId; id < firstId + count && frames.contains(id); id++) {
            // Frames that share a datagram share the first one's time.
            final long stampNs =
                    frames.get(frames.idFrom(frames.get(id).firstSequence())).timestampNs();
            final long leftNs = stampNs + patienceNs() - session.calendarNs(now);
            if (leftNs > slackNs) {
                violation("gives frame " + id + " up " + leftNs / 1000 + " us before its deadline");
            }
        }
    }

    /// The session is over: all frames that the receiver acknowledged must have been delivered.
    ///
    /// @param whole whether the source ended its stream, so that no frame may be missing
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

    /// A frame that a member under `latest` or `deadline=…` copies out of its leader's ring. The leader may write there
    /// meanwhile: half of the bytes are of the copy's beginning, the others of its end.
    static final class Copy {
        private final SimSharing.View from;
        private final long number;
        private final FrameCheck.Held frame;
        private final byte[] head;

        Copy(final SimSharing.View from, final long number, final FrameCheck.Held frame) {
            this.from = from;
            this.number = number;
            this.frame = frame;
            head = read();
        }

        private byte[] read() {
            return from.segment().read(frame.offset(), (int) frame.truth().bytes());
        }

        long session() {
            return from.table().session();
        }

        /// The frame in memory of its own.
        FrameCheck.Held end() {
            final byte[] bytes = read();
            System.arraycopy(head, 0, bytes, 0, bytes.length / 2);
            return frame.at(bytes);
        }

        /// Behind its end: whether the leader had not begun to write there again.
        boolean isWhole() {
            final FollowerTable table = from.table();
            return table.isIntact(number);
        }
    }
}
