package io.framecast.engine.hostgroup;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.ByteLocks;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.memory.SharedWords;
import io.framecast.engine.session.EpochClock;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.window.StreamFormat;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.Arena;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// A leader's side of the memory that it shares for one session: it writes the frame table and reads how far each
/// follower has released.
///
/// Threading: the frame table by the receiver's thread; members come and go by the leader's listener. They meet in the
/// words of the members.
final class LeaderSegment implements AutoCloseable {
    private final SharedWords words;
    private final UnsafeBuffer buffer;
    private final int ring;
    private final long ringBytes;
    private final long generation;
    // By member: 1 + the descriptor that wakes it; 0 for a free place. The members' words repeat it for the members.
    private final AtomicIntegerArray wakers = new AtomicIntegerArray(SegmentLayout.MEMBERS);
    // By member, until they are sent: 1 + a descriptor of the words that holds the lock on the byte of its place. The
    // listener's.
    private final int[] files = new int[SegmentLayout.MEMBERS];
    private volatile long published;
    // Written to the table, and not published yet: frames of one datagram are published together.
    private long written;
    private final FormatWords formats;
    private final CheckpointWords checkpoints;
    // Receiver: entries below were released.
    private long released;
    // The followers of this leader, or of an earlier one, are still to come: everything is kept for them.
    private volatile boolean awaiting = true;
    // By member: the policy of a subscriber; null for a member that copies for other members. The listener's.
    private final @Nullable Delivery[] deliveries = new Delivery[SegmentLayout.MEMBERS];
    private volatile int members;
    // Of the members' policies.
    private volatile Delivery strongest;
    // Some of them hold nothing.
    private volatile boolean read;
    private long freed;
    // Whether this is the newest claim on the segment that it continues.
    private final BooleanSupplier mayOpen;
    // The receiver's: members may go on from here.
    private boolean open;

    /// @param ring descriptor of the ring's memory, the caller's
    /// @param predecessor generation of the segment that this one continues; 0 for none
    /// @param mayOpen whether no other successor has claimed that one since
    /// @param delivery under which the leader is a member at first
    LeaderSegment(
            final int ring,
            final long ringBytes,
            final StreamInfo stream,
            final long generation,
            final long predecessor,
            final BooleanSupplier mayOpen,
            final Delivery delivery) {
        this.mayOpen = mayOpen;
        this.ringBytes = ringBytes;
        strongest = delivery;
        this.generation = generation;
        words = SharedWords.create(SegmentLayout.wordsBytes());
        this.ring = readOnly(ring);
        if (this.ring < 0) {
            words.close();
            throw new TransportException("host group: no descriptor left; raise ulimit -n");
        }
        buffer = words.buffer();
        buffer.putInt(SegmentLayout.VERSION_AT, SegmentLayout.VERSION);
        buffer.putLong(SegmentLayout.WORDS_BYTES_AT, SegmentLayout.wordsBytes());
        buffer.putLong(SegmentLayout.RING_BYTES_AT, ringBytes);
        formats = new FormatWords(buffer);
        checkpoints = new CheckpointWords(buffer, formats);
        buffer.putLong(SegmentLayout.SESSION_AT, stream.session());
        buffer.putLong(SegmentLayout.GENERATION_AT, generation);
        buffer.putInt(SegmentLayout.ENTRIES_AT, SegmentLayout.ENTRIES);
        buffer.putInt(SegmentLayout.MEMBERS_AT, SegmentLayout.MEMBERS);
        buffer.putLong(SegmentLayout.FRAME_MAX_AT, stream.frameMaxBytes());
        buffer.putLong(SegmentLayout.PREDECESSOR_AT, predecessor);
        buffer.putInt(SegmentLayout.SLOT_BYTES_AT, stream.slotBytes());
        buffer.putInt(SegmentLayout.WINDOW_SLOTS_AT, stream.windowSlots());
        buffer.putInt(SegmentLayout.ALIVE_MS_AT, stream.aliveTimeoutMs());
        buffer.putInt(SegmentLayout.SEAL_AT, stream.seal().flags());
        putAddress(SegmentLayout.CONTROL_ADDRESS_AT, stream.controlAddress());
        putAddress(SegmentLayout.DATA_ADDRESS_AT, stream.dataAddress());
        buffer.putInt(SegmentLayout.LEADER_PID_AT, (int) ProcessHandle.current().pid());
        buffer.putLong(SegmentLayout.CLOCK_ERROR_AT, Long.MAX_VALUE);
        buffer.putLong(SegmentLayout.LEADER_CLOCK_AT, EpochClock.ofProcess().hostOffsetNs());
        buffer.putInt(SegmentLayout.RETAINS_AT, 1);
        buffer.putInt(SegmentLayout.WAITS_AT, delivery.isWaitedFor() ? 1 : 0);
        buffer.putLong(SegmentLayout.WAITED_FROM_AT, delivery.isWaitedFor() ? 0 : SegmentLayout.NOT_ASKED);
        open = predecessor == 0;
        buffer.putInt(SegmentLayout.OPEN_AT, open ? 1 : 0);
        buffer.putLongOrdered(SegmentLayout.MAGIC_AT, SegmentLayout.MAGIC);
    }

