package io.framecast.reliability.group;

import io.framecast.reliability.window.StreamFormat;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/// The frames of a source's own window that subscribers on its host read there. They keep datagrams from being
/// freed, as members elsewhere do by their acknowledgements.
///
/// Threading: the publisher's thread begins and publishes frames and rests; the thread that runs the sender's cycle
/// asks which datagrams may be freed; any thread asks for the state of readers.
public final class SharedWindow {
    /// The place of no reader.
    public static final int NONE = -1;

    private static final long NOTHING = Long.MAX_VALUE;

    private final LeaderTable table;
    private final TableLayout layout;
    private final boolean retains;
    private final long retainedSlots;
    // By entry: the frame's datagrams lie from this sequence on. The publisher's thread writes it, for entries that the
    // sender's thread does not look at.
    private final long[] sequences;
    // Sender: entries below were released by all.
    private volatile long oldest;
    private long retained;
    // Publisher: datagrams from here on may be committed and are of a frame that the table does not have yet.
    private volatile long begun = NOTHING;
    // Readers, and not members elsewhere, keep datagrams from being freed.
    private volatile boolean limiting;
    private volatile boolean ended;
    // By place: for how long the publisher waited for that reader.
    private final AtomicLongArray heldNs = new AtomicLongArray(SegmentLayout.MEMBERS);
    // Publisher: how long it rested so far.
    private final AtomicLong restedNs = new AtomicLong();
    // Sender: since when nothing was released.
    private long restSeenNs;
    private long lookedNs;
    private long stalledAt;
    private long stalledNs;
    private boolean reported;

    // Publisher: of the frame that was begun.
    private long frameId;
    private int flags;
    private long timestampNs;
    private byte[] metadata = {};
    private @Nullable StreamFormat format;

    /// @param table of the window's readers, with [LeaderTable#ofSource]
    /// @param sparedSlots that the window has beside two longest frames; less than 0 where these do not fit
    public SharedWindow(final LeaderTable table, final long sparedSlots) {
        this.table = table;
        layout = table.layout();
        sequences = new long[layout.entries()];
        retains = sparedSlots >= 0;
        retainedSlots = sparedSlots / 2;
    }

    /// Any thread: how many readers there are.
    public int count() {
        return ended ? 0 : table.members();
    }

    /// Any thread: whether the table has room for one more frame.
    public boolean hasRoom() {
        return table.published() - oldest < layout.entries();
    }

    /// Publisher: whether readers can be given one more format.
    public boolean hasRoomForFormat() {
        return table.hasRoomForFormat(oldest);
    }

    /// Publisher: begins a frame, before any of its datagrams is committed. [#publish] follows.
    ///
    /// @param sequence of its first datagram, or less
    /// @param frameMetadata empty for none
    /// @param frameFormat null for none
    public void begin(
            final long sequence,
            final long newFrameId,
            final int frameFlags,
            final long sourceTimestampNs,
            final byte[] frameMetadata,
            final @Nullable StreamFormat frameFormat) {
        frameId = newFrameId;
        flags = frameFlags;
        timestampNs = sourceTimestampNs;
        metadata = frameMetadata;
        format = frameFormat;
        // A thread that sees the frame's datagrams committed sees this too, and frees none of them.
        begun = sequence;
    }

    /// Publisher: the frame that was begun lies in the window.
    ///
    /// @param offset of its bytes in the window
    public void publish(final long offset, final long length) {
        sequences[layout.index(table.published())] = begun;
        table.publish(frameId, offset, length, flags, timestampNs, true, metadata, format, oldest);
        begun = NOTHING;
    }

    /// Sender: how many of the datagrams that may be freed no reader reads.
    ///
    /// @param limit at most the committed datagrams
    /// @param formatBlocked whether the next frame's format waits until frames are freed: no frames stay then for
    ///     readers that hold nothing
    /// @return at most `limit`
    public long freeable(final long limit, final boolean formatBlocked) {
        // In this order: a publisher that published since has left the entry.
        final long held = begun;
        // A reader takes nothing back: its word may only say so.
        final long released = Math.max(oldest, releasable(limit, formatBlocked));
        final long read = released < table.published() ? sequences[layout.index(released)] : NOTHING;
        limiting = read <= limit;
        if (released != oldest) {
            table.free(released);
            oldest = released;
        }
        return Math.min(limit, Math.min(held, read));
    }

