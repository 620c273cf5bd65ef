package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.receive.ReceivedFrame;

/// A ring addressed by sequence.
abstract sealed class SequenceAssembly extends Assembly permits RingAssembly, StagedAssembly {
    protected final RingLedger ring;
    // First slot of the frame or bundle delivered last.
    private int takenSlot;

    SequenceAssembly(final MemoryShape shape, final FrameMemory memory) {
        this(shape, memory, new RingLedger(shape.ringSlots()));
    }

    private SequenceAssembly(final MemoryShape shape, final FrameMemory memory, final RingLedger ring) {
        super(shape, memory, ring);
        this.ring = ring;
    }

    @Override
    final void take(final ReceivedFrame frame) {
        takenSlot = ring.slot(frame.firstSequence());
    }

    final int takenSlot() {
        return takenSlot;
    }

    /// Where a frame of the slots delivered last begins in the ring.
    final long offsetOf(final ReceivedFrame frame) {
        return (long) takenSlot * shape.slotBytes() + frame.slotOffset();
    }

    @Override
    void copyOut(final ReceivedFrame frame, final Space to, final long toOffset) {
        memory.copy(Space.RING, offsetOf(frame), to, toOffset, frame.bytes());
        memory.flush();
        reassembled(frame.bytes());
    }

    @Override
    public final long ringOffset(final long sequence) {
        return (long) ring.slot(sequence) * shape.slotBytes();
    }
}
