package io.framecast.reliability.repair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class GroupRepairsTest {
    private static final int SLOTS = 16;
    private static final long HOLD_OFF_NS = 1_000;
    private static final long ALL = -1;

    private final RepairStore store = new RepairStore(new WindowMemory(
            MemorySegment.ofArray(new byte[SLOTS * DataLayout.LENGTH]),
            MemorySegment.ofArray(new byte[SLOTS * 64]),
            new int[SLOTS],
            SLOTS,
            64));
    private final GroupRepairs repairs = new GroupRepairs(store);
    private final List<String> sent = new ArrayList<>();

    private void hold(final long... sequences) {
        for (final long sequence : sequences) {
            final MemorySegment bytes = MemorySegment.ofArray(new byte[64]);
            store.putPayload(sequence, bytes, 0, 64);
            store.putHeader(sequence, bytes, 0);
            repairs.onHeld(sequence);
        }
    }

    private List<String> drain(final long alive, final long nowNs) {
        sent.clear();
        repairs.drain(100, alive, nowNs, (member, first, count) -> {
            sent.add(member + ":" + first + "+" + count);
            return count;
        });
        return sent;
    }

    @Test
    void shouldSendRunsTogetherWhenOneAsksForThem() {
        hold(1, 2, 3, 5);
        for (final long sequence : new long[] {1, 2, 3, 5}) {
            repairs.request(7, sequence, 0, HOLD_OFF_NS);
        }
        assertEquals(List.of("7:1+3", "7:5+1"), drain(ALL, 0));
        assertTrue(repairs.isEmpty());
    }

    @Test
    void shouldSendToEachWhoAsked() {
        hold(4);
        repairs.request(0, 4, 0, HOLD_OFF_NS);
        repairs.request(62, 4, 0, HOLD_OFF_NS);
        assertEquals(List.of("0:4+1", "62:4+1"), drain(ALL, 0));
    }

    @Test
    void shouldWaitForWhatItLacksItself() {
        repairs.request(3, 9, 0, HOLD_OFF_NS);
        assertTrue(repairs.isEmpty());
        hold(8);
        assertTrue(repairs.isEmpty());
        hold(9);
        assertFalse(repairs.isEmpty());
        assertEquals(List.of("3:9+1"), drain(ALL, 0));
    }

    @Test
    void shouldNotRepeatToTheSameWithinTheHoldOff() {
        hold(4);
        repairs.request(1, 4, 0, HOLD_OFF_NS);
        drain(ALL, 0);
        repairs.request(1, 4, HOLD_OFF_NS - 1, HOLD_OFF_NS);
        assertTrue(repairs.isEmpty());
        repairs.request(2, 4, HOLD_OFF_NS - 1, HOLD_OFF_NS);
        assertEquals(List.of("2:4+1"), drain(ALL, 1));
        repairs.request(1, 4, HOLD_OFF_NS + 1, HOLD_OFF_NS);
        assertEquals(List.of("1:4+1"), drain(ALL, HOLD_OFF_NS + 1));
    }

    @Test
    void shouldNotSendWhatWasOverwrittenMeanwhile() {
        hold(4);
        repairs.request(1, 4, 0, HOLD_OFF_NS);
        hold(4 + SLOTS);
        assertEquals(List.of(), drain(ALL, 0));
        assertTrue(repairs.isEmpty());
        repairs.request(1, 4 + SLOTS, 0, HOLD_OFF_NS);
        assertEquals(List.of("1:20+1"), drain(ALL, 0));
    }

    @Test
    void shouldNotSendToWhoIsGone() {
        hold(4, 5);
        repairs.request(1, 4, 0, HOLD_OFF_NS);
        repairs.request(2, 5, 0, HOLD_OFF_NS);
        assertEquals(List.of("2:5+1"), drain(1L << 2, 0));
        assertTrue(repairs.isEmpty());
    }
}
