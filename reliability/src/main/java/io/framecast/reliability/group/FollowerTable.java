package io.framecast.reliability.group;

import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/// A member's side of the words that its leader shares for one session. Every word is checked before it is used.
/// Under `latest` and `deadline=…` it holds nothing. The leader may write a frame while the member reads it, so
/// the member checks for that afterwards.
///
/// Methods that release entries return whether the leader is to be woken for that.
///
/// Threading: one thread at a time takes, releases, gives and holds; any thread asks, and reports what became of the
/// leader.
public final class FollowerTable {
    private static final LossReason[] REASONS = LossReason.values();

    private final SegmentMemory memory;
    private final TableLayout layout;
    private final FormatWords formats;
    private final StreamWords described;
    private final long ringBytes;
    // Read once: memory for copies is as long.
    private final long frameMaxBytes;
    private final long session;
    // Asked for also when the memory is closed.
    private final long generation;
    private final boolean source;
    // True where the leader may write frames again that this member has not released.
    private final boolean unheld;
    private final int place;
    private final int member;
    // By entry, of those not yet released: whether the user released it.
    private final boolean[] done;
    private long next;
    private long released;
    private long held = Long.MAX_VALUE;
    // The source waits for the leader, or need not.
    private boolean begun;
    // Its leader died behind the last promise: the stream had ended, and all of it was published.
    private volatile boolean complete;
    private volatile boolean leaderLost;
    private volatile boolean lost;

    /// @param memory for which [#isSound] holds
    /// @param place of the member
    /// @param drops whether the member drops frames that it is too late for
    public FollowerTable(final SegmentMemory memory, final TableLayout layout, final int place, final boolean drops) {
        this.memory = memory;
        this.layout = layout;
        this.place = place;
        formats = new FormatWords(memory, layout);
        described = new StreamWords(memory);
        done = new boolean[layout.entries()];
        ringBytes = memory.getLong(SegmentLayout.RING_BYTES_AT);
        frameMaxBytes = described.frameMaxBytes(ringBytes);
        session = described.session();
        source = memory.getInt(SegmentLayout.ORIGIN_AT) == SegmentLayout.SOURCE;
        member = SegmentLayout.member(place);
        generation = memory.getLong(SegmentLayout.GENERATION_AT);
        next = memory.getLongVolatile(member + SegmentLayout.MEMBER_FIRST);
        released = next;
        begun = drops;
        // A source whose window has no room for a frame that no reader holds waits for this member.
        unheld = drops && memory.getInt(SegmentLayout.RETAINS_AT) != 0;
        if (unheld) {
            letGo();
        }
    }

    /// Whether these are words of a segment of this version and layout.
    public static boolean isSound(final SegmentMemory memory, final TableLayout layout) {
        return memory.getLongVolatile(SegmentLayout.MAGIC_AT) == SegmentLayout.MAGIC
                && memory.getInt(SegmentLayout.VERSION_AT) == SegmentLayout.VERSION
                && memory.getLong(SegmentLayout.WORDS_BYTES_AT) == layout.wordsBytes()
                && memory.getInt(SegmentLayout.ENTRIES_AT) == layout.entries()
                && memory.getInt(SegmentLayout.MEMBERS_AT) == SegmentLayout.MEMBERS
                && memory.getLong(SegmentLayout.RING_BYTES_AT) > 0;
    }

    public int place() {
        return place;
    }

    /// Length of the table.
    int entries() {
        return layout.entries();
    }

    public long ringBytes() {
        return ringBytes;
    }

    /// Longest frame of the session.
    public long frameMaxBytes() {
        return frameMaxBytes;
    }

    public long session() {
        return session;
    }

    /// Whether the ring is the source's own window: its leader is the publisher.
    public boolean isOfSource() {
        return source;
    }

    /// The number of this segment; segments of a successor count on.
    public long generation() {
        return generation;
    }

