package io.framecast.engine.hostgroup;

import io.framecast.api.LossReason;
import io.framecast.api.SourceEvent;
import io.framecast.api.StreamConfig;
import io.framecast.api.Subscriber.State;
import io.framecast.api.error.DeviceException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceSharing;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.codec.FormatDecoder;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.session.EpochClock;
import io.framecast.engine.session.Policies;
import io.framecast.reliability.flow.Interval;
import io.framecast.reliability.group.FollowerReader;
import io.framecast.reliability.group.FollowerTable;
import io.framecast.reliability.group.SegmentOrder;
import io.framecast.reliability.group.StreamStatus;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Reads frames in the rings of its host group's leaders, one segment after the other, on the user's thread. No
/// agent works for it.
///
/// Threading: one thread polls and rests; another one ([GroupMembership]) brings segments; any thread closes it, asks
/// for its state and releases its frames.
final class Follower {
    // No event reports that a place of the device's memory is free.
    private static final long FULL_NS = 200_000;
    private static final long FULL_NOTICE_NS = 5_000_000_000L;
    // Nor does an event report a frame that another member copied.
    private static final long ARRIVING_NS = 20_000;
    // Beside the frames that a user holds: frames that are copied, and frames that other members have not read yet.
    private static final int PLACES_MORE = 7;
    private static final int LOOKS = 2;

    private final StreamConfig config;
    private final DeviceBackend device;
    private final Events events;
    private final PlacementCounts placements;
    private final Consumer<String> notices;
    private final FormatDecoder formats;
    private final DeviceEvent complete;
    private final FollowerReader reader;
    // Calls of the user's thread, and frames that the user has.
    private final RefCount uses = new RefCount();
    private final FollowerSleep sleep = new FollowerSleep();
    private volatile @Nullable FollowerSegment segment;
    // Of later sessions and leaders; each is read when all before it were.
    private final ConcurrentLinkedQueue<FollowerSegment> coming = new ConcurrentLinkedQueue<>();
    private volatile @Nullable FollowerCopies copies;
    // Taken, and not given to the user while it is copied out of another process's memory.
    private final AtomicReference<@Nullable FollowerFrame> arriving = new AtomicReference<>();
    private @Nullable DeviceStream stream;
    private volatile boolean closed;
    // No source came back in time.
    private volatile boolean forGood;
    private volatile @Nullable String failure;
    private boolean endReported;
    // Frames wait until the user releases some, and whether a notice says so.
    private boolean waitsForUser;
    private final Interval patience = new Interval(FULL_NOTICE_NS);
    private boolean waitReported;

    /// Takes the events that a follower finds in its leader's table besides frames. On the thread that polls it.
    interface Events {
        void onLoss(long session, long firstFrameId, long count, LossReason reason);

        /// @param kind JOINED for every session; ENDED or LOST for its end
        void onSource(long session, SourceEvent.Kind kind);
    }

    /// @param device of the frames; outlives this object and its frames
    Follower(
            final StreamConfig config,
            final DeviceBackend device,
            final Events events,
            final PlacementCounts placements,
            final Consumer<String> notices) {
        this.config = config;
        this.device = device;
        this.events = events;
        this.placements = placements;
        this.notices = notices;
        formats = new FormatDecoder(notices);
        reader = new FollowerReader(
                Policies.onWire(config.delivery()),
                (session, firstFrameId, count, reason) ->
                        events.onLoss(session, firstFrameId, count, Policies.reason(reason)));
        try {
            complete = device.openEvent();
        } catch (final RuntimeException | Error e) {
            sleep.close();
            throw e;
        }
    }

    FormatDecoder formats() {
        return formats;
    }

    DeviceBackend device() {
        return device;
    }

    /// Membership: the next segment.
    ///
    /// @param made this object's from now on
    void add(final FollowerSegment made) {
        if (!uses.acquire()) {
            made.close();
            return;
        }
        coming.add(made);
        wake();
        uses.release();
    }

    /// Any thread: the user's thread looks at its state again.
    void wake() {
        if (uses.acquire()) {
            sleep.wake();
            uses.release();
        }
    }

    /// An event that is complete.
    DeviceEvent complete() {
        return complete;
    }

    DeviceStream streamBehind(final DeviceEvent ready) {
        if (stream == null) {
            stream = device.openStream();
        }
        stream.await(ready);
        return stream;
    }

    RefCount uses() {
        return uses;
    }

