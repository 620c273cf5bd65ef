package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;

/// Payloads of one batch that arrived elsewhere than they belong. They lie in [Space#SCRATCH] until all of them
/// are there, because the place of one may be the slot of another.
///
/// One thread; allocates only in its constructor.
final class ScratchSlots {
    private final FrameMemory memory;
    private final int slotBytes;
    private final long[] sequences;
    private final int[] bytes;
    private int count;

    ScratchSlots(final MemoryShape shape, final FrameMemory memory) {
        this.memory = memory;
        slotBytes = shape.slotBytes();
        sequences = new long[shape.batchMax()];
        bytes = new int[shape.batchMax()];
    }

    /// Copies a part of the next payload, which [#add] ends.
    ///
    /// @param within where the part begins in the payload
    /// @param length of the part; 0 for none
    void copy(final Space from, final long offset, final int within, final int length) {
        if (length > 0) {
            memory.copy(from, offset, Space.SCRATCH, (long) count * slotBytes + within, length);
        }
    }

    /// All parts of the next payload were copied.
    void add(final long sequence, final int payloadBytes) {
        sequences[count] = sequence;
        bytes[count++] = payloadBytes;
    }

    /// Payloads that are there.
    int count() {
        return count;
    }

    long sequence(final int index) {
        return sequences[index];
    }

    int bytes(final int index) {
        return bytes[index];
    }

    /// All payloads were copied to their places.
    void clear() {
        count = 0;
    }
}
