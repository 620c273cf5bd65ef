package io.framecast.engine.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A reader's view of a ring of which it keeps parts.
final class RingViewTest {
    private static final int PAGES = 16;

    private final Arena arena = Arena.ofShared();
    private final long page = MirroredMemory.pageBytes();
    private final long bytes = PAGES * page;
    private final MirroredMemory ring;
    private final RingView view;

    /// A run that is kept, with what it should be.
    private record Run(long offset, long length, byte value) {}

    RingViewTest() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
        ring = MirroredMemory.allocateShared(bytes);
        assumeTrue(ring.mirrored(), "no memory that is mapped twice on this system");
        final RingView made = RingView.of(Libc.fcntl(ring.descriptor(), 0, 0), bytes, arena);
        assertNotNull(made);
        view = made;
    }

    @AfterEach
    void close() {
        arena.close();
        view.close();
        ring.close();
    }

    private MemorySegment shown(final long offset, final long length) {
        return view.view().asSlice(offset, length);
    }

    private void write(final long offset, final long length, final int value) {
        ring.segment().asSlice(offset, length).fill((byte) value);
    }

    private static void assertFilled(final MemorySegment segment, final int value) {
        for (long i = 0; i < segment.byteSize(); i++) {
            assertEquals((byte) value, segment.get(JAVA_BYTE, i), "byte " + i);
        }
    }

    @Test
    void shouldKeepARunWhenTheRingIsWrittenAgain() {
        write(0, bytes, 1);
        final MemorySegment run = shown(100, 3 * page);
        assertTrue(view.keep(100, 3 * page));
        write(0, bytes, 2);
        assertFilled(run, 1);
        assertFilled(view.ring(100, 3 * page), 2);
        assertFilled(shown(4 * page, page), 2);
        assertTrue(view.isKept(3 * page + 200, 5), "the rest of its last page");
        assertFalse(view.isKept(4 * page, bytes));
        // The first half again, which no run is kept of.
        assertFilled(shown(bytes + 100, 3 * page), 2);
        view.giveBack(100, 3 * page);
        assertFilled(shown(0, 2 * bytes), 2);
        assertFalse(view.isKept(0, 2 * bytes));
    }

    @Test
    void shouldKeepARunAcrossTheEnd() {
        write(bytes - 50, 50, 3);
        write(0, 70, 3);
        assertTrue(view.keep(bytes - 50, 120));
        write(0, bytes, 4);
        assertFilled(shown(bytes - 50, 120), 3);
        assertFilled(shown(0, 70), 4);
        view.giveBack(bytes - 50, 120);
        assertFilled(shown(bytes - 50, 120), 4);
    }

    @Test
    void shouldKeepNeighboursOfAPageUntilTheLastIsGivenBack() {
        write(0, 300, 5);
        write(300, 300, 6);
        assertTrue(view.keep(0, 300));
        assertTrue(view.keep(300, 300));
        write(0, page, 7);
        view.giveBack(0, 300);
        assertFilled(shown(300, 300), 6);
        view.giveBack(300, 300);
        assertFilled(shown(0, 600), 7);
    }

    @Test
    void shouldKeepRunsOfAnyLengthsInAnyOrder() {
        final Random random = new Random(1);
        final List<Run> kept = new ArrayList<>();
        long at = 0;
        for (int i = 0; i < 2_000; i++) {
            final long length = 1 + random.nextLong(random.nextBoolean() ? 200 : 4 * page);
            final byte value = (byte) i;
            write(at, length, value);
            if (!view.isKept(at, length) && random.nextInt(3) > 0) {
                assertTrue(view.keep(at, length));
                kept.add(new Run(at, length, value));
            }
            at = (at + length) % bytes;
            while (kept.size() > 6) {
                final Run run = kept.remove(random.nextInt(kept.size()));
                assertFilled(shown(run.offset, run.length), run.value);
                view.giveBack(run.offset, run.length);
            }
            kept.forEach(run -> assertFilled(shown(run.offset, run.length), run.value));
        }
        kept.forEach(run -> view.giveBack(run.offset, run.length));
        assertEquals(-1, shown(0, 2 * bytes).mismatch(ring.segment()));
    }

    @Test
    void shouldBeNoneOfWhatIsNoRing() {
        assertNull(RingView.of(-1, bytes, arena));
        assertNull(RingView.of(ring.descriptor(), bytes + 1, arena));
        assertNull(RingView.of(ring.descriptor(), 2 * bytes, arena));
    }
}
