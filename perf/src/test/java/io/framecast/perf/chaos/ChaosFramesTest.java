package io.framecast.perf.chaos;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ChaosFramesTest {
    private static final ChaosFrames FRAMES = new ChaosFrames(7, 5_003);

    private static MemorySegment frame(final Arena arena, final long frameId) {
        final MemorySegment frame = arena.allocate(FRAMES.bytes(frameId));
        FRAMES.fill(frame, frameId);
        return frame;
    }

    @Test
    void shouldAcceptWhatItMade() {
        try (Arena arena = Arena.ofConfined()) {
            for (long id = 0; id < 100; id++) {
                final MemorySegment frame = frame(arena, id);
                assertEquals("", FRAMES.complaint(id, frame, FRAMES.metadata(frame, id)));
                assertTrue(frame.byteSize() <= 5_003);
                assertEquals(
                        id % ChaosFrames.SMALL_EVERY == ChaosFrames.SMALL_EVERY - 1,
                        FRAMES.metadata(frame, id).length == 0);
            }
        }
    }

    @Test
    void shouldComplainWhenAnyByteDiffers() {
        final Random random = new Random(1);
        try (Arena arena = Arena.ofConfined()) {
            for (long id = 0; id < 50; id++) {
                final MemorySegment frame = frame(arena, id);
                final long at = random.nextLong(frame.byteSize());
                final byte[] metadata = FRAMES.metadata(frame, id);
                frame.set(ValueLayout.JAVA_BYTE, at, (byte) (frame.get(ValueLayout.JAVA_BYTE, at) ^ 1));
                assertNotEquals("", FRAMES.complaint(id, frame, metadata));
                // Also where the metadata was changed to fit.
                assertNotEquals("", FRAMES.complaint(id, frame, FRAMES.metadata(frame, id)));
            }
        }
    }

    @Test
    void shouldComplainWhenFrameIsAnotherOrOfAnotherStream() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment frame = frame(arena, 4);
            assertNotEquals("", FRAMES.complaint(5, frame, FRAMES.metadata(frame, 5)));
            final ChaosFrames others = new ChaosFrames(8, 5_003);
            assertNotEquals("", others.complaint(4, frame, others.metadata(frame, 4)));
        }
    }

    @Test
    void shouldTellMissingRepeatedAndOvertakenFrames() {
        final List<String> wrong = new ArrayList<>();
        final FrameCheck check = new FrameCheck(FRAMES, wrong::add);
        try (Arena arena = Arena.ofConfined()) {
            for (final long id : new long[] {20, 21, 23, 23, 22, 24}) {
                final MemorySegment frame = frame(arena, id);
                check.onFrame(id, frame, FRAMES.metadata(frame, id));
            }
        }
        assertEquals(
                List.of(
                        "frames missing before frame 23, after frame 21",
                        "twice or out of order: frame 23, after frame 23",
                        "twice or out of order: frame 22, after frame 23"),
                wrong);
        assertArrayEquals(new long[] {24, 6}, new long[] {check.lastId(), check.count()});
    }

    @Test
    void shouldKnowALossThatIsReportedFromOneThatIsNot() {
        final List<String> wrong = new ArrayList<>();
        final FrameCheck check = new FrameCheck(FRAMES, wrong::add);
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment first = frame(arena, 20);
            check.onFrame(20, first, FRAMES.metadata(first, 20));
            check.onLost(21, 2);
            check.onLost(23, 1);
            final MemorySegment next = frame(arena, 24);
            check.onFrame(24, next, FRAMES.metadata(next, 24));
            assertEquals(List.of(), wrong);
            // Frame 25 is missing, and not reported; then frame 28.
            check.onLost(26, 2);
            final MemorySegment last = frame(arena, 29);
            check.onFrame(29, last, FRAMES.metadata(last, 29));
        }
        assertEquals(
                List.of(
                        "reported lost: 2 frames from 26 on, after frame 24",
                        "frames missing before frame 29, after frame 27"),
                wrong);
        assertArrayEquals(new long[] {29, 3}, new long[] {check.lastId(), check.count()});
    }
}
