package io.framecast.engine.hostgroup;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.engine.libc.ByteLocks;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.memory.RingView;
import io.framecast.engine.memory.SharedWords;
import io.framecast.engine.session.EpochClock;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// A follower's side of the memory that its leader shares for one session. Every word is checked before it is used.
/// Under `latest` and `deadline=…` it holds nothing. The leader may write a frame while the follower reads it, so the
/// follower checks for that afterwards.
///
/// Threading: the subscriber's thread reads entries; any thread releases them.
final class FollowerSegment implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final LeaderConnection connection;
    private final DeviceBackend device;
    private final boolean registered;
    private final SharedWords words;
    private final UnsafeBuffer buffer;
    private final FormatWords formats;
    private final RingView view;
    private final MemorySegment ring;
    private final long ringBytes;
    private final HeldFrames frames;
    // Read once: memory for copies is as long.
    private final long frameMaxBytes;
    private final long session;
    // Asked for also when the memory is closed.
    private final long generation;
    private final boolean source;
    // True where the leader may write frames again that this follower has not released.
    private final boolean unheld;
    private final int member;
    private final int waker;
    private final int leader;
    // By entry, of those not yet released: whether the user released it.
    private final boolean[] done = new boolean[SegmentLayout.ENTRIES];
    private long next;
    private long released;
    private long held = Long.MAX_VALUE;
    // The source waits for the leader, or need not.
    private boolean begun;
    // Its leader died behind the last promise: the stream had ended, and all of it was published.
    private volatile boolean complete;
    private volatile boolean leaderLost;
    private volatile boolean lost;
    private final RefCount uses = new RefCount();

    private FollowerSegment(
            final LeaderConnection connection,
            final DeviceBackend device,
            final SharedWords words,
            final int ringDescriptor,
            final boolean drops,
            final int member,
            final int waker,
            final int leader) {
        this.connection = connection;
        this.words = words;
        buffer = words.buffer();
        formats = new FormatWords(buffer);
        ringBytes = buffer.getLong(SegmentLayout.RING_BYTES_AT);
        frameMaxBytes = Math.clamp(buffer.getLong(SegmentLayout.FRAME_MAX_AT), 1, Math.max(1, ringBytes));
        session = buffer.getLong(SegmentLayout.SESSION_AT);
        source = buffer.getInt(SegmentLayout.ORIGIN_AT) == SegmentLayout.SOURCE;
        this.member = SegmentLayout.member(member);
        this.waker = waker;
        this.leader = leader;
        final RingView mapped = RingView.of(ringDescriptor, ringBytes, arena);
        if (mapped == null) {
            throw new IllegalArgumentException("host group: cannot map a ring of " + ringBytes + " bytes");
        }
        view = mapped;
        ring = mapped.view();
        frames = heldFrames();
        this.device = device;
        registered = register();
        generation = buffer.getLong(SegmentLayout.GENERATION_AT);
        next = buffer.getLongVolatile(this.member + SegmentLayout.MEMBER_FIRST);
        released = next;
        begun = drops;
        // A source whose window has no room for a frame that no reader holds waits for this follower.
        unheld = drops && buffer.getInt(SegmentLayout.RETAINS_AT) != 0;
        if (unheld) {
            letGo();
        }
        connection.acquire();
    }

    // A source's own window takes a frame more; a receiver grants its source a window.
    private HeldFrames heldFrames() {
        final long slotBytes = Math.clamp(buffer.getInt(SegmentLayout.SLOT_BYTES_AT), 0, StreamInfo.SLOT_BYTES_MAX);
        final long windowSlots =
                Math.clamp(buffer.getInt(SegmentLayout.WINDOW_SLOTS_AT), 0, StreamInfo.WINDOW_SLOTS_MAX);
        return new HeldFrames(view, arena, ringBytes, frameMaxBytes, slotBytes, source ? 0 : windowSlots * slotBytes);
    }

    // Without it a device copies the same bytes more slowly: some take no memory that cannot be written.
    private boolean register() {
        try {
            device.registerHost(ring);
            return true;
        } catch (final DeviceException e) {
            return false;
        }
    }

    /// Longest frame of the session.
    long frameMaxBytes() {
        return frameMaxBytes;
    }

    /// Maps the segment that a leader sent.
    ///
    /// @param connection to that leader; it stays open as long as this memory is used
    /// @param drops whether the follower drops frames that it is too late for
    /// @param descriptors four, this object's from now on, also where it cannot be made
    /// @return null where they are no segment of this version
    static @Nullable FollowerSegment of(
            final LeaderConnection connection,
            final DeviceBackend device,
            final boolean drops,
            final int[] descriptors,
            final int member) {
        SharedWords words = null;
        try {
            if (member < 0 || member >= SegmentLayout.MEMBERS || descriptors[2] < 0 || descriptors[3] < 0) {
                return null;
            }
            final int attached = descriptors[1];
            descriptors[1] = -1;
            words = SharedWords.attach(attached, SegmentLayout.wordsBytes());
            if (!isSound(words.buffer())) {
                return null;
            }
            final FollowerSegment made = new FollowerSegment(
                    connection, device, words, descriptors[0], drops, member, descriptors[2], descriptors[3]);
            words = null;
            descriptors[0] = -1;
            descriptors[2] = -1;
            descriptors[3] = -1;
            return made;
        } catch (final RuntimeException e) {
            return null;
        } finally {
            if (words != null) {
                words.close();
            }
            for (final int descriptor : descriptors) {
                if (descriptor >= 0) {
                    Libc.close(descriptor);
                }
            }
        }
    }

    private static boolean isSound(final UnsafeBuffer header) {
        return header.getLongVolatile(SegmentLayout.MAGIC_AT) == SegmentLayout.MAGIC
                && header.getInt(SegmentLayout.VERSION_AT) == SegmentLayout.VERSION
                && header.getLong(SegmentLayout.WORDS_BYTES_AT) == SegmentLayout.wordsBytes()
                && header.getInt(SegmentLayout.ENTRIES_AT) == SegmentLayout.ENTRIES
                && header.getInt(SegmentLayout.MEMBERS_AT) == SegmentLayout.MEMBERS
                && header.getLong(SegmentLayout.RING_BYTES_AT) > 0;
    }

    /// Another connection to its leader; null where no process listens there any more.
    @Nullable
    UnixSocket connectAgain() {
        return connection.socket().again();
    }

    /// The words about device memory, to be used within a use of this object.
    DeviceWords deviceWords() {
        final int place = (member - SegmentLayout.member(0)) / SegmentLayout.MEMBER_BYTES;
        return new DeviceWords(buffer, place, this::lives);
    }

    long session() {
        return session;
    }

    int waker() {
        return waker;
    }

    /// Whether the ring is the source's own window: its leader is the publisher.
    boolean isOfSource() {
        return source;
    }

    int state() {
        final int state = buffer.getIntVolatile(SegmentLayout.STATE_AT);
        if (state != SegmentLayout.RUNNING) {
            return state;
        }
        // Where the leader was the publisher, the source went with it.
        if (complete) {
            return SegmentLayout.END_OF_STREAM;
        }
        return lost || (source && leaderLost) ? SegmentLayout.SOURCE_LOST : state;
    }

    /// The number of this segment; segments of a successor count on.
    long generation() {
        return generation;
    }

    /// Whether its stream goes on where that of an earlier leader stopped.
    boolean continues() {
        return buffer.getLong(SegmentLayout.PREDECESSOR_AT) != 0;
    }

    /// Whether a successor would go on from here, and not from the segment that this one continues.
    boolean isOpen() {
        if (!enter()) {
            return true;
        }
        final boolean open = !continues() || buffer.getIntVolatile(SegmentLayout.OPEN_AT) != 0;
        exit();
        return open;
    }

    /// A word that changes as long as the leader runs.
    long heartbeat() {
        return buffer.getLongVolatile(SegmentLayout.HEARTBEAT_AT);
    }

    /// Its leader is gone, or stands still. Where the leader had promised the end of the stream, the stream has ended.
    void lookForEnd() {
        if (!enter()) {
            return;
        }
        final int state = state();
        final CheckpointWords.Found found = CheckpointWords.read(buffer, formats);
        complete |= (state == SegmentLayout.RUNNING || state == SegmentLayout.JOINING)
                && !source
                && found != null
                && found.checkpoint().complete;
        exit();
    }

    /// The leader is gone, or stands still: claims the membership for a successor.
    ///
    /// @param uses of the follower, which must not end before the takeover does
    /// @return null where there is no membership to go on with: the stream has ended, or its words make no sense
    @Nullable
    Takeover takeover(final String channel, final RefCount uses) {
        if (!uses.acquire()) {
            return null;
        }
        if (!enter()) {
            uses.release();
            return null;
        }
        final AtomicBoolean ended = new AtomicBoolean();
        // Once: a successor that fails ends it where it was found, and again where it was adopted.
        final Runnable end = () -> {
            if (ended.compareAndSet(false, true)) {
                exit();
                uses.release();
            }
        };
        // Before the checkpoint is read. A leader that only stood still reports nothing new from then on.
        final int claim = 1 + buffer.getAndAddInt(SegmentLayout.CLAIMED_AT, 1);
        // A later successor does not wait for this one, which stood still or died by then.
        buffer.putIntVolatile(member + SegmentLayout.MEMBER_LEFT, 1);
        final int state = state();
        // A leader that died while it took over has left the state that it would have gone on from.
        final boolean may = state == SegmentLayout.RUNNING || state == SegmentLayout.JOINING;
        final Takeover found = isOfSource() || !may ? null : found(channel, claim, end);
        if (found == null) {
            end.run();
        }
        return found;
    }

    private @Nullable Takeover found(final String channel, final int claim, final Runnable end) {
        final CheckpointWords.Found found = CheckpointWords.read(buffer, formats);
        final StreamInfo stream = stream(channel);
        if (found == null || stream == null) {
            return null;
        }
        final Checkpoint from = found.checkpoint();
        if (from.complete) {
            complete = true;
            return null;
        }
        final long published = buffer.getLongVolatile(SegmentLayout.PUBLISHED_AT);
        final long last = published - 1;
        if (published > 0 && buffer.getLongVolatile(SegmentLayout.entry(last)) == SegmentLayout.version(last)) {
            final long behind = buffer.getLong(SegmentLayout.entry(last) + SegmentLayout.ENTRY_END);
            from.skipTo(behind, frameId(last) + (isLoss(last) ? length(last) : 1));
        }
        final long slots = from.acknowledged - from.firstSequence;
        final long bytes = slots * stream.slotBytes();
        final boolean waitedFor = buffer.getIntVolatile(SegmentLayout.WAITS_AT) != 0;
        final boolean sound = from.firstSequence >= 0
                && slots >= 0
                && bytes <= ringBytes
                && slots <= StreamInfo.slots(Math.max(0, from.frameBytes), stream.slotBytes())
                && from.frameBytes <= stream.frameMaxBytes()
                && found.offset() >= 0
                && found.offset() < ringBytes;
        return sound
                ? new Takeover(
                        generation(),
                        stream,
                        from,
                        inRing(found.offset(), bytes),
                        waitedFor,
                        () -> isNewest(claim),
                        followersToAwait(),
                        end)
                : null;
    }

    private synchronized MemorySegment inRing(final long offset, final long bytes) {
        return view.ring(offset, bytes);
    }

    private boolean isNewest(final int claim) {
        if (!enter()) {
            // Its user has read it, or closed this subscriber.
            return true;
        }
        final boolean newest = buffer.getIntVolatile(SegmentLayout.CLAIMED_AT) == claim;
        exit();
        return newest;
    }

    /// The stream as its leader describes it; null where the description makes no sense.
    @Nullable
    StreamInfo stream(final String channel) {
        final int slotBytes = buffer.getInt(SegmentLayout.SLOT_BYTES_AT);
        final int windowSlots = buffer.getInt(SegmentLayout.WINDOW_SLOTS_AT);
        final int aliveTimeoutMs = buffer.getInt(SegmentLayout.ALIVE_MS_AT);
        final byte[] control = address(SegmentLayout.CONTROL_ADDRESS_AT);
        final byte[] data = address(SegmentLayout.DATA_ADDRESS_AT);
        final StreamInfo.Seal seal = StreamInfo.Seal.of(buffer.getInt(SegmentLayout.SEAL_AT));
        final boolean sound = slotBytes > 0
                && slotBytes <= StreamInfo.SLOT_BYTES_MAX
                && slotBytes % BundleLayout.ALIGN_BYTES == 0
                && windowSlots > 0
                && windowSlots <= StreamInfo.WINDOW_SLOTS_MAX
                && aliveTimeoutMs > 0
                && control.length > 0
                && data.length > 0;
        return sound && seal != null
                ? new StreamInfo(
                        session, channel, slotBytes, windowSlots, frameMaxBytes(), aliveTimeoutMs, control, data, seal)
                : null;
    }

    private byte[] address(final int at) {
        final byte[] bytes = new byte[Math.clamp(buffer.getByte(at), 0, SegmentLayout.ADDRESS_BYTES_MAX)];
        buffer.getBytes(at + 1, bytes);
        return bytes;
    }

    // By an open file of its own: it is asked also when these words are closed.
    private FollowersToAwait followersToAwait() {
        final Map<Long, Integer> places = new HashMap<>();
        final int file = ByteLocks.reopen(words.descriptor());
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            final int member = SegmentLayout.member(i);
            if (buffer.getIntVolatile(member) == SegmentLayout.MEMBER_ACTIVE
                    && buffer.getIntVolatile(member + SegmentLayout.MEMBER_LEFT) == 0
                    && ByteLocks.isLocked(file, i)) {
                places.put(buffer.getLong(member + SegmentLayout.MEMBER_NUMBER), i);
            }
        }
        return new FollowersToAwait(places, place -> ByteLocks.isLocked(file, place), () -> Libc.close(file));
    }

    // Of the member at a place. This one's lock is of the very file that is asked.
    private boolean lives(final int place) {
        return SegmentLayout.member(place) == member || ByteLocks.isLocked(words.descriptor(), place);
    }

    /// The source's clock less that of this process.
    long clockOffsetNs() {
        return clockErrorNs() == Long.MAX_VALUE
                ? 0
                : buffer.getLongVolatile(SegmentLayout.CLOCK_OFFSET_AT)
                        - EpochClock.ofProcess().hostOffsetNs();
    }

    /// Its error; the greatest number where the source's clock is not known.
    long clockErrorNs() {
        final long errorNs = buffer.getLongVolatile(SegmentLayout.CLOCK_ERROR_AT);
        return errorNs == Long.MAX_VALUE
                ? errorNs
                : errorNs + EpochClock.ofProcess().errorNs();
    }

    /// The source's clock now, independent of the clock of this process.
    long sourceNs() {
        return EpochClock.hostNs() + buffer.getLongVolatile(SegmentLayout.CLOCK_OFFSET_AT);
    }

    /// The clock of the leader's process less that of this one. Both should show the same.
    long leaderClockNs() {
        return buffer.getLong(SegmentLayout.LEADER_CLOCK_AT)
                - EpochClock.ofProcess().hostOffsetNs();
    }

    /// Entries so far.
    long published() {
        return buffer.getLongVolatile(SegmentLayout.PUBLISHED_AT);
    }

    /// Whether an entry waits.
    boolean hasNext() {
        return published() > next;
    }

    /// Within a use: true when nothing is missed from the next entry on. Releases the entries that were published
    /// before the leader asked the source to wait.
    synchronized boolean hasBegun() {
        if (begun) {
            return true;
        }
        final boolean waits = buffer.getIntVolatile(SegmentLayout.WAITS_AT) != 0;
        final long from = buffer.getLongVolatile(SegmentLayout.WAITED_FROM_AT);
        final long limit = Math.min(from, published());
        if (limit > next) {
            next = limit;
            released = limit;
            reportReleased();
            EventCount.add(leader);
        }
        begun = waits && from <= limit;
        return begun;
    }

    /// Within a use, behind a copy of an entry's frame: true when the leader had not begun to write there again.
    boolean isIntact(final long number) {
        VarHandle.loadLoadFence();
        return !unheld || buffer.getLongVolatile(SegmentLayout.FREED_AT) <= number;
    }

    /// Behind the first entry: the frame with which this follower begins.
    long firstFrameId() {
        final long first = buffer.getLong(member + SegmentLayout.MEMBER_FIRST_FRAME);
        return first == SegmentLayout.FROM_START ? buffer.getLong(SegmentLayout.START_FRAME_AT) : first;
    }

    /// True where the leader may write a frame while this follower reads it.
    boolean isUnheld() {
        return unheld;
    }

    /// Within a use: holds nothing.
    void letGo() {
        buffer.putLongVolatile(member + SegmentLayout.MEMBER_RELEASED, SegmentLayout.NOTHING_HELD);
    }

    // Entries that the leader may have written again are gone.
    private void catchUp() {
        if (unheld) {
            next = Math.max(next, Math.min(buffer.getLongVolatile(SegmentLayout.FREED_AT), published()));
        }
    }

    /// Number of the entry that waits, or will.
    long upcoming() {
        return next;
    }

    /// Whether the entry that waits is a frame.
    boolean hasFrame() {
        return hasNext() && !isLoss(next);
    }

    /// The next entry, to be taken.
    ///
    /// @return its number; −1 when there is none
    /// @throws IllegalStateException when the leader broke the table
    synchronized long peek() {
        catchUp();
        while (hasNext()) {
            if (buffer.getLongVolatile(SegmentLayout.entry(next)) == SegmentLayout.version(next)) {
                return next;
            }
            if (isIntact(next)) {
                throw new IllegalStateException("host group: entry " + next + " of the frame table is torn");
            }
            catchUp();
        }
        return -1;
    }

    /// Takes the next entry.
    ///
    /// @return its number; −1 when there is none
    /// @throws IllegalStateException when the leader broke the table
    synchronized long take() {
        if (peek() < 0) {
            return -1;
        }
        done[SegmentLayout.index(next)] = false;
        return next++;
    }

    boolean isLoss(final long number) {
        return word(number, SegmentLayout.ENTRY_KIND) == SegmentLayout.LOSS;
    }

    long frameId(final long number) {
        return buffer.getLong(SegmentLayout.entry(number) + SegmentLayout.ENTRY_FRAME_ID);
    }

    /// The number of the frame, or of the last one of a loss.
    long lastFrameId(final long number) {
        return frameId(number) + (isLoss(number) ? Math.max(1, length(number)) - 1 : 0);
    }

    /// Bytes of a frame, or frames of a loss.
    long length(final long number) {
        return buffer.getLong(SegmentLayout.entry(number) + SegmentLayout.ENTRY_LENGTH);
    }

    /// Frames of a loss.
    ///
    /// @throws IllegalStateException when the leader broke the table
    long lost(final long number) {
        final long count = length(number);
        if (count < 1 && isIntact(number)) {
            throw new IllegalStateException("host group: entry " + number + " is a loss of " + count + " frames");
        }
        return count;
    }

    long timestampNs(final long number) {
        return buffer.getLong(SegmentLayout.entry(number) + SegmentLayout.ENTRY_TIMESTAMP);
    }

    boolean isKeyframe(final long number) {
        return (word(number, SegmentLayout.ENTRY_FLAGS) & SegmentLayout.KEYFRAME) != 0;
    }

    /// Whether the frame lies where it was received; or the reason of a loss.
    int detail(final long number) {
        return word(number, SegmentLayout.ENTRY_DETAIL);
    }

    private int word(final long number, final int field) {
        return buffer.getInt(SegmentLayout.entry(number) + field);
    }

    byte[] metadata(final long number) {
        final int bytes = Math.clamp(word(number, SegmentLayout.ENTRY_METADATA), 0, SegmentLayout.METADATA_BYTES_MAX);
        final byte[] copy = new byte[bytes];
        buffer.getBytes(SegmentLayout.metadata(number), copy);
        return copy;
    }

    /// The format of an entry's frame; null for none.
    byte @Nullable [] format(final long number) {
        return formats.get(word(number, SegmentLayout.ENTRY_FLAGS) >>> SegmentLayout.ENTRY_FORMAT_SHIFT);
    }

    /// The frame's bytes, to be read until it is released.
    ///
    /// @throws IllegalStateException when the leader broke the table
    MemorySegment frame(final long number) {
        final long offset = buffer.getLong(SegmentLayout.entry(number) + SegmentLayout.ENTRY_OFFSET);
        final long length = length(number);
        if (offset < 0 || offset >= ringBytes || length <= 0 || length > frameMaxBytes()) {
            throw new IllegalStateException("host group: a frame of " + length + " bytes at " + offset
                    + " does not lie in the ring of " + ringBytes);
        }
        return ring.asSlice(offset, length);
    }

    /// Begins a use of this memory: a call that reads it, or a frame that the user holds. [#exit] ends it.
    ///
    /// @return false when it was closed
    boolean enter() {
        return uses.acquire();
    }

    void exit() {
        uses.release();
    }

    /// Within a use: an entry is released. The leader may write its slots again once all before it were released too.
    synchronized void release(final long number) {
        if (unheld) {
            return;
        }
        done[SegmentLayout.index(number)] = true;
        while (released < next && done[SegmentLayout.index(released)]) {
            released++;
        }
        reportReleased();
        if (isWanted()) {
            EventCount.add(leader);
        }
    }

    /// Within a use: an entry's frame, to be read in the ring or in a copy until it is given back.
    ///
    /// @param frame of [#frame]
    synchronized HeldFrames.Held give(final long number, final MemorySegment frame) {
        final int format = word(number, SegmentLayout.ENTRY_FLAGS) >>> SegmentLayout.ENTRY_FORMAT_SHIFT;
        final HeldFrames.Held given = frames.give(number, frame, format);
        if (given.isCopied()) {
            release(number);
        }
        reportHeld();
        return given;
    }

    /// Within a use: a frame is read no more.
    synchronized void giveBack(final HeldFrames.Held given) {
        if (frames.giveBack(given)) {
            release(given.number());
        }
        reportHeld();
    }

    /// Within a use: the user reads on, and holds no frame in the ring whose room the leader may lack.
    synchronized void makeRoom() {
        final long before = released;
        while (released < next && frames.isInTheWay(released, next) && frames.keep(released)) {
            release(released);
        }
        if (released != before) {
            reportHeld();
        }
    }

    /// Whether no frame can be given until some are given back.
    synchronized boolean isFull() {
        return frames.isFull();
    }

    // For the leader and `stat`.
    private void reportHeld() {
        final int reader = SegmentLayout.reader((member - SegmentLayout.member(0)) / SegmentLayout.MEMBER_BYTES);
        buffer.putLongOrdered(reader + SegmentLayout.READER_HELD, frames.held());
        buffer.putLongOrdered(reader + SegmentLayout.READER_COPIED, frames.copiedFrames());
    }

    private void reportReleased() {
        buffer.putLongVolatile(member + SegmentLayout.MEMBER_RELEASED, Math.min(released, held));
    }

    /// Within a use: the entry that waits, and those behind it, are held for another reader in this process, also when
    /// the user released them.
    ///
    /// @return its number
    synchronized long hold() {
        held = next;
        return next;
    }

    /// Within a use: that reader needs entries from here on alone.
    synchronized void holdFrom(final long number) {
        held = number;
        reportReleased();
        EventCount.add(leader);
    }

    /// Reads on from an entry that another member in this process holds.
    synchronized void moveBack(final long number) {
        next = Math.min(next, number);
    }

    // A leader that runs short of room writes the entry that it waits for. The last member to release that wakes it.
    private boolean isWanted() {
        final long wanted = buffer.getLongVolatile(SegmentLayout.WANTS_AT);
        if (wanted == 0 || released < wanted) {
            return false;
        }
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            final int other = SegmentLayout.member(i);
            if (buffer.getIntVolatile(other) == SegmentLayout.MEMBER_ACTIVE
                    && buffer.getLongVolatile(other + SegmentLayout.MEMBER_RELEASED) < wanted) {
                return false;
            }
        }
        return buffer.compareAndSetLong(SegmentLayout.WANTS_AT, wanted, 0);
    }

    /// The leader wakes this follower by the next entry.
    ///
    /// @param seen the state in which it sleeps
    /// @return false when an entry waits already, or the state is another by now
    boolean sleeps(final int seen) {
        buffer.putIntVolatile(member + SegmentLayout.MEMBER_SLEEPS, 1);
        if (hasNext() || state() != seen) {
            wakes();
            return false;
        }
        return true;
    }

    void wakes() {
        buffer.putIntVolatile(member + SegmentLayout.MEMBER_SLEEPS, 0);
    }

    /// This member will not follow the leader's successor.
    void leave() {
        if (uses.acquire()) {
            buffer.putIntVolatile(member + SegmentLayout.MEMBER_LEFT, 1);
            uses.release();
        }
    }

    /// Its leader is gone.
    void onLeaderLost() {
        leaderLost = true;
    }

    /// Its source is lost to this host.
    void onLost() {
        lost = true;
    }

    /// Frames that the user holds stay readable until the user releases them.
    @Override
    public void close() {
        uses.close(this::free);
    }

    private void free() {
        if (registered) {
            // Waits for no persistent kernel: the memory stays mapped until the device has let go of it.
            device.unregisterHost(ring, arena::close);
        } else {
            arena.close();
        }
        words.close();
        view.close();
        Libc.close(waker);
        Libc.close(leader);
        // Last: then the leader may give this member's place to another.
        connection.release();
    }
}