    /// The frames that its user reads.
    ///
    /// @param availableBytes memory that this process may take
    public HeldFrames heldFrames(final HeldFrames.Ring ring, final long availableBytes) {
        final long slotBytes = described.slotBytes();
        // A source's own window takes a frame more; a receiver grants its source a window.
        final long reservedBytes = source ? 0 : described.windowSlots() * slotBytes;
        final long neededBytes = frameMaxBytes + HeldFrames.SLOTS_MORE * slotBytes + reservedBytes;
        return new HeldFrames(ring, layout, ringBytes, neededBytes, availableBytes);
    }

    /// The words about device memory.
    ///
    /// @param lives whether the member at a place lives
    public DeviceWords deviceWords(final IntPredicate lives) {
        return new DeviceWords(memory, layout, place, lives);
    }

    public int state() {
        final int state = memory.getIntVolatile(SegmentLayout.STATE_AT);
        if (state != SegmentLayout.RUNNING) {
            return state;
        }
        if (complete) {
            return SegmentLayout.END_OF_STREAM;
        }
        // Where the leader was the publisher, the source went with it.
        return lost || (source && leaderLost) ? SegmentLayout.SOURCE_LOST : state;
    }

    /// What there is to read. With a state of before [#begin], it sees all entries that were published before the
    /// state changed.
    ///
    /// @param state of [#state]
    public StreamStatus status(final int state) {
        if (begun && hasNext()) {
            return StreamStatus.FRAMES;
        }
        return switch (state) {
            case SegmentLayout.JOINING -> StreamStatus.NONE;
            case SegmentLayout.RUNNING -> begun ? StreamStatus.STREAMING : StreamStatus.NONE;
            case SegmentLayout.END_OF_STREAM -> StreamStatus.ENDED;
            default -> StreamStatus.LOST;
        };
    }

    /// Whether its stream goes on where that of an earlier leader stopped.
    public boolean continues() {
        return memory.getLong(SegmentLayout.PREDECESSOR_AT) != 0;
    }

    /// Whether a successor would go on from here, and not from the segment that this one continues.
    public boolean isOpen() {
        return !continues() || memory.getIntVolatile(SegmentLayout.OPEN_AT) != 0;
    }

    /// A word that changes as long as the leader runs.
    public long heartbeat() {
        return memory.getLongVolatile(SegmentLayout.HEARTBEAT_AT);
    }

    /// Its leader is gone, or stands still. Where the leader had promised the end of the stream, the stream has
    /// ended.
    public void lookForEnd() {
        final int state = state();
        final CheckpointWords.Found found = CheckpointWords.read(memory, formats);
        complete |= mayGoOn(state) && !source && found != null && found.checkpoint().complete;
    }

    // A leader that died while it took over has left the state that it would have gone on from.
    private static boolean mayGoOn(final int state) {
        return state == SegmentLayout.RUNNING || state == SegmentLayout.JOINING;
    }

    /// Whether there is a promise that a successor can go on with; as [#promise], but for values that make no
    /// sense.
    public boolean hasPromise() {
        final CheckpointWords.Found found = source || !mayGoOn(state()) ? null : CheckpointWords.read(memory, formats);
        return found != null && !found.checkpoint().complete;
    }

    /// The leader is gone, or stands still: claims the membership for a successor. [#promise] follows.
    ///
    /// @return the number of the claim
    public int claim() {
        // Before the checkpoint is read. A leader that only stood still reports nothing new from then on.
        final int claim = 1 + memory.getAndAddInt(SegmentLayout.CLAIMED_AT, 1);
        // A later successor does not wait for this one, which stood still or died by then.
        memory.putIntVolatile(member + SegmentLayout.MEMBER_LEFT, 1);
        return claim;
    }

    /// Whether no other successor has claimed the membership since.
    ///
    /// @param claim of [#claim]
    public boolean isNewest(final int claim) {
        return memory.getIntVolatile(SegmentLayout.CLAIMED_AT) == claim;
    }

