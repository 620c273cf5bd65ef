package io.framecast.reliability.group;

import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.window.StreamFormat;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A leader's side of the words that it shares for one session: it writes the frame table and reads how far each
/// member has released.
///
/// Threading: the frame table by the receiver's thread; members come and go by the leader's listener. They meet in the
/// words of the members.
public final class LeaderTable {
    private final SegmentMemory memory;
    private final TableLayout layout;
    private final Header header;
    // Whether this is the newest claim on the segment that it continues.
    private final BooleanSupplier mayOpen;
    private final Wakers wakers;
    private final FormatWords formats;
    private final CheckpointWords checkpoints;
    // Places of members, a bit each. The members' words repeat it for the members. The listener writes it.
    private final AtomicLong taken = new AtomicLong();
    private volatile long published;
    // Written to the table, and not published yet: frames of one datagram are published together.
    private long written;
    // Receiver: entries below were released.
    private long released;
    // The members of this leader, or of an earlier one, are still to come: everything is kept for them.
    private volatile boolean awaiting = true;
    // By member: the policy of a subscriber; null for a member that copies for other members. The listener's.
    private final @Nullable Delivery[] deliveries = new Delivery[SegmentLayout.MEMBERS];
    private volatile int members;
    // Of the members' policies.
    private volatile Delivery strongest;
    // Some of them hold nothing.
    private volatile boolean read;
    private long freed;
    // The receiver's: members may go on from here.
    private boolean open;

    /// The words that a leader writes before it shares them.
    ///
    /// @param ringBytes length of the ring that the frames lie in
    /// @param generation of this segment
    /// @param predecessor generation of the segment that this one continues; 0 for none
    /// @param process of the leader, for people alone
    /// @param clockNs the calendar of the leader's process less the host's clock
    public record Header(
            StreamInfo stream, long ringBytes, long generation, long predecessor, int process, long clockNs) {}

    /// Wakes members that sleep.
    public interface Wakers {
        /// @param member its place
        void wake(int member);
    }

    /// @param memory zeros
    /// @param delivery under which the leader is a member at first
    /// @param mayOpen whether no other successor has claimed the segment that this one continues since
    public LeaderTable(
            final SegmentMemory memory,
            final TableLayout layout,
            final Header header,
            final Delivery delivery,
            final BooleanSupplier mayOpen,
            final Wakers wakers) {
        this.memory = memory;
        this.layout = layout;
        this.header = header;
        this.mayOpen = mayOpen;
        this.wakers = wakers;
        formats = new FormatWords(memory, layout);
        checkpoints = new CheckpointWords(memory, formats);
        strongest = delivery;
        open = header.predecessor == 0;
        write(header.stream);
        memory.putLong(SegmentLayout.CLOCK_ERROR_AT, Long.MAX_VALUE);
        memory.putInt(SegmentLayout.RETAINS_AT, 1);
        memory.putInt(SegmentLayout.WAITS_AT, delivery.isWaitedFor() ? 1 : 0);
        memory.putLong(SegmentLayout.WAITED_FROM_AT, delivery.isWaitedFor() ? 0 : SegmentLayout.NOT_ASKED);
        memory.putInt(SegmentLayout.OPEN_AT, open ? 1 : 0);
        memory.putLongRelease(SegmentLayout.MAGIC_AT, SegmentLayout.MAGIC);
    }

    private void write(final StreamInfo stream) {
        memory.putInt(SegmentLayout.VERSION_AT, SegmentLayout.VERSION);
        memory.putLong(SegmentLayout.WORDS_BYTES_AT, layout.wordsBytes());
        memory.putLong(SegmentLayout.RING_BYTES_AT, header.ringBytes);
        memory.putLong(SegmentLayout.GENERATION_AT, header.generation);
        memory.putInt(SegmentLayout.ENTRIES_AT, layout.entries());
        memory.putInt(SegmentLayout.MEMBERS_AT, SegmentLayout.MEMBERS);
        memory.putLong(SegmentLayout.PREDECESSOR_AT, header.predecessor);
        memory.putInt(SegmentLayout.LEADER_PID_AT, header.process);
        memory.putLong(SegmentLayout.LEADER_CLOCK_AT, header.clockNs);
        new StreamWords(memory).write(stream);
    }

