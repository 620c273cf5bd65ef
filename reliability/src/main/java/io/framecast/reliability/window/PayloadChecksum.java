package io.framecast.reliability.window;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/// CRC32C of payloads that lie in slots. Allocates only in its constructor. One thread.
public final class PayloadChecksum {
    // A buffer's length is an int.
    private static final int VIEW_BYTES_MAX = 1 << 30;

    private final CRC32C crc = new CRC32C();
    private final ByteBuffer[] views;
    private final int slotBytes;
    private final int viewSlots;

    /// @param payloads `[slots][slotBytes]` or more, on the heap or of an arena that outlives this
    public PayloadChecksum(final MemorySegment payloads, final int slots, final int slotBytes) {
        this.slotBytes = slotBytes;
        viewSlots = VIEW_BYTES_MAX / slotBytes;
        views = new ByteBuffer[(slots + viewSlots - 1) / viewSlots];
        for (int i = 0; i < views.length; i++) {
            final long first = (long) i * viewSlots;
            final long count = Math.min(viewSlots, slots - first);
            views[i] = payloads.asSlice(first * slotBytes, count * slotBytes).asByteBuffer();
        }
    }

    /// Of the first `bytes` bytes of a slot.
    public int of(final int slot, final int bytes) {
        final ByteBuffer view = views[slot / viewSlots];
        final int from = slot % viewSlots * slotBytes;
        view.limit(from + bytes).position(from);
        crc.reset();
        crc.update(view);
        return (int) crc.getValue();
    }
}
