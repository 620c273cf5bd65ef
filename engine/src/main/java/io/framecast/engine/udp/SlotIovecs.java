package io.framecast.engine.udp;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The scatter or gather lists of all slots of a ring as one array of `iovec`, written once: `{header 0, payload
/// 0, header 1, payload 1, …}`, or payloads only where headers are empty. A batch of consecutive slots is a
/// pointer into the array; the first slots are repeated behind the last ones, so that a batch may wrap.
/// Joined datagrams are the same run as one list.
final class SlotIovecs {
    /// A ring's memory.
    ///
    /// @param headers address of header 0
    /// @param headerStride distance of two headers
    /// @param headerBytes length of each header
    /// @param payload address of payload 0
    /// @param payloadBytes distance and length of payloads
    /// @param slots number of slots
    record Shape(long headers, int headerStride, int headerBytes, long payload, int payloadBytes, int slots) {}

    private final MemorySegment iovecs;
    private final int perSlot;
    private final int slots;

    /// @param wrapMax slots that are repeated behind the end
    SlotIovecs(final Arena arena, final Shape shape, final int wrapMax) {
        slots = shape.slots();
        perSlot = shape.headerBytes() > 0 ? 2 : 1;
        final int entries = slots + wrapMax;
        iovecs = arena.allocate((long) entries * perSlot * SocketLayouts.IOVEC_BYTES, Long.BYTES);
        for (int entry = 0; entry < entries; entry++) {
            final long slot = entry % slots;
            if (perSlot == 2) {
                write(offset(entry), shape.headers() + slot * shape.headerStride(), shape.headerBytes());
            }
            write(payloadOffset(entry), shape.payload() + slot * shape.payloadBytes(), shape.payloadBytes());
        }
    }

    private void write(final long offset, final long base, final long bytes) {
        iovecs.set(JAVA_LONG, offset + SocketLayouts.IOV_BASE, base);
        iovecs.set(JAVA_LONG, offset + SocketLayouts.IOV_LEN, bytes);
    }

    /// Entries of one slot's list.
    int perSlot() {
        return perSlot;
    }

    int slots() {
        return slots;
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
        iovecs.set(JAVA_LONG, payloadOffset(entry) + SocketLayouts.IOV_LEN, bytes);
    }

    private long offset(final int entry) {
        return (long) entry * perSlot * SocketLayouts.IOVEC_BYTES;
    }

    private long payloadOffset(final int entry) {
        return offset(entry) + (long) (perSlot - 1) * SocketLayouts.IOVEC_BYTES;
    }
}