    private long releasable(final long limit, final boolean formatBlocked) {
        final long released = table.released();
        return retains && !formatBlocked && table.isReadUnheld() ? Math.min(released, firstRetained(limit)) : released;
    }

    // The newest frame, and before it as many as are to stay.
    private long firstRetained(final long limit) {
        final long published = table.published();
        retained = Math.max(retained, oldest);
        while (retained < published - 1
                && (published - retained > layout.entries() / 2
                        || limit - sequences[layout.index(retained + 1)] > retainedSlots)) {
            retained++;
        }
        return retained;
    }

    /// Publisher: begins a rest. Readers wake it when all have released one more entry. [#onRested] ends it.
    ///
    /// @return the readers that it waits for, a bit for each place
    public long beginRest() {
        final long stopped = oldest;
        final long holders = holders(stopped);
        table.want(stopped + 1);
        return holders;
    }

    /// Publisher, behind [#beginRest]: whether readers released nothing that [#freeable] does not know of yet.
    public boolean mayRest() {
        return table.released() <= oldest;
    }

    /// Publisher: it slept for readers.
    ///
    /// @param holders of [#beginRest]
    public void onSlept(final long holders, final long fromNs, final long toNs) {
        addHeld(holders, toNs - fromNs);
        restedNs.addAndGet(holders == 0 ? 0 : toNs - fromNs);
    }

    /// Publisher: the rest is over.
    public void onRested() {
        table.want(0);
    }

    // The readers, by place, for which the publisher waits: they released no entry behind the oldest one.
    private long holders(final long stopped) {
        final boolean any = limiting && stopped < table.published();
        long holders = 0;
        for (int i = 0; i < SegmentLayout.MEMBERS && any; i++) {
            holders |= table.releasedBy(i) == stopped ? 1L << i : 0;
        }
        return holders;
    }

    private void addHeld(final long holders, final long ns) {
        for (long left = holders; left != 0; left &= left - 1) {
            heldNs.addAndGet(Long.numberOfTrailingZeros(left), ns);
        }
    }

    /// Any thread: for how long the publisher waited for the reader at a place.
    public long heldBackNs(final int place) {
        return heldNs.get(place);
    }

    /// Any thread: datagrams from the oldest frame that the reader at a place holds or did not read.
    ///
    /// @param committed datagrams so far
    /// @param windowSlots datagrams that the window holds
    /// @return less than 0 where there is no reader
    public long lag(final int place, final long committed, final int windowSlots) {
        final long released = table.releasedBy(place);
        if (released < 0) {
            return -1;
        }
        return released == table.published()
                ? 0
                : Math.clamp(committed - sequences[layout.index(released)], 0, windowSlots);
    }

    /// Sender, at intervals: looks for a reader that holds the publisher up.
    ///
    /// @param blocked whether the publisher has no room
    /// @param patienceNs how long a reader may before the user hears of it
    /// @return the place of such a reader, once for each; otherwise [#NONE]
    public int look(final boolean blocked, final long nowNs, final long patienceNs) {
        final long rested = restedNs.get();
        final long sinceNs = Math.max(0, nowNs - lookedNs - (rested - restSeenNs));
        lookedNs = nowNs;
        restSeenNs = rested;
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            if (!table.isTaken(i)) {
                heldNs.set(i, 0);
            }
        }
        if (!blocked || oldest != stalledAt || count() == 0) {
            stalledAt = oldest;
            stalledNs = nowNs;
            reported = false;
            return NONE;
        }
        final long holders = holders(stalledAt);
        addHeld(holders, sinceNs);
        if (reported || holders == 0 || nowNs - stalledNs < patienceNs) {
            return NONE;
        }
        reported = true;
        return Long.numberOfTrailingZeros(holders);
    }

    /// Sender: how long no reader had released a frame at the last [#look].
    public long stalledNs() {
        return lookedNs - stalledNs;
    }

    /// No frame follows: readers read the remaining frames, and no reader comes.
    ///
    /// @param complete whether the stream ended; else they lose their source
    /// @return false where that was said before
    public boolean end(final boolean complete) {
        if (ended) {
            return false;
        }
        ended = true;
        table.become(complete ? SegmentLayout.END_OF_STREAM : SegmentLayout.SOURCE_LOST);
        return true;
    }
}
