package io.framecast.engine.sink;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceMapping;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.TransportCapabilities.Placement;
import io.framecast.reliability.BundleTable;
import io.framecast.reliability.ReceivedFrame;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.placement.FrameLedger;
import io.framecast.reliability.placement.RingLedger;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Frames in device memory, by staged placement: datagrams land in a pinned host ring in order of arrival,
/// and each run of consecutive sequences is copied by one asynchronous copy straight to where it belongs, so
/// loss and reordering cost shorter runs and nothing else. Repairs are copied likewise. A frame that wraps
/// around the ring's end is assembled in the mend buffer by copies within the device.
///
/// With `fastcopy` the CPU stores short runs through a mapping of the ring, where nothing that was enqueued
/// before may still touch the ring: stores and copies are not ordered against each other. With `loopback` a
/// NIC copies all runs ([NicCopies]), under the same rule, and frames are delivered when they are there.
public final class StagedSink implements PayloadSink {
    private static final int ROUNDS_MAX = 8;

    private final SinkConfig config;
    private final DeviceBackend device;
    private final DeviceStream stream;
    private final Arena arena = Arena.ofShared();
    private final DeviceRegion ring;
    private final DeviceRegion mend;
    // Landing slots, those of repairs behind them, and of reads behind these.
    private final MemorySegment host;
    private final MemorySegment landing;
    private final MemorySegment headers;
    private final long repairsOffset;
    private final int landingSlots;
    private final ReceiveRing dataRing;
    private final InboundRing landingQueue;
    private final RepairRing repairs;
    private final CopyFence landingFence;
    private final CopyFence repairFence;
    private final CopyFence pullFence;
    private final Completions completions;
    private final DataRuns runs;
    private final BundleTables bundles;
    private final @Nullable DeviceMapping mapping;
    private final @Nullable NicCopies nic;
    private final long fastcopyMaxBytes;
    private final int slotBytes;
    private @Nullable Lane dataLane;
    private @Nullable Lane repairLane;
    private Placement placement = Placement.BY_SEQUENCE;
    private Delivery lastDelivery = Delivery.IN_PLACE;
    private boolean mendBusy;
    private long mendedBytes;
    // By how much sequences jumped against slots.
    private long jumped;
    // First slot of the frame or bundle that the machine gave out last.
    private int takenSlot;
    // The run being gathered: landing slot, sequence, count.
    private int runSlot;
    private long runSequence;
    private int runCount;
    // Something of the batch was copied.
    private boolean copying;
    private long storedBytes;
    // Runs that the NIC had been given when the machine gave out the frame or bundle.
    private long takenRuns;

    /// Copies everything by the device's copy engine.
    public StagedSink(final SinkConfig config) {
        this(config, 0);
    }

    /// @param fastcopyMaxBytes longest run that the CPU stores; 0 maps nothing
    /// @throws io.framecast.api.error.DeviceException when the device's memory cannot be mapped
    public StagedSink(final SinkConfig config, final long fastcopyMaxBytes) {
        this(config, fastcopyMaxBytes, null);
    }

    /// Has a NIC copy everything, once it is connected with itself.
    ///
    /// @throws io.framecast.api.error.DeviceException when the memory cannot be exported, or the NIC cannot
    ///     reach it
    public static StagedSink byNic(final SinkConfig config, final LocalNic nic) {
        return new StagedSink(config, 0, nic);
    }

