package io.framecast.engine.hostgroup;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.engine.libc.ByteLocks;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.memory.RingView;
import io.framecast.engine.memory.SharedWords;
import io.framecast.engine.memory.SystemMemory;
import io.framecast.engine.session.EpochClock;
import io.framecast.reliability.group.DeviceWords;
import io.framecast.reliability.group.FollowerReader;
import io.framecast.reliability.group.FollowerTable;
import io.framecast.reliability.group.FollowersToAwait;
import io.framecast.reliability.group.HeldFrames;
import io.framecast.reliability.group.Promise;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.group.StreamStatus;
import io.framecast.reliability.group.TableLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// The memory that a leader shares for one session, as a follower has mapped it. [FollowerTable] has the rules of
/// its words; this object maps them and the ring, holds both open, keeps threads apart and wakes the leader.
///
/// Threading: the subscriber's thread reads entries; any thread releases them.
final class FollowerSegment implements FollowerReader.Entries, AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final LeaderConnection connection;
    private final DeviceBackend device;
    private final boolean registered;
    private final SharedWords words;
    private final FollowerTable table;
    private final RingView view;
    private final MemorySegment ring;
    private final HeldFrames frames;
    private final FrameBuffers buffers = new FrameBuffers(arena);
    private final int waker;
    private final int leader;
    private final RefCount uses = new RefCount();

    /// Files that a leader sent beside the words.
    ///
    /// @param waker wakes this member
    /// @param leader wakes the leader
    private record Descriptors(int ring, int waker, int leader) {}

    private FollowerSegment(
            final LeaderConnection connection,
            final DeviceBackend device,
            final SharedWords words,
            final Descriptors descriptors,
            final boolean drops,
            final int member) {
        this.connection = connection;
        this.words = words;
        waker = descriptors.waker;
        leader = descriptors.leader;
        table = new FollowerTable(words, TableLayout.FULL, member, drops);
        final RingView mapped = RingView.of(descriptors.ring, table.ringBytes(), arena);
        if (mapped == null) {
            throw new IllegalArgumentException("host group: cannot map a ring of " + table.ringBytes() + " bytes");
        }
        view = mapped;
        ring = mapped.view();
        frames = table.heldFrames(view, SystemMemory.availableBytes());
        this.device = device;
        registered = register();
        connection.acquire();
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
            words = SharedWords.attach(attached, TableLayout.FULL.wordsBytes());
            if (!FollowerTable.isSound(words, TableLayout.FULL)) {
                return null;
            }
            final FollowerSegment made = new FollowerSegment(
                    connection,
                    device,
                    words,
                    new Descriptors(descriptors[0], descriptors[2], descriptors[3]),
                    drops,
                    member);
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

    /// The words, to be read within a use of this object, and to be changed by its methods alone.
    @Override
    public FollowerTable table() {
        return table;
    }

    /// Another connection to its leader; null where no process listens there any more.
    @Nullable
    UnixSocket connectAgain() {
        return connection.socket().again();
    }

    /// The words about device memory, to be used within a use of this object.
    DeviceWords deviceWords() {
        return table.deviceWords(this::lives);
    }

    int waker() {
        return waker;
    }

    /// Whether the ring is the source's own window: its leader is the publisher.
    boolean isOfSource() {
        return table.isOfSource();
    }

    int state() {
        return table.state();
    }

    /// Within a use: what there is to read.
    StreamStatus status() {
        // The state first: then this sees all entries that were published before the state changed.
        final int state = table.state();
        begin();
        return table.status(state);
    }

    /// The number of this segment; segments of a successor count on.
    long generation() {
        return table.generation();
    }

    /// Whether a successor would go on from here, and not from the segment that this one continues.
    boolean isOpen() {
        if (!enter()) {
            return true;
        }
        final boolean open = table.isOpen();
        exit();
        return open;
    }

    /// A word that changes as long as the leader runs.
    long heartbeat() {
        return table.heartbeat();
    }

    /// Its leader is gone, or stands still. Where the leader had promised the end of the stream, the stream has
    /// ended.
    void lookForEnd() {
        if (enter()) {
            table.lookForEnd();
            exit();
        }
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
        final int claim = table.claim();
        final Promise found = table.promise(channel);
        if (found == null) {
            end.run();
            return null;
        }
        return new Takeover(
                generation(),
                found.stream(),
                found.checkpoint(),
                inRing(found.offset(), found.bytes()),
                found.waitedFor(),
                () -> isNewest(claim),
                followersToAwait(),
                end);
    }

    private synchronized MemorySegment inRing(final long offset, final long bytes) {
        return view.ring(offset, bytes);
    }

    private boolean isNewest(final int claim) {
        if (!enter()) {
            // Its user has read it, or closed this subscriber.
            return true;
        }
        final boolean newest = table.isNewest(claim);
        exit();
        return newest;
    }

    // By an open file of its own: it is asked also when these words are closed.
    private FollowersToAwait followersToAwait() {
        final int file = ByteLocks.reopen(words.descriptor());
        return table.followersToAwait(place -> ByteLocks.isLocked(file, place), () -> Libc.close(file));
    }

    // Of the member at a place. This one's lock is of the very file that is asked.
    private boolean lives(final int place) {
        return place == table.place() || ByteLocks.isLocked(words.descriptor(), place);
    }

    /// The source's clock less that of this process.
    long clockOffsetNs() {
        return table.clockErrorNs() == Long.MAX_VALUE
                ? 0
                : table.clockOffsetNs() - EpochClock.ofProcess().hostOffsetNs();
    }

    /// Its error; the greatest number where the source's clock is not known.
    long clockErrorNs() {
        final long errorNs = table.clockErrorNs();
        return errorNs == Long.MAX_VALUE
                ? errorNs
                : errorNs + EpochClock.ofProcess().errorNs();
    }

    /// The clock of the leader's process less that of this one. Both should show the same.
    long leaderClockNs() {
        return table.leaderClockNs() - EpochClock.ofProcess().hostOffsetNs();
    }

    private synchronized void begin() {
        wakeLeader(table.begin());
    }

    private void wakeLeader(final boolean wakes) {
        if (wakes) {
            EventCount.add(leader);
        }
    }

    /// Within a use: holds nothing.
    void letGo() {
        table.letGo();
    }

    @Override
    public synchronized long peek() {
        return table.peek();
    }

    @Override
    public synchronized long take() {
        return table.take();
    }

    /// The frame's bytes, to be read until it is released.
    ///
    /// @throws IllegalStateException when the leader broke the table
    MemorySegment frame(final long number) {
        final long length = table.length(number);
        return ring.asSlice(table.offset(number, length), length);
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

    /// Within a use: an entry is released. The leader may write its slots again once all before it were released
    /// too.
    @Override
    public synchronized void release(final long number) {
        wakeLeader(table.release(number));
    }

    /// Within a use: an entry's frame, to be read in the ring or in a copy until it is given back.
    ///
    /// @param frame of [#frame]
    synchronized HeldFrames.Held give(final long number, final MemorySegment frame) {
        final long offset = frame.address() - ring.address();
        final HeldFrames.Held given = table.give(frames, number, offset, frame.byteSize());
        if (given.bufferBytes() > 0) {
            copy(given, view.ring(offset, frame.byteSize()));
            wakeLeader(table.release(number));
        }
        table.reportHeld(frames);
        return given;
    }

    private void copy(final HeldFrames.Held given, final MemorySegment frame) {
        try {
            final MemorySegment buffer = buffers.take(given.bufferBytes());
            buffer.asSlice(0, frame.byteSize()).copyFrom(frame);
            given.onCopied(buffer);
        } catch (final OutOfMemoryError e) {
            table.giveBack(frames, given);
            throw new DeviceException(
                    "host group: no memory for a copy of a frame beside " + frames.held()
                            + " that are held; release frames, or raise ulimit -v",
                    e);
        }
    }

    /// The bytes of a frame that was given, of its length.
    ///
    /// @param frame of [#frame]
    static MemorySegment memory(final HeldFrames.Held given, final MemorySegment frame) {
        final MemorySegment buffer = given.buffer();
        return buffer == null ? frame : buffer.asSlice(0, frame.byteSize()).asReadOnly();
    }

    /// Within a use: a frame is read no more.
    synchronized void giveBack(final HeldFrames.Held given) {
        final MemorySegment buffer = given.buffer();
        if (buffer != null) {
            buffers.giveBack(buffer);
        }
        wakeLeader(table.giveBack(frames, given));
    }

    /// Within a use: the user reads on, and holds no frame in the ring whose room the leader may lack.
    synchronized void makeRoom() {
        wakeLeader(table.makeRoom(frames));
    }

    /// Whether no frame can be given until some are given back.
    synchronized boolean isFull() {
        return frames.isFull();
    }

    /// Within a use: the entry that waits, and those behind it, are held for another reader in this process, also
    /// when the user released them.
    ///
    /// @return its number
    synchronized long hold() {
        return table.hold();
    }

    /// Within a use: that reader needs entries from here on alone.
    synchronized void holdFrom(final long number) {
        table.holdFrom(number);
        EventCount.add(leader);
    }

    /// Reads on from an entry that another member in this process holds.
    synchronized void moveBack(final long number) {
        table.moveBack(number);
    }

    /// The leader wakes this follower by the next entry.
    ///
    /// @param seen the state in which it sleeps
    /// @return false when an entry waits already, or the state is another by now
    boolean sleeps(final int seen) {
        return table.sleeps(seen);
    }

    void wakes() {
        table.wakes();
    }

    /// This member will not follow the leader's successor.
    void leave() {
        if (uses.acquire()) {
            table.leave();
            uses.release();
        }
    }

    /// Its leader is gone.
    void onLeaderLost() {
        table.onLeaderLost();
    }

    /// Its source is lost to this host.
    void onLost() {
        table.onLost();
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
