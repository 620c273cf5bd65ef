package io.framecast.reliability.sim.shared;

import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.LossReason;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The memory that a leader of a simulated host group shares in one session, as in docs/host-segment.md: its ring, the
/// frame table, two copies of its checkpoint, and a cursor for each member. It outlives its leader. Each store that
/// other processes may see is a point at which the leader may die.
///
/// Plain words: a process that holds a segment may write any of them.
public final class SharedSegment {
    /// The leader's stage.
    public enum State {
        JOINING,
        RUNNING,
        ENDED,
        LOST
    }

    /// One entry of the frame table. Its version is 2n + 2 when it is entry n, 2n + 1 while that is written.
    public static final class Entry {
        public long version;
        public boolean loss;
        public long frameId;
        /// Of the frame in the ring.
        public long offset;
        /// Bytes of a frame; frames of a loss.
        public long length;
        public int flags;
        public long timestampNs;
        public byte[] metadata = {};
        public byte[] format = {};
        public LossReason reason = LossReason.UNREPAIRABLE;
        /// Sequence behind it.
        public long end;
    }

    /// A leader's checkpoint, and where the frame in progress lies in its ring.
    public record Found(Checkpoint checkpoint, long offset) {}

    /// A point at which a leader may die.
    public enum Step {
        /// In front of a store.
        STORE,
        /// Within an entry of the frame table.
        ENTRY,
        /// A datagram was sent.
        SENT
    }

    private static final class Copy {
        private long version;
        private final Checkpoint values = new Checkpoint();
        private long offset;
    }

    public static final int MEMBERS = 64;

    private final byte[] ring;
    private final @Nullable SharedSegment predecessor;
    private final long generation;
    private final Consumer<Step> store;
    private final Entry[] entries;
    private final Copy[] copies = {new Copy(), new Copy()};
    private long checkpoints;
    private final long claim;
    private long claims;
    // By the newest claim: no other one follows.
    private boolean adopted;
    private long published;
    private long heartbeat;
    private State state = State.JOINING;
    private final long[] released = new long[MEMBERS];
    private final boolean[] left = new boolean[MEMBERS];

    /// @param ring of the leader, mapped twice
    /// @param predecessor the segment that it goes on with; null for none
    /// @param claim on the predecessor
    /// @param entries length of the frame table
    /// @param store hears of each store of the leader in front of it, and may end the leader
    public SharedSegment(
            final byte[] ring,
            final @Nullable SharedSegment predecessor,
            final long claim,
            final int entries,
            final Consumer<Step> store) {
        this.ring = ring;
        this.predecessor = predecessor;
        this.claim = claim;
        generation = predecessor == null ? 1 : predecessor.generation + 1;
        this.store = store;
        this.entries = new Entry[entries];
        Arrays.setAll(this.entries, _ -> new Entry());
    }

    public byte[] ring() {
        return ring;
    }

    public @Nullable SharedSegment predecessor() {
        return predecessor;
    }

    public long generation() {
        return generation;
    }

    public int entries() {
        return entries.length;
    }

    public Entry entry(final long number) {
        return entries[(int) (number % entries.length)];
    }

    /// The version of entry `number` when it is whole.
    public static long version(final long number) {
        return 2 * number + 2;
    }

    /// Leader: begins an entry, which members must not read until [#seal].
    public Entry begin(final long number) {
        final Entry entry = entry(number);
        store.accept(Step.STORE);
        entry.version = version(number) - 1;
        return entry;
    }

    /// Leader: between two stores to an entry.
    public void store() {
        store.accept(Step.ENTRY);
    }

    public void seal(final long number) {
        store.accept(Step.ENTRY);
        entry(number).version = version(number);
    }

    /// Leader: entries below are there.
    public void publish(final long number) {
        store.accept(Step.STORE);
        published = number;
    }

    public long published() {
        return published;
    }

