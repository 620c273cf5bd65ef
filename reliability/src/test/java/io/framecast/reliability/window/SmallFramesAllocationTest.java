package io.framecast.reliability.window;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/// A million small frames, some of them moved because their bundle was taken: no byte is allocated.
final class SmallFramesAllocationTest {
    private static final int FRAMES = 1_000_000;
    private static final int BYTES = 64;

    private final BundleFixture fixture = new BundleFixture(16, 1408);
    private final MemorySegment frame = MemorySegment.ofArray(new byte[BYTES]);

    @Test
    void shouldAllocateNothingWhenFramesAreClaimedCommittedAndTaken() {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Assumptions.assumeTrue(
                threads.isThreadAllocatedMemorySupported() && threads.isThreadAllocatedMemoryEnabled(),
                "this JVM does not count allocated bytes");
        flow();
        long least = Long.MAX_VALUE;
        // A compilation that ends within a round may deoptimize and allocate: the best of ten counts.
        for (int round = 0; round < 10 && least > 0; round++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            flow();
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least);
    }

    private void flow() {
        final long first = fixture.window.frameIdFrom(fixture.window.committed());
        for (int i = 0; i < FRAMES; i++) {
            final long at = fixture.small.claim(BYTES);
            MemorySegment.copy(frame, 0, fixture.payload, at, BYTES);
            if (i % 50 == 0) {
                take();
            }
            fixture.small.commit(0, i);
            if (i % 30 == 0) {
                take();
            }
        }
        take();
        assertEquals(first + FRAMES, fixture.window.frameIdFrom(fixture.window.committed()));
    }

    private void take() {
        fixture.window.takeBundle();
        fixture.window.free(fixture.window.committed());
    }
}
