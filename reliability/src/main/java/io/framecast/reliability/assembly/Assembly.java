package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.repair.RepairRequests;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.StreamInfo;
import org.jspecify.annotations.Nullable;

/// Puts the payloads of one session where they belong, and knows the slots that the user holds. A placement does
/// that in memory of its own: `RingAssembly`, `StagedAssembly` or `ArrivalAssembly`. A `PostedAssembly` around it
/// receives frames into the buffers that the user posts.
///
/// Order of calls: [#start] when the receiver became a member. Then, in each cycle, [#poll], and for each datagram
/// of it [#accept] or [#reject] by the machine's verdict, then [#endBatch]. For each repair [#reserve] *before* the
/// machine gets it, and [#repaired] when the machine took it. For each whole frame [#canDeliver], [#deliver] when
/// the machine gave it out, [#locate] or [#drop] for it or for each frame of its bundle, and [#release] when the user
/// released it. [#leave] when nothing arrives any more.
///
/// Pure state over [FrameMemory] and [LanePort]; one thread; allocates only in its constructor.
public abstract sealed class Assembly permits SequenceAssembly, ArrivalAssembly, PostedAssembly {
    /// The data lane could not be polled, because no slot is free.
    public static final int NO_SLOT = -1;

    protected final MemoryShape shape;
    protected final FrameMemory memory;
    private final FrameLedger ledger;
    // Number of copies begun when the machine gave out the frame or bundle: these bring it to its place.
    private long takenCopies;
    private Space space = Space.RING;
    private long offset;
    private boolean inPlace;
    private long reassembledBytes;

    Assembly(final MemoryShape shape, final FrameMemory memory, final FrameLedger ledger) {
        this.shape = shape;
        this.memory = memory;
        this.ledger = ledger;
    }

    /// An assembly around a placement, whose memory and slots it shares.
    Assembly(final Assembly placement) {
        this(placement.shape, placement.memory, placement.ledger);
    }

    /// Frames lie where their placement puts them.
    public static Assembly of(final MemoryShape shape, final FrameMemory memory) {
        return switch (shape.kind()) {
            case IN_RING -> new RingAssembly(shape, memory);
            case STAGED -> new StagedAssembly(shape, memory);
            case BY_ARRIVAL -> new ArrivalAssembly(shape, memory);
        };
    }

    /// Frames lie in the user's buffers, as far as buffers are posted.
    public static Assembly of(final MemoryShape shape, final FrameMemory memory, final BufferQueue buffers) {
        return switch (shape.kind()) {
            case IN_RING -> new PostedRing(new RingAssembly(shape, memory), buffers);
            case STAGED -> new PostedStaging(new StagedAssembly(shape, memory), buffers);
            case BY_ARRIVAL -> new PostedArrivals(new ArrivalAssembly(shape, memory), buffers);
        };
    }

    /// The receive slots of the data lane.
    public final SlotMemory slotMemory() {
        return memory.data();
    }

    /// Posts the slots that a lane should hold before its first poll.
    ///
    /// @return datagrams that may be under way to the data lane, as far as this memory decides
    public abstract int prepare(LanePort data);

    /// The receiver became a member from this sequence on.
    public void start(final long firstSequence) {
        ledger.start(firstSequence);
    }

    /// Makes free slots ready for the data lane and takes the datagrams that arrived.
    ///
    /// @param expected names the sequences expected next; null before the receiver is a member: then a probe may
    ///     take any slot
    /// @return datagrams taken, as the lane describes them, or [#NO_SLOT]
    public abstract int poll(LanePort data, @Nullable ReceiverMachine expected);

    /// Datagrams of the last poll, of one frame, in consecutive slots and of consecutive sequences, were
    /// accepted.
    ///
    /// @param bytes payload length of the first; the others fill their slots
    public abstract void accept(int slot, long sequence, int count, int bytes);

    /// A datagram of the last poll was not accepted.
    public abstract void reject(int slot);

    /// Every datagram of the last poll was accepted or rejected.
    public abstract void endBatch();

    /// Finds the place of a repair that the machine wants.
    ///
    /// @param firstSequence of its frame
    /// @param slots length of its frame in datagrams
    /// @param requests learn when to ask for the frame again, if it has no place
    /// @return false when there is no place: the repair counts as not received
    public boolean reserve(
            final long firstSequence, final long slots, final RepairRequests requests, final long nowNs) {
        return true;
    }

    /// The machine took a repair for which [#reserve] found a place.
    ///
    /// @param frameIndex its position in its frame
    /// @param repairSlot the slot in which its payload arrived
    public abstract void repaired(long sequence, long frameIndex, int repairSlot, int bytes);

    /// Renews requests for frames whose repairs have a place now, and updates the number of further frames.
    public void renew(final RepairRequests requests, final long nowNs) {
        // Only reassembly buffers are ever short.
    }