    /// True where it drops frames that it is too late for, and holds no source up.
    boolean drops() {
        return reader.drops();
    }

    /// A frame is given to the user. Reports the frames in front of it that were gone.
    void onGiven(final FollowerFrame frame) {
        reader.onGiven(frame.session(), frame.frameId());
    }

    private StreamStatus status() {
        final FollowerSegment shared = segment;
        final StreamStatus status = arriving.get() == null ? status(shared) : StreamStatus.FRAMES;
        if (status == StreamStatus.FRAMES || status == StreamStatus.ENDED) {
            return status;
        }
        // Some leaders meanwhile never went on with the session.
        StreamStatus later = status;
        for (final FollowerSegment made : coming) {
            later = status(made);
            if (later != StreamStatus.NONE) {
                return later;
            }
        }
        return later;
    }

    private static StreamStatus status(final @Nullable FollowerSegment shared) {
        if (shared == null || !shared.enter()) {
            return StreamStatus.NONE;
        }
        try {
            return shared.status();
        } finally {
            shared.exit();
        }
    }

    State state() {
        if (failure != null) {
            return State.FAILED;
        }
        return switch (status()) {
            case NONE -> State.JOINING;
            case FRAMES, STREAMING -> State.READY;
            case ENDED -> State.END_OF_STREAM;
            case LOST -> forGood || config.rejoinMs() == 0 ? State.SOURCE_LOST : State.JOINING;
        };
    }

    /// The reason why no frame will come, in one line; null where a frame may come.
    @Nullable
    String failure() {
        return failure;
    }

    /// Membership: the source that was lost did not come back in time (`rejoin=`).
    void onLostForGood() {
        forGood = true;
        wake();
    }

    /// Whether it read a publisher's window, and that publisher is gone without an end of stream. Any thread.
    boolean hasLostPublisher() {
        final FollowerSegment shared = segment;
        return shared != null && shared.isOfSource() && status() == StreamStatus.LOST;
    }

    /// Whether it has a session. Any thread.
    boolean isInvited() {
        return segment != null || !coming.isEmpty();
    }

    /// Whether a poll would find something, or a loss.
    boolean hasNews() {
        if (closed || failure != null || status() != StreamStatus.FRAMES) {
            return false;
        }
        final FollowerFrame frame = arriving.get();
        return frame == null ? !isFull() && !awaitsDevice() : frame.hasArrived();
    }

    // Whether the next frame is about to come to device memory by another member.
    private boolean awaitsDevice() {
        final FollowerCopies copied = copies;
        final FollowerSegment shared = segment;
        if (copied == null || shared == null || !shared.enter()) {
            return false;
        }
        try {
            final FollowerTable table = shared.table();
            return table.hasFrame() && copied.awaitsDevice(table.upcoming());
        } finally {
            shared.exit();
        }
    }

    // Whether the user holds all places of the device's memory, or more copies than there may be.
    private boolean isFull() {
        final FollowerCopies copied = copies;
        if (copied != null) {
            return !copied.hasRoom();
        }
        final FollowerSegment shared = segment;
        return shared != null && shared.isFull();
    }

    // Says once that nothing comes until the user releases frames.
    private void noticeFull() {
        final long nowNs = System.nanoTime();
        if (!isFull()) {
            waitsForUser = false;
            waitReported = false;
        } else if (!waitsForUser) {
            waitsForUser = true;
            patience.begin(nowNs);
        } else if (!waitReported && patience.isDue(nowNs)) {
            waitReported = true;
            notices.accept("host group: frames have waited " + FULL_NOTICE_NS / 1_000_000_000L
                    + " s, because this subscriber's user holds as many as fit on " + device.name()
                    + "; release some, or set a larger frames-held=");
        }
    }

    // The user reads on: a frame that the user holds in the ring stays, and its room may be the leader's.
    private void makeRoom() {
        final FollowerSegment shared = copies == null ? segment : null;
        if (shared != null && shared.enter()) {
            try {
                shared.makeRoom();
            } finally {
                shared.exit();
            }
        }
    }

    /// The next frame; null when there is none now.
    @Nullable
    FollowerFrame poll() {
        if (!uses.acquire()) {
            return null;
        }
        try {
            makeRoom();
            while (failure == null) {
                final FollowerFrame former = arriving.getAndSet(null);
                if (former != null || status(segment) == StreamStatus.FRAMES) {
                    final FollowerFrame frame = former == null ? take() : former;
                    if (frame != null && isGone(frame)) {
                        frame.close();
                        continue;
                    }
                    if (frame != null) {
                        return arrived(frame);
                    }
                    noticeFull();
                    if (isFull() || awaitsDevice()) {
                        return null;
                    }
                } else if (!moves()) {
                    return null;
                }
            }
            return null;
        } finally {
            uses.release();
        }
    }