    /// Successor: the state to go on with.
    ///
    /// @param channel the stream's
    /// @return null where there is no membership to go on with: the stream has ended, or its words make no sense
    public @Nullable Promise promise(final String channel) {
        if (source || !mayGoOn(state())) {
            return null;
        }
        final CheckpointWords.Found found = CheckpointWords.read(memory, formats);
        final StreamInfo stream = stream(channel);
        if (found == null || stream == null) {
            return null;
        }
        final Checkpoint from = found.checkpoint();
        if (from.complete) {
            complete = true;
            return null;
        }
        final long published = memory.getLongVolatile(SegmentLayout.PUBLISHED_AT);
        final long last = published - 1;
        if (published > 0 && memory.getLongVolatile(layout.entry(last)) == SegmentLayout.version(last)) {
            final long behind = memory.getLong(layout.entry(last) + SegmentLayout.ENTRY_END);
            from.skipTo(behind, frameId(last) + (isLoss(last) ? length(last) : 1));
        }
        final boolean waitedFor = memory.getIntVolatile(SegmentLayout.WAITS_AT) != 0;
        return Promise.of(stream, from, found.offset(), ringBytes, waitedFor);
    }

    /// The stream as its leader describes it; null where the description makes no sense.
    public @Nullable StreamInfo stream(final String channel) {
        return described.read(channel, session, frameMaxBytes);
    }