    private void putAddress(final int at, final byte[] address) {
        buffer.putByte(at, (byte) address.length);
        buffer.putBytes(at + 1, address);
    }

    // Followers may read the frames, not write them.
    private static int readOnly(final int descriptor) {
        try (Arena scratch = Arena.ofConfined()) {
            return Libc.open(scratch.allocateFrom("/proc/self/fd/" + descriptor), Linux.O_RDONLY | Linux.O_CLOEXEC);
        }
    }

    int ringDescriptor() {
        return ring;
    }

    int wordsDescriptor() {
        return words.descriptor();
    }

    /// Listener: the words for the member at a place, until [#sent]. Their open file holds the lock on the byte of that
    /// place: as long as it is locked the member lives, or has not read the message with the descriptor.
    int wordsOf(final int index) {
        return files[index] - 1;
    }

    /// Listener: the member has its words, or is gone.
    void sent(final int index) {
        if (files[index] != 0) {
            Libc.close(files[index] - 1);
            files[index] = 0;
        }
    }

    long generation() {
        return generation;
    }

    /// Before it is shared: its ring is the source's own window. Members begin at the next entry, and entries
    /// that were published before the first member came are not kept.
    ///
    /// @param retains whether the newest frame stays until the next one is published, also when no reader holds it
    LeaderSegment ofSource(final boolean retains) {
        buffer.putInt(SegmentLayout.ORIGIN_AT, SegmentLayout.SOURCE);
        buffer.putInt(SegmentLayout.RETAINS_AT, retains ? 1 : 0);
        clock(0, 0);
        awaiting = false;
        become(SegmentLayout.RUNNING);
        return this;
    }

    /// Any thread: subscribers among the members that are admitted.
    int members() {
        return members;
    }

    /// Any thread: the strongest of their policies.
    Delivery strongest() {
        return strongest;
    }

    /// Any thread: whether some of them copy frames out that may be freed meanwhile.
    boolean isReadUnheld() {
        return read;
    }

    /// Receiver: the source is asked to wait for the leader, or need not wait any more. Followers that must miss
    /// nothing keep the entries that are written from here on, except entries before a loss.
    void askToWait(final boolean asked) {
        final boolean before = buffer.getLong(SegmentLayout.WAITED_FROM_AT) != SegmentLayout.NOT_ASKED;
        if (asked != before) {
            buffer.putIntVolatile(SegmentLayout.WAITS_AT, 0);
            buffer.putLongVolatile(SegmentLayout.WAITED_FROM_AT, asked ? written : SegmentLayout.NOT_ASKED);
            VarHandle.fullFence();
        }
    }

    /// Receiver: the source that was asked waits now: nothing is lost from here on.
    void onWaitedFor() {
        if (buffer.getInt(SegmentLayout.WAITS_AT) == 0) {
            buffer.putIntVolatile(SegmentLayout.WAITS_AT, 1);
            VarHandle.fullFence();
            wakeAll();
        }
    }

    private void skipLoss(final long number) {
        if (buffer.getInt(SegmentLayout.WAITS_AT) == 0
                && buffer.getLong(SegmentLayout.WAITED_FROM_AT) != SegmentLayout.NOT_ASKED) {
            buffer.putLongVolatile(SegmentLayout.WAITED_FROM_AT, number + 1);
        }
    }

    /// Receiver or sender: entries below, and their frames, may be written again from now on.
    void free(final long limit) {
        if (limit > freed) {
            freed = limit;
            buffer.putLongVolatile(SegmentLayout.FREED_AT, limit);
            VarHandle.fullFence();
        }
    }

    /// Any thread: entries so far.
    long published() {
        return published;
    }

    /// Any thread: the member by whose release all entries below a number are released adds to the leader's counter.
    ///
    /// @param limit 0 for none
    void want(final long limit) {
        buffer.putLongVolatile(SegmentLayout.WANTS_AT, limit);
    }