    public TableLayout layout() {
        return layout;
    }

    public long generation() {
        return header.generation;
    }

    /// Before it is shared: its ring is the source's own window. Members begin at the next entry, and entries
    /// that were published before the first member came are not kept.
    ///
    /// @param retains whether the newest frame stays until the next one is published, also when no reader holds
    ///     it
    /// @param clockOffsetNs the source's clock less the host's
    public void ofSource(final boolean retains, final long clockOffsetNs, final long clockErrorNs) {
        memory.putInt(SegmentLayout.ORIGIN_AT, SegmentLayout.SOURCE);
        memory.putInt(SegmentLayout.RETAINS_AT, retains ? 1 : 0);
        clock(clockOffsetNs, clockErrorNs);
        awaiting = false;
        become(SegmentLayout.RUNNING);
    }

    /// Any thread: subscribers among the members that are admitted.
    public int members() {
        return members;
    }

    /// Any thread: the strongest of their policies.
    public Delivery strongest() {
        return strongest;
    }

    /// Any thread: whether some of them copy frames out that may be freed meanwhile.
    public boolean isReadUnheld() {
        return read;
    }

    /// Receiver: the source is asked to wait for the leader, or need not wait any more. Members that must miss
    /// nothing keep the entries that are written from here on, except entries before a loss.
    public void askToWait(final boolean asked) {
        final boolean before = memory.getLong(SegmentLayout.WAITED_FROM_AT) != SegmentLayout.NOT_ASKED;
        if (asked != before) {
            memory.putIntVolatile(SegmentLayout.WAITS_AT, 0);
            memory.putLongVolatile(SegmentLayout.WAITED_FROM_AT, asked ? written : SegmentLayout.NOT_ASKED);
            VarHandle.fullFence();
        }
    }

    /// Receiver: the source that was asked waits now: nothing is lost from here on.
    public void onWaitedFor() {
        if (memory.getInt(SegmentLayout.WAITS_AT) == 0) {
            memory.putIntVolatile(SegmentLayout.WAITS_AT, 1);
            VarHandle.fullFence();
            wakeAll();
        }
    }

    private void skipLoss(final long number) {
        if (memory.getInt(SegmentLayout.WAITS_AT) == 0
                && memory.getLong(SegmentLayout.WAITED_FROM_AT) != SegmentLayout.NOT_ASKED) {
            memory.putLongVolatile(SegmentLayout.WAITED_FROM_AT, number + 1);
        }
    }

    /// Receiver or sender: entries below, and their frames, may be written again from now on.
    public void free(final long limit) {
        if (limit > freed) {
            freed = limit;
            memory.putLongVolatile(SegmentLayout.FREED_AT, limit);
            VarHandle.fullFence();
        }
    }

    /// Any thread: entries so far.
    public long published() {
        return published;
    }

    /// Any thread: the member by whose release all entries below a number are released wakes the leader.
    ///
    /// @param limit 0 for none
    public void want(final long limit) {
        memory.putLongVolatile(SegmentLayout.WANTS_AT, limit);
    }

    /// Receiver: whether the table has room for one more entry, or for all frames of a datagram.
    ///
    /// @param oldest entries below were released
    public boolean hasRoom(final long oldest) {
        released = oldest;
        final boolean room = written - oldest < layout.room();
        return (room && formats.hasRoom(oldest)) || written > published;
    }

    /// Receiver: publishes a frame that lies at an offset of the ring; frames of one datagram with the last of
    /// them.
    ///
    /// @param end sequence behind it
    /// @return its number
    public long publish(final ReceivedFrame frame, final long offset, final boolean inPlace, final long end) {
        final long number = write(
                frame.frameId(), offset, frame.bytes(), frame.flags(), frame.timestampNs(), inPlace, frame.metadata());
        name(number, frame.format(), released);
        memory.putLong(layout.entry(number) + SegmentLayout.ENTRY_END, end);
        seal(number);
        if (frame.endsSlots()) {
            show();
        }
        return number;
    }

    /// Receiver: formats need that no entry below this number can be read any more.
    public long sparingFormats() {
        return formats.sparing();
    }