    /// The members that a successor awaits.
    ///
    /// @param lives whether the member at a place lives
    /// @param end runs once, behind the last question
    public FollowersToAwait followersToAwait(final IntPredicate lives, final Runnable end) {
        final Map<Long, Integer> places = new HashMap<>();
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            if (isAwaited(i) && lives.test(i)) {
                places.put(memory.getLong(SegmentLayout.member(i) + SegmentLayout.MEMBER_NUMBER), i);
            }
        }
        return new FollowersToAwait(places, lives, end);
    }

    /// Whether a successor awaits the member at a place, if it lives.
    public boolean isAwaited(final int index) {
        final int other = SegmentLayout.member(index);
        return memory.getIntVolatile(other) == SegmentLayout.MEMBER_ACTIVE
                && memory.getIntVolatile(other + SegmentLayout.MEMBER_LEFT) == 0;
    }

    /// The source's clock less the host's.
    public long clockOffsetNs() {
        return memory.getLongVolatile(SegmentLayout.CLOCK_OFFSET_AT);
    }

    /// The error of that; MAX_VALUE where the source's clock is not known.
    public long clockErrorNs() {
        return memory.getLongVolatile(SegmentLayout.CLOCK_ERROR_AT);
    }

    /// The calendar of the leader's process less the host's clock.
    public long leaderClockNs() {
        return memory.getLong(SegmentLayout.LEADER_CLOCK_AT);
    }

    /// Entries so far.
    public long published() {
        return memory.getLongVolatile(SegmentLayout.PUBLISHED_AT);
    }

    /// Whether an entry waits.
    public boolean hasNext() {
        return published() > next;
    }

    /// Looks whether the source waits for the leader, so that nothing is missed from the next entry on. Releases
    /// the entries that were published before the leader asked the source to wait. In front of [#status].
    public boolean begin() {
        if (begun) {
            return false;
        }
        final boolean waits = memory.getIntVolatile(SegmentLayout.WAITS_AT) != 0;
        final long from = memory.getLongVolatile(SegmentLayout.WAITED_FROM_AT);
        final long limit = Math.min(from, published());
        final boolean passes = limit > next;
        if (passes) {
            next = limit;
            released = limit;
            reportReleased();
        }
        begun = waits && from <= limit;
        return passes;
    }

    /// Behind a copy of an entry's frame: true when the leader had not begun to write there again.
    public boolean isIntact(final long number) {
        VarHandle.loadLoadFence();
        return !unheld || memory.getLongVolatile(SegmentLayout.FREED_AT) <= number;
    }

    /// Behind the first entry: the frame with which this member begins.
    public long firstFrameId() {
        final long first = memory.getLong(member + SegmentLayout.MEMBER_FIRST_FRAME);
        return first == SegmentLayout.FROM_START ? memory.getLong(SegmentLayout.START_FRAME_AT) : first;
    }

    /// True where the leader may write a frame while this member reads it.
    public boolean isUnheld() {
        return unheld;
    }

    /// Holds nothing.
    public void letGo() {
        memory.putLongVolatile(member + SegmentLayout.MEMBER_RELEASED, SegmentLayout.NOTHING_HELD);
    }

    // Entries that the leader may have written again are gone.
    private void catchUp() {
        if (unheld) {
            next = Math.max(next, Math.min(memory.getLongVolatile(SegmentLayout.FREED_AT), published()));
        }
    }

    /// Number of the entry that waits, or will.
    public long upcoming() {
        return next;
    }

    /// Whether the entry that waits is a frame.
    public boolean hasFrame() {
        return hasNext() && !isLoss(next);
    }

    /// The next entry, to be taken.
    ///
    /// @return its number; −1 when there is none
    /// @throws IllegalStateException when the leader broke the table
    public long peek() {
        catchUp();
        while (hasNext()) {
            if (memory.getLongVolatile(layout.entry(next)) == SegmentLayout.version(next)) {
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
    public long take() {
        if (peek() < 0) {
            return -1;
        }
        done[layout.index(next)] = false;
        return next++;
    }

    public boolean isLoss(final long number) {
        return word(number, SegmentLayout.ENTRY_KIND) == SegmentLayout.LOSS;
    }

    public long frameId(final long number) {
        return memory.getLong(layout.entry(number) + SegmentLayout.ENTRY_FRAME_ID);
    }

    /// The number of the frame, or of the last one of a loss.
    public long lastFrameId(final long number) {
        return frameId(number) + (isLoss(number) ? Math.max(1, length(number)) - 1 : 0);
    }

    /// Bytes of a frame, or frames of a loss.
    public long length(final long number) {
        return memory.getLong(layout.entry(number) + SegmentLayout.ENTRY_LENGTH);
    }

    /// Frames of a loss.
    ///
    /// @throws IllegalStateException when the leader broke the table
    public long lost(final long number) {
        final long count = length(number);
        if (count < 1 && isIntact(number)) {
            throw new IllegalStateException("host group: entry " + number + " is a loss of " + count + " frames");
        }
        return count;
    }

    public long timestampNs(final long number) {
        return memory.getLong(layout.entry(number) + SegmentLayout.ENTRY_TIMESTAMP);
    }

    public boolean isKeyframe(final long number) {
        return (word(number, SegmentLayout.ENTRY_FLAGS) & SegmentLayout.KEYFRAME) != 0;
    }

    /// Whether the frame lies where it was received.
    public boolean isInPlace(final long number) {
        return word(number, SegmentLayout.ENTRY_DETAIL) != 0;
    }

    /// The reason of a loss.
    public LossReason lossReason(final long number) {
        return REASONS[Math.clamp(word(number, SegmentLayout.ENTRY_DETAIL), 0, REASONS.length - 1)];
    }

    private int word(final long number, final int field) {
        return memory.getInt(layout.entry(number) + field);
    }

    public byte[] metadata(final long number) {
        final int bytes = Math.clamp(word(number, SegmentLayout.ENTRY_METADATA), 0, SegmentLayout.METADATA_BYTES_MAX);
        final byte[] copy = new byte[bytes];
        memory.getBytes(layout.metadata(number), copy);
        return copy;
    }

    private int formatPlace(final long number) {
        return word(number, SegmentLayout.ENTRY_FLAGS) >>> SegmentLayout.ENTRY_FORMAT_SHIFT;
    }

    /// The format of an entry's frame; null for none.
    public byte @Nullable [] format(final long number) {
        return formats.get(formatPlace(number));
    }

    /// The offset of an entry's frame in the ring, which goes on at its start.
    ///
    /// @param bytes its length, as it was read once
    /// @throws IllegalStateException when the leader broke the table
    public long offset(final long number, final long bytes) {
        final long offset = memory.getLong(layout.entry(number) + SegmentLayout.ENTRY_OFFSET);
        if (offset < 0 || offset >= ringBytes || bytes <= 0 || bytes > frameMaxBytes) {
            throw new IllegalStateException("host group: a frame of " + bytes + " bytes at " + offset
                    + " does not lie in the ring of " + ringBytes);
        }
        return offset;
    }

    /// An entry is released. The leader may write its slots again once all before it were released too.
    public boolean release(final long number) {
        if (unheld) {
            return false;
        }
        done[layout.index(number)] = true;
        while (released < next && done[layout.index(released)]) {
            released++;
        }
        reportReleased();
        return isWanted();
    }

    /// Gives an entry's frame to the user, in the ring or as a copy elsewhere, until it is given back. The entry
    /// of a copied frame is to be released when the copy is done.
    public HeldFrames.Held give(final HeldFrames frames, final long number, final long offset, final long bytes) {
        return frames.give(number, offset, bytes, formatPlace(number));
    }

    /// The user gives a frame back.
    public boolean giveBack(final HeldFrames frames, final HeldFrames.Held given) {
        final boolean wakes = frames.giveBack(given) && release(given.number());
        reportHeld(frames);
        return wakes;
    }

    /// The user reads on, and holds no frame in the ring whose room the leader may lack.
    public boolean makeRoom(final HeldFrames frames) {
        final long before = released;
        boolean wakes = false;
        while (released < next && frames.isInTheWay(released, next) && frames.keep(released)) {
            wakes |= release(released);
        }
        if (released != before) {
            reportHeld(frames);
        }
        return wakes;
    }

    /// For the leader and `stat`.
    public void reportHeld(final HeldFrames frames) {
        final int reader = layout.reader(place);
        memory.putLongRelease(reader + SegmentLayout.READER_HELD, frames.held());
        memory.putLongRelease(reader + SegmentLayout.READER_COPIED, frames.copiedFrames());
    }

    private void reportReleased() {
        memory.putLongVolatile(member + SegmentLayout.MEMBER_RELEASED, Math.min(released, held));
    }

    /// The entry that waits, and those behind it, are held for another reader in this process, also when the user
    /// released them.
    ///
    /// @return its number
    public long hold() {
        held = next;
        return next;
    }

    /// That reader needs entries from here on alone. The leader is to be woken.
    public void holdFrom(final long number) {
        held = number;
        reportReleased();
    }

    /// Reads on from an entry that another member in this process holds.
    public void moveBack(final long number) {
        next = Math.min(next, number);
    }

    // A leader that runs short of room writes the entry that it waits for. The last member to release that wakes it.
    private boolean isWanted() {
        final long wanted = memory.getLongVolatile(SegmentLayout.WANTS_AT);
        if (wanted == 0 || released < wanted) {
            return false;
        }
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            final int other = SegmentLayout.member(i);
            if (memory.getIntVolatile(other) == SegmentLayout.MEMBER_ACTIVE
                    && memory.getLongVolatile(other + SegmentLayout.MEMBER_RELEASED) < wanted) {
                return false;
            }
        }
        return memory.compareAndSetLong(SegmentLayout.WANTS_AT, wanted, 0);
    }

    /// The leader wakes this member by the next entry.
    ///
    /// @param seen the state in which it sleeps
    /// @return false when an entry waits already, or the state is another by now
    public boolean sleeps(final int seen) {
        memory.putIntVolatile(member + SegmentLayout.MEMBER_SLEEPS, 1);
        if (hasNext() || state() != seen) {
            wakes();
            return false;
        }
        return true;
    }

    public void wakes() {
        memory.putIntVolatile(member + SegmentLayout.MEMBER_SLEEPS, 0);
    }

    /// This member will not follow the leader's successor.
    public void leave() {
        memory.putIntVolatile(member + SegmentLayout.MEMBER_LEFT, 1);
    }

    /// Its leader is gone.
    public void onLeaderLost() {
        leaderLost = true;
    }

    /// Its source is lost to this host.
    public void onLost() {
        lost = true;
    }
}