    /// Receiver: whether the table has room for one more entry, or for all frames of a datagram.
    boolean hasRoom(final long oldest) {
        released = oldest;
        final boolean room = written - oldest < SegmentLayout.ENTRIES - BundleLayout.FRAMES_MAX;
        return (room && formats.hasRoom(oldest)) || written > published;
    }

    /// Receiver: publishes a frame that lies at an offset of the ring; frames of one datagram with the last of them.
    ///
    /// @param end sequence behind it
    /// @return its number
    long publish(final ReceivedFrame frame, final long offset, final boolean inPlace, final long end) {
        final long number = write(
                frame.frameId(), offset, frame.bytes(), frame.flags(), frame.timestampNs(), inPlace, frame.metadata());
        name(number, frame.format(), released);
        buffer.putLong(SegmentLayout.entry(number) + SegmentLayout.ENTRY_END, end);
        seal(number);
        if (frame.endsSlots()) {
            show();
        }
        return number;
    }

    /// Receiver: formats need that no entry below this number can be read any more.
    long sparingFormats() {
        return formats.sparing();
    }

    // The format of an entry that is written.
    private void name(final long number, final @Nullable StreamFormat format, final long oldest) {
        if (format != null) {
            final int at = SegmentLayout.entry(number) + SegmentLayout.ENTRY_FLAGS;
            final int place = formats.put(format, number, oldest);
            buffer.putInt(at, buffer.getInt(at) | place << SegmentLayout.ENTRY_FORMAT_SHIFT);
        }
    }

    /// Source: whether there is room for one more format.
    ///
    /// @param oldest entries below were released
    boolean hasRoomForFormat(final long oldest) {
        return formats.hasRoom(oldest);
    }

    /// Source: publishes a frame that lies at an offset of the ring.
    ///
    /// @param oldest entries below were released
    /// @return its number
    long publish(
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
        buffer.putInt(entry + SegmentLayout.ENTRY_FLAGS, flags & SegmentLayout.KEYFRAME);
        buffer.putLong(entry + SegmentLayout.ENTRY_OFFSET, offset % ringBytes);
        buffer.putLong(entry + SegmentLayout.ENTRY_LENGTH, length);
        buffer.putLong(entry + SegmentLayout.ENTRY_TIMESTAMP, timestampNs);
        buffer.putInt(entry + SegmentLayout.ENTRY_DETAIL, inPlace ? 1 : 0);
        final int bytes = metadata == null ? 0 : Math.min(metadata.length, SegmentLayout.METADATA_BYTES_MAX);
        buffer.putInt(entry + SegmentLayout.ENTRY_METADATA, bytes);
        if (metadata != null) {
            buffer.putBytes(SegmentLayout.metadata(written), metadata, 0, bytes);
        }
        return written++;
    }

    /// Receiver: publishes that frames are lost.
    ///
    /// @param end sequence behind them
    /// @return its number
    long publishLoss(final long firstFrameId, final long count, final LossReason reason, final long end) {
        final int entry = begin(SegmentLayout.LOSS, firstFrameId);
        buffer.putLong(entry + SegmentLayout.ENTRY_LENGTH, count);
        buffer.putInt(entry + SegmentLayout.ENTRY_DETAIL, reason.ordinal());
        buffer.putLong(entry + SegmentLayout.ENTRY_END, end);
        final long number = written++;
        seal(number);
        skipLoss(number);
        show();
        return number;
    }

    private int begin(final int kind, final long frameId) {
        final int entry = SegmentLayout.entry(written);
        buffer.putLongOrdered(entry, SegmentLayout.version(written) - 1);
        VarHandle.storeStoreFence();
        buffer.putInt(entry + SegmentLayout.ENTRY_KIND, kind);
        buffer.putLong(entry + SegmentLayout.ENTRY_FRAME_ID, frameId);
        return entry;
    }

    private void seal(final long number) {
        buffer.putLongOrdered(SegmentLayout.entry(number), SegmentLayout.version(number));
    }

    private void show() {
        // First the word: a thread that finds the entry counted finds it in the words as well.
        buffer.putLongVolatile(SegmentLayout.PUBLISHED_AT, written);
        published = written;
        wakeAll();
    }

    /// Receiver: writes the state that a successor needs, before the source hears of it.
    ///
    /// @param offset of the frame in progress in the ring
    void checkpoint(final Checkpoint checkpoint, final long offset) {
        checkpoints.write(checkpoint, offset, written, released);
    }

    /// Receiver, behind [#checkpoint]: whether a successor reads, or has read, an earlier one.
    boolean isClaimed() {
        return buffer.getIntVolatile(SegmentLayout.CLAIMED_AT) != 0;
    }

