package io.framecast.reliability.receive;

import io.framecast.reliability.window.FrameTable;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.wire.StreamInfo;

/// Hands out whole frames in order: those whose datagrams and metadata are all here. Pure state; one thread.
final class FrameQueue {
    private final FrameTable frames;
    private final ReceiveWindow window;
    private final MetadataTracker metadata;
    private final int slotBytes;
    private final ReceivedFrame frame = new ReceivedFrame();
    private long first;
    private long nextFrameId;

    FrameQueue(
            final FrameTable frames, final ReceiveWindow window, final MetadataTracker metadata, final int slotBytes) {
        this.frames = frames;
        this.window = window;
        this.metadata = metadata;
        this.slotBytes = slotBytes;
    }

    void start(final long firstSequence, final long firstFrameId) {
        first = firstSequence;
        nextFrameId = firstFrameId;
    }

    /// First sequence of the next frame.
    long first() {
        return first;
    }

    /// Length of the next frame in bytes; 0 when it is not whole yet.
    long nextBytes() {
        if (first >= window.next() || !frames.contains(first)) {
            return 0;
        }
        final long bytes = frames.frameBytes(first);
        final long end = first + StreamInfo.slots(bytes, slotBytes);
        return window.next() < end || metadata.first() < end ? 0 : bytes;
    }

    /// The number of the next frame, unless frames are dropped before it.
    long nextFrameId() {
        return nextFrameId;
    }

    /// The whole number of a known frame, from the part that the wire carries; frames in the window are never
    /// further apart than that part can express.
    long frameId(final long firstSequence) {
        return nextFrameId + Integer.toUnsignedLong(frames.frameId(firstSequence) - (int) nextFrameId);
    }

    /// Behind the newest frame of which a datagram is here; [#nextFrameId] where there is none.
    long endOfKnown() {
        for (long sequence = window.end() - 1; sequence >= first; sequence--) {
            if (frames.contains(sequence)) {
                return frameId(sequence) + Math.max(1, frames.bundleFrames(sequence));
            }
        }
        return nextFrameId;
    }

    /// Drops the frames before the one that begins at `sequence`.
    void skipTo(final long sequence, final long frameId) {
        for (long s = first; s < Math.min(sequence, window.end()); s++) {
            if (frames.contains(s)) {
                frames.remove(s);
            }
        }
        first = sequence;
        nextFrameId = frameId;
    }

    /// Takes the next frame, which is whole.
    ///
    /// @param bytes as [#nextBytes] returned them
    /// @return a reused object
    ReceivedFrame take(final long bytes) {
        nextFrameId = frameId(first);
        final int bundled = frames.bundleFrames(first);
        frame.set(nextFrameId, first, bytes, bundled);
        frame.attributes(
                frames.timestampNs(first),
                frames.flags(first),
                frames.metadataBytes(first) == 0 ? null : frames.metadata(first));
        frames.remove(first);
        first += StreamInfo.slots(bytes, slotBytes);
        nextFrameId += Math.max(1, bundled);
        return frame;
    }
}
