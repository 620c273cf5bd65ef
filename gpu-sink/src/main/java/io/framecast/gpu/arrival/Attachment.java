package io.framecast.gpu.arrival;

import io.framecast.api.DeviceFrame;
import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.api.SourceEvent;
import io.framecast.api.SourceHandler;
import io.framecast.api.Subscriber;
import org.jspecify.annotations.Nullable;

/// One subscriber whose frames go to the ring, in order: the events of a poll, then the frame of the poll, when all
/// its bytes are in place. An incomplete frame holds back the frames behind it.
final class Attachment implements LossHandler, SourceHandler {
    // Before another subscriber's turn.
    private static final int ENTRIES_PER_TURN = 32;

    private final Subscriber subscriber;
    private final int channel;
    private final EventQueue events;
    private final SourceNumbers sources = new SourceNumbers();
    private @Nullable DeviceFrame pending;
    private boolean over;
    private long frames;
    private long eventCount;
    private long lostFrames;

    Attachment(final Subscriber subscriber, final int channel) {
        this.subscriber = subscriber;
        this.channel = channel;
        events = new EventQueue(channel);
        subscriber.onLoss(this);
        subscriber.onSource(this);
    }

    int channel() {
        return channel;
    }

    /// Whether the subscriber is over and the ring has the entry that says so.
    boolean isOver() {
        return over && events.isEmpty() && pending == null;
    }

    long frames() {
        return frames;
    }

    long events() {
        return eventCount;
    }

    long lostFrames() {
        return lostFrames;
    }

    long merged() {
        return events.merged();
    }

    /// Writes entries while the ring has room.
    ///
    /// @param held by slot: gets the frames, until the device returns them
    /// @return entries written
    int work(final ArrivalRing ring, final ArrivalRecord record, final @Nullable DeviceFrame[] held) {
        int count = 0;
        while (count < ENTRIES_PER_TURN && ring.room() > 0) {
            if (!events.isEmpty()) {
                final ArrivalRecord event = events.take();
                number(event);
                ring.offer(event);
                eventCount++;
            } else if (pending != null) {
                if (!pending.ready().isComplete()) {
                    break;
                }
                describe(pending, record);
                held[ring.nextSlot()] = pending;
                pending = null;
                ring.offer(record);
                frames++;
            } else {
                if (!poll()) {
                    break;
                }
                continue;
            }
            count++;
        }
        return count;
    }

    // Whether there is something to write now.
    private boolean poll() {
        if (over) {
            return false;
        }
        // Before the poll: a frame that comes between is found by the next.
        final Subscriber.State state = subscriber.state();
        pending = subscriber.poll();
        if (pending != null || !events.isEmpty()) {
            return true;
        }
        over = switch (state) {
            case JOINING, READY -> false;
            case END_OF_STREAM, SOURCE_LOST, FAILED, CLOSED -> true;
        };
        if (over) {
            events.over(state.ordinal());
        }
        return over;
    }

    private void describe(final DeviceFrame frame, final ArrivalRecord record) {
        record.kind = ArrivalLayout.KIND_FRAME;
        record.channel = channel;
        record.session = frame.session();
        record.source = sources.of(record.session);
        record.tag = frame.tag();
        record.address = frame.region().address();
        record.length = frame.length();
        record.frameId = frame.frameId();
        record.timestampNs = frame.sourceTimestampNs();
        record.count = 0;
        record.flags = frame.keyframe() ? ArrivalLayout.FLAG_KEYFRAME : 0;
        record.reason = 0;
    }

    private void number(final ArrivalRecord record) {
        if (record.kind != ArrivalLayout.KIND_OVER) {
            record.source = sources.of(record.session);
        }
        // A lost source may come back: it keeps its number until another source needs it.
        if (record.kind == ArrivalLayout.KIND_ENDED || record.kind == ArrivalLayout.KIND_LOST) {
            sources.retire(record.session);
        }
    }

    /// Gives back the frame that was polled and not written.
    void close() {
        final DeviceFrame frame = pending;
        pending = null;
        over = true;
        if (frame != null) {
            frame.close();
        }
    }

    @Override
    public void onLoss(final long firstFrameId, final long count, final LossReason reason) {
        onLoss(0, firstFrameId, count, reason);
    }

    @Override
    public void onLoss(final long session, final long firstFrameId, final long count, final LossReason reason) {
        lostFrames += count;
        events.loss(session, firstFrameId, count, reason.ordinal());
    }

    @Override
    public void onSource(final SourceEvent event) {
        final int kind = switch (event.kind()) {
            case JOINED, REJOINED -> ArrivalLayout.KIND_JOINED;
            case ENDED -> ArrivalLayout.KIND_ENDED;
            case LOST -> ArrivalLayout.KIND_LOST;
        };
        events.source(kind, event.session(), event.firstFrameId());
    }
}
