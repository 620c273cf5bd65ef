package io.framecast.gpu.arrival;

import io.framecast.gpu.SharedWords;
import java.lang.foreign.MemorySegment;

/// One entry of the ring with its record, which the host writes and the device reads. Mutable, so that neither
/// allocates.
public final class ArrivalRecord {
    /// Position + 1; set by the ring.
    public int sequence;
    /// Set by the ring.
    public int slot;
    /// One of the kinds of [ArrivalLayout].
    public int kind;

    public int channel;
    public int source;
    public int tag;
    /// First byte as the device sees it; 0 for events.
    public long address;
    /// Of the frame, in bytes; 0 for events.
    public long length;
    /// Loss: the first one lost. Joined: the first one given.
    public long frameId;

    public long session;
    /// By the source's clock.
    public long timestampNs;
    /// Loss: frames lost.
    public long count;

    public int flags;
    /// Loss: ordinal of the LossReason. Over: ordinal of the Subscriber.State.
    public int reason;

    /// Makes an event of it, with nothing but its kind and channel.
    void event(final int eventKind, final int ofChannel) {
        kind = eventKind;
        channel = ofChannel;
        source = 0;
        tag = 0;
        address = 0;
        length = 0;
        frameId = 0;
        session = 0;
        timestampNs = 0;
        count = 0;
        flags = 0;
        reason = 0;
    }

    // Plain stores: the entry is published behind them.
    void write(final MemorySegment area, final long at) {
        SharedWords.LONG.set(area, at + ArrivalLayout.RECORD_ADDRESS, address);
        SharedWords.LONG.set(area, at + ArrivalLayout.RECORD_LENGTH, length);
        SharedWords.LONG.set(area, at + ArrivalLayout.RECORD_FRAME_ID, frameId);
        SharedWords.LONG.set(area, at + ArrivalLayout.RECORD_SESSION, session);
        SharedWords.LONG.set(area, at + ArrivalLayout.RECORD_TIMESTAMP, timestampNs);
        SharedWords.LONG.set(area, at + ArrivalLayout.RECORD_COUNT, count);
        SharedWords.INT.set(area, at + ArrivalLayout.RECORD_FLAGS, flags);
        SharedWords.INT.set(area, at + ArrivalLayout.RECORD_REASON, reason);
    }

    void read(final MemorySegment area, final long at) {
        address = (long) SharedWords.LONG.get(area, at + ArrivalLayout.RECORD_ADDRESS);
        length = (long) SharedWords.LONG.get(area, at + ArrivalLayout.RECORD_LENGTH);
        frameId = (long) SharedWords.LONG.get(area, at + ArrivalLayout.RECORD_FRAME_ID);
        session = (long) SharedWords.LONG.get(area, at + ArrivalLayout.RECORD_SESSION);
        timestampNs = (long) SharedWords.LONG.get(area, at + ArrivalLayout.RECORD_TIMESTAMP);
        count = (long) SharedWords.LONG.get(area, at + ArrivalLayout.RECORD_COUNT);
        flags = (int) SharedWords.INT.get(area, at + ArrivalLayout.RECORD_FLAGS);
        reason = (int) SharedWords.INT.get(area, at + ArrivalLayout.RECORD_REASON);
    }
}
