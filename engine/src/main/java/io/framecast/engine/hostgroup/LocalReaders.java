package io.framecast.engine.hostgroup;

import io.framecast.api.MemberStats;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.session.Policies;
import io.framecast.reliability.group.LeaderTable;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.group.SharedWindow;
import io.framecast.reliability.memory.Words;
import io.framecast.reliability.window.StreamFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The subscribers on a publisher's own host: they read frames in its send window, by the words of
/// docs/host-segment.md. [SharedWindow] has the rules; this object holds the memory open, and sleeps.
///
/// Threading: the publisher's thread begins and publishes frames and rests; the thread that runs the sender's cycle
/// asks which datagrams may be freed; the leader's listener hears of readers that come and go.
public final class LocalReaders implements AutoCloseable {
    // An interrupt ends a rest within this.
    private static final long SLICE_NS = 50_000_000;
    private static final long NS_PER_MS = 1_000_000;

    private final GroupLeader leader;
    private final LeaderSegment segment;
    private final LeaderTable table;
    private final SharedWindow window;
    // The window's owner may close it under a publisher's call.
    private final RefCount uses = new RefCount();
    // Readers write here when they released a frame and the publisher rests; so does a thread that wakes it.
    private final int releases = EventCount.open();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment polled = arena.allocate(Linux.POLLFD_BYTES, Long.BYTES);
    private final MemorySegment timeout = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
    private final MemorySegment count = arena.allocate(Long.BYTES, Long.BYTES);
    private volatile boolean resting;

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

    /// @param window over the words of the segment
    LocalReaders(final GroupLeader leader, final LeaderSegment segment, final SharedWindow window) {
        this.leader = leader;
        this.segment = segment;
        this.window = window;
        table = segment.table();
    }

    /// Any thread: how many there are.
    public int count() {
        return window.count();
    }

    /// Any thread: whether the table has room for one more frame.
    public boolean hasRoom() {
        return window.hasRoom();
    }

    /// Publisher: whether readers can be given one more format.
    public boolean hasRoomForFormat() {
        if (!uses.acquire()) {
            return true;
        }
        try {
            return window.hasRoomForFormat();
        } finally {
            uses.release();
        }
    }

    /// Publisher: begins a frame, before any of its datagrams is committed. [#publish] follows.
    ///
    /// @param sequence of its first datagram, or less
    /// @param metadata empty for none
    /// @param format null for none
    public void begin(
            final long sequence,
            final long frameId,
            final int flags,
            final long timestampNs,
            final byte[] metadata,
            final @Nullable StreamFormat format) {
        window.begin(sequence, frameId, flags, timestampNs, metadata, format);
    }

    /// Publisher: the frame that was begun lies in the window.
    ///
    /// @param offset of its bytes in the window
    public void publish(final long offset, final long length) {
        if (!uses.acquire()) {
            return;
        }
        try {
            window.publish(offset, length);
        } finally {
            uses.release();
        }
    }

    int releases() {
        return releases;
    }

    /// Publisher: sleeps until a reader released a frame, [#wake], or the time is over. Not when a reader
    /// released one that [#freeable] does not know of yet.
    ///
    /// @param awake whether not to sleep, looked at once more when nothing is missed any more
    public void rest(final BooleanSupplier awake, final long longestNs) {
        if (!uses.acquire()) {
            return;
        }
        try {
            resting = true;
            final long holders = window.beginRest();
            if (window.mayRest() && !awake.getAsBoolean()) {
                timeout.set(ValueLayout.JAVA_LONG, 0, 0);
                timeout.set(ValueLayout.JAVA_LONG, Linux.TIMESPEC_NANOS, Math.min(longestNs, SLICE_NS));
                Words.setInt(polled, 0, releases);
                Words.setInt(polled, Linux.POLLFD_EVENTS, Linux.POLLIN);
                final long startNs = System.nanoTime();
                if (Libc.ppoll(polled.address(), 1, timeout.address()) > 0) {
                    EventCount.drain(releases, count);
                }
                window.onSlept(holders, startNs, System.nanoTime());
            }
        } finally {
            resting = false;
            window.onRested();
            uses.release();
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
        return window.freeable(limit, formatBlocked);
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
                final long lag = window.lag(i, committed, windowSlots);
                if (lag >= 0) {
                    found.add(new Reader(
                            i,
                            describe(i),
                            Policies.ofWire(table.deliveryOf(i)).toString(),
                            lag,
                            windowSlots - lag,
                            window.heldBackNs(i),
                            table.heldBy(i),
                            table.copiedBy(i)));
                }
            }
            uses.release();
        }
        return found;
    }

    private String describe(final int index) {
        return UnixSocket.describe(table.processOf(index)) + " on this host";
    }

    /// Sender, at intervals: looks for a reader that holds the publisher up.
    ///
    /// @param blocked whether the publisher has no room
    /// @param patienceNs how long a reader may before the user hears of it
    /// @return the user's notice, once for each; otherwise null
    public @Nullable String look(final boolean blocked, final long nowNs, final long patienceNs) {
        final int first = window.look(blocked, nowNs, patienceNs);
        return first == SharedWindow.NONE
                ? null
                : describe(first) + " has released no frame for " + window.stalledNs() / NS_PER_MS
                        + " ms and holds the window" + segment.heldText(first)
                        + "; let it read on and release frames, give it delivery=latest, or end it";
    }

    /// No frame follows: readers read the remaining frames, and no reader comes.
    ///
    /// @param complete whether the stream ended; else they lose their source
    public void end(final boolean complete) {
        if (uses.acquire()) {
            final boolean first = window.end(complete);
            uses.release();
            if (first) {
                leader.resign();
            }
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
