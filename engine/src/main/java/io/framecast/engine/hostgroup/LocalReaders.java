package io.framecast.engine.hostgroup;

import java.util.ArrayList;
import java.util.List;

/// The subscribers on a publisher's own host: they read frames in its send window, by the words of
/// docs/host-segment.md.
///
/// Threading: the publisher's thread begins and publishes frames, the sender's asks what may be freed, the leader's
/// listener hears of readers that come and go.
public final class LocalReaders implements AutoCloseable {
    private static final long NOTHING = Long.MAX_VALUE;

    private final GroupLeader leader;
    private final LeaderSegment segment;
    // By entry: sequence from which on the frame's datagrams lie. Written by the publisher's thread, for entries that
    // the sender's does not look at.
    private final long[] sequences = new long[SegmentLayout.ENTRIES];
    // The window's owner may close it under a publisher's call.
    private final Holds uses = new Holds();
    // Sender: entries below were released by all.
    private volatile long oldest;
    // Publisher: datagrams from here on may be committed and are of a frame that the table does not have yet.
    private volatile long begun = NOTHING;
    private volatile boolean ended;

    // Publisher: of the frame that was begun.
    private long frameId;
    private int flags;
    private long timestampNs;
    private byte[] metadata = {};

    LocalReaders(final GroupLeader leader, final LeaderSegment segment) {
        this.leader = leader;
        this.segment = segment;
    }

    /// Any thread: how many there are.
    public int count() {
        return ended ? 0 : segment.members();
    }

    /// Any thread: whether the table has room for one more frame.
    public boolean hasRoom() {
        return segment.hasRoom(oldest);
    }

    /// Publisher: begins a frame, before any of its datagrams is committed. [#publish] follows.
    ///
    /// @param sequence of its first datagram, or less
    /// @param frameMetadata empty for none
    public void begin(
            final long sequence,
            final long newFrameId,
            final int frameFlags,
            final long sourceTimestampNs,
            final byte[] frameMetadata) {
        frameId = newFrameId;
        flags = frameFlags;
        timestampNs = sourceTimestampNs;
        metadata = frameMetadata;
        // Whoever sees the frame's datagrams committed sees this too, and frees none of them.
        begun = sequence;
    }

    /// Publisher: the frame that was begun lies in the window.
    ///
    /// @param offset of its bytes in the window
    public void publish(final long offset, final long length) {
        if (!uses.take()) {
            return;
        }
        try {
            sequences[SegmentLayout.index(segment.published())] = begun;
            segment.publish(frameId, offset, length, flags, timestampNs, true, metadata);
            begun = NOTHING;
        } finally {
            uses.give();
        }
    }

    /// Any thread: readers tell the sender as soon as they release a frame, once.
    ///
    /// @return whether some was released that the sender does not know of
    public boolean want() {
        if (!uses.take()) {
            return false;
        }
        try {
            segment.want();
            return segment.released() > oldest;
        } finally {
            uses.give();
        }
    }

    /// Sender: how much of what may be freed no reader reads.
    ///
    /// @param limit at most the committed datagrams
    /// @return at most `limit`
    public long freeable(final long limit) {
        // In this order: who published since left the entry behind.
        final long held = begun;
        final long released = segment.released();
        final long read = released < segment.published() ? sequences[SegmentLayout.index(released)] : NOTHING;
        if (released != oldest) {
            oldest = released;
        }
        return Math.min(limit, Math.min(held, read));
    }

    /// Any thread: readers in one line each, those that hold the oldest frame first.
    List<Reader> readers() {
        return uses.take() ? given(segment.readers()) : new ArrayList<>();
    }

    private List<Reader> given(final List<Reader> readers) {
        uses.give();
        return readers;
    }

    /// One of them.
    ///
    /// @param process its number
    /// @param behind frames that it has not released
    record Reader(int process, long behind) {}

    /// No frame follows: readers read on what there is, and nobody comes.
    ///
    /// @param complete whether the stream ended; else they lose their source
    public void end(final boolean complete) {
        if (!ended && uses.take()) {
            ended = true;
            segment.become(complete ? SegmentLayout.END_OF_STREAM : SegmentLayout.SOURCE_LOST);
            uses.give();
            leader.resign();
        }
    }

    /// Before the window is freed. Readers have mappings of their own.
    @Override
    public void close() {
        end(false);
        leader.close();
        uses.close(() -> leader.retire(segment));
    }
}
