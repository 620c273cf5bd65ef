package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// Scatter or gather lists in native memory: `[slots][elements]`.
final class Elements {
    private static final long BYTES = VerbsLayouts.SGE.byteSize();
    private static final long ADDR = VerbsLayouts.offset(VerbsLayouts.SGE, "addr");
    private static final long LENGTH = VerbsLayouts.offset(VerbsLayouts.SGE, "length");
    private static final long LKEY = VerbsLayouts.offset(VerbsLayouts.SGE, "lkey");

    private final MemorySegment lists;
    private final int perSlot;

    Elements(final Arena arena, final int slots, final int perSlot) {
        lists = arena.allocate(VerbsLayouts.SGE, (long) slots * perSlot);
        this.perSlot = perSlot;
    }

    long address(final int slot) {
        return lists.address() + (long) slot * perSlot * BYTES;
    }

    private long at(final int slot, final int element) {
        return ((long) slot * perSlot + Objects.checkIndex(element, perSlot)) * BYTES;
    }

    void set(final int slot, final int element, final long address, final int bytes, final int localKey) {
        final long at = at(slot, element);
        lists.set(JAVA_LONG, at + ADDR, address);
        lists.set(JAVA_INT, at + LENGTH, bytes);
        lists.set(JAVA_INT, at + LKEY, localKey);
    }

    void length(final int slot, final int element, final int bytes) {
        lists.set(JAVA_INT, at(slot, element) + LENGTH, bytes);
    }

    int length(final int slot, final int element) {
        return lists.get(JAVA_INT, at(slot, element) + LENGTH);
    }
}
