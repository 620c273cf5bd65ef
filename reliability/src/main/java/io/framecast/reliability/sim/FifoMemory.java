package io.framecast.reliability.sim;

import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.placement.FifoPlacement;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/// A ring that behaves like a verbs receive queue: whatever arrives takes the next posted slot; without one
/// it is lost.
final class FifoMemory extends SimPlacement {
    private final FifoPlacement placement;
    private final byte[] ring;
    private final byte[][] mends;
    private final int ringSlots;
    private final int slotBytes;
    private final int batchMax;
    private final boolean mend;
    private long refused;

    FifoMemory(
            final FifoPlacement placement,
            final SimOptions options,
            final int ringSlots,
            final int mendBuffers,
            final boolean mend) {
        this.placement = placement;
        this.ringSlots = ringSlots;
        this.mend = mend;
        slotBytes = options.stream().slotBytes();
        batchMax = options.flow().batchMax();
        ring = new byte[Math.multiplyExact(ringSlots, slotBytes)];
        mends = new byte[mendBuffers][Math.multiplyExact(options.stream().frameMaxSlots(), slotBytes)];
    }

    @Override
    void start(final long firstSequence) {
        placement.start(firstSequence);
    }

    @Override
    int receiveData(final ArrayDeque<MemorySegment> inbox, final ReceiverMachine machine, final long nowNs) {
        final int count = Math.min(inbox.size(), batchMax);
        for (int i = 0; i < count; i++) {
            final MemorySegment datagram = inbox.remove();
            final int slot = placement.land();
            if (slot == FifoPlacement.NONE) {
                refused++;
                continue;
            }
            copyPayload(datagram, ring, slot * slotBytes, slotBytes);
            final Verdict verdict = machine.onData(datagram, 0, (int) datagram.byteSize(), nowNs);
            if (verdict == Verdict.GOOD && machine.acceptedSequence() >= 0) {
                placement.accept(machine.acceptedSequence());
                keep(machine, machine.acceptedSequence(), datagram, 0, datagram.asSlice(DataLayout.LENGTH));
            } else {
                placement.reject();
            }
        }
        placement.repost(placement.repostable());
        return count;
    }

    @Override
    void receiveRepair(final MemorySegment datagram, final ReceiverMachine machine, final long nowNs) {
        final int bytes = (int) datagram.byteSize();
        int buffer = FifoPlacement.NONE;
        if (machine.wantsRepair(datagram, 0, bytes)) {
            final long index = DataLayout.frameIndex(datagram, 0);
            final long first = DataLayout.sequence(datagram, 0) - index;
            final long slots = StreamInfo.slots(DataLayout.frameBytes(datagram, 0), slotBytes);
            buffer = placement.placeRepair(first, slots);
            if (buffer == FifoPlacement.NONE) {
                refused++;
                machine.repairRequests().defer(first, slots, nowNs + placement.patienceNs(first));
                return;
            }
            copyPayload(datagram, mends[buffer], (int) index * slotBytes, slotBytes);
        }
        final Verdict verdict = machine.onRepair(datagram, 0, bytes, nowNs);
        if (verdict == Verdict.GOOD && machine.acceptedSequence() >= 0) {
            if (buffer == FifoPlacement.NONE) {
                throw new IllegalStateException("the machine took a repair it did not want");
            }
            placement.repaired(machine.acceptedSequence());
            keep(machine, machine.acceptedSequence(), datagram, 0, datagram.asSlice(DataLayout.LENGTH));
        }
    }

    @Override
    boolean canDeliver(final long firstSequence, final long slots) {
        return placement.canComplete(firstSequence, slots);
    }

    @Override
    long deliver(final long firstSequence, final long slots) {
        final long handle = placement.complete(firstSequence, slots, this::copyRun);
        placement.repost(placement.repostable());
        return handle;
    }

    private void copyRun(final int fromSlot, final int mendBuffer, final long frameIndex, final int slots) {
        if (mend) {
            final int to = (int) frameIndex * slotBytes;
            final int bytes = slots * slotBytes;
            System.arraycopy(ring, fromSlot * slotBytes, mends[mendBuffer], to, bytes);
        }
    }

    @Override
    void release(final long handle, final long firstSequence, final long slots) {
        if (handle >= 0) {
            placement.releaseRun(handle, slots);
            placement.repost(placement.repostable());
        } else {
            placement.releaseMend((int) (-1 - handle));
        }
    }

    @Override
    void skip(final long firstSequence, final long endSequence) {
        placement.skip(firstSequence, endSequence);
        placement.repost(placement.repostable());
    }

    @Override
    long creditLimit() {
        return placement.creditLimit();
    }

    @Override
    byte[] memory(final long handle) {
        return handle >= 0 ? ring : mends[(int) (-1 - handle)];
    }

    @Override
    int offset(final long handle, final long firstSequence, final long frameIndex) {
        return handle >= 0 ? ((int) (handle % ringSlots) + (int) frameIndex) * slotBytes : (int) frameIndex * slotBytes;
    }

    @Override
    int askAgain(final ReceiverMachine machine, final long nowNs) {
        int frames = 0;
        for (long first = placement.takeRoom(); first != FifoPlacement.NONE; first = placement.takeRoom()) {
            machine.repairRequests().hasten(first, placement.takenSlots(), nowNs);
            frames++;
        }
        machine.repairRequests().room(placement.roomFrames(), placement.roomSlots(), nowNs);
        return frames;
    }

    @Override
    long refused() {
        return refused;
    }
}
