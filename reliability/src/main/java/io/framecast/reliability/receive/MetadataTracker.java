package io.framecast.reliability.receive;

import io.framecast.reliability.repair.NackScheduler;
import io.framecast.reliability.window.FrameTable;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.wire.StreamInfo;

/// The sequence below which every frame's metadata is here, and the time to request missing metadata.
///
/// The source may forget acknowledged frames, metadata included. So the receiver acknowledges a frame without its
/// metadata only up to the first datagram, however much of its payload is here.
///
/// Pure state; one thread.
final class MetadataTracker {
    private static final long RETRY_MIN_NS = 1_000_000;

    private final FrameTable frames;
    private final ReceiveWindow window;
    private final int slotBytes;
    private long first;
    private long askNs = Long.MAX_VALUE;
    private int asked;

    MetadataTracker(final FrameTable frames, final ReceiveWindow window, final int slotBytes) {
        this.frames = frames;
        this.window = window;
        this.slotBytes = slotBytes;
    }

    void start(final long firstSequence) {
        first = firstSequence;
    }

    /// First sequence of the earliest frame whose metadata has not been requested, or has not come.
    long first() {
        return first;
    }

    /// All sequences below are here, metadata included.
    long acknowledgeable() {
        return Math.min(window.next(), first);
    }

    /// Datagrams or metadata arrived.
    void advance(final long nowNs, final long rttNs) {
        while (first < window.next() && frames.contains(first)) {
            if (!frames.hasMetadata(first)) {
                if (askNs == Long.MAX_VALUE) {
                    askNs = nowNs + Math.max(RETRY_MIN_NS, rttNs / 2);
                }
                return;
            }
            askNs = Long.MAX_VALUE;
            asked = 0;
            first += StreamInfo.slots(frames.frameBytes(first), slotBytes);
        }
    }

    /// The receiver drops the frames below.
    void skipTo(final long sequence) {
        if (sequence > first) {
            first = sequence;
            asked = 0;
            askNs = Long.MAX_VALUE;
        }
    }

    void onAsked(final long nowNs, final long rttNs) {
        asked++;
        askNs = nowNs + Math.max(RETRY_MIN_NS, 2 * rttNs);
    }

    /// Whether earlier requests were in vain.
    boolean isEscalated() {
        return asked >= NackScheduler.ESCALATE_AFTER;
    }

    /// The time to request the metadata of [#first].
    long askNs() {
        return askNs;
    }
}
