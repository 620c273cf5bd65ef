package io.framecast.reliability.receive;

import io.framecast.reliability.repair.NackScheduler;
import io.framecast.reliability.window.FrameTable;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.window.StreamFormat;
import io.framecast.reliability.wire.FormatLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.util.Arrays;

/// Hands out whole frames in order: frames whose datagrams, metadata and format are all here. Knows the sequence
/// below which every frame's metadata and format are here, and the time to request the missing ones.
///
/// The source may forget acknowledged frames, metadata included, and give the numbers of their formats to new
/// formats. So the receiver acknowledges a frame without its metadata or format only up to the first datagram,
/// however much of its payload is here.
///
/// Pure state; one thread.
final class FrameQueue {
    private static final long RETRY_MIN_NS = 1_000_000;

    private final FrameTable frames;
    private final ReceiveWindow window;
    private final int slotBytes;
    private final ReceivedFrame frame = new ReceivedFrame();
    private long first;
    private long nextFrameId;
    private long described;
    private long askNs = Long.MAX_VALUE;
    private int asked;
    // By number: no earlier request.
    private final long[] formatAskNs = new long[FormatLayout.NUMBERS + 1];
    // Whether frames were left out before the one at `described`.
    private boolean isBehindGap;

    FrameQueue(final FrameTable frames, final ReceiveWindow window, final int slotBytes) {
        this.frames = frames;
        this.window = window;
        this.slotBytes = slotBytes;
        Arrays.fill(formatAskNs, Long.MIN_VALUE);
    }

    /// Before the start: the frame at which another receiver stopped.
    void expect(final long frameId) {
        nextFrameId = frameId;
    }

    void start(final long firstSequence, final long firstFrameId) {
        first = firstSequence;
        nextFrameId = firstFrameId;
        described = firstSequence;
        window.reset(firstSequence);
    }

    /// Begins where another receiver stopped.
    void resume(final Checkpoint from, final long nowNs, final long rttNs) {
        start(from.firstSequence, from.frameId);
        if (from.isWithinFrame()) {
            frames.restore(first, (int) from.frameId, from.frameBytes, from.attributes, from.timestampNs);
            final byte[] metadata = from.metadata;
            if (metadata != null) {
                frames.putMetadata(first, metadata);
            }
            final StreamFormat format = from.format;
            if (format != null) {
                frames.restoreFormat(first, format);
            }
            window.receiveAtEnd((int) (from.acknowledged - first));
            advance(nowNs, rttNs);
        }
    }

    /// Where the next frame stands, for a successor.
    void describe(final Checkpoint to) {
        final boolean known = frames.contains(first);
        to.firstSequence = first;
        to.frameId = nextFrameId;
        to.frameBytes = known ? frames.frameBytes(first) : 0;
        to.attributes = known ? frames.attributes(first) : 0;
        to.timestampNs = known ? frames.timestampNs(first) : 0;
        to.metadata = known ? frames.metadata(first) : null;
        to.format = known ? frames.format(first) : null;
    }

    /// Behind the next frame; its first sequence where nothing of it is here.
    long endOfNext() {
        return frames.contains(first) ? first + StreamInfo.slots(frames.frameBytes(first), slotBytes) : first;
    }

    FrameTable frames() {
        return frames;
    }

    ReceiveWindow window() {
        return window;
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
        return window.next() < end || described < end ? 0 : bytes;
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
        frames.onGap(Math.min(frameId - nextFrameId, sequence - first));
        first = sequence;
        nextFrameId = frameId;
        window.skipTo(sequence);
        if (sequence > described) {
            describe(sequence);
            isBehindGap = true;
        }
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
        frame.format(frames.format(first));
        frames.remove(first);
        first += StreamInfo.slots(bytes, slotBytes);
        nextFrameId += Math.max(1, bundled);
        return frame;
    }

    /// First sequence of the earliest frame whose metadata or format has not been requested, or has not come.
    long described() {
        return described;
    }

    /// All sequences below are here, metadata and formats included.
    long acknowledgeable() {
        return Math.min(window.next(), described);
    }

    /// Number of the format that the frame at [#described] waits for; 0 where it waits for metadata.
    int missingFormat() {
        return frames.hasMetadata(described) ? frames.formatNumber(described) : 0;
    }

    /// Datagrams, metadata or formats arrived.
    void advance(final long nowNs, final long rttNs) {
        while (described < window.next() && frames.contains(described)) {
            if (!frames.hasMetadata(described) || !frames.findFormat(described)) {
                if (askNs == Long.MAX_VALUE) {
                    askNs = firstAskNs(nowNs, rttNs);
                }
                return;
            }
            isBehindGap = false;
            describe(described + StreamInfo.slots(frames.frameBytes(described), slotBytes));
        }
    }

    // A format that was announced before a gap is under way no more, and frames may expire before a format
    // that is under way would be asked for.
    private long firstAskNs(final long nowNs, final long rttNs) {
        final int number = missingFormat();
        return isBehindGap && number != 0
                ? Math.max(nowNs, formatAskNs[number])
                : nowNs + Math.max(RETRY_MIN_NS, rttNs / 2);
    }

    private void describe(final long end) {
        described = end;
        asked = 0;
        askNs = Long.MAX_VALUE;
    }

    void onAsked(final long nowNs, final long rttNs) {
        asked++;
        askNs = nowNs + Math.max(RETRY_MIN_NS, 2 * rttNs);
        formatAskNs[missingFormat()] = askNs;
    }

    /// Whether earlier requests were in vain.
    boolean isEscalated() {
        return asked >= NackScheduler.ESCALATE_AFTER;
    }

    /// The time to request metadata or format of the frame at [#described].
    long askNs() {
        return askNs;
    }
}
