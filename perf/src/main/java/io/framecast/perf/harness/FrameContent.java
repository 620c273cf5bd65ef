package io.framecast.perf.harness;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/// The content of frames: in front a [Stamp], at the end something made of the frame's number, so that one that
/// was torn or mixed up shows; else noise. Where whole frames are compared, the beginning of every later block of
/// 1 KiB is made of the number too: a part that is missing, stale or misplaced differs from what is expected.
public final class FrameContent {
    public static final int BLOCK_BYTES = 1024;

    /// Length of the front.
    public static final int STAMP_BYTES = 3 * Long.BYTES;

    /// Least room for front and end.
    public static final int BYTES_MIN = STAMP_BYTES + Long.BYTES;

    private static final long SEED = 7;
    private static final int DUE_NS = 0;
    private static final int NUMBER = Long.BYTES;
    private static final int FLAGS = 2 * Long.BYTES;
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private FrameContent() {}

    /// The front of a frame.
    ///
    /// @param dueNs when it could be sent, by this machine's monotonic clock
    public record Stamp(long number, long dueNs, long flags) {
        /// No frame follows.
        public static final long LAST = 1;
        /// Sent when every receiver had all before it: its latency counts.
        public static final long LONE = 2;
        /// Sent among others: its bytes count.
        public static final long COUNTED = 4;
        /// All of it is to be compared.
        public static final long CHECKED = 8;

        public boolean is(final long flag) {
            return (flags & flag) != 0;
        }
    }

    public static void fill(final MemorySegment frame) {
        final SplittableRandom random = new SplittableRandom(SEED);
        for (long offset = 0; offset + Long.BYTES <= frame.byteSize(); offset += Long.BYTES) {
            frame.set(JAVA_LONG_UNALIGNED, offset, random.nextLong());
        }
    }

    /// Marks a whole frame.
    public static void stamp(final MemorySegment frame, final Stamp stamp) {
        stampPart(frame, 0, frame.byteSize(), stamp);
    }

    /// Marks a part of a frame, in memory of its own.
    ///
    /// @param offset of the part in its frame, a multiple of a block
    public static void stampPart(
            final MemorySegment part, final long offset, final long frameBytes, final Stamp stamp) {
        final long first = offset == 0 ? BLOCK_BYTES : 0;
        for (long at = first; at + Long.BYTES <= part.byteSize(); at += BLOCK_BYTES) {
            part.set(JAVA_LONG_UNALIGNED, at, mark(stamp.number, offset + at));
        }
        if (offset + part.byteSize() == frameBytes) {
            part.set(JAVA_LONG_UNALIGNED, part.byteSize() - Long.BYTES, mark(stamp.number, frameBytes));
        }
        if (offset == 0) {
            stampFront(part, 0, stamp);
        }
    }

    /// Marks both ends of a frame alone: what lies between them is not compared.
    public static void stampEnds(final MemorySegment frame, final Stamp stamp) {
        stampFront(frame, 0, stamp);
        frame.set(JAVA_LONG_UNALIGNED, frame.byteSize() - Long.BYTES, mark(stamp.number, frame.byteSize()));
    }

    /// Marks the front alone.
    public static void stampFront(final MemorySegment memory, final long offset, final Stamp stamp) {
        memory.set(JAVA_LONG_UNALIGNED, offset + DUE_NS, stamp.dueNs);
        memory.set(JAVA_LONG_UNALIGNED, offset + NUMBER, stamp.number);
        memory.set(JAVA_LONG_UNALIGNED, offset + FLAGS, stamp.flags);
    }

    /// The sum of all words of a frame, which has whole ones: every byte is read. HotSpot makes vector
    /// instructions of this very loop (22 GB/s from the second-level cache on one core), so that memory is what
    /// takes the time.
    public static long sum(final MemorySegment frame) {
        final int words = (int) (frame.byteSize() / Long.BYTES);
        long sum = 0;
        for (int i = 0; i < words; i++) {
            sum += frame.get(JAVA_LONG_UNALIGNED, (long) i * Long.BYTES);
        }
        return sum;
    }

    /// The sum of a frame that [#fill] made, but for its stamp and its end. By the numbers: were [#sum] called
    /// for memory of another kind, HotSpot would not make vector instructions of it.
    public static long innerSum(final long frameBytes) {
        final SplittableRandom random = new SplittableRandom(SEED);
        long sum = 0;
        for (long offset = 0; offset + Long.BYTES < frameBytes; offset += Long.BYTES) {
            final long word = random.nextLong();
            sum += offset < STAMP_BYTES ? 0 : word;
        }
        return sum;
    }

    /// @param inner from [#innerSum]
    /// @throws FramesDifferException when the bytes of a frame that [#fill] and [#stampEnds] made have another
    ///     sum
    public static void requireSum(final MemorySegment frame, final long inner, final Stamp stamp) {
        final long expected = inner + stamp.dueNs + stamp.number + stamp.flags + mark(stamp.number, frame.byteSize());
        if (sum(frame) != expected) {
            throw new FramesDifferException("frame " + stamp.number + " has another sum than the one published");
        }
    }

    private static long mark(final long number, final long at) {
        return (number + 1) * MIX + at;
    }

    /// Reads the front of a frame.
    public static Stamp read(final MemorySegment memory, final long offset) {
        return new Stamp(
                memory.get(JAVA_LONG_UNALIGNED, offset + NUMBER),
                memory.get(JAVA_LONG_UNALIGNED, offset + DUE_NS),
                memory.get(JAVA_LONG_UNALIGNED, offset + FLAGS));
    }
    /// @param end the last eight bytes
    /// @throws FramesDifferException when it is another frame's end
    public static void requireEnd(final MemorySegment end, final long frameBytes, final Stamp stamp) {
        if (end.get(JAVA_LONG_UNALIGNED, 0) != mark(stamp.number, frameBytes)) {
            throw new FramesDifferException("frame " + stamp.number + " does not end as it should");
        }
    }

    /// @param expected filled by [#fill]; is stamped
    /// @throws FramesDifferException when any byte differs
    public static void requireSame(final MemorySegment got, final MemorySegment expected, final Stamp stamp) {
        stamp(expected, stamp);
        final long at = expected.mismatch(got);
        if (at >= 0) {
            throw new FramesDifferException("frame " + stamp.number + " differs at byte " + at);
        }
    }
}
