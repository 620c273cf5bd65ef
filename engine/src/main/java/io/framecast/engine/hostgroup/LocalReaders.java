package io.framecast.engine.hostgroup;

import io.framecast.api.MemberStats;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.session.Policies;
import io.framecast.reliability.memory.Words;
import io.framecast.reliability.window.StreamFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The subscribers on a publisher's own host: they read frames in its send window, by the words of
/// docs/host-segment.md.
///
/// Threading: the publisher's thread begins and publishes frames and rests; the thread that runs the sender's cycle
/// asks which datagrams may be freed; the leader's listener hears of readers that come and go.
public final class LocalReaders implements AutoCloseable {
    private static final long NOTHING = Long.MAX_VALUE;
    // An interrupt ends a rest within this.
    private static final long SLICE_NS = 50_000_000;
    private static final long NS_PER_MS = 1_000_000;

    private final GroupLeader leader;
    private final LeaderSegment segment;
    private final boolean retains;
    private final long retainedSlots;
    // By entry: the frame's datagrams lie from this sequence on. The publisher's thread writes it, for entries that the
    // sender's thread does not look at.
    private final long[] sequences = new long[SegmentLayout.ENTRIES];
    // The window's owner may close it under a publisher's call.
    private final RefCount uses = new RefCount();
    // Sender: entries below were released by all.
    private volatile long oldest;
    private long retained;
    // Publisher: datagrams from here on may be committed and are of a frame that the table does not have yet.
    private volatile long begun = NOTHING;
    // Readers, and not members elsewhere, keep datagrams from being freed.
    private volatile boolean limiting;
    private volatile boolean ended;
    // Readers write here when they released a frame and the publisher rests; so does a thread that wakes it.
    private final int releases = EventCount.open();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment polled = arena.allocate(Linux.POLLFD_BYTES, Long.BYTES);
    private final MemorySegment timeout = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
    private final MemorySegment count = arena.allocate(Long.BYTES, Long.BYTES);
    private volatile boolean resting;
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

    /// The state of a reader, as its publisher knows it.
    ///
    /// @param place 0 …, another reader's when this one is gone
    /// @param name with its process
    /// @param delivery its policy, as in `delivery=`
    /// @param lagDatagrams from the oldest frame that it holds or did not read
    /// @param creditDatagrams that the window has beside these
    /// @param heldBackNs for how long the publisher waited for it
    /// @param framesHeld that its user has
    /// @param framesCopied because the window had no room for them any more
    public record Reader(
            int place,
            String name,
            String delivery,
            long lagDatagrams,
            long creditDatagrams,
            long heldBackNs,
            long framesHeld,
            long framesCopied) {}

    /// @param sparedSlots that the window has beside two longest frames; less than 0 where these do not fit
    LocalReaders(final GroupLeader leader, final LeaderSegment segment, final long sparedSlots) {
        this.leader = leader;
        this.segment = segment;
        retains = sparedSlots >= 0;
        retainedSlots = sparedSlots / 2;
    }

    /// Any thread: how many there are.
    public int count() {
        return ended ? 0 : segment.members();
    }

    /// Any thread: whether the table has room for one more frame.
    public boolean hasRoom() {
        return segment.published() - oldest < SegmentLayout.ENTRIES;
    }

    /// Publisher: whether readers can be given one more format.
    public boolean hasRoomForFormat() {
        if (!uses.acquire()) {
            return true;
        }
        try {
            return segment.hasRoomForFormat(oldest);
        } finally {
            uses.release();
        }
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
        if (!uses.acquire()) {
            return;
        }
        try {
            sequences[SegmentLayout.index(segment.published())] = begun;
            segment.publish(frameId, offset, length, flags, timestampNs, true, metadata, format, oldest);
            begun = NOTHING;
        } finally {
            uses.release();
        }
    }

    int releases() {
        return releases;
    }

    /// Publisher: sleeps until a reader released a frame, [#wake], or the time is over. Not when a reader released one
    /// that [#freeable] does not know of yet.
    ///
    /// @param awake whether not to sleep, looked at once more when nothing is missed any more
    public void rest(final BooleanSupplier awake, final long longestNs) {
        if (!uses.acquire()) {
            return;
        }
        try {
            resting = true;
            final long stopped = oldest;
            final long holders = holders(stopped);
            segment.want(stopped + 1);
            if (segment.released() <= oldest && !awake.getAsBoolean()) {
                timeout.set(ValueLayout.JAVA_LONG, 0, 0);
                timeout.set(ValueLayout.JAVA_LONG, Linux.TIMESPEC_NANOS, Math.min(longestNs, SLICE_NS));
                Words.setInt(polled, 0, releases);
                Words.setInt(polled, Linux.POLLFD_EVENTS, Linux.POLLIN);
                final long startNs = System.nanoTime();
                if (Libc.ppoll(polled.address(), 1, timeout.address()) > 0) {
                    EventCount.drain(releases, count);
                }
                final long ns = System.nanoTime() - startNs;
                addHeld(holders, ns);
                restedNs.addAndGet(holders == 0 ? 0 : ns);
            }
        } finally {
            resting = false;
            segment.want(0);
            uses.release();
        }
    }

