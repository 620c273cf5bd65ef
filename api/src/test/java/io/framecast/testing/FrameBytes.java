package io.framecast.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The bytes of each test frame: a function of its number and of the place in it. Whole frames are written and compared
/// in bulk: under the first compiler (C1) single bytes of segments took most of the time of such tests.
public final class FrameBytes {
    private static final int STEP = 31;
    // STEP times this is 1 modulo 256.
    private static final int INVERSE = 223;
    private static final int BLOCK = 1 << 11;
    // A block of every frame lies somewhere in it: it adds the same to each of its bytes.
    private static final byte[] BLOCKS = new byte[BLOCK + 256];

    static {
        for (int i = 0; i < BLOCKS.length; i++) {
            BLOCKS[i] = (byte) (i * STEP);
        }
    }

    private FrameBytes() {}

    public static byte value(final int id, final long index) {
        return (byte) (index * STEP + added(id, index));
    }

    private static long added(final int id, final long index) {
        return index / BLOCK + id * 131L;
    }

    public static byte[] of(final int id, final long length) {
        final byte[] bytes = new byte[(int) length];
        for (int at = 0; at < bytes.length; at += BLOCK) {
            final int from = (int) (added(id, at) * INVERSE & 0xff);
            System.arraycopy(BLOCKS, from, bytes, at, Math.min(BLOCK, bytes.length - at));
        }
        return bytes;
    }

    /// Fills the whole frame.
    public static MemorySegment write(final int id, final MemorySegment frame) {
        final byte[] bytes = of(id, frame.byteSize());
        MemorySegment.copy(bytes, 0, frame, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return frame;
    }

    /// @param frame at least `length` bytes of which the first are the frame's
    public static void require(final int id, final MemorySegment frame, final long length) {
        final long wrong = MemorySegment.ofArray(of(id, length)).mismatch(frame.asSlice(0, length));
        assertEquals(-1, wrong, () -> "frame " + id + " of " + length + " bytes differs at byte " + wrong);
    }
}
