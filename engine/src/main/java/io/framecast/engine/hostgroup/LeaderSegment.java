package io.framecast.engine.hostgroup;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.ByteLocks;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.memory.SharedWords;
import io.framecast.engine.session.EpochClock;
import io.framecast.reliability.group.LeaderTable;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.group.TableLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The memory that a leader shares for one session: the files of the words and of the ring, the descriptors that
/// wake members, and the locks that show that members live. [LeaderTable] has the rules of the words.
///
/// Threading: members come and go by the leader's listener; the receiver's thread wakes them.
final class LeaderSegment implements AutoCloseable {
    private final SharedWords words;
    private final LeaderTable table;
    private boolean freed;
    private final int ring;
    // By member: 1 + the descriptor that wakes it; 0 for a free place.
    private final AtomicIntegerArray wakers = new AtomicIntegerArray(SegmentLayout.MEMBERS);
    // By member, until they are sent: 1 + a descriptor of the words that holds the lock on the byte of its place. The
    // listener's.
    private final int[] files = new int[SegmentLayout.MEMBERS];

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
        words = SharedWords.create(TableLayout.FULL.wordsBytes());
        this.ring = readOnly(ring);
        if (this.ring < 0) {
            words.close();
            throw new TransportException("host group: no descriptor left; raise ulimit -n");
        }
        final int process = (int) ProcessHandle.current().pid();
        final long clockNs = EpochClock.ofProcess().hostOffsetNs();
        table = new LeaderTable(
                words,
                TableLayout.FULL,
                new LeaderTable.Header(stream, ringBytes, generation, predecessor, process, clockNs),
                delivery,
                mayOpen,
                this::wake);
    }

    // Followers may read the frames, not write them.
    private static int readOnly(final int descriptor) {
        try (Arena scratch = Arena.ofConfined()) {
            return Libc.open(scratch.allocateFrom("/proc/self/fd/" + descriptor), Linux.O_RDONLY | Linux.O_CLOEXEC);
        }
    }

    /// The words, while they are mapped.
    LeaderTable table() {
        return table;
    }

    int ringDescriptor() {
        return ring;
    }

    int wordsDescriptor() {
        return words.descriptor();
    }

    /// Listener: the words for the member at a place, until [#sent]. Their open file holds the lock on the byte
    /// of that place: as long as it is locked the member lives, or has not read the message with the descriptor.
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

    /// Before it is shared: its ring is the source's own window. Members begin at the next entry, and entries
    /// that were published before the first member came are not kept.
    ///
    /// @param retains whether the newest frame stays until the next one is published, also when no reader holds
    ///     it
    LeaderSegment ofSource(final boolean retains) {
        // The source's clock is that of this process.
        final EpochClock own = EpochClock.ofProcess();
        table.ofSource(retains, own.hostOffsetNs(), own.errorNs());
        return this;
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

    /// Listener: a follower reads from the next entry on.
    ///
    /// @param pid of its process, as this one sees it
    /// @param waker descriptor that wakes it
    /// @param delivery its policy; null for one that does not count as a subscriber
    /// @return its place, or −1 where all are taken, or no descriptor is left
    int admit(final long pid, final int waker, final @Nullable Delivery delivery) {
        final int file = ByteLocks.reopen(words.descriptor());
        for (int i = 0; file >= 0 && i < SegmentLayout.MEMBERS; i++) {
            // One that is gone may use the words yet.
            if (!table.isTaken(i) && ByteLocks.lock(file, i)) {
                files[i] = 1 + file;
                wakers.set(i, 1 + waker);
                table.admit(i, (int) pid, delivery);
                return i;
            }
        }
        if (file >= 0) {
            Libc.close(file);
        }
        return -1;
    }

    /// Any thread, within a use of the words: frames that the user of the member at a place has, for a line about
    /// it; empty where it has none.
    String heldText(final int index) {
        final long held = table.heldBy(index);
        return held == 0 ? "" : ", " + held + " frames of it";
    }

    /// Listener: a follower is gone.
    void dismiss(final int index) {
        sent(index);
        table.dismiss(index);
        synchronized (wakers) {
            wakers.set(index, 0);
        }
    }

    /// The session's memory is to be freed. The words stay until [#close].
    void freeRing() {
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            sent(i);
        }
        Libc.close(ring);
        freed = true;
    }

    boolean isFreed() {
        return freed;
    }

    /// Behind [#freeRing].
    @Override
    public void close() {
        words.close();
    }
}
