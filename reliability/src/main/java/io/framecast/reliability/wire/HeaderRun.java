package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// Headers that say, field by field, what follows from the checked header before them: the next datagrams of its frame,
/// in order. Such a header need not be checked by itself. Every field has the one value it can have, the random session
/// tag, the frame's number and its timestamp among them; only a wrong checksum over right fields goes unseen.
public final class HeaderRun {
    // What stands before the checksum.
    private static final long FIRST_WORD_MASK = 0xffff_ffffL;

    private HeaderRun() {}

    /// How many of the next headers continue the one at `offset`.
    ///
    /// @param headers headers of consecutive slots, `stride` bytes apart, at least `max` behind the first
    public static int length(final MemorySegment headers, final long offset, final int stride, final int max) {
        final long first = headers.get(Wire.LONG, offset) & FIRST_WORD_MASK;
        final long tagAndFrame = headers.get(Wire.LONG, offset + DataLayout.SESSION_TAG);
        final long sequence = headers.get(Wire.LONG, offset + DataLayout.SEQUENCE);
        final long timestamp = headers.get(Wire.LONG, offset + DataLayout.TIMESTAMP);
        final long lengthAndIndex = headers.get(Wire.LONG, offset + DataLayout.FRAME_BYTES);
        int run = 0;
        long at = offset + stride;
        while (run < max
                && (headers.get(Wire.LONG, at) & FIRST_WORD_MASK) == first
                && headers.get(Wire.LONG, at + DataLayout.SESSION_TAG) == tagAndFrame
                && headers.get(Wire.LONG, at + DataLayout.SEQUENCE) == sequence + run + 1
                && headers.get(Wire.LONG, at + DataLayout.TIMESTAMP) == timestamp
                && headers.get(Wire.LONG, at + DataLayout.FRAME_BYTES) == lengthAndIndex + ((run + 1L) << 32)) {
            run++;
            at += stride;
        }
        return run;
    }
}
