package io.framecast.reliability.session;

import io.framecast.reliability.assembly.LandingSlots;
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

    private final LandingSlots landing;
    private final Placement placement;
    private final ArrayDeque<Integer> posted = new ArrayDeque<>();
    private final IntFunction<MemorySegment> buffers;
    private final Map<Integer, MemorySegment> aims = new HashMap<>();
    private final int[] slots;
    private final int[] bytes;
    private int taken;

    TestReceiveLane(
            final LandingSlots landing,
            final Placement placement,
            final int batchMax,
            final IntFunction<MemorySegment> buffers) {
        this.buffers = buffers;
        this.landing = landing;
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
            posted.add((firstSlot + i) % landing.slots());
        }
        return count;
    }

    @Override
    public boolean canAim() {
        return true;
    }

    @Override
    public boolean aim(final int slot, final int buffer, final long offset, final int length) {
        if (buffer < 0) {
            aims.remove(slot);
        } else {
            aims.put(slot, buffers.apply(buffer).asSlice(offset, length));
        }
        return true;
    }

    @Override
    public int poll() {
        taken = 0;
        while (taken < batchMax && !posted.isEmpty() && !inbox.isEmpty()) {
            final byte[] datagram = inbox.remove();
            final int slot = posted.remove();
            land(MemorySegment.ofArray(datagram), slot);
            slots[taken] = slot;
            bytes[taken++] = datagram.length;
        }
        return taken;
    }

    private void land(final MemorySegment datagram, final int slot) {
        final long header = Math.min(DataLayout.LENGTH, datagram.byteSize());
        MemorySegment.copy(datagram, 0, landing.headers(), landing.headerOffset(slot), header);
        final MemorySegment aim = aims.getOrDefault(slot, MemorySegment.NULL);
        final long payload = datagram.byteSize() - header;
        final long aimed = Math.min(payload, aim.byteSize());
        MemorySegment.copy(datagram, header, aim, 0, aimed);
        MemorySegment.copy(
                datagram, header + aimed, landing.payload(), landing.payloadOffset(slot) + aimed, payload - aimed);
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
