package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.repair.RepairRequests;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import org.jspecify.annotations.Nullable;

/// The ring is filled in order of arrival, as a verbs receive queue is: a frame without loss is in place and is
/// never copied. Repairs of other frames go into a reassembly buffer. The arrived payloads of a frame are copied
/// there when the frame is whole, and its slots are free when these copies have ended.
final class ArrivalAssembly extends Assembly {
    // Receives that are redirected before the lane is asked whether it accepts them.
    private static final int REDIRECTED_RUN = 64;

    private final ArrivalPlacement placement;
    private final ArrivalLedger ledger;
    private final ArrivalBuffers posted;
    private final SlotMemory dataSlots;
    private final int slotBytes;
    private boolean canRedirect;
    // Since the last batch ended.
    private boolean moved;
    // The user's buffer in which the frame delivered last lies.
    private int takenBuffer = BufferQueue.NONE;
    // The space of the frame or bundle delivered last.
    private Space takenSpace = Space.RING;
    private long takenOffset;
    // Number of copies begun, up to the last one that reads the ring.
    private long ringCopies;
    private int buffer;

    ArrivalAssembly(final MemoryShape shape, final FrameMemory memory) {
        this(
                shape,
                memory,
                new ArrivalPlacement(
                        shape.ringSlots(),
                        shape.buffers(),
                        shape.laterMax(),
                        tableSlots(shape.ringSlots()),
                        memory.isRingMappedTwice()));
    }

    private ArrivalAssembly(final MemoryShape shape, final FrameMemory memory, final ArrivalPlacement placement) {
        this(shape, memory, placement, new ArrivalLedger(placement, shape.ringSlots() + shape.buffers()));
    }

    private ArrivalAssembly(
            final MemoryShape shape,
            final FrameMemory memory,
            final ArrivalPlacement placement,
            final ArrivalLedger ledger) {
        super(shape, memory, ledger);
        this.placement = placement;
        this.ledger = ledger;
        slotBytes = shape.slotBytes();
        dataSlots = memory.data();
        posted = new ArrivalBuffers(shape);
        placement.redirectBy(posted);
        ledger.copyBy(this::copyRun);
    }

    // As long as a receive window over the ring, at least.
    private static int tableSlots(final int ringSlots) {
        return Math.max(64, Integer.highestOneBit(2 * ringSlots - 1));
    }

    @Override
    public void start(final long firstSequence, final BufferQueue buffers) {
        super.start(firstSequence, buffers);
        posted.start(firstSequence, canRedirect ? buffers : BufferQueue.EMPTY);
    }

    /// No more datagrams can be under way than the lane holds posted slots.
    @Override
    public int prepare(final LanePort data) {
        if (data.placement() != LanePort.Placement.BY_ARRIVAL) {
            throw new IllegalStateException("placement by arrival needs a lane that takes slots in order");
        }
        placement.repost(data.post(0, shape.ringSlots()));
        canRedirect = canRedirect(data);
        return Math.max(1, placement.postedFree() - shape.spareSlots());
    }

    // Whether slots before the ring's end are left out where a frame of this length would pass the end. The user may
    // hold its frames, and another one has to find room all the same.
    private boolean leavesTails(final long frameSlots) {
        final int held = shape.buffers() - 1 - shape.laterMax();
        return !memory.isRingMappedTwice() && shape.ringSlots() >= (held + 2) * frameSlots;
    }

    // How many of the free slots are posted next. Slots before the ring's end in which the next frame would not fit
    // are left out, once all of them are free.
    private int leaveTail(final int run) {
        final long toFrame = posted.isUsed() ? -1 : posted.toNextFrame(placement.postedFree());
        final long frame = posted.frameSlots();
        final long room = shape.ringSlots() - placement.repostSlot() - toFrame;
        // Where the lane posted slots again by itself they are not in order.
        if (toFrame < 0 || room < 0 || run < placement.repostable() || !leavesTails(frame)) {
            return run;
        }
        final int tail = (int) (room % frame);
        final long before = toFrame + room - tail;
        if (before > 0) {
            return (int) Math.min(run, before);
        }
        if (tail <= run) {
            placement.leaveOut(tail);
            return leaveTail(placement.repostRun());
        }
        return 0;
    }

    private void post(final LanePort data, final boolean redirects) {
        int run = memory.completed() >= ringCopies ? leaveTail(placement.repostRun()) : 0;
        while (run > 0) {
            final int wanted = redirects ? Math.min(run, REDIRECTED_RUN) : run;
            final int first = placement.repostSlot();
            for (int i = 0; redirects && i < wanted; i++) {
                posted.redirect(data, (first + i) % shape.ringSlots(), placement.postedFree() + i);
            }
            final int accepted = data.post(first, wanted);
            for (int i = wanted - 1; redirects && i >= accepted; i--) {
                posted.undo((first + i) % shape.ringSlots());
            }
            placement.repost(accepted);
            run = accepted < wanted ? 0 : leaveTail(placement.repostRun());
        }
    }

    @Override
    public int poll(final LanePort data, final @Nullable ReceiverMachine expected) {
        // Where no slot is posted no datagram waits in the lane either: arriving datagrams are lost and must be
        // repaired.
        // A co-root copies its datagrams from the slots.
        post(data, expected != null && !expected.mayKeep() && posted.isUsed());
        return data.poll();
    }

