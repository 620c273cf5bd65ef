package io.framecast.reliability.sim;

import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.placement.FifoPlacement;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.random.RandomGenerator;

/// A receiver's memory, and how payloads get to their places in it.
abstract class SimPlacement {
    /// Memory of one kind or the other, as the run's share of each says.
    static SimPlacement of(
            final SimOptions options,
            final ReceiverMachine machine,
            final int ringSlots,
            final RandomGenerator random) {
        final boolean mend = options.plant() != Plant.SKIP_MEND;
        if (random.nextDouble() < options.flow().fifo()) {
            final int mendBuffers = 1 + random.nextInt(SimOptions.MEND_BUFFERS_MAX);
            final FifoPlacement fifo = new FifoPlacement(ringSlots, mendBuffers, machine.windowSlots());
            fifo.repost(fifo.repostable());
            return new FifoMemory(fifo, options, ringSlots, mendBuffers, mend);
        }
        final int slotBytes = options.stream().slotBytes();
        return new AimedMemory(random, ringSlots, slotBytes, options.flow().batchMax(), mend);
    }

    /// Takes datagrams of the data lane.
    ///
    /// @return how many were taken from the inbox
    abstract int receiveData(ArrayDeque<MemorySegment> inbox, ReceiverMachine machine, long nowNs);

    /// Takes one datagram of the repair lane.
    abstract void receiveRepair(MemorySegment datagram, ReceiverMachine machine, long nowNs);

    /// The receiver became a member.
    abstract void start(long firstSequence);

    abstract boolean canDeliver(long firstSequence, long slots);

    /// The next frame goes to the user.
    ///
    /// @return what [#release] wants to see
    abstract long deliver(long firstSequence, long slots);

    abstract void release(long handle, long firstSequence, long slots);

    /// The next frames are given up.
    abstract void skip(long firstSequence, long endSequence);

    abstract long creditLimit();

    /// The memory that a delivered frame lies in.
    abstract byte[] memory(long handle);

    /// Where in [#memory] the payload of one of its datagrams lies.
    abstract int offset(long handle, long firstSequence, long frameIndex);

    /// Datagrams that found no room, and must come again.
    abstract long refused();

    /// Asks again for repairs that found no room and would find it now.
    ///
    /// @return frames that are asked for
    abstract int askAgain(ReceiverMachine machine, long nowNs);

    /// A datagram was accepted, and its payload lies here: a co-root keeps a copy.
    ///
    /// @param header of 40 bytes, at `headerOffset`
    static void keep(
            final ReceiverMachine machine,
            final long sequence,
            final MemorySegment header,
            final long headerOffset,
            final MemorySegment payload) {
        final RepairStore store = machine.store();
        if (store != null && store.wants(sequence)) {
            store.putPayload(sequence, payload, 0, (int) payload.byteSize());
            store.putHeader(sequence, header, headerOffset);
            machine.onStored(sequence);
        }
    }

    static void copyPayload(final MemorySegment datagram, final byte[] target, final int at, final int bytesMax) {
        final long bytes = Math.min(bytesMax, datagram.byteSize() - DataLayout.LENGTH);
        if (bytes > 0) {
            MemorySegment.copy(
                    datagram, java.lang.foreign.ValueLayout.JAVA_BYTE, DataLayout.LENGTH, target, at, (int) bytes);
        }
    }
}