    // The format of an entry that is written.
    private void name(final long number, final @Nullable StreamFormat format, final long oldest) {
        if (format != null) {
            final int at = layout.entry(number) + SegmentLayout.ENTRY_FLAGS;
            final int place = formats.put(format, number, oldest);
            memory.putInt(at, memory.getInt(at) | place << SegmentLayout.ENTRY_FORMAT_SHIFT);
        }
    }

    /// Source: whether there is room for one more format.
    ///
    /// @param oldest entries below were released
    public boolean hasRoomForFormat(final long oldest) {
        return formats.hasRoom(oldest);
    }

    /// Source: publishes a frame that lies at an offset of the ring.
    ///
    /// @param oldest entries below were released
    /// @return its number
    public long publish(
            final long frameId,
            final long offset,
            final long length,
            final int flags,
            final long timestampNs,
            final boolean inPlace,
            final byte @Nullable [] metadata,
            final @Nullable StreamFormat format,
            final long oldest) {
        final long number = write(frameId, offset, length, flags, timestampNs, inPlace, metadata);
        name(number, format, oldest);
        seal(number);
        show();
        return number;
    }

    private long write(
            final long frameId,
            final long offset,
            final long length,
            final int flags,
            final long timestampNs,
            final boolean inPlace,
            final byte @Nullable [] metadata) {
        final int entry = begin(SegmentLayout.FRAME, frameId);
        memory.putInt(entry + SegmentLayout.ENTRY_FLAGS, flags & SegmentLayout.KEYFRAME);
        memory.putLong(entry + SegmentLayout.ENTRY_OFFSET, offset % header.ringBytes);
        memory.putLong(entry + SegmentLayout.ENTRY_LENGTH, length);
        memory.putLong(entry + SegmentLayout.ENTRY_TIMESTAMP, timestampNs);
        memory.putInt(entry + SegmentLayout.ENTRY_DETAIL, inPlace ? 1 : 0);
        final int bytes = metadata == null ? 0 : Math.min(metadata.length, SegmentLayout.METADATA_BYTES_MAX);
        memory.putInt(entry + SegmentLayout.ENTRY_METADATA, bytes);
        if (metadata != null) {
            memory.putBytes(layout.metadata(written), metadata, bytes);
        }
        return written++;
    }

    /// Receiver: publishes that frames are lost.
    ///
    /// @param end sequence behind them
    /// @return its number
    public long publishLoss(final long firstFrameId, final long count, final LossReason reason, final long end) {
        final int entry = begin(SegmentLayout.LOSS, firstFrameId);
        memory.putLong(entry + SegmentLayout.ENTRY_LENGTH, count);
        memory.putInt(entry + SegmentLayout.ENTRY_DETAIL, reason.ordinal());
        memory.putLong(entry + SegmentLayout.ENTRY_END, end);
        final long number = written++;
        seal(number);
        skipLoss(number);
        show();
        return number;
    }

    private int begin(final int kind, final long frameId) {
        final int entry = layout.entry(written);
        memory.putLongRelease(entry, SegmentLayout.version(written) - 1);
        VarHandle.storeStoreFence();
        memory.putInt(entry + SegmentLayout.ENTRY_KIND, kind);
        memory.putLong(entry + SegmentLayout.ENTRY_FRAME_ID, frameId);
        return entry;
    }

    private void seal(final long number) {
        memory.putLongRelease(layout.entry(number), SegmentLayout.version(number));
    }

    private void show() {
        // First the word: a thread that finds the entry counted finds it in the words as well.
        memory.putLongVolatile(SegmentLayout.PUBLISHED_AT, written);
        published = written;
        wakeAll();
    }

    /// Receiver: writes the state that a successor needs, before the source hears of it.
    ///
    /// @param offset of the frame in progress in the ring
    public void checkpoint(final Checkpoint checkpoint, final long offset) {
        checkpoints.write(checkpoint, offset, written, released);
    }

    /// Receiver, behind [#checkpoint]: whether a successor reads, or has read, an earlier one.
    public boolean isClaimed() {
        return memory.getIntVolatile(SegmentLayout.CLAIMED_AT) != 0;
    }