    /// Receiver, behind the first [#checkpoint]: if this leader dies too, its followers go on from here.
    ///
    /// @return false where another successor goes on from that one
    boolean open() {
        if (!open) {
            // A successor claims first and looks here then; this looks at the claims then.
            buffer.putIntVolatile(SegmentLayout.OPEN_AT, 1);
            VarHandle.fullFence();
            open = mayOpen.getAsBoolean();
        }
        return open;
    }

    /// Listener: a sign of life.
    void beat() {
        buffer.putLongOrdered(SegmentLayout.HEARTBEAT_AT, 1 + buffer.getLong(SegmentLayout.HEARTBEAT_AT));
    }

    /// Listener: every follower of the earlier leader came, or none will.
    void onHandoverComplete() {
        awaiting = false;
    }

    /// Listener: whether it keeps everything for followers of an earlier leader.
    boolean isAwaiting() {
        return awaiting;
    }

    /// Receiver: the source's clock less that of this process. Followers get it by the host's monotonic
    /// clock: theirs may be another one.
    void clock(final long offsetNs, final long errorNs) {
        final EpochClock own = EpochClock.ofProcess();
        buffer.putLongOrdered(SegmentLayout.CLOCK_OFFSET_AT, offsetNs + own.hostOffsetNs());
        buffer.putLongOrdered(
                SegmentLayout.CLOCK_ERROR_AT, errorNs == Long.MAX_VALUE ? errorNs : errorNs + own.errorNs());
    }

    /// Receiver: the source counts the leader as a member from this frame on.
    void start(final long frameId) {
        buffer.putLong(SegmentLayout.START_FRAME_AT, frameId);
        become(SegmentLayout.RUNNING);
    }

    /// Receiver: the source counts the leader as a member, or nothing more will be published.
    void become(final int state) {
        buffer.putIntOrdered(SegmentLayout.STATE_AT, state);
        VarHandle.fullFence();
        wakeAll();
    }

