package io.framecast.reliability.assembly;

/// Offsets in [FrameMemory.Space#POSTED]: each of them lies in one buffer, and no buffer is followed by another.
public final class PostedOffset {
    private static final int BUFFER_BITS = 40;

    private PostedOffset() {}

    /// The offset at which a buffer begins.
    public static long of(final int number) {
        return (long) number << BUFFER_BITS;
    }

    /// The number of the buffer in which an offset lies.
    public static int number(final long offset) {
        return (int) (offset >>> BUFFER_BITS);
    }

    /// The distance of an offset from the start of its buffer.
    public static long within(final long offset) {
        return offset & (1L << BUFFER_BITS) - 1;
    }
}
