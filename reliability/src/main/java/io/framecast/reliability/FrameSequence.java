package io.framecast.reliability;

import io.framecast.reliability.window.FrameTable;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;

/// Turns what has arrived into whole frames in order, and tells which frame's metadata is missing.
///
/// Pure state; one thread.
final class FrameSequence {
    private static final long METADATA_RETRY_MIN_NS = 1_000_000;

    private final StreamInfo stream;
    private final ReceiveWindow window;
    private final FrameTable frames;
    private final ReceivedFrame frame = new ReceivedFrame();
    private long first;
    private long nextFrameId;
    // First sequence of the earliest frame whose metadata has not been looked for, or has not come.
    private long metadataFirst;
    private long metadataAskNs = Long.MAX_VALUE;

    FrameSequence(final StreamInfo stream, final ReceiveWindow window) {
        this.stream = stream;
        this.window = window;
        frames = new FrameTable(window.capacity());
    }

    void start(final long firstSequence, final long firstFrameId) {
        first = firstSequence;
        metadataFirst = firstSequence;
        nextFrameId = firstFrameId;
    }

    /// First sequence of the next frame.
    long first() {
        return first;
    }

    /// Enters the frame a valid header speaks of.
    ///
    /// @return false when the header contradicts an earlier one
    boolean learn(final MemorySegment header, final long offset, final long frameFirst) {
        return frames.learn(header, offset, frameFirst);
    }

    /// Whether a sequence is the last of its frame, which was learnt.
    boolean isLast(final long sequence, final long frameFirst) {
        return sequence + 1 == frameFirst + slots(frameFirst);
    }

    private long slots(final long frameFirst) {
        return StreamInfo.slots(frames.frameBytes(frameFirst), stream.slotBytes());
    }

    /// Length of the next frame in bytes; 0 when it is not whole yet.
    long nextBytes() {
        if (first >= window.next() || !frames.contains(first)) {
            return 0;
        }
        final long end = first + slots(first);
        return window.next() < end || metadataFirst < end ? 0 : frames.frameBytes(first);
    }

    /// Takes the next frame, which is whole.
    ///
    /// @return a reused object
    ReceivedFrame take() {
        final long bytes = frames.frameBytes(first);
        // The wire carries the frame's number modulo 2^32; frames are never more than a window apart.
        nextFrameId += Integer.toUnsignedLong(frames.frameId(first) - (int) nextFrameId);
        frame.set(nextFrameId, first, bytes);
        frame.attributes(
                frames.timestampNs(first),
                frames.flags(first),
                frames.metadataBytes(first) == 0 ? null : frames.metadata(first));
        frames.remove(first);
        first += StreamInfo.slots(bytes, stream.slotBytes());
        nextFrameId++;
        return frame;
    }

    void putMetadata(final long frameFirst, final byte[] metadata, final long rttNs, final long nowNs) {
        frames.putMetadata(frameFirst, metadata);
        advance(rttNs, nowNs);
    }

    /// Looks how far metadata is complete. What is acknowledged may be forgotten by the source, metadata too: so a
    /// frame
    /// whose metadata is missing is acknowledged only up to its first datagram, however much of its payload is
    here.
    void advance(final long rttNs, final long nowNs) {
        while (metadataFirst < window.next() && frames.contains(metadataFirst)) {
            if (!frames.hasMetadata(metadataFirst)) {
                if (metadataAskNs == Long.MAX_VALUE) {
                    metadataAskNs = nowNs + Math.max(METADATA_RETRY_MIN_NS, rttNs / 2);
                }
                return;
            }
            metadataAskNs = Long.MAX_VALUE;
            metadataFirst += slots(metadataFirst);
        }
    }

    /// First sequence of the frame to ask metadata for.
    long metadataFirst() {
        return metadataFirst;
    }

    /// When to ask; MAX_VALUE for never.
    long metadataAskNs() {
        return metadataAskNs;
    }

    void onMetadataAsked(final long rttNs, final long nowNs) {
        metadataAskNs = nowNs + Math.max(METADATA_RETRY_MIN_NS, 2 * rttNs);
    }

    /// All below is here, metadata too.
    long acknowledgeable() {
        return Math.min(window.next(), metadataFirst);
    }
}
