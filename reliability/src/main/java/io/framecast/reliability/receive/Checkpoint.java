package io.framecast.reliability.receive;

import io.framecast.reliability.window.StreamFormat;
import org.jspecify.annotations.Nullable;

/// The promises of a receiver to its source, and the state of its frames: enough for a successor in another process
/// to go on with the membership. The payload of the frame in progress is not part of it.
///
/// Plain values, reused by their writer.
public final class Checkpoint {
    /// The membership moves to the receiver that knows it.
    public long secret;
    /// First sequence of the frame that was not handed out yet.
    public long firstSequence;
    /// Its number.
    public long frameId;
    /// All sequences below are here; at most the end of that frame.
    public long acknowledged;
    /// The largest grant.
    public long granted;
    /// Whether the stream ended, and every frame was handed out.
    public boolean complete;
    /// Length of the frame in progress in bytes; 0 where nothing of it is known.
    public long frameBytes;
    /// Its flags and the length of its metadata, as in its headers.
    public int attributes;
    /// Its time at the source, in nanoseconds.
    public long timestampNs;
    /// Its metadata; null where there is none, or it has not come.
    public byte @Nullable [] metadata;

    /// Its format; null where it has none, or that is not known.
    public @Nullable StreamFormat format;

    /// Takes the values of another one.
    public void copy(final Checkpoint from) {
        secret = from.secret;
        firstSequence = from.firstSequence;
        frameId = from.frameId;
        acknowledged = from.acknowledged;
        granted = from.granted;
        complete = from.complete;
        frameBytes = from.frameBytes;
        attributes = from.attributes;
        timestampNs = from.timestampNs;
        metadata = from.metadata;
        format = from.format;
    }

    /// Whether some of the frame in progress is here.
    public boolean isWithinFrame() {
        return frameBytes > 0 && acknowledged > firstSequence;
    }

    /// The receiver had handed out more than it had promised: everything up to the frame that begins there.
    public void skipTo(final long sequence, final long nextFrameId) {
        if (sequence > firstSequence) {
            firstSequence = sequence;
            frameId = nextFrameId;
            frameBytes = 0;
            metadata = null;
            format = null;
            acknowledged = Math.max(sequence, acknowledged);
        }
    }
}
