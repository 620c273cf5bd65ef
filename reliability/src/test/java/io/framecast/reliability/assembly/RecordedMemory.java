package io.framecast.reliability.assembly;

import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// A receiver's memory that notes which copies were asked for, and carries none out. They are under way until the
/// test says that they ended.
final class RecordedMemory extends CopyCounts {
    private final List<String> copies = new ArrayList<>();
    private final SlotMemory data;
    private final SlotMemory repairs;
    private int flushes;
    private boolean ringInHost;
    private boolean failing;

    RecordedMemory(final MemoryShape shape) {
        this(shape, false);
    }

    RecordedMemory(final MemoryShape shape, final boolean mappedTwice) {
        super(mappedTwice);
        final boolean staged = shape.kind() == MemoryShape.Kind.STAGED;
        put(Space.REASSEMBLY, MemorySegment.ofArray(new byte[(int) shape.buffersBytes()]));
        data = slotMemory(
                staged ? Space.STAGING : Space.RING, staged ? shape.stagingSlots() : shape.ringSlots(), shape);
        repairs = slotMemory(Space.REPAIR, shape.allRepairSlots(), shape);
    }

    private SlotMemory slotMemory(final Space space, final int slots, final MemoryShape shape) {
        final MemorySegment payload = MemorySegment.ofArray(new byte[slots * shape.slotBytes()]);
        put(space, payload);
        final MemorySegment headers = MemorySegment.ofArray(new byte[slots * DataLayout.LENGTH]);
        return new SlotMemory(headers, 0, payload, shape.slotBytes(), slots);
    }

    /// The ring, which the host reads from now on.
    MemorySegment putRing(final MemoryShape shape) {
        ringInHost = true;
        return put(Space.RING, MemorySegment.ofArray(new byte[(int) shape.ringBytes()]));
    }

    @Override
    public boolean isRingInHost() {
        return ringInHost;
    }

    /// The copies since the last call, each as `RING 0 > POSTED 0 x 64`.
    List<String> takeCopies() {
        final List<String> taken = List.copyOf(copies);
        copies.clear();
        return taken;
    }

    /// The next copy fails, as one into memory that its owner freed.
    void failNext() {
        failing = true;
    }

    int flushes() {
        return flushes;
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
        if (failing) {
            failing = false;
            throw new IllegalStateException("closed");
        }
        copies.add(from + " " + fromOffset + " > " + to + " " + toOffset + " x " + bytes);
        begin();
    }

    @Override
    public void flush() {
        flushes++;
    }
}
