package io.framecast.reliability.receive;

import io.framecast.reliability.window.FrameTable;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Chooses the frames that a receiver drops where the source does not wait for it: frames that cannot become whole
/// any more, frames older than the deadline, and superseded frames. The policy drops whole frames, in order, and
/// never a frame that was taken.
///
/// A frame is *lost* when something of it is missing below the trailing edge, where the source's held datagrams
/// begin (PGM's trailing window edge, RFC 3208 §3). Any datagram of the next frame gives its beginning. Otherwise
/// the newest known boundary does: behind a datagram that found no room, or in a heartbeat.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
final class DropPolicy {
    private static final long NONE = -1;
    private static final long NS_PER_MS = 1_000_000;

    private final StreamInfo stream;
    private final FrameTable frames;
    private final ReceiveWindow window;
    private final FrameQueue queue;
    private final DroppedFrames dropped = new DroppedFrames();

    private Delivery.Kind kind;
    private long patienceNs;
    // The subscribers that read a whole frame decide about it.
    private boolean shared;
    private long trail;
    private long boundary = NONE;
    private long boundaryFrameId;
    // The offset from this engine's time to the clock that stamps frames.
    private long clockOffsetNs = Long.MAX_VALUE;
    private long newestClockNs = Long.MIN_VALUE;
    private boolean keyed;
    private boolean awaitsKeyframe;
    private boolean due;

    /// Null for a receiver that its source waits for.
    static @Nullable DropPolicy of(final Delivery delivery, final StreamInfo stream, final FrameQueue queue) {
        return delivery.isWaitedFor() ? null : new DropPolicy(delivery, stream, queue);
    }

    private DropPolicy(final Delivery delivery, final StreamInfo stream, final FrameQueue queue) {
        judgeBy(delivery);
        this.stream = stream;
        this.queue = queue;
        frames = queue.frames();
        window = queue.window();
    }

    private void judgeBy(final Delivery delivery) {
        kind = delivery.kind();
        patienceNs = kind == Delivery.Kind.DEADLINE ? delivery.patienceMs() * NS_PER_MS : Long.MAX_VALUE;
    }

    /// From now on several subscribers read the received frames.
    ///
    /// @param strongest of their policies; where the source waits, nothing expires
    void shareWith(final Delivery strongest) {
        judgeBy(strongest);
        shared = true;
    }

    /// Takes the trailing edge, the newest boundary and the source's clock from a heartbeat.
    void onHeartbeat(final MemorySegment datagram, final long offset, final long nowNs) {
        final long next = HeartbeatLayout.NEXT_SEQUENCE.get(datagram, offset);
        final long held = HeartbeatLayout.REPAIRABLE.unsigned(datagram, offset);
        if (next - held > trail) {
            trail = next - held;
            due = true;
        }
        if ((ControlLayout.FLAGS.get(datagram, offset) & HeartbeatLayout.FLAG_BOUNDARY) != 0) {
            onBoundary(next, HeartbeatLayout.NEXT_FRAME_ID.get(datagram, offset));
        }
        final long clockNs = HeartbeatLayout.CLOCK.get(datagram, offset);
        // A heartbeat that was overtaken on its way would set the clock back.
        if (clockNs > newestClockNs) {
            newestClockNs = clockNs;
            clockOffsetNs = clockNs - nowNs;
        }
    }

    private void onBoundary(final long sequence, final long frameId) {
        if (sequence > boundary) {
            boundary = sequence;
            boundaryFrameId = frameId;
            due = true;
        }
    }

    /// There is more room, or the next frame changed, or more of it is known.
    void onChange() {
        due |= queue.first() < trail;
    }

    /// A datagram found no room. The next frame may find room.
    Verdict onOverrun(final MemorySegment header, final long offset, final long frameEnd) {
        final int count = DataLayout.isBundle(header, offset) ? DataLayout.bundleFrames(header, offset) : 1;
        final int next = DataLayout.FRAME_ID.get(header, offset) + count;
        final long base = queue.nextFrameId();
        onBoundary(frameEnd, base + Integer.toUnsignedLong(next - (int) base));
        return Verdict.OVERRUN;
    }

    /// Drops the next frames that cannot become whole any more, or expired earlier. The memory must follow before
    /// the next call.
    ///
    /// @param room slots that are free from the next frame on
    /// @return null when there are none
    @Nullable
    DroppedFrames nextUnfinished(final long room, final long rttNs, final long nowNs) {
        if (nextDeadlineNs() > nowNs) {
            return null;
        }
        if (step(room, nowNs) == 0) {
            due = false;
            return null;
        }
        queue.advance(nowNs, rttNs);
        return dropped;
    }