    private StagedSink(final SinkConfig config, final long fastcopyMaxBytes, final @Nullable LocalNic localNic) {
        this.config = config;
        this.fastcopyMaxBytes = fastcopyMaxBytes;
        device = config.device();
        slotBytes = config.slotBytes();
        completions = new Completions(config.batchMax());
        landingSlots = config.landingSlots();
        try (Opened opened = new Opened()) {
            opened.add(arena);
            stream = opened.add(device.openStream());
            ring = device.allocate(localNic == null ? config.ringBytes() : FifoDeviceMemory.ringBytes(config));
            opened.add(() -> device.free(ring));
            mapping = fastcopyMaxBytes > 0 ? opened.add(device.access().map(ring)) : null;
            mend = device.allocate(config.stream().frameMaxBytes());
            opened.add(() -> device.free(mend));
            host = device.allocatePinned((long) config.stagedSlots() * slotBytes);
            opened.add(() -> device.freePinned(host));
            repairsOffset = (long) landingSlots * slotBytes;
            landing = host.asSlice(0, repairsOffset);
            headers = arena.allocate((long) landingSlots * config.headerStride(), 64);
            runs = new DataRuns(config, headers, landing, landingSlots);
            bundles = new BundleTables(config.ringSlots(), slotBytes);
            dataRing = new ReceiveRing(
                    headers,
                    DataLayout.LENGTH,
                    config.headerStride(),
                    DeviceRegion.ofHost(landing),
                    slotBytes,
                    landingSlots);
            repairs = new RepairRing(config, SinkConfig.REPAIR_SLOTS, arena, host.asSlice(repairsOffset));
            landingQueue = new InboundRing(landingSlots);
            landingFence = opened.add(new CopyFence(device));
            repairFence = opened.add(new CopyFence(device));
            pullFence = opened.add(new CopyFence(device));
            nic = localNic == null ? null : opened.add(new NicCopies(config, localNic, ring, host));
            opened.keep();
        }
    }

    @Override
    public ReceiveRing dataRing() {
        return dataRing;
    }

    @Override
    public ReceiveRing repairRing() {
        return repairs.ring();
    }

    @Override
    public @Nullable PullSlots pulls() {
        return repairs.pulls();
    }

    @Override
    public void attach(final Lane data, final Lane repair, final Placement lanePlacement) {
        dataLane = data;
        repairLane = repair;
        placement = lanePlacement;
    }

    @Override
    public int receiveSlots() {
        return landingSlots;
    }

    @Override
    public FrameLedger ledger() {
        return new RingLedger(config.ringSlots());
    }

    @Override
    public void onCredit(final long limit) {
        // Landing slots are freed by copies, not by frames; the machine alone holds the source to the
        // ring's credit.
    }

    @Override
    public int poll(final ReceiverMachine machine, final long nowNs) {
        moveOn();
        int taken = 0;
        for (int round = 0; round < ROUNDS_MAX; round++) {
            final int batch = pollData(machine, nowNs);
            taken += batch;
            if (batch == 0) {
                break;
            }
        }
        // Behind the data lane: a repair asked for too early must not win over the original that has
        // arrived meanwhile.
        return taken + (repairs.isDue(machine, taken, nowNs) ? pollRepairs(machine, nowNs) : 0);
    }

    private int pollData(final ReceiverMachine machine, final long nowNs) {
        if (!PayloadSink.listens(machine.state())) {
            return 0;
        }
        landingQueue.freeUpTo(landingFree());
        beginBatch();
        final int count = landingQueue.poll(Objects.requireNonNull(dataLane), placement, completions);
        if (count == 0 && !landingQueue.isFull()) {
            machine.onDrained(nowNs);
        }
        if (count == 0) {
            return 0;
        }
        for (int i = 0; i < count; i++) {
            if (config.loss().drop()) {
                continue;
            }
            final int slot = completions.slot(i);
            if (machine.onData(headers, runs.headerOffset(slot), completions.bytes(i), nowNs) == Verdict.GOOD
                    && machine.acceptedSequence() != ReceiverMachine.NO_SEQUENCE) {
                final long sequence = machine.acceptedSequence();
                final long end = (long) slot * slotBytes + completions.bytes(i) - DataLayout.LENGTH;
                bundles.keep(ringSlot(sequence), headers, runs.headerOffset(slot), landing, end);
                final int following = runs.follow(machine, completions, i, nowNs);
                runs.keep(machine, completions, i, following + 1, sequence);
                for (int run = 0; run <= following; run++) {
                    gather(slot + run, sequence + run);
                }
                i += following;
            }
        }
        flush();
        if (copying) {
            landingFence.mark(stream, landingQueue.consumed());
            copying = false;
        }
        moveOn();
        return count;
    }

