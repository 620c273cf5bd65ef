package io.framecast.reliability.assembly;

import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// A receiver's memory that notes which copies were asked for, and carries none out. They are under way until the
/// test says that they ended.
final class RecordedMemory implements FrameMemory {
    private final Map<Space, MemorySegment> spaces = new EnumMap<>(Space.class);
    private final List<String> copies = new ArrayList<>();
    private final LandingSlots data;
    private final LandingSlots repairs;
    private final boolean mappedTwice;
    private int flushes;
    private long submitted;
    private long completed;

    RecordedMemory(final MemoryShape shape) {
        this(shape, false);
    }

    RecordedMemory(final MemoryShape shape, final boolean mappedTwice) {
        this.mappedTwice = mappedTwice;
        final boolean staged = shape.kind() == MemoryShape.Kind.STAGED;
        spaces.put(Space.REASSEMBLY, MemorySegment.ofArray(new byte[(int) shape.buffersBytes()]));
        data = landing(staged ? Space.STAGING : Space.RING, staged ? shape.landingSlots() : shape.ringSlots(), shape);
        repairs = landing(Space.REPAIR, shape.allRepairSlots(), shape);
    }

    private LandingSlots landing(final Space space, final int slots, final MemoryShape shape) {
        final MemorySegment payload = MemorySegment.ofArray(new byte[slots * shape.slotBytes()]);
        spaces.put(space, payload);
        final MemorySegment headers = MemorySegment.ofArray(new byte[slots * DataLayout.LENGTH]);
        return new LandingSlots(headers, 0, payload, shape.slotBytes(), slots);
    }

    MemorySegment of(final Space space) {
        return Objects.requireNonNull(spaces.get(space), space::name);
    }

    /// The copies since the last call, each as `RING 0 > POSTED 0 x 64`.
    List<String> takeCopies() {
        final List<String> taken = List.copyOf(copies);
        copies.clear();
        return taken;
    }

    /// Every copy so far has ended.
    void finish() {
        finish(submitted);
    }

    /// The first `copies` copies have ended.
    void finish(final long count) {
        completed = count;
    }

    int flushes() {
        return flushes;
    }

    @Override
    public LandingSlots data() {
        return data;
    }

    @Override
    public LandingSlots repairs() {
        return repairs;
    }

    @Override
    public boolean isRingMappedTwice() {
        return mappedTwice;
    }

    @Override
    public void copy(final Space from, final long fromOffset, final Space to, final long toOffset, final long bytes) {
        copies.add(from + " " + fromOffset + " > " + to + " " + toOffset + " x " + bytes);
        submitted++;
    }

    @Override
    public void flush() {
        flushes++;
    }

    @Override
    public long submitted() {
        return submitted;
    }

    @Override
    public long completed() {
        return completed;
    }

    @Override
    public boolean isVisible(final long count) {
        return completed >= count;
    }

    @Override
    public MemorySegment read(final Space space, final long offset, final int bytes) {
        return of(space).asSlice(offset, bytes);
    }
}
