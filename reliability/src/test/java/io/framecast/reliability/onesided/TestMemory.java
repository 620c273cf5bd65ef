package io.framecast.reliability.onesided;

import io.framecast.reliability.assembly.FrameMemory;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.SlotMemory;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Native memory of windows and of a receiver's repair slots, until it is closed.
final class TestMemory implements AutoCloseable {
    private final Arena arena = Arena.ofShared();

    WindowMemory window(final int slots, final int slotBytes) {
        return new WindowMemory(
                arena.allocate((slots + 1L) * DataLayout.LENGTH, 64),
                arena.allocate((slots + 1L) * slotBytes, 64),
                new int[slots + 1],
                slots,
                slotBytes);
    }

    /// Memory in which nothing but repairs land.
    FrameMemory repairs(final MemoryShape shape) {
        final int slots = shape.allRepairSlots();
        final SlotMemory repairs = new SlotMemory(
                arena.allocate((long) slots * DataLayout.LENGTH, 64),
                0,
                arena.allocate((long) slots * shape.slotBytes(), 64),
                shape.slotBytes(),
                slots);
        return new RepairsOnly(repairs);
    }

    @Override
    public void close() {
        arena.close();
    }

    private record RepairsOnly(SlotMemory repairs) implements FrameMemory {
        @Override
        public SlotMemory data() {
            throw new AssertionError("data");
        }

        @Override
        public boolean isRingMappedTwice() {
            throw new AssertionError("ring");
        }

        @Override
        public void copy(
                final Space from, final long fromOffset, final Space to, final long toOffset, final long bytes) {
            throw new AssertionError("copy");
        }

        @Override
        public void flush() {
            throw new AssertionError("flush");
        }

        @Override
        public long submitted() {
            return 0;
        }

        @Override
        public long completed() {
            return 0;
        }

        @Override
        public boolean isVisible(final long copies) {
            return true;
        }

        @Override
        public MemorySegment read(final Space space, final long offset, final int bytes) {
            throw new AssertionError("read");
        }
    }
}
