package io.framecast.reliability.group;

import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import org.jspecify.annotations.Nullable;

/// The state that a leader has left to a successor: the membership, and where the part of a frame lies that had
/// arrived. Its values are possible ones.
///
/// @param checkpoint at or behind the last published entry
/// @param offset in the leader's ring of the frame in progress
/// @param bytes of that frame, as far as it was acknowledged; the ring goes on at its start
/// @param waitedFor whether the source waits for the leader, as far as the source announced it
public record Promise(StreamInfo stream, Checkpoint checkpoint, long offset, long bytes, boolean waitedFor) {
    /// The policy that the source knows: that of the leader before.
    ///
    /// @param waitedFor whether the source waits for that leader
    /// @param own the successor's policy
    public static Delivery policy(final boolean waitedFor, final Delivery own) {
        if (waitedFor == own.isWaitedFor()) {
            return own;
        }
        return waitedFor ? Delivery.RELIABLE : Delivery.LATEST;
    }

    /// Null where the values make no sense.
    static @Nullable Promise of(
            final StreamInfo stream,
            final Checkpoint from,
            final long offset,
            final long ringBytes,
            final boolean waitedFor) {
        final long slots = from.acknowledged - from.firstSequence;
        final long bytes = slots * stream.slotBytes();
        final boolean sound = from.firstSequence >= 0
                && slots >= 0
                && bytes <= ringBytes
                && slots <= StreamInfo.slots(Math.max(0, from.frameBytes), stream.slotBytes())
                && from.frameBytes <= stream.frameMaxBytes()
                && offset >= 0
                && offset < ringBytes;
        return sound ? new Promise(stream, from, offset, bytes, waitedFor) : null;
    }
}
