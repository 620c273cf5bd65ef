package io.framecast.gpu.arrival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Both ends of the ring, on one thread.
class ArrivalRingTest {
    private static final int ENTRIES = 8;

    private final PlainMemory memory = new PlainMemory(ENTRIES, 64);
    private final ArrivalRecord record = new ArrivalRecord();
    private final ArrivalRecord seen = new ArrivalRecord();
    private final List<Integer> returned = new ArrayList<>();

    @AfterEach
    void close() {
        memory.close();
    }

    private ArrivalRing ringAt(final int position) {
        final ArrivalRing ring = memory.ringAt(ENTRIES, position);
        ring.resume(1, 0);
        return ring;
    }

    private EmulatedArrivals device() {
        return EmulatedArrivals.open(memory, memory.area().address());
    }

    private void offer(final ArrivalRing ring, final int channel, final int source, final int tag, final long id) {
        record.event(ArrivalLayout.KIND_FRAME, channel);
        record.source = source;
        record.tag = tag;
        record.frameId = id;
        ring.offer(record);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -3, Integer.MAX_VALUE - 2, Integer.MIN_VALUE, -ENTRIES})
    void shouldCarryEntriesInOrderAcrossWraps(final int start) {
        final ArrivalRing ring = ringAt(start);
        final EmulatedArrivals device = device();
        for (int i = 0; i < 5 * ENTRIES; i++) {
            assertFalse(device.test(ArrivalMatch.ANY, seen), "a stale entry was taken");
            offer(ring, 5, 6, 7 + i, 1000 + i);
            assertTrue(device.test(ArrivalMatch.ANY, seen));
            assertEquals(start + i + 1, seen.sequence);
            assertEquals(1000 + i, seen.frameId);
            assertEquals(5, seen.channel);
            assertEquals(6, seen.source);
            assertEquals(7 + i, seen.tag);
            device.release(seen);
            assertEquals(1, ring.collect(returned::add));
            assertEquals(ENTRIES, ring.room());
        }
        assertEquals(5 * ENTRIES, returned.size());
    }

    @Test
    void shouldNeverOverwriteWhatWasNotReturned() {
        final ArrivalRing ring = ringAt(0);
        final EmulatedArrivals device = device();
        for (int i = 0; i < ENTRIES; i++) {
            offer(ring, 0, 0, 0, i);
        }
        assertEquals(0, ring.room());
        assertThrows(IllegalStateException.class, () -> offer(ring, 0, 0, 0, 99));
        // Taken is not returned.
        assertTrue(device.test(ArrivalMatch.ANY, seen));
        assertEquals(0, ring.collect(returned::add));
        assertEquals(0, ring.room());
        // Returned behind one that is not: its slot is free only when that is.
        final ArrivalRecord second = new ArrivalRecord();
        assertTrue(device.test(ArrivalMatch.ANY, second));
        device.release(second);
        assertEquals(1, ring.collect(returned::add));
        assertEquals(0, ring.room());
        device.release(seen);
        assertEquals(1, ring.collect(returned::add));
        assertEquals(2, ring.room());
        assertEquals(List.of(1, 0), returned);
    }

    @Test
    void shouldMatchByChannelSourceAndTagAndKeepTheRestInOrder() {
        final ArrivalRing ring = ringAt(-4);
        final EmulatedArrivals device = device();
        offer(ring, 1, 1, 10, 0);
        offer(ring, 1, 2, 20, 1);
        offer(ring, 2, 1, 10, 2);
        offer(ring, 2, 2, 20, 3);
        offer(ring, 1, 2, 20, 4);
        record.event(ArrivalLayout.KIND_OVER, 1);
        ring.offer(record);
        final int any = ArrivalLayout.ANY_CHANNEL;
        final int anyTag = ArrivalLayout.ANY_TAG;
        assertEquals(2, take(device, ArrivalMatch.framesOf(2, any, anyTag)));
        assertEquals(1, take(device, ArrivalMatch.framesOf(any, any, 20)));
        assertEquals(0, take(device, ArrivalMatch.framesOf(1, any, anyTag)));
        assertEquals(-1, take(device, ArrivalMatch.framesOf(any, 1, anyTag)));
        assertEquals(4, take(device, ArrivalMatch.framesOf(1, 2, 20)));
        assertEquals(-1, take(device, ArrivalMatch.framesOf(1, any, anyTag)));
        assertEquals(3, take(device, ArrivalMatch.ANY));
        assertTrue(device.test(ArrivalMatch.ANY, seen));
        assertEquals(ArrivalLayout.KIND_OVER, seen.kind);
    }

    private long take(final EmulatedArrivals device, final ArrivalMatch match) {
        return device.test(match, seen) ? seen.frameId : -1;
    }

    @Test
    void shouldGiveTheNextKernelWhatTheLastOneLeft() {
        final ArrivalRing ring = ringAt(-2);
        final EmulatedArrivals first = device();
        for (int i = 0; i < 5; i++) {
            offer(ring, 0, 0, 0, i);
        }
        final ArrivalRecord held = new ArrivalRecord();
        assertTrue(first.test(ArrivalMatch.ANY, held));
        assertTrue(first.test(ArrivalMatch.ANY, seen));
        first.release(seen);
        ring.collect(returned::add);
        ring.resume(1, 0);
        // Frame 0 was taken and not returned, 1 was returned out of order.
        final EmulatedArrivals second = device();
        offer(ring, 0, 0, 0, 5);
        final List<Long> ids = new ArrayList<>();
        while (second.test(ArrivalMatch.ANY, seen)) {
            ids.add(seen.frameId);
            second.release(seen);
        }
        assertEquals(List.of(0L, 2L, 3L, 4L, 5L), ids);
        assertEquals(5, ring.collect(returned::add));
        assertEquals(ENTRIES, ring.room());
    }

    @Test
    void shouldGiveEverythingBackWhenTheKernelIsGone() {
        final ArrivalRing ring = ringAt(0);
        final EmulatedArrivals device = device();
        for (int i = 0; i < 4; i++) {
            offer(ring, 0, 0, 0, i);
        }
        assertTrue(device.test(ArrivalMatch.ANY, seen));
        assertTrue(device.test(ArrivalMatch.ANY, seen));
        device.release(seen);
        ring.abandon(returned::add);
        assertEquals(List.of(0, 1, 2, 3), returned);
        assertEquals(ENTRIES, ring.room());
    }

    @Test
    void shouldStopWaitingWhenTold() {
        final ArrivalRing ring = ringAt(0);
        final EmulatedArrivals device = device();
        offer(ring, 0, 0, 0, 1);
        ring.stop(ArrivalLayout.STOP_DRAIN);
        assertTrue(device.await(ArrivalMatch.ANY, seen), "what is there is still given");
        assertFalse(device.await(ArrivalMatch.ANY, seen));
        offer(ring, 0, 0, 0, 2);
        ring.stop(ArrivalLayout.STOP_NOW);
        assertFalse(device.await(ArrivalMatch.ANY, seen));
    }
}