    /// Receiver, behind the first [#checkpoint]: if this leader dies too, its members go on from here.
    ///
    /// @return false where another successor goes on from the segment before
    public boolean open() {
        if (!open) {
            // A successor claims first and looks here then; this looks at the claims then.
            memory.putIntVolatile(SegmentLayout.OPEN_AT, 1);
            VarHandle.fullFence();
            open = mayOpen.getAsBoolean();
        }
        return open;
    }

    /// Listener: a sign of life.
    public void beat() {
        memory.putLongRelease(SegmentLayout.HEARTBEAT_AT, 1 + memory.getLong(SegmentLayout.HEARTBEAT_AT));
    }

    /// Listener: every member of the earlier leader came, or none will.
    public void onHandoverComplete() {
        awaiting = false;
    }

    /// Listener: whether it keeps everything for members of an earlier leader.
    public boolean isAwaiting() {
        return awaiting;
    }

    /// Receiver: the source's clock less the host's. Members get it by the host's clock: the clocks of their
    /// processes may be others.
    ///
    /// @param errorNs MAX_VALUE where the source's clock is not known
    public void clock(final long offsetNs, final long errorNs) {
        memory.putLongRelease(SegmentLayout.CLOCK_OFFSET_AT, offsetNs);
        memory.putLongRelease(SegmentLayout.CLOCK_ERROR_AT, errorNs);
    }

    /// Receiver: the source counts the leader as a member from this frame on.
    public void start(final long frameId) {
        memory.putLong(SegmentLayout.START_FRAME_AT, frameId);
        become(SegmentLayout.RUNNING);
    }

    /// Receiver: the source counts the leader as a member, or nothing more will be published.
    public void become(final int state) {
        memory.putIntRelease(SegmentLayout.STATE_AT, state);
        VarHandle.fullFence();
        wakeAll();
    }

    private void wakeAll() {
        for (long left = taken.get(); left != 0; left &= left - 1) {
            final int place = Long.numberOfTrailingZeros(left);
            final int sleeps = SegmentLayout.member(place) + SegmentLayout.MEMBER_SLEEPS;
            if (memory.getIntVolatile(sleeps) != 0 && memory.compareAndSetInt(sleeps, 1, 0)) {
                wakers.wake(place);
            }
        }
    }

    /// Receiver: entries below were released by all members. A hostile member's words free nothing that was
    /// not published, and delay no other member's frames beyond its connection.
    public long released() {
        if (awaiting) {
            return 0;
        }
        long least = published;
        for (long left = taken.get(); left != 0; left &= left - 1) {
            final int member = SegmentLayout.member(Long.numberOfTrailingZeros(left));
            least = Math.min(least, memory.getLongVolatile(member + SegmentLayout.MEMBER_RELEASED));
        }
        return least;
    }

    /// Whether a member has the place.
    public boolean isTaken(final int place) {
        return (taken.get() & 1L << place) != 0;
    }

    /// Listener: a member reads from the next entry on.
    ///
    /// @param place that is not taken
    /// @param process its process, as this one sees it
    /// @param delivery its policy; null for one that does not count as a subscriber
    public void admit(final int place, final int process, final @Nullable Delivery delivery) {
        final int member = SegmentLayout.member(place);
        memory.putInt(member + SegmentLayout.MEMBER_PID, process);
        memory.putLong(member + SegmentLayout.MEMBER_NUMBER, 0);
        memory.putInt(member + SegmentLayout.MEMBER_SLEEPS, 0);
        DeviceWords.clear(memory, layout, place);
        memory.clear(layout.reader(place), SegmentLayout.READER_BYTES);
        memory.putInt(member + SegmentLayout.MEMBER_LEFT, 0);
        memory.putInt(member + SegmentLayout.MEMBER_DELIVERY, delivery == null ? 0 : delivery.code());
        deliveries[place] = delivery;
        // Before it looks whether the source waits.
        judge();
        final boolean fromHere = !awaiting;
        long first = fromHere ? published : 0;
        memory.putLong(member + SegmentLayout.MEMBER_RELEASED, first);
        memory.putIntVolatile(member, SegmentLayout.MEMBER_ACTIVE);
        taken.set(taken.get() | 1L << place);
        VarHandle.fullFence();
        // An entry that is published from here on is not freed before this member released it. Members that
        // the leader awaits read from the beginning.
        first = fromHere ? published : 0;
        memory.putLongVolatile(member + SegmentLayout.MEMBER_RELEASED, first);
        memory.putLong(member + SegmentLayout.MEMBER_FIRST_FRAME, frameBehind(first - 1));
        memory.putLongVolatile(member + SegmentLayout.MEMBER_FIRST, first);
        // A publisher that waits for this member publishes from here on, and the member misses none of that.
        members = subscribers();
        VarHandle.fullFence();
    }

