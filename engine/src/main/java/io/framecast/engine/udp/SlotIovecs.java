package io.framecast.engine.udp;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.engine.libc.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The scatter or gather lists of all slots of a ring as one array of `iovec`, written once: `{header 0,
/// payload 0, header 1, payload 1, …}`, or payloads only where headers are empty. A batch of consecutive slots
/// is a pointer into the array; the first slots are repeated behind the last ones, so that a batch may wrap.
/// Joined datagrams are the same run as one list.
final class SlotIovecs {
    private final MemorySegment iovecs;
    private final int perSlot;

    /// @param headerStride distance of two headers
    /// @param headerBytes length of each header; 0 for lists of payloads only
    /// @param payloadBytes distance and length of payloads
    /// @param wrapMax slots that are repeated behind the end
    SlotIovecs(
            final Arena arena,
            final MemorySegment headers,
            final int headerStride,
            final int headerBytes,
            final MemorySegment payload,
            final int payloadBytes,
            final int slots,
            final int wrapMax) {
        if (!payload.isNative() || (headerBytes > 0 && !headers.isNative())) {
            throw new IllegalArgumentException("ring: expected native memory, got memory on the heap");
        }
        perSlot = headerBytes > 0 ? 2 : 1;
        final int entries = slots + wrapMax;
        iovecs = arena.allocate((long) entries * perSlot * Linux.IOVEC_BYTES, Long.BYTES);
        for (int entry = 0; entry < entries; entry++) {
            final long slot = entry % slots;
            if (perSlot == 2) {
                write(offset(entry), headers.address() + slot * headerStride, headerBytes);
            }
            write(payloadOffset(entry), payload.address() + slot * payloadBytes, payloadBytes);
        }
    }

    private void write(final long offset, final long base, final long bytes) {
        iovecs.set(JAVA_LONG, offset + Linux.IOV_BASE, base);
        iovecs.set(JAVA_LONG, offset + Linux.IOV_LEN, bytes);
    }

    /// Entries of one slot's list.
    int perSlot() {
        return perSlot;
    }

    /// Address of the list of an entry: slot number, or slot number + slots behind the end.
    long address(final int entry) {
        return iovecs.address() + offset(entry);
    }

    /// Copies the lists of `slots` entries to the start of a segment.
    ///
    /// @return their length in bytes
    long copyTo(final MemorySegment target, final int entry, final int slots) {
        final long bytes = offset(slots);
        MemorySegment.copy(iovecs, offset(entry), target, 0, bytes);
        return bytes;
    }

    /// Bytes of an entry's payload that are to be sent.
    void payloadBytes(final int entry, final int bytes) {
        iovecs.set(JAVA_LONG, payloadOffset(entry) + Linux.IOV_LEN, bytes);
    }

    private long offset(final int entry) {
        return (long) entry * perSlot * Linux.IOVEC_BYTES;
    }

    private long payloadOffset(final int entry) {
        return offset(entry) + (long) (perSlot - 1) * Linux.IOVEC_BYTES;
    }
}