    /// Repairs that found no place.
    public long refusedRepairs() {
        return 0;
    }

    /// Whether the next frame, which is whole, can be delivered now.
    public final boolean canDeliver(final long firstSequence, final long slots) {
        return ledger.canDeliver(firstSequence, slots);
    }

    /// The machine gave out its next frame, or bundle of frames. The assembly keeps its slots until each frame is
    /// released.
    ///
    /// @return its place, for [#release]
    public final long deliver(final ReceivedFrame frame) {
        final long slots = StreamInfo.slots(frame.bytes(), shape.slotBytes());
        final long place = ledger.deliver(frame.firstSequence(), slots, Math.max(1, frame.bundleFrames()));
        takenCopies = memory.submitted();
        take(frame);
        return place;
    }

    /// Notes the place of the frame or bundle delivered last.
    abstract void take(ReceivedFrame frame);

    /// Whether that frame is still on its way to its place by copies that no event waits for.
    public final boolean isArriving() {
        return !memory.isVisible(takenCopies);
    }

    /// Reads the table of the bundle delivered last.
    ///
    /// @return false when the table is damaged
    public abstract boolean openBundle(ReceivedFrame bundle, BundleTable table);

    // At the end of the bundle, where that lies.
    final boolean openTable(
            final Space where, final long bundleOffset, final ReceivedFrame bundle, final BundleTable table) {
        final int bytes = BundleLayout.tableBytes(bundle.bundleFrames());
        return bytes <= bundle.bytes()
                && table.open(memory.read(where, bundleOffset + bundle.bytes() - bytes, bytes), bytes, bundle);
    }

    /// Whether the frame delivered last is lost, because the owner of its buffer freed that: drop it.
    public boolean isGone() {
        return false;
    }

    /// Makes a frame contiguous, the one delivered last or one of its bundle. [#space] and [#offset] then locate
    /// it. Not while [#isArriving].
    ///
    /// @param place of the frame
    /// @return false when memory for it is needed and none is free: try again later
    public abstract boolean locate(ReceivedFrame frame, long place);

    /// Copies such a frame out of its placement instead.
    abstract void copyOut(ReceivedFrame frame, Space to, long toOffset);

    /// Whether the datagrams of such a frame lie where they arrived; asked once.
    boolean isUntouched(final ReceivedFrame frame) {
        return true;
    }

    /// The frame delivered last, or one of its bundle, is dropped before it was located.
    public void drop(final long place) {
        release(place);
    }

    /// Nothing arrives any more: buffers of frames that are not whole are given back.
    public void leave() {
        // A placement takes no buffers of the user's.
    }

    final boolean locatedAt(final Space where, final long at, final boolean untouched) {
        space = where;
        offset = at;
        inPlace = untouched;
        return true;
    }

    final void reassembled(final long bytes) {
        reassembledBytes += bytes;
    }

    /// The space of the frame located last.
    public final Space space() {
        return space;
    }

    /// Its offset in that space.
    public final long offset() {
        return offset;
    }

    /// Whether its bytes lie where they arrived.
    public final boolean isInPlace() {
        return inPlace;
    }

    /// The user releases a frame.
    public void release(final long place) {
        ledger.release(place);
    }

    /// The next frames, up to the one that begins at `endSequence`, are dropped.
    public void skip(final long firstSequence, final long endSequence) {
        ledger.skip(firstSequence, endSequence);
    }

    /// No frame is held, and nothing has arrived from `next` on: memory may be used from its start again.
    public void rewind(final long next) {
        // Only a ring in the host's caches gains by it.
    }

    /// Frames delivered and not released.
    public final int framesHeld() {
        return ledger.framesHeld();
    }

    /// Slots of delivered frames, or of frames dropped behind these, that are not free yet.
    ///
    /// @param nextSequence first sequence of the next frame
    public final long heldSlots(final long nextSequence) {
        return nextSequence - ledger.releasedSequence();
    }

    /// Sequences below have a slot that the source may use.
    public final long creditLimit() {
        return ledger.creditLimit() - shape.spareSlots();
    }

    /// Where the payload of a sequence lies, or will, in [FrameMemory.Space#RING]; for rings addressed by
    /// sequence.
    ///
    /// @return an offset in bytes
    public long ringOffset(final long sequence) {
        throw new IllegalStateException("a ring in order of arrival is not addressed by sequence");
    }

    /// Whether copies are under way without an event for their end.
    public final boolean isCopying() {
        return memory.completed() < memory.submitted();
    }

    /// Payload bytes copied once more than the placement needs.
    public long reassembledBytes() {
        return reassembledBytes;
    }

    /// Posts slots of the data lane, as [LanePort#post] does.
    interface Posting {
        int post(LanePort data, int firstSlot, int count);
    }
}