    private long step(final long room, final long nowNs) {
        final long first = queue.first();
        if (queue.nextBytes() > 0) {
            return 0;
        }
        if (first < window.end() && frames.contains(first)) {
            return stepKnown(first, nowNs);
        }
        final long known = nextKnown(first);
        if (known != NONE) {
            final boolean expired = isExpired(known, nowNs);
            return first < trail || expired
                    ? skip(known, queue.frameId(known), expired ? LossReason.EXPIRED : LossReason.UNREPAIRABLE)
                    : 0;
        }
        return first < trail && boundary > first && room >= stream.frameMaxSlots()
                ? skip(boundary, boundaryFrameId, LossReason.UNREPAIRABLE)
                : 0;
    }

    // Only a part of the next frame is here.
    private long stepKnown(final long first, final long nowNs) {
        final boolean lost = queue.acknowledgeable() < trail;
        if (!lost && !isExpired(first, nowNs)) {
            return 0;
        }
        return skip(end(first), idBehind(first), lost ? LossReason.UNREPAIRABLE : LossReason.EXPIRED);
    }

    // The first frame behind `first` of which a datagram is here.
    private long nextKnown(final long first) {
        for (long sequence = first + 1; sequence < window.end(); sequence++) {
            if (frames.contains(sequence)) {
                return sequence;
            }
        }
        return NONE;
    }

    private boolean isExpired(final long first, final long nowNs) {
        return expiryNs(first) <= nowNs;
    }

    /// Whether a frame of that timestamp is older than the deadline.
    boolean isTooOld(final long timestampNs, final long nowNs) {
        return !shared && expiryOf(timestampNs) <= nowNs;
    }

    private long expiryNs(final long first) {
        return expiryOf(frames.timestampNs(first));
    }

    private long expiryOf(final long timestampNs) {
        return kind != Delivery.Kind.DEADLINE || clockOffsetNs == Long.MAX_VALUE
                ? Long.MAX_VALUE
                : timestampNs - clockOffsetNs + patienceNs;
    }

    /// Drops the next frames that are whole but must not be taken. The memory must follow before the next call.
    ///
    /// @return null when the next frame may be taken, or none is whole
    @Nullable
    DroppedFrames nextOutdated(final long nowNs) {
        if (shared || queue.nextBytes() == 0) {
            return null;
        }
        final long first = queue.first();
        keyed |= isKeyframe(first);
        if (kind == Delivery.Kind.DEADLINE && isExpired(first, nowNs)) {
            skip(end(first), idBehind(first), LossReason.EXPIRED);
            return dropped;
        }
        if (kind == Delivery.Kind.LATEST && awaitsKeyframe && keyed && !isKeyframe(first)) {
            skip(end(first), idBehind(first), LossReason.AWAITS_KEYFRAME);
            return dropped;
        }
        final long newest = kind == Delivery.Kind.LATEST ? newest(first) : first;
        if (newest != first) {
            skip(newest, queue.frameId(newest), LossReason.SUPERSEDED);
            return dropped;
        }
        awaitsKeyframe = false;
        return null;
    }

    // The newest whole frame at which a subscriber may begin, or the one given.
    private long newest(final long first) {
        long newest = first;
        for (long s = end(first); s < window.next() && frames.contains(s) && isWhole(s); s = end(s)) {
            keyed |= isKeyframe(s);
            newest = !keyed || isKeyframe(s) ? s : newest;
        }
        return newest;
    }

    private boolean isWhole(final long first) {
        return window.next() >= end(first) && queue.described() >= end(first);
    }

    private boolean isKeyframe(final long first) {
        return (frames.flags(first) & DataLayout.FLAG_KEYFRAME) != 0;
    }

    private long end(final long first) {
        return first + StreamInfo.slots(frames.frameBytes(first), stream.slotBytes());
    }

    private long idBehind(final long first) {
        return queue.frameId(first) + Math.max(1, frames.bundleFrames(first));
    }

    private long skip(final long to, final long frameId, final LossReason reason) {
        final long count = frameId - queue.nextFrameId();
        dropped.frames(queue.nextFrameId(), count, reason).sequences(queue.first(), to);
        queue.skipTo(to, frameId);
        awaitsKeyframe |= reason != LossReason.SUPERSEDED;
        onChange();
        return Math.max(1, count);
    }

    /// The time at which [#nextUnfinished] may have something to drop.
    long nextDeadlineNs() {
        if (due) {
            return Long.MIN_VALUE;
        }
        if (kind != Delivery.Kind.DEADLINE || queue.nextBytes() > 0) {
            return Long.MAX_VALUE;
        }
        final long first = queue.first();
        return first < window.end() && frames.contains(first) ? expiryNs(first) : Long.MAX_VALUE;
    }
}
