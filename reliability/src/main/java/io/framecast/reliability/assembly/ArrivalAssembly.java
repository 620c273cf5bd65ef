package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.repair.RepairRequests;
import io.framecast.reliability.wire.DataLayout;
import org.jspecify.annotations.Nullable;

/// The ring is filled in order of arrival, as a verbs receive queue is: a frame without loss is in place and is
/// never copied. Repairs of other frames go into a reassembly buffer. The arrived payloads of a frame are copied
/// there when the frame is whole, and its slots are free when these copies have ended.
final class ArrivalAssembly extends Assembly {
    private final ArrivalPlacement placement;
    private final ArrivalLedger ledger;
    private final FrameForecast forecast;
    private final SlotMemory dataSlots;
    private final int slotBytes;
    private Posting posting = LanePort::post;
    // Whether slots before the ring's end are left out where a frame would pass the end.
    private boolean leavesTails;
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
        forecast = new FrameForecast(shape.stream());
        slotBytes = shape.slotBytes();
        dataSlots = memory.data();
        leavesTails = !memory.isRingMappedTwice();
        ledger.copyBy(this::copyRun);
    }

    // As long as a receive window over the ring, at least.
    private static int tableSlots(final int ringSlots) {
        return Math.max(64, Integer.highestOneBit(2 * ringSlots - 1));
    }

    /// Before the first poll: slots are posted by `made`, some payloads lie elsewhere than in their slots, and
    /// `copies` are made of frames that are reassembled.
    void redirectBy(
            final Posting made, final ArrivalPlacement.Redirects redirects, final ArrivalPlacement.Copies copies) {
        posting = made;
        placement.redirectBy(redirects);
        ledger.copyBy(copies);
    }

    /// Where the next frames are expected.
    FrameForecast forecast() {
        return forecast;
    }

    /// Every slot is posted from now on, wherever frames lie in the ring.
    void postTails() {
        leavesTails = false;
    }

    /// Receives that are queued.
    int postedFree() {
        return placement.postedFree();
    }

    @Override
    public void start(final long firstSequence) {
        super.start(firstSequence);
        forecast.start(firstSequence);
    }

    /// No more datagrams can be under way than the lane holds posted slots.
    @Override
    public int prepare(final LanePort data) {
        if (data.placement() != LanePort.Placement.BY_ARRIVAL) {
            throw new IllegalStateException("placement by arrival needs a lane that takes slots in order");
        }
        placement.repost(data.post(0, shape.ringSlots()));
        return Math.max(1, placement.postedFree() - shape.spareSlots());
    }

    // Whether the ring has room for slots that are left out before its end. The user may hold its frames of this
    // length, and another one has to find room all the same.
    private boolean hasRoomForTail(final long frameSlots) {
        final int held = shape.buffers() - 1 - shape.laterMax();
        return shape.ringSlots() >= (held + 2) * frameSlots;
    }

    // How many of the free slots are posted next. Slots before the ring's end in which the next frame would not fit
    // are left out, once all of them are free.
    private int leaveTail(final int run) {
        final long toFrame = leavesTails ? forecast.toNextFrame(placement.postedFree()) : FrameForecast.NONE;
        final long frame = forecast.slots();
        final long room = shape.ringSlots() - placement.repostSlot() - toFrame;
        // Where the lane posted slots again by itself they are not in order.
        if (toFrame < 0 || room < 0 || run < placement.repostable() || !hasRoomForTail(frame)) {
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

    private void post(final LanePort data) {
        int run = memory.completed() >= ringCopies ? leaveTail(placement.repostRun()) : 0;
        while (run > 0) {
            final int accepted = posting.post(data, placement.repostSlot(), run);
            placement.repost(accepted);
            run = accepted < run ? 0 : leaveTail(placement.repostRun());
        }
    }

    @Override
    public int poll(final LanePort data, final @Nullable ReceiverMachine expected) {
        // Where no slot is posted no datagram waits in the lane either: arriving datagrams are lost and must be
        // repaired.
        post(data);
        return data.poll();
    }

    @Override
    public void accept(final int slot, final long sequence, final int count, final int bytes) {
        for (int i = 0; i < count; i++) {
            placement.arrive(slot + i);
            placement.accept(sequence + i);
        }
        forecast.pass(sequence + count);
        if (leavesTails) {
            final long header = dataSlots.headerOffset(slot);
            final long index = DataLayout.FRAME_INDEX.unsigned(dataSlots.headers(), header);
            forecast.learn(sequence - index, FrameForecast.frameBytes(dataSlots.headers(), header));
        }
    }

    @Override
    public void reject(final int slot) {
        placement.arrive(slot);
        placement.reject();
    }

    @Override
    public void endBatch() {
        // Copies begin when the frame is whole.
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
                bufferOffset(buffer, frameIndex),
                bytes);
        reassembled(bytes);
    }

    /// Where a slot of a frame lies in a reassembly buffer.
    long bufferOffset(final int number, final long frameIndex) {
        return number * shape.bufferBytes() + frameIndex * slotBytes;
    }

    /// Copies a run of slots to a reassembly buffer.
    void copyRun(final int fromSlot, final int toBuffer, final long frameIndex, final int slots) {
        final long bytes = (long) slots * slotBytes;
        memory.copy(
                Space.RING, (long) fromSlot * slotBytes, Space.REASSEMBLY, bufferOffset(toBuffer, frameIndex), bytes);
        onCopied(bytes);
    }

    /// Payloads of slots were copied: these slots are posted again when the copies have ended.
    void onCopied(final long bytes) {
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
        takenSpace = handle < 0 ? Space.REASSEMBLY : Space.RING;
        takenOffset = handle < 0 ? (-1 - handle) * shape.bufferBytes() : (long) placement.slotOf(handle) * slotBytes;
    }

    /// Whether the frame or bundle delivered last lies in its slots, and not in a reassembly buffer.
    boolean isInSlots() {
        return takenSpace == Space.RING;
    }

    /// The slot of a datagram of the frame delivered last, where that lies in its slots.
    int takenSlot(final long frameIndex) {
        return placement.slotOf(ledger.lastHandle() + frameIndex);
    }

    @Override
    public boolean openBundle(final ReceivedFrame bundle, final BundleTable table) {
        return openTable(takenSpace, takenOffset, bundle, table);
    }

    @Override
    public boolean locate(final ReceivedFrame frame, final long place) {
        return locatedAt(takenSpace, takenOffset + frame.slotOffset(), takenSpace == Space.RING);
    }

    @Override
    void copyOut(final ReceivedFrame frame, final Space to, final long toOffset) {
        memory.copy(takenSpace, takenOffset + frame.slotOffset(), to, toOffset, frame.bytes());
        // The user may close the frame before this copy ended. Only later copies write reassembly buffers.
        ringCopies = takenSpace == Space.RING ? memory.submitted() : ringCopies;
        memory.flush();
        reassembled(frame.bytes());
    }
}