    @Override
    public void accept(final int slot, final long sequence, final int count, final int bytes) {
        for (int i = 0; i < count; i++) {
            placement.arrive(slot + i);
            placement.accept(sequence + i);
        }
        final boolean used = posted.isUsed();
        if (!used) {
            posted.pass(sequence + count);
            if (memory.isRingMappedTwice()) {
                return;
            }
        }
        final long header = dataSlots.headerOffset(slot);
        final long index = DataLayout.FRAME_INDEX.unsigned(dataSlots.headers(), header);
        final long frameBytes = FrameForecast.frameBytes(dataSlots.headers(), header);
        if (!used) {
            posted.learn(sequence - index, frameBytes);
            return;
        }
        for (int i = 0; i < count; i++) {
            if (!posted.arrive(slot + i, sequence + i, index + i, frameBytes)) {
                moveToSlot(slot + i, i == 0 ? bytes : slotBytes);
            }
        }
    }

    // A datagram arrived elsewhere in the user's buffers than its frame has it.
    private void moveToSlot(final int slot, final int bytes) {
        final long place = posted.of(slot);
        final long there = Math.min(bytes, posted.roomAt(place));
        memory.copy(Space.POSTED, place, Space.RING, (long) slot * slotBytes, there);
        ringCopies = memory.submitted();
        reassembled(bytes);
        posted.leave(slot);
        moved = true;
    }

    @Override
    public void reject(final int slot) {
        posted.reject(slot);
        placement.arrive(slot);
        placement.reject();
    }

    @Override
    public void endBatch() {
        // Other copies begin when the frame is whole.
        if (moved) {
            moved = false;
            memory.flush();
        }
    }

    @Override
    public boolean reserve(
            final long firstSequence, final long slots, final RepairRequests requests, final long nowNs) {
        buffer = placement.placeRepair(firstSequence, slots);
        if (buffer == ArrivalPlacement.NONE) {
            requests.defer(firstSequence, slots, nowNs + placement.patienceNs(firstSequence));
        }
        return buffer != ArrivalPlacement.NONE;
    }

    @Override
    public void renew(final RepairRequests requests, final long nowNs) {
        for (long first = placement.takeRoom(); first != ArrivalPlacement.NONE; first = placement.takeRoom()) {
            requests.retryNow(first, placement.takenSlots(), nowNs);
        }
        requests.room(placement.roomFrames(), placement.roomSlots(), nowNs);
    }

    @Override
    public void repaired(final long sequence, final long frameIndex, final int repairSlot, final int bytes) {
        placement.repaired(sequence);
        memory.copy(
                Space.REPAIR,
                memory.repairs().payloadOffset(repairSlot),
                Space.REASSEMBLY,
                buffer * shape.bufferBytes() + frameIndex * slotBytes,
                bytes);
        reassembled(bytes);
    }

    private void copyRun(final int fromSlot, final int toBuffer, final long frameIndex, final int slots) {
        final long place = posted.of(fromSlot);
        final long bytes = (long) slots * slotBytes;
        final long to = toBuffer * shape.bufferBytes() + frameIndex * slotBytes;
        if (place == ArrivalBuffers.IN_SLOT) {
            memory.copy(Space.RING, (long) fromSlot * slotBytes, Space.REASSEMBLY, to, bytes);
        } else {
            memory.copy(Space.POSTED, place, Space.REASSEMBLY, to, Math.min(bytes, posted.roomAt(place)));
        }
        ringCopies = memory.submitted();
        reassembled(bytes);
    }

    @Override
    public long refusedRepairs() {
        return placement.refusedRepairs();
    }

    @Override
    void take(final ReceivedFrame frame) {
        memory.flush();
        final long handle = ledger.lastHandle();
        takenBuffer = BufferQueue.NONE;
        takenSpace = handle < 0 ? Space.REASSEMBLY : Space.RING;
        takenOffset = handle < 0 ? (-1 - handle) * shape.bufferBytes() : (long) placement.slotOf(handle) * slotBytes;
        if (handle >= 0 && posted.of(placement.slotOf(handle)) != ArrivalBuffers.IN_SLOT) {
            takenBuffer = BufferQueue.number(posted.of(placement.slotOf(handle)));
            for (long i = 0; i < StreamInfo.slots(frame.bytes(), slotBytes); i++) {
                posted.handOver(placement.slotOf(handle + i));
            }
        }
    }

    @Override
    public boolean isPosted() {
        return takenBuffer != BufferQueue.NONE;
    }

    @Override
    public void drop(final long place) {
        if (isPosted()) {
            posted.giveBack(takenBuffer);
            takenBuffer = BufferQueue.NONE;
        }
        super.drop(place);
    }

    @Override
    public void leave() {
        posted.close();
    }

    @Override
    public boolean openBundle(final ReceivedFrame bundle, final BundleTable table) {
        return openTable(takenSpace, takenOffset, bundle, table);
    }

    @Override
    public boolean locate(final ReceivedFrame frame, final long place, final int to) {
        if (isPosted()) {
            final long own = BufferQueue.offset(takenBuffer);
            takenBuffer = BufferQueue.NONE;
            return locatedAt(Space.POSTED, own, true);
        }
        final long at = takenOffset + frame.slotOffset();
        return to == BufferQueue.NONE
                ? locatedAt(takenSpace, at, takenSpace == Space.RING)
                : locateCopy(frame, at, BufferQueue.offset(to));
    }

    private boolean locateCopy(final ReceivedFrame frame, final long at, final long to) {
        memory.copy(takenSpace, at, Space.POSTED, to, frame.bytes());
        // The user may close the frame before this copy ended. Only later copies write reassembly buffers.
        ringCopies = takenSpace == Space.RING ? memory.submitted() : ringCopies;
        memory.flush();
        reassembled(frame.bytes());
        return locatedAt(Space.POSTED, to, false);
    }
}
