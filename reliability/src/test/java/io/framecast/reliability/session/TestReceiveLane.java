package io.framecast.reliability.session;

import io.framecast.reliability.assembly.SlotMemory;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntFunction;

/// A lane whose datagrams wait in a queue until the session takes them into the slots that it posted.
final class TestReceiveLane implements LanePort {
    /// Datagrams under way; a test may drop or add some.
    final ArrayDeque<byte[]> inbox = new ArrayDeque<>();
    /// Most datagrams in one poll.
    int batchMax;

    private final SlotMemory memory;
    private final Placement placement;
    private final ArrayDeque<Integer> posted = new ArrayDeque<>();
    private final IntFunction<MemorySegment> buffers;
    private final Map<Integer, MemorySegment> redirected = new HashMap<>();
    private final int[] slots;
    private final int[] bytes;
    private int taken;

    TestReceiveLane(
            final SlotMemory memory,
            final Placement placement,
            final int batchMax,
            final IntFunction<MemorySegment> buffers) {
        this.buffers = buffers;
        this.memory = memory;
        this.placement = placement;
        this.batchMax = batchMax;
        slots = new int[batchMax];
        bytes = new int[batchMax];
    }

    @Override
    public Placement placement() {
        return placement;
    }

    @Override
    public int post(final int firstSlot, final int count) {
        if (placement == Placement.BY_SEQUENCE) {
            posted.clear();
        }
        for (int i = 0; i < count; i++) {
            posted.add((firstSlot + i) % memory.slots());
        }
        return count;
    }

    @Override
    public boolean canRedirect() {
        return true;
    }

    @Override
    public boolean redirect(final int slot, final int buffer, final long offset, final int length) {
        if (buffer < 0) {
            redirected.remove(slot);
        } else {
            redirected.put(slot, buffers.apply(buffer).asSlice(offset, length));
        }
        return true;
    }

    @Override
    public int poll() {
        taken = 0;
        while (taken < batchMax && !posted.isEmpty() && !inbox.isEmpty()) {
            final byte[] datagram = inbox.remove();
            final int slot = posted.remove();
            arrive(MemorySegment.ofArray(datagram), slot);
            slots[taken] = slot;
            bytes[taken++] = datagram.length;
        }
        return taken;
    }

    private void arrive(final MemorySegment datagram, final int slot) {
        final long header = Math.min(DataLayout.LENGTH, datagram.byteSize());
        MemorySegment.copy(datagram, 0, memory.headers(), memory.headerOffset(slot), header);
        final MemorySegment target = redirected.getOrDefault(slot, MemorySegment.NULL);
        final long payload = datagram.byteSize() - header;
        final long there = Math.min(payload, target.byteSize());
        MemorySegment.copy(datagram, header, target, 0, there);
        MemorySegment.copy(
                datagram, header + there, memory.payload(), memory.payloadOffset(slot) + there, payload - there);
    }

    @Override
    public int batchMax() {
        return batchMax;
    }

    @Override
    public int slot(final int index) {
        return slots[Objects.checkIndex(index, taken)];
    }

    @Override
    public int bytes(final int index) {
        return bytes[Objects.checkIndex(index, taken)];
    }
}