    // What was not accepted was not copied: where that is all, its slots are free at once.
    private long landingFree() {
        final long free = copied(landingFence, landingQueue.consumed());
        return nic != null && nic.isPending() ? Math.min(free, nic.landingFree()) : free;
    }

    private long repairsFree() {
        final long free = copied(repairFence, repairs.consumed());
        return nic != null && nic.isPending() ? Math.min(free, nic.repairsFree()) : free;
    }

    private long pulledFree() {
        final long free = copied(pullFence, repairs.pulled());
        return nic != null && nic.isPending() ? Math.min(free, nic.pulledFree()) : free;
    }

    private static long copied(final CopyFence fence, final long taken) {
        final long copied = fence.completed();
        return fence.isPending() ? copied : taken;
    }

    private void beginBatch() {
        if (nic != null) {
            nic.behind(landingQueue.consumed(), repairs.consumed(), repairs.pulled());
        }
    }

    // Between batches only: what the NIC gives back is copied by the stream, behind everything that is there.
    private void moveOn() {
        if (nic != null && !nic.work(isStreamIdle())) {
            nic.giveBack(this::copyByStream);
            if (copying) {
                landingFence.mark(stream, landingQueue.consumed());
                markRepairs();
            }
        }
    }

    // Slots behind a short payload are copied with stale bytes in their tails: one copy instead of many.
    private void gather(final int slot, final long sequence) {
        final boolean extendsRun = runCount > 0
                && slot == runSlot + runCount
                && sequence == runSequence + runCount
                && ringSlot(sequence) != 0;
        if (!extendsRun) {
            flush();
            runSlot = slot;
            runSequence = sequence;
        }
        runCount++;
    }

    private void flush() {
        if (runCount > 0) {
            copy((long) ringSlot(runSequence) * slotBytes, (long) runSlot * slotBytes, (long) runCount * slotBytes);
            runCount = 0;
        }
    }

    private void copy(final long ringOffset, final long hostOffset, final long bytes) {
        if (nic != null && nic.copy(ringOffset, hostOffset, bytes)) {
            return;
        }
        if (mapping != null && bytes <= fastcopyMaxBytes && isStreamIdle()) {
            mapping.write(ringOffset, host, hostOffset, bytes);
            storedBytes += bytes;
            return;
        }
        copyByStream(ringOffset, hostOffset, bytes);
    }

    private void copyByStream(final long ringOffset, final long hostOffset, final long bytes) {
        stream.copyToDevice(ring.address() + ringOffset, host, hostOffset, bytes);
        copying = true;
    }

    // A copy that was enqueued for a frame which the user closed early may be under way into a slot that is
    // used
    // again.
    private boolean isStreamIdle() {
        if (copying) {
            return false;
        }
        landingFence.completed();
        repairFence.completed();
        pullFence.completed();
        return !landingFence.isPending() && !repairFence.isPending() && !pullFence.isPending();
    }

    private int pollRepairs(final ReceiverMachine machine, final long nowNs) {
        repairs.freeUpTo(repairsFree(), pulledFree());
        beginBatch();
        final int count = repairs.poll(Objects.requireNonNull(repairLane), placement);
        for (int i = 0; i < count; i++) {
            if (repairs.accept(machine, i, nowNs)) {
                final int ringSlot = ringSlot(machine.acceptedSequence());
                final long offset = (long) repairs.slot(i) * slotBytes;
                final int bytes = repairs.payloadBytes(i);
                bundles.keep(ringSlot, repairs.headers(), repairs.headerOffset(i), repairs.payload(), offset + bytes);
                copy((long) ringSlot * slotBytes, repairsOffset + offset, bytes);
            }
        }
        if (copying) {
            markRepairs();
        }
        moveOn();
        return count;
    }

