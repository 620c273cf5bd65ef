package io.framecast.reliability;

import io.framecast.reliability.repair.NackScheduler;
import io.framecast.reliability.window.FrameTable;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.wire.StreamInfo;

/// Up to where every frame's metadata is here, and when to ask for what is missing.
///
/// What is acknowledged may be forgotten by the source, metadata too. So a frame whose metadata is missing is
/// acknowledged only up to its first datagram, however much of its payload is here.
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

    /// First sequence of the earliest frame whose metadata has not been looked for, or has not come.
    long first() {
        return first;
    }

    /// All below is here, metadata included.
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

    /// Frames below are given up.
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

    /// Whether it was asked for before, in vain.
    boolean isInsistent() {
        return asked >= NackScheduler.INSISTENT_AFTER;
    }

    /// When the metadata of [#first] is to be asked for.
    long askNs() {
        return askNs;
    }
}
