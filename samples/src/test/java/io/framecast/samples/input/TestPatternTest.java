package io.framecast.samples.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;

final class TestPatternTest {
    private static final int FRAME_BYTES = 640 * 480 * 3;

    private static byte[] frame(final long seed, final long index, final int bytes) {
        final byte[] frame = new byte[bytes];
        TestPattern.fill(seed, index, MemorySegment.ofArray(frame));
        return frame;
    }

    @Test
    void shouldBeTheSameInEveryRunAndOnEveryMachine() {
        final CRC32C crc = new CRC32C();
        crc.update(frame(1, 0, 100_003));
        assertEquals(0x142c_2bdeL, crc.getValue());
    }

    @Test
    void shouldNotCompress() {
        for (final long index : new long[] {0, 1, 77}) {
            final Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
            deflater.setInput(frame(5, index, FRAME_BYTES));
            deflater.finish();
            final int compressed = deflater.deflate(new byte[FRAME_BYTES * 2]);
            deflater.end();
            assertTrue(compressed > FRAME_BYTES * 0.99, "compressed to " + compressed);
        }
    }

    @Test
    void shouldDifferInEveryFrameSeedAndLength() {
        final Set<Long> sums = new HashSet<>();
        for (int seed = 0; seed < 4; seed++) {
            for (int index = 0; index < 500; index++) {
                final CRC32C crc = new CRC32C();
                crc.update(frame(seed, index, 64));
                assertTrue(sums.add(crc.getValue()), "seed " + seed + " frame " + index);
            }
        }
    }

    @Test
    void shouldMoveABrightBarFromFrameToFrame() {
        final int barBytes = FRAME_BYTES / 64 / 8 * 8;
        for (int index = 0; index < 5; index++) {
            final byte[] frame = frame(9, index, FRAME_BYTES);
            for (int i = index * barBytes; i < (index + 1) * barBytes; i++) {
                assertTrue(frame[i] < 0, "frame " + index + " byte " + i + " is dark");
            }
        }
    }

    @Test
    void shouldAgreeWithItselfAtEveryLength() {
        try (Arena arena = Arena.ofConfined()) {
            for (int bytes = 1; bytes < 700; bytes++) {
                final MemorySegment frame = arena.allocate(bytes);
                TestPattern.fill(3, bytes, frame);
                assertEquals(-1, TestPattern.mismatch(3, bytes, frame), "length " + bytes);
            }
        }
    }

    @Test
    void shouldNameTheByteThatDiffers() {
        final Random random = new Random(4);
        for (int i = 0; i < 2_000; i++) {
            final byte[] frame = frame(3, i, 1 + random.nextInt(2_000));
            final int at = random.nextInt(frame.length);
            frame[at] ^= (byte) (1 << random.nextInt(8));
            // In the bar the top bit is always set, so that flipping any bit still differs.
            assertEquals(at, TestPattern.mismatch(3, i, MemorySegment.ofArray(frame)));
        }
    }

    @Test
    void shouldSeeAFrameOfAnotherIndex() {
        final MemorySegment frame = MemorySegment.ofArray(frame(3, 7, 1_000));
        assertTrue(TestPattern.mismatch(3, 8, frame) >= 0);
        assertTrue(TestPattern.mismatch(4, 7, frame) >= 0);
        assertEquals(1_000, frame.toArray(ValueLayout.JAVA_BYTE).length);
    }
}