    // A bit for each reader, by place, for which the publisher waits: it released no entry behind the oldest one.
    private long holders(final long stopped) {
        final boolean any = limiting && stopped < segment.published();
        long holders = 0;
        for (int i = 0; i < SegmentLayout.MEMBERS && any; i++) {
            holders |= segment.releasedBy(i) == stopped ? 1L << i : 0;
        }
        return holders;
    }

    private void addHeld(final long holders, final long ns) {
        for (long left = holders; left != 0; left &= left - 1) {
            heldNs.addAndGet(Long.numberOfTrailingZeros(left), ns);
        }
    }

    /// Any thread: ends the publisher's rest.
    public void wake() {
        if (resting && uses.acquire()) {
            EventCount.add(releases);
            uses.release();
        }
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
        final long read = released < segment.published() ? sequences[SegmentLayout.index(released)] : NOTHING;
        limiting = read <= limit;
        if (released != oldest) {
            segment.free(released);
            oldest = released;
        }
        return Math.min(limit, Math.min(held, read));
    }

    private long releasable(final long limit, final boolean formatBlocked) {
        final long released = segment.released();
        return retains && !formatBlocked && segment.isReadUnheld()
                ? Math.min(released, firstRetained(limit))
                : released;
    }

    // The newest frame, and before it as many as are to stay.
    private long firstRetained(final long limit) {
        final long published = segment.published();
        retained = Math.max(retained, oldest);
        while (retained < published - 1
                && (published - retained > SegmentLayout.ENTRIES / 2
                        || limit - sequences[SegmentLayout.index(retained + 1)] > retainedSlots)) {
            retained++;
        }
        return retained;
    }

    /// Any thread: each of them, the furthest behind first.
    ///
    /// @param committed datagrams so far
    /// @param windowSlots datagrams that the window holds
    public List<MemberStats> stats(final long committed, final int windowSlots) {
        return readers(committed, windowSlots).stream()
                .map(reader -> new MemberStats(
                        reader.name(),
                        reader.delivery(),
                        reader.lagDatagrams(),
                        reader.creditDatagrams(),
                        0,
                        Duration.ofNanos(reader.heldBackNs())))
                .sorted(Comparator.comparingLong(MemberStats::lagDatagrams).reversed())
                .toList();
    }

    /// Any thread: each of them, by place.
    ///
    /// @param committed datagrams so far
    /// @param windowSlots datagrams that the window holds
    public List<Reader> readers(final long committed, final int windowSlots) {
        final List<Reader> found = new ArrayList<>();
        if (uses.acquire()) {
            for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
                final long released = segment.releasedBy(i);
                if (released >= 0) {
                    final long lag = released == segment.published()
                            ? 0
                            : Math.clamp(committed - sequences[SegmentLayout.index(released)], 0, windowSlots);
                    found.add(new Reader(
                            i,
                            describe(i),
                            Policies.ofWire(segment.deliveryOf(i)).toString(),
                            lag,
                            windowSlots - lag,
                            heldNs.get(i),
                            segment.heldBy(i),
                            segment.copiedBy(i)));
                }
            }
            uses.release();
        }
        return found;
    }

    private String describe(final int index) {
        return UnixSocket.describe(segment.processOf(index)) + " on this host";
    }

    /// Sender, at intervals: looks for a reader that holds the publisher up.
    ///
    /// @param blocked whether the publisher has no room
    /// @param patienceNs how long a reader may before the user hears of it
    /// @return the user's notice, once for each; otherwise null
    public @Nullable String look(final boolean blocked, final long nowNs, final long patienceNs) {
        final long rested = restedNs.get();
        final long sinceNs = Math.max(0, nowNs - lookedNs - (rested - restSeenNs));
        lookedNs = nowNs;
        restSeenNs = rested;
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            if (segment.releasedBy(i) < 0) {
                heldNs.set(i, 0);
            }
        }
        if (!blocked || oldest != stalledAt || count() == 0) {
            stalledAt = oldest;
            stalledNs = nowNs;
            reported = false;
            return null;
        }
        final long holders = holders(stalledAt);
        addHeld(holders, sinceNs);
        if (reported || holders == 0 || nowNs - stalledNs < patienceNs) {
            return null;
        }
        reported = true;
        final int first = Long.numberOfTrailingZeros(holders);
        return describe(first) + " has released no frame for " + (nowNs - stalledNs) / NS_PER_MS
                + " ms and holds the window" + segment.heldText(first) + "; let it read on and release frames, give it"
                + " delivery=latest, or end it";
    }

    /// No frame follows: readers read the remaining frames, and no reader comes.
    ///
    /// @param complete whether the stream ended; else they lose their source
    public void end(final boolean complete) {
        if (!ended && uses.acquire()) {
            ended = true;
            segment.become(complete ? SegmentLayout.END_OF_STREAM : SegmentLayout.SOURCE_LOST);
            uses.release();
            leader.resign();
        }
    }

    /// Before the window is freed. Readers have mappings of their own.
    @Override
    public void close() {
        end(false);
        leader.close();
        uses.close(() -> {
            leader.retire(segment);
            Libc.close(releases);
            arena.close();
        });
    }
}