    /// Listener: notes the identity of a member.
    ///
    /// @param number that it names to each leader
    /// @param isOwn whether it is the leader's own subscriber: no successor waits for it
    public void name(final int place, final long number, final boolean isOwn) {
        final int member = SegmentLayout.member(place);
        memory.putIntVolatile(member + SegmentLayout.MEMBER_LEFT, isOwn ? 1 : 0);
        memory.putLongVolatile(member + SegmentLayout.MEMBER_NUMBER, number);
    }

    private long frameBehind(final long number) {
        if (number < 0) {
            return SegmentLayout.FROM_START;
        }
        final int entry = layout.entry(number);
        final boolean loss = memory.getInt(entry + SegmentLayout.ENTRY_KIND) == SegmentLayout.LOSS;
        return memory.getLong(entry + SegmentLayout.ENTRY_FRAME_ID)
                + (loss ? memory.getLong(entry + SegmentLayout.ENTRY_LENGTH) : 1);
    }

    private int subscribers() {
        int subscribers = 0;
        for (final Delivery delivery : deliveries) {
            subscribers += delivery == null ? 0 : 1;
        }
        return subscribers;
    }

    private void judge() {
        boolean unheld = false;
        Delivery all = null;
        for (final Delivery delivery : deliveries) {
            if (delivery != null) {
                unheld |= !delivery.isWaitedFor();
                all = all == null ? delivery : Delivery.strongest(all, delivery);
            }
        }
        read = unheld;
        strongest = all == null ? strongest : all;
    }

    /// Any thread: the policy of the member at a place, as it says.
    public Delivery deliveryOf(final int place) {
        final int code = memory.getInt(SegmentLayout.member(place) + SegmentLayout.MEMBER_DELIVERY);
        return Delivery.isCode(code) ? Delivery.of(code) : Delivery.RELIABLE;
    }

    /// Any thread: entries below were released by the member at a place; −1 where there is none.
    public long releasedBy(final int place) {
        return isTaken(place)
                ? Math.clamp(
                        memory.getLongVolatile(SegmentLayout.member(place) + SegmentLayout.MEMBER_RELEASED),
                        0,
                        published)
                : -1;
    }

    /// Any thread: frames that the user of the member at a place has, as it says.
    public long heldBy(final int place) {
        return Math.max(0, memory.getLongVolatile(layout.reader(place) + SegmentLayout.READER_HELD));
    }

    /// Any thread: frames that the member at a place copied because the ring had no room for them any more, as it
    /// says.
    public long copiedBy(final int place) {
        return Math.max(0, memory.getLongVolatile(layout.reader(place) + SegmentLayout.READER_COPIED));
    }

    /// Any thread: how far all have released, where the leader runs short of room.
    ///
    /// @return −1 where it does not
    public long shortAt() {
        return memory.getLongVolatile(SegmentLayout.WANTS_AT) == 0 ? -1 : released();
    }

    /// How long a silence counts as none, in the source's words.
    public long aliveTimeoutNs() {
        return memory.getInt(SegmentLayout.ALIVE_MS_AT) * 1_000_000L;
    }

    /// Any thread: the process of the member at a place, as this one sees it; 0 for one of another PID namespace.
    public int processOf(final int place) {
        return memory.getInt(SegmentLayout.member(place) + SegmentLayout.MEMBER_PID);
    }

    /// Listener: a member is gone.
    public void dismiss(final int place) {
        memory.putIntVolatile(SegmentLayout.member(place), SegmentLayout.MEMBER_FREE);
        DeviceWords.clear(memory, layout, place);
        deliveries[place] = null;
        judge();
        members = subscribers();
        taken.set(taken.get() & ~(1L << place));
    }
}
