package io.framecast.perf.rivals;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/// The content of a measured frame: when it was due, its number in front and at its end (a frame that was torn
/// or mixed up shows), and whether it is the last. The rest is noise.
final class FrameStamp {
    static final int BYTES_MIN = 4 * Long.BYTES;

    private static final int DUE_NS = 0;
    private static final int NUMBER = Long.BYTES;
    private static final int LAST = 2 * Long.BYTES;

    private FrameStamp() {}

    static void fill(final MemorySegment frame) {
        final SplittableRandom random = new SplittableRandom(1);
        for (long offset = 0; offset + Long.BYTES <= frame.byteSize(); offset += Long.BYTES) {
            frame.set(JAVA_LONG_UNALIGNED, offset, random.nextLong());
        }
    }

    /// Writes both ends of a frame that lies contiguous.
    static void write(final MemorySegment frame, final FrameSource source) {
        writeFront(frame, 0, source);
        frame.set(JAVA_LONG_UNALIGNED, frame.byteSize() - Long.BYTES, source.number());
    }

    /// Writes the front alone, for frames that lie in pieces.
    static void writeFront(final MemorySegment memory, final long offset, final FrameSource source) {
        memory.set(JAVA_LONG_UNALIGNED, offset + DUE_NS, source.dueNs());
        memory.set(JAVA_LONG_UNALIGNED, offset + NUMBER, source.number());
        memory.set(JAVA_LONG_UNALIGNED, offset + LAST, source.isLast() ? 1 : 0);
    }

    static long dueNs(final MemorySegment memory, final long offset) {
        return memory.get(JAVA_LONG_UNALIGNED, offset + DUE_NS);
    }

    static long number(final MemorySegment memory, final long offset) {
        return memory.get(JAVA_LONG_UNALIGNED, offset + NUMBER);
    }

    static boolean isLast(final MemorySegment memory, final long offset) {
        return memory.get(JAVA_LONG_UNALIGNED, offset + LAST) != 0;
    }

    /// The number at a frame's end.
    static long endNumber(final MemorySegment frame) {
        return frame.get(JAVA_LONG_UNALIGNED, frame.byteSize() - Long.BYTES);
    }
}