    // True when the leader wrote there again before the frame was copied. The gap before the next frame shows the loss.
    private boolean isGone(final FollowerFrame frame) {
        final boolean gone = drops() && frame.hasArrived() && !frame.isWhole();
        if (gone) {
            reader.onTorn();
        }
        return gone;
    }

    // A frame that is in place; null for one that is not, and is kept. Meanwhile the next one is copied.
    private @Nullable FollowerFrame arrived(final FollowerFrame frame) {
        if (!frame.hasArrived()) {
            keep(frame);
            return null;
        }
        // Under a policy that drops, the next frame may be another one by then.
        final FollowerSegment shared = copies == null || drops() ? null : segment;
        if (shared != null && shared.enter()) {
            final boolean isFrame = shared.table().hasFrame();
            shared.exit();
            final FollowerFrame next = isFrame ? take() : null;
            if (next != null) {
                keep(next);
            }
        }
        return frame;
    }

    private void keep(final FollowerFrame frame) {
        arriving.set(frame);
        if (closed || failure != null) {
            CloseHelper.close(arriving.getAndSet(null));
        }
    }

    // The next frame; null for losses, which are reported, when there is no room, and when another member is about to
    // copy it to its device.
    private @Nullable FollowerFrame take() {
        final FollowerSegment shared = isFull() || awaitsDevice() ? null : segment;
        if (shared == null || !shared.enter()) {
            return null;
        }
        try {
            final long number = reader.next(shared, EpochClock.hostNs());
            return number < 0 ? null : frame(shared, number);
        } catch (final IllegalStateException | DeviceException e) {
            fail(String.valueOf(e.getMessage()));
            return null;
        } finally {
            shared.exit();
        }
    }

    private @Nullable FollowerFrame frame(final FollowerSegment shared, final long number) {
        try {
            return new FollowerFrame(this, shared, number, copies);
        } catch (final IllegalStateException e) {
            if (shared.table().isIntact(number)) {
                throw e;
            }
            // The gap before the next frame shows the loss.
            return null;
        }
    }

    // It holds no source back from now on: its connection ends when the user has released all frames.
    void fail(final String line) {
        if (failure == null) {
            failure = line;
            wake();
            uses.close(this::end);
            stopSharing();
        }
    }

    private void stopSharing() {
        final FollowerCopies copied = copies;
        if (copied != null) {
            copied.stopSharing();
        }
    }

    // Moves to the next segment, when nothing more comes in this one. Reports a session's beginning and end.
    private boolean moves() {
        final FollowerSegment former = segment;
        final StreamStatus status = status(former);
        if (former != null && !endReported && (status == StreamStatus.ENDED || status == StreamStatus.LOST)) {
            endReported = true;
            events.onSource(
                    former.table().session(),
                    status == StreamStatus.ENDED ? SourceEvent.Kind.ENDED : SourceEvent.Kind.LOST);
        }
        final FollowerSegment made = coming.peek();
        // Looked at again: an entry may have come in front of its leader's end.
        if (made == null || status == StreamStatus.FRAMES) {
            return status == StreamStatus.FRAMES;
        }
        final SegmentOrder.Step step = step(former, status, made);
        if (step == SegmentOrder.Step.STAY) {
            return false;
        }
        if (step != SegmentOrder.Step.MOVE) {
            coming.remove();
            if (step == SegmentOrder.Step.REFUSE) {
                letGo(made);
            }
            made.close();
            return true;
        }
        if (device.hostAddressable() || drops()) {
            made.deviceWords().refrain();
        }
        if ((!device.hostAddressable() || drops()) && !renewCopies(made)) {
            return false;
        }
        reader.begin(made.table());
        segment = made;
        coming.remove();
        final boolean goesOn = former != null && !endReported && SegmentOrder.goesOn(former.table(), made.table());
        endReported = false;
        if (!goesOn) {
            events.onSource(made.table().session(), SourceEvent.Kind.JOINED);
        }
        if (former != null) {
            former.close();
        }
        return true;
    }

