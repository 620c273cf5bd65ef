package io.framecast.perf.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.FrameContent.Stamp;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

final class FrameContentTest {
    private static final int BYTES = 8 * FrameContent.BLOCK_BYTES;

    private final MemorySegment expected = filled();

    private static MemorySegment filled() {
        final MemorySegment frame = MemorySegment.ofArray(new byte[BYTES]);
        FrameContent.fill(frame);
        return frame;
    }

    private static MemorySegment frame(final long number) {
        final MemorySegment frame = filled();
        FrameContent.stamp(frame, new Stamp(number, 5, Stamp.CHECKED));
        return frame;
    }

    @Test
    void shouldAcceptWhatWasSent() {
        final MemorySegment frame = frame(7);
        final Stamp stamp = FrameContent.read(frame, 0);
        assertEquals(new Stamp(7, 5, Stamp.CHECKED), stamp);
        FrameContent.requireEnd(frame.asSlice(BYTES - Long.BYTES), BYTES, stamp);
        FrameContent.requireSame(frame, expected, stamp);
    }

    @Test
    void shouldBeTheSameInParts() {
        final MemorySegment frame = filled();
        final Stamp stamp = new Stamp(7, 5, Stamp.CHECKED);
        final int part = 3 * FrameContent.BLOCK_BYTES;
        for (int offset = 0; offset < BYTES; offset += part) {
            FrameContent.stampPart(frame.asSlice(offset, Math.min(part, BYTES - offset)), offset, BYTES, stamp);
        }
        assertEquals(-1, frame.mismatch(frame(7)));
    }

    @Test
    void shouldNoticeABlockOfTheFrameBefore() {
        for (int block = 1; block < BYTES / FrameContent.BLOCK_BYTES; block++) {
            final MemorySegment frame = frame(7);
            final long at = (long) block * FrameContent.BLOCK_BYTES;
            MemorySegment.copy(frame(6), at, frame, at, FrameContent.BLOCK_BYTES);
            final Stamp stamp = FrameContent.read(frame, 0);
            final var e =
                    assertThrows(FramesDifferException.class, () -> FrameContent.requireSame(frame, expected, stamp));
            assertTrue(e.getMessage().startsWith("frame 7 differs at byte "), e.getMessage());
        }
    }

    @Test
    void shouldSumEveryByte() {
        final MemorySegment frame = filled();
        final Stamp stamp = new Stamp(7, 5, Stamp.LAST);
        FrameContent.stampEnds(frame, stamp);
        final long inner = FrameContent.innerSum(BYTES);
        FrameContent.requireSum(frame, inner, stamp);
        for (long at = FrameContent.STAMP_BYTES; at < BYTES; at += 97) {
            final long place = at;
            frame.set(ValueLayout.JAVA_BYTE, at, (byte) (frame.get(ValueLayout.JAVA_BYTE, at) + 1));
            assertThrows(
                    FramesDifferException.class,
                    () -> FrameContent.requireSum(frame, inner, stamp),
                    () -> "at " + place);
            frame.set(ValueLayout.JAVA_BYTE, at, (byte) (frame.get(ValueLayout.JAVA_BYTE, at) - 1));
        }
    }

    @Test
    void shouldNoticeAnEndOfAnotherFrame() {
        final MemorySegment end = frame(6).asSlice(BYTES - Long.BYTES);
        assertThrows(
                FramesDifferException.class, () -> FrameContent.requireEnd(end, BYTES, FrameContent.read(frame(7), 0)));
    }
}