    private void markRepairs() {
        repairFence.mark(stream, repairs.consumed());
        pullFence.mark(stream, repairs.pulled());
        copying = false;
    }

    @Override
    public void take(final ReceivedFrame frame) {
        takenSlot = ringSlot(frame.firstSequence());
        takenRuns = nic == null ? 0 : nic.given();
    }

    @Override
    public boolean isArriving() {
        if (nic == null || nic.isDone(takenRuns)) {
            return false;
        }
        moveOn();
        return !nic.isDone(takenRuns);
    }

    @Override
    public void skip(final long firstSequence, final long endSequence, final long sequencesJumped) {
        // Copies that are still under way into slots that are free now come before those of what lands
        // there next.
        jumped += sequencesJumped;
    }

    @Override
    public boolean openBundle(final ReceivedFrame bundle, final BundleTable table) {
        return bundles.open(takenSlot, bundle, table);
    }

    @Override
    public @Nullable DeviceRegion deliver(
            final ReceivedFrame frame, final @Nullable DeviceRegion target, final DeviceEvent ready) {
        if (nic != null) {
            nic.flush();
        }
        final long slots = StreamInfo.slots(frame.bytes(), slotBytes);
        final long offset = (long) takenSlot * slotBytes + frame.slotOffset();
        final boolean wraps = takenSlot + slots > config.ringSlots();
        if (target == null && !wraps) {
            stream.record(ready);
            lastDelivery = Delivery.IN_PLACE;
            return ring.slice(offset, frame.bytes());
        }
        if (target == null && mendBusy) {
            return null;
        }
        mendBusy |= target == null;
        lastDelivery = target == null ? Delivery.IN_MEND_BUFFER : Delivery.MENDED;
        final DeviceRegion to = (target == null ? mend : target).slice(0, frame.bytes());
        final long head = Math.min(frame.bytes(), config.ringBytes() - offset);
        stream.copyWithin(to.address(), ring.address() + offset, head);
        if (head < frame.bytes()) {
            stream.copyWithin(to.address() + head, ring.address(), frame.bytes() - head);
        }
        stream.record(ready);
        // What is copied out of the ring must not be written over: see isStreamIdle. Slots that the NIC
        // still reads are
        // not free with it, for they may yet be given back to the stream.
        landingFence.mark(stream, nic != null && nic.isPending() ? nic.landingFree() : landingQueue.consumed());
        mendedBytes += frame.bytes();
        return to;
    }

    private int ringSlot(final long sequence) {
        return (int) ((sequence - jumped) % config.ringSlots());
    }

    @Override
    public void rewind(final long next) {
        // The ring lies behind no cache of the host's.
    }

    @Override
    public boolean isCopying() {
        return landingFence.isPending()
                || repairFence.isPending()
                || pullFence.isPending()
                || (nic != null && nic.isBusy());
    }

    @Override
    public Delivery lastDelivery() {
        return lastDelivery;
    }

    @Override
    public void mendReleased() {
        mendBusy = false;
    }

    @Override
    public long mendedBytes() {
        return mendedBytes;
    }

    /// Payload bytes that the CPU stored.
    @Override
    public long storedBytes() {
        return storedBytes;
    }

    @Override
    public @Nullable NicCounts nicCounts() {
        return nic == null ? null : nic.counts();
    }

    @Override
    public void detach() {
        CloseHelper.close(nic);
    }

    @Override
    public void close() {
        // NIC and stream first: nothing is copied any more from or to what is freed behind them.
        CloseHelper.closeAll(
                nic,
                stream,
                landingFence,
                repairFence,
                pullFence,
                mapping,
                () -> device.freePinned(host),
                () -> device.free(ring),
                () -> device.free(mend),
                arena);
    }
}
