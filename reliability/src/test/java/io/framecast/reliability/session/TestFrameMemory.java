package io.framecast.reliability.session;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.reliability.assembly.CopyCounts;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.PostedOffset;
import io.framecast.reliability.assembly.SlotMemory;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// A receiver's memory. Copies are carried out as they begin; a test may let them seem under way for longer.
final class TestFrameMemory extends CopyCounts {
    private final List<MemorySegment> posted = new ArrayList<>();
    private final long bufferBytes;
    private final SlotMemory data;
    private final SlotMemory repairs;
    /// Copies end when the test says so, by [#finish].
    boolean late;
    /// The memory of the posted buffer is closed: a copy into it fails.
    boolean postedClosed;
    /// Copies to the reassembly buffer fail.
    boolean reassemblyBroken;

    TestFrameMemory(final MemoryShape shape, final boolean mappedTwice) {
        super(mappedTwice);
        bufferBytes = shape.stream().frameMaxBytes();
        put(Space.RING, allocate(shape.ringBytes() + shape.tailBytes()));
        put(Space.STAGING, allocate((long) shape.stagingSlots() * shape.slotBytes()));
        put(Space.REPAIR, allocate((long) shape.allRepairSlots() * shape.slotBytes()));
        put(Space.SCRATCH, allocate((long) shape.batchMax() * shape.slotBytes()));
        put(Space.REASSEMBLY, allocate(shape.buffersBytes()));
        final boolean staged = shape.kind() == MemoryShape.Kind.STAGED;
        data = slotMemory(
                staged ? Space.STAGING : Space.RING,
                staged ? shape.stagingSlots() : shape.ringSlots(),
                shape.slotBytes());
        repairs = slotMemory(Space.REPAIR, shape.allRepairSlots(), shape.slotBytes());
    }

    private static MemorySegment allocate(final long bytes) {
        return Arena.ofAuto().allocate(Math.max(1, bytes), 64).fill((byte) 0xa7);
    }

    private SlotMemory slotMemory(final Space space, final int slots, final int slotBytes) {
        return new SlotMemory(allocate((long) slots * DataLayout.LENGTH), 0, of(space), slotBytes, slots);
    }

    /// The bytes of a frame; beyond the ring's end they go on at its start.
    byte[] bytes(final Space space, final long offset, final int length) {
        final MemorySegment from = of(space, offset);
        final byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            final long at = PostedOffset.within(offset) + i;
            bytes[i] = from.get(JAVA_BYTE, space == Space.RING ? at % from.byteSize() : at);
        }
        return bytes;
    }

    private MemorySegment of(final Space space, final long offset) {
        return space == Space.POSTED ? posted(PostedOffset.number(offset)) : of(space);
    }

    /// A new buffer of the user's.
    ///
    /// @return its number
    int post() {
        posted.add(allocate(bufferBytes));
        return posted.size() - 1;
    }

    MemorySegment posted(final int buffer) {
        return posted.get(buffer);
    }

    @Override
    public SlotMemory data() {
        return data;
    }

    @Override
    public SlotMemory repairs() {
        return repairs;
    }

    @Override
    public void copy(final Space from, final long fromOffset, final Space to, final long toOffset, final long bytes) {
        if ((to == Space.POSTED && postedClosed) || (to == Space.REASSEMBLY && reassemblyBroken)) {
            throw new IllegalStateException("closed");
        }
        final MemorySegment copied = MemorySegment.ofArray(bytes(from, fromOffset, (int) bytes));
        MemorySegment.copy(copied, 0, of(to, toOffset), PostedOffset.within(toOffset), bytes);
        begin();
        if (!late) {
            finish();
        }
    }

    @Override
    public void flush() {
        // Each copy has its own end.
    }
}