    private void wakeAll() {
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            final int member = SegmentLayout.member(i);
            if (wakers.get(i) != 0
                    && buffer.getIntVolatile(member + SegmentLayout.MEMBER_SLEEPS) != 0
                    && buffer.compareAndSetInt(member + SegmentLayout.MEMBER_SLEEPS, 1, 0)) {
                wake(i);
            }
        }
    }

    // The listener closes the descriptor only when the place is free.
    private void wake(final int index) {
        synchronized (wakers) {
            final int waker = wakers.get(index);
            if (waker != 0) {
                EventCount.add(waker - 1);
            }
        }
    }

    /// Receiver: entries below were released by all followers. A hostile follower's words free nothing that was
    /// not published, and delay no other member's frames beyond its connection.
    long released() {
        if (awaiting) {
            return 0;
        }
        long least = published;
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            final int member = SegmentLayout.member(i);
            if (wakers.get(i) != 0) {
                least = Math.min(least, buffer.getLongVolatile(member + SegmentLayout.MEMBER_RELEASED));
            }
        }
        return least;
    }

    /// Listener: a follower reads from the next entry on.
    ///
    /// @param pid of its process, as this one sees it
    /// @param waker descriptor that wakes it
    /// @param delivery its policy; null for one that does not count as a subscriber
    /// @return its place, or −1 where all are taken, or no descriptor is left
    int admit(final long pid, final int waker, final @Nullable Delivery delivery) {
        final int file = ByteLocks.reopen(words.descriptor());
        for (int i = 0; file >= 0 && i < SegmentLayout.MEMBERS; i++) {
            final int member = SegmentLayout.member(i);
            // One that is gone may use the words yet.
            if (wakers.get(i) == 0 && ByteLocks.lock(file, i)) {
                files[i] = 1 + file;
                buffer.putInt(member + SegmentLayout.MEMBER_PID, (int) pid);
                buffer.putLong(member + SegmentLayout.MEMBER_NUMBER, 0);
                buffer.putInt(member + SegmentLayout.MEMBER_SLEEPS, 0);
                DeviceWords.clear(buffer, i);
                buffer.setMemory(SegmentLayout.reader(i), SegmentLayout.READER_BYTES, (byte) 0);
                buffer.putInt(member + SegmentLayout.MEMBER_LEFT, 0);
                buffer.putInt(member + SegmentLayout.MEMBER_DELIVERY, delivery == null ? 0 : delivery.code());
                deliveries[i] = delivery;
                // Before it looks whether the source waits.
                judge();
                final boolean fromHere = !awaiting;
                long first = fromHere ? published : 0;
                buffer.putLong(member + SegmentLayout.MEMBER_RELEASED, first);
                buffer.putIntVolatile(member, SegmentLayout.MEMBER_ACTIVE);
                wakers.set(i, 1 + waker);
                VarHandle.fullFence();
                // An entry that is published from here on is not freed before this member released it. Members that
                // the leader awaits read from the beginning.
                first = fromHere ? published : 0;
                buffer.putLongVolatile(member + SegmentLayout.MEMBER_RELEASED, first);
                buffer.putLong(member + SegmentLayout.MEMBER_FIRST_FRAME, frameBehind(first - 1));
                buffer.putLongVolatile(member + SegmentLayout.MEMBER_FIRST, first);
                // A publisher that waits for this member publishes from here on, and the member misses none of that.
                members = subscribers();
                VarHandle.fullFence();
                return i;
            }
        }
        if (file >= 0) {
            Libc.close(file);
        }
        return -1;
    }

    /// Listener: notes the identity of a member.
    ///
    /// @param number that it names to each leader
    /// @param isOwn whether it is the leader's own subscriber: no successor waits for it
    void name(final int index, final long number, final boolean isOwn) {
        final int member = SegmentLayout.member(index);
        buffer.putIntVolatile(member + SegmentLayout.MEMBER_LEFT, isOwn ? 1 : 0);
        buffer.putLongVolatile(member + SegmentLayout.MEMBER_NUMBER, number);
    }

    private long frameBehind(final long number) {
        if (number < 0) {
            return SegmentLayout.FROM_START;
        }
        final int entry = SegmentLayout.entry(number);
        final boolean loss = buffer.getInt(entry + SegmentLayout.ENTRY_KIND) == SegmentLayout.LOSS;
        return buffer.getLong(entry + SegmentLayout.ENTRY_FRAME_ID)
                + (loss ? buffer.getLong(entry + SegmentLayout.ENTRY_LENGTH) : 1);
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

    /// Any thread, within a use of the words: the policy of the member at a place, as it says.
    Delivery deliveryOf(final int index) {
        final int code = buffer.getInt(SegmentLayout.member(index) + SegmentLayout.MEMBER_DELIVERY);
        return Delivery.isCode(code) ? Delivery.of(code) : Delivery.RELIABLE;
    }

    /// Any thread, within a use of the words: entries below were released by the member at a place; −1 where there is
    /// none.
    long releasedBy(final int index) {
        return wakers.get(index) == 0
                ? -1
                : Math.clamp(
                        buffer.getLongVolatile(SegmentLayout.member(index) + SegmentLayout.MEMBER_RELEASED),
                        0,
                        published);
    }

    /// Any thread, within a use of the words: frames that the user of the member at a place has, as it says.
    long heldBy(final int index) {
        return Math.max(0, buffer.getLongVolatile(SegmentLayout.reader(index) + SegmentLayout.READER_HELD));
    }

    /// The same for a line about it; empty where it has none.
    String heldText(final int index) {
        final long held = heldBy(index);
        return held == 0 ? "" : ", " + held + " frames of it";
    }

    /// Any thread, within a use of the words: frames that the member at a place copied because the ring had no room for
    /// them any more, as it says.
    long copiedBy(final int index) {
        return Math.max(0, buffer.getLongVolatile(SegmentLayout.reader(index) + SegmentLayout.READER_COPIED));
    }

    /// Any thread, within a use of the words: whether the leader runs short of room, and how far all have released.
    ///
    /// @return −1 where it does not
    long shortAt() {
        return buffer.getLongVolatile(SegmentLayout.WANTS_AT) == 0 ? -1 : released();
    }

    /// How long a silence counts as none, in the source's words.
    long aliveTimeoutNs() {
        return buffer.getInt(SegmentLayout.ALIVE_MS_AT) * 1_000_000L;
    }

    /// Any thread, within a use of the words: the process of the member at a place, as this one sees it; 0 for one of
    /// another PID namespace.
    int processOf(final int index) {
        return buffer.getInt(SegmentLayout.member(index) + SegmentLayout.MEMBER_PID);
    }

    /// Listener: a follower is gone.
    void dismiss(final int index) {
        sent(index);
        buffer.putIntVolatile(SegmentLayout.member(index), SegmentLayout.MEMBER_FREE);
        DeviceWords.clear(buffer, index);
        deliveries[index] = null;
        judge();
        members = subscribers();
        synchronized (wakers) {
            wakers.set(index, 0);
        }
    }

    @Override
    public void close() {
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            sent(i);
        }
        words.close();
        Libc.close(ring);
    }
}