    public void become(final State value) {
        store.accept(Step.STORE);
        state = value;
    }

    public State state() {
        return state;
    }

    public void beat() {
        heartbeat++;
    }

    public long heartbeat() {
        return heartbeat;
    }

    /// A member's cursor: entries below are not read any more.
    public long released(final int member) {
        return released[member];
    }

    /// Leader: the place of a member that begins at an entry.
    public void admit(final int member, final long first) {
        left[member] = false;
        released[member] = first;
    }

    public void release(final int member, final long number) {
        released[member] = number;
    }

    /// This member will not follow a successor.
    public void leave(final int member) {
        left[member] = true;
    }

    public boolean hasLeft(final int member) {
        return left[member];
    }

    /// Leader: a checkpoint, into the older copy.
    public void write(final Checkpoint from, final long offset) {
        checkpoints++;
        final Copy to = copies[(int) (checkpoints & 1)];
        store.accept(Step.STORE);
        to.version = 2 * checkpoints - 1;
        final Checkpoint values = to.values;
        store.accept(Step.STORE);
        values.secret = from.secret;
        values.firstSequence = from.firstSequence;
        values.frameId = from.frameId;
        store.accept(Step.STORE);
        values.acknowledged = from.acknowledged;
        values.granted = from.granted;
        values.complete = from.complete;
        store.accept(Step.STORE);
        values.copy(from);
        to.offset = offset;
        store.accept(Step.STORE);
        to.version = 2 * checkpoints;
    }

    /// A successor goes on from here, in place of one that did not [#open]; not when one did. From then on, the
    /// leader's promises are void.
    ///
    /// @return the number of the claim
    public long claim() {
        return ++claims;
    }

    /// The segment of a successor, with its own checkpoint written: members go on from it from now on.
    ///
    /// @return false where there is a newer claim
    public boolean open() {
        final SharedSegment before = Objects.requireNonNull(predecessor);
        store.accept(Step.STORE);
        before.adopted |= before.claims == claim;
        return before.claims == claim;
    }

    /// Whether a successor's segment has taken its place for all.
    public boolean isInherited() {
        return adopted;
    }

    /// True when a successor goes on with its leader's promise.
    public boolean isClaimed() {
        return claims > 0;
    }

    /// True when members may read here: the segment has no predecessor, or it counts.
    public boolean isOpen() {
        return predecessor == null || counts();
    }

    /// Whether a successor would go on from here, and not from the segment before.
    public boolean counts() {
        return find() != null && (predecessor == null || (predecessor.adopted && predecessor.claims == claim));
    }

    /// Whether its leader had promised the end of the stream: no successor is needed.
    public boolean isComplete() {
        final Copy newest = find();
        return newest != null && newest.values.complete;
    }

    private @Nullable Copy find() {
        Copy newest = null;
        for (final Copy copy : copies) {
            final boolean whole = copy.version > 0 && (copy.version & 1) == 0;
            newest = whole && (newest == null || copy.version > newest.version) ? copy : newest;
        }
        return newest;
    }

    /// Successor: the newest whole checkpoint, and the frames published behind it. Only where this [#counts].
    public Found takeover() {
        final Copy newest = Objects.requireNonNull(find());
        final Checkpoint from = new Checkpoint();
        from.copy(newest.values);
        final long last = published - 1;
        if (published > 0 && entry(last).version == version(last)) {
            final Entry entry = entry(last);
            from.skipTo(entry.end, entry.frameId + (entry.loss ? entry.length : 1));
        }
        return new Found(from, newest.offset);
    }

    /// Copies bytes of the ring, which goes on at its start.
    public byte[] read(final long offset, final int bytes) {
        final byte[] found = new byte[bytes];
        final int head = (int) Math.min(bytes, ring.length - offset);
        System.arraycopy(ring, (int) offset, found, 0, head);
        System.arraycopy(ring, 0, found, head, bytes - head);
        return found;
    }
}