    private SegmentOrder.Step step(
            final @Nullable FollowerSegment former, final StreamStatus status, final FollowerSegment made) {
        return SegmentOrder.step(
                former == null ? null : former.table(),
                status,
                made.table(),
                status(made),
                coming.stream().skip(1).map(FollowerSegment::table).toList(),
                config.rejoinMs() != 0);
    }

    private static void letGo(final FollowerSegment made) {
        if (made.enter()) {
            made.letGo();
            made.exit();
        }
    }

    private boolean renewCopies(final FollowerSegment made) {
        final FollowerCopies earlier = copies;
        final int count = config.framesHeld() + 1;
        try {
            final long longest = made.table().frameMaxBytes();
            if (earlier == null || earlier.frameMaxBytes() != longest) {
                copies = new FollowerCopies(device, longest, count);
            }
        } catch (final DeviceException | OutOfMemoryError e) {
            fail("host group: no room for " + count + " frames on " + device.name() + ": " + e.getMessage());
            return false;
        }
        final FollowerCopies present = copies;
        if (earlier != null && earlier != present) {
            earlier.close();
        }
        if (present != null && !drops()) {
            present.share(new DeviceShare(placements, device, made, uses, sharing -> exporter(sharing, made)));
        }
        return true;
    }

    private @Nullable DeviceExporter exporter(final DeviceSharing sharing, final FollowerSegment shared) {
        UnixSocket another = null;
        try {
            another = shared.connectAgain();
        } catch (final TransportException e) {
            notices.accept(e.getMessage());
        }
        if (another == null) {
            return null;
        }
        if (uses.acquire()) {
            if (shared.enter()) {
                final int places = config.framesHeld() + PLACES_MORE;
                return new DeviceExporter(
                        new DeviceExporter.Target(device, sharing),
                        another,
                        shared,
                        places,
                        placements,
                        notices,
                        uses::release);
            }
            uses.release();
        }
        another.close();
        return null;
    }

    /// Sleeps until there may be news, for `ns` nanoseconds at most.
    void rest(final long ns) {
        if (!uses.acquire()) {
            LockSupport.parkNanos(Math.min(ns, FULL_NS));
            return;
        }
        try {
            makeRoom();
            final StreamStatus status = status();
            if (status == StreamStatus.FRAMES) {
                // All places of the device's memory are taken, or a frame is on its way to it.
                noticeFull();
                LockSupport.parkNanos(Math.min(ns, isFull() ? FULL_NS : ARRIVING_NS));
                return;
            }
            // Other members come, and go, and want their memory back.
            final FollowerCopies copied = copies;
            if (copied != null) {
                copied.advance();
            }
            if (status != StreamStatus.STREAMING || !yields()) {
                // Nothing more comes in the present segment where there is a later one.
                final FollowerSegment later = coming.peek();
                sleep.sleep(later == null ? segment : later, ns);
            }
        } finally {
            uses.release();
        }
    }

    // The publisher may need this core, and sleeping costs more. The scheduler may ignore the hint.
    @SuppressWarnings("ThreadPriorityCheck")
    private boolean yields() {
        for (int i = 0; i < LOOKS; i++) {
            Thread.yield();
            if (status() != StreamStatus.STREAMING) {
                return true;
            }
        }
        return false;
    }

    /// Frames that the user holds stay readable. Their memory is freed when the user has released the last.
    /// Idempotent.
    ///
    /// @param afterwards runs then, of the first call alone
    void close(final Runnable afterwards) {
        if (closed) {
            return;
        }
        closed = true;
        wake();
        final FollowerSegment shared = segment;
        if (shared != null) {
            shared.leave();
        }
        coming.forEach(FollowerSegment::leave);
        // The user's thread may be in a call of this object, so the descriptors stay until it has left. The connection
        // stays until the user has released all frames: at its end the leader writes there.
        if (failure == null) {
            uses.close(this::end);
        }
        uses.close(afterwards);
        stopSharing();
        CloseHelper.close(arriving.getAndSet(null));
    }

    // Once, when no thread uses anything of this object any more.
    private void end() {
        final FollowerCopies copied = copies;
        if (copied != null) {
            copied.close();
        }
        final FollowerSegment shared = segment;
        if (shared != null) {
            shared.leave();
            shared.close();
        }
        for (FollowerSegment later = coming.poll(); later != null; later = coming.poll()) {
            later.leave();
            later.close();
        }
        if (stream != null) {
            stream.close();
        }
        complete.close();
        sleep.close();
    }
}
