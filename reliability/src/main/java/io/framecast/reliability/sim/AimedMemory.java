package io.framecast.reliability.sim;

import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.placement.AimedBatch;
import io.framecast.reliability.placement.RingLedger;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.random.RandomGenerator;

/// A ring addressed by sequence, filled by aimed batches as `recvmsg` with iovecs does: payloads land where
/// they were expected before anybody saw a header. Wrapping frames are read through the ring's end, as with
/// memory mapped twice.
final class AimedMemory extends SimPlacement {
    private final RandomGenerator random;
    private final RingLedger ledger;
    private final AimedBatch batch;
    private final MemorySegment headers;
    private final int[] datagramBytes;
    private final byte[] memory;
    private final int slotBytes;
    private final int batchMax;
    private final boolean unscatter;
    private int aimedRun;

    AimedMemory(
            final RandomGenerator random,
            final int ringSlots,
            final int slotBytes,
            final int batchMax,
            final boolean unscatter) {
        this.random = random;
        this.slotBytes = slotBytes;
        this.batchMax = batchMax;
        this.unscatter = unscatter;
        headers = MemorySegment.ofArray(new byte[batchMax * DataLayout.LENGTH]);
        datagramBytes = new int[batchMax];
        ledger = new RingLedger(ringSlots);
        batch = new AimedBatch(batchMax);
        // Behind the ring: landing slots for what has no place, and one more to open rings of moves with.
        memory = new byte[Math.multiplyExact(ringSlots + batchMax + 1, slotBytes)];
    }

    @Override
    void start(final long firstSequence) {
        ledger.start(firstSequence);
    }

    @Override
    int receiveData(final ArrayDeque<MemorySegment> inbox, final ReceiverMachine machine, final long nowNs) {
        final int count = Math.min(inbox.size(), 1 + random.nextInt(batchMax));
        final boolean receiving = machine.state() == ReceiverMachine.State.RECEIVING;
        final long expected = machine.expectedSequence();
        aimedRun = receiving ? machine.expectedRun(expected, count) : 0;
        batch.clear();
        // The kernel fills the whole batch before anybody looks: all payloads land, then all headers are read.
        int i = 0;
        for (final MemorySegment datagram : inbox) {
            if (i == count) {
                break;
            }
            copyPayload(datagram, memory, landing(expected, i) * slotBytes, slotBytes);
            datagramBytes[i] = (int) datagram.byteSize();
            MemorySegment.copy(
                    datagram, 0, headers, (long) i * DataLayout.LENGTH, Math.min(DataLayout.LENGTH, datagramBytes[i]));
            i++;
        }
        for (int taken = 0; taken < count; taken++) {
            inbox.remove();
        }
        for (i = 0; i < count; ) {
            i += accept(machine, expected, i, count, nowNs);
        }
        if (unscatter) {
            batch.plan(ledger.ringSlots() + batchMax, this::copySlot);
        }
        return count;
    }

    /// Shows one datagram to the machine, and those that continue it in order with it.
    ///
    /// @return datagrams shown
    private int accept(
            final ReceiverMachine machine, final long expected, final int index, final int count, final long nowNs) {
        final long header = (long) index * DataLayout.LENGTH;
        final Verdict verdict = machine.onData(headers, header, datagramBytes[index], nowNs);
        final long first = machine.acceptedSequence();
        if (verdict != Verdict.GOOD || first < 0) {
            return 1;
        }
        int whole = 0;
        while (index + 1 + whole < count && datagramBytes[index + 1 + whole] == DataLayout.LENGTH + slotBytes) {
            whole++;
        }
        final int run = 1 + machine.onRun(headers, header, DataLayout.LENGTH, whole, nowNs);
        for (int i = 0; i < run; i++) {
            final int landing = landing(expected, index + i);
            batch.add(landing, ledger.slot(first + i));
            keep(
                    machine,
                    first + i,
                    headers,
                    header + (long) i * DataLayout.LENGTH,
                    MemorySegment.ofArray(memory)
                            .asSlice((long) landing * slotBytes, datagramBytes[index + i] - DataLayout.LENGTH));
        }
        return run;
    }

    private int landing(final long expected, final int position) {
        return position < aimedRun && expected + position < ledger.creditLimit()
                ? ledger.slot(expected + position)
                : ledger.ringSlots() + position;
    }

    private void copySlot(final int fromSlot, final int toSlot) {
        System.arraycopy(memory, fromSlot * slotBytes, memory, toSlot * slotBytes, slotBytes);
    }

    @Override
    void receiveRepair(final MemorySegment datagram, final ReceiverMachine machine, final long nowNs) {
        final Verdict verdict = machine.onRepair(datagram, 0, (int) datagram.byteSize(), nowNs);
        if (verdict == Verdict.GOOD && machine.acceptedSequence() >= 0) {
            copyPayload(datagram, memory, ledger.slot(machine.acceptedSequence()) * slotBytes, slotBytes);
            keep(machine, machine.acceptedSequence(), datagram, 0, datagram.asSlice(DataLayout.LENGTH));
        }
    }

    @Override
    boolean canDeliver(final long firstSequence, final long slots) {
        return true;
    }

    @Override
    long deliver(final long firstSequence, final long slots) {
        return ledger.deliver(firstSequence, slots);
    }

    @Override
    void release(final long handle, final long firstSequence, final long slots) {
        ledger.release(handle);
    }

    @Override
    void skip(final long firstSequence, final long endSequence) {
        ledger.skip(firstSequence, endSequence);
    }

    @Override
    long creditLimit() {
        return ledger.creditLimit();
    }

    @Override
    byte[] memory(final long handle) {
        return memory;
    }

    @Override
    int offset(final long handle, final long firstSequence, final long frameIndex) {
        return ledger.slot(firstSequence + frameIndex) * slotBytes;
    }

    // A repair's place is its slot, which is always there.
    @Override
    int askAgain(final ReceiverMachine machine, final long nowNs) {
        return 0;
    }

    @Override
    long refused() {
        return 0;
    }
}
