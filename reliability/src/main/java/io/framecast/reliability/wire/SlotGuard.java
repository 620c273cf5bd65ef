package io.framecast.reliability.wire;

/// The guard of one slot of a window that other processes read while the source may reuse it. It holds the slot's
/// sequence and the checksum of its payload. 0 is the guard of an empty slot.
///
/// ```
///  bits 63 … 33 the low bits of a sequence   32 always 1   31 … 0 CRC32C of the payload
/// ```
public final class SlotGuard {
    /// Guard of a slot without a datagram.
    public static final long NONE = 0;

    private static final int PAYLOAD_BITS = 32;

    private SlotGuard() {}

    public static long of(final long sequence, final int payloadCrc) {
        return (sequence << 1 | 1) << PAYLOAD_BITS | Integer.toUnsignedLong(payloadCrc);
    }

    /// Whether the guard is this sequence's.
    public static boolean isOf(final long word, final long sequence) {
        return word >>> PAYLOAD_BITS == (sequence << 1 | 1) << PAYLOAD_BITS >>> PAYLOAD_BITS;
    }

    public static int payloadCrc(final long word) {
        return (int) word;
    }
}
