package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.receive.ReceivedFrame;

/// A ring addressed by sequence. A frame that passes the ring's end lies in one piece where the ring is
/// mapped twice; elsewhere it is copied to the one reassembly buffer.
abstract sealed class SequenceAssembly extends Assembly permits RingAssembly, StagedAssembly {
    private static final long FREE = -1;

    protected final RingLedger ring;
    private final long ringBytes;
    // First slot of the frame or bundle delivered last.
    private int takenSlot;
    // The place of the frame in the reassembly buffer.
    private long bufferPlace = FREE;

    SequenceAssembly(final MemoryShape shape, final FrameMemory memory) {
        this(shape, memory, new RingLedger(shape.ringSlots()));
    }

    private SequenceAssembly(final MemoryShape shape, final FrameMemory memory, final RingLedger ring) {
        super(shape, memory, ring);
        this.ring = ring;
        ringBytes = shape.ringBytes();
    }

    @Override
    final void take(final ReceivedFrame frame) {
        takenSlot = ring.slot(frame.firstSequence());
    }

    final int takenSlot() {
        return takenSlot;
    }

    /// Whether no datagram of a frame that is being located was moved within the ring; asked once.
    abstract boolean isUntouched(ReceivedFrame frame);

    @Override
    public final boolean locate(final ReceivedFrame frame, final long place, final boolean posted) {
        final long at = (long) takenSlot * shape.slotBytes() + frame.slotOffset();
        final boolean wraps = at + frame.bytes() > ringBytes && !memory.isRingMappedTwice();
        if (!posted && !wraps) {
            return locatedAt(Space.RING, at, isUntouched(frame));
        }
        if (!posted && bufferPlace != FREE) {
            return false;
        }
        isUntouched(frame);
        final Space to = posted ? Space.POSTED : Space.REASSEMBLY;
        bufferPlace = posted ? bufferPlace : place;
        memory.copy(Space.RING, at, to, 0, frame.bytes());
        memory.flush();
        reassembled(frame.bytes());
        return locatedAt(to, 0, false);
    }

    @Override
    public final void release(final long place) {
        super.release(place);
        if (place == bufferPlace) {
            bufferPlace = FREE;
        }
    }

    @Override
    public final long ringOffset(final long sequence) {
        return (long) ring.slot(sequence) * shape.slotBytes();
    }
}
