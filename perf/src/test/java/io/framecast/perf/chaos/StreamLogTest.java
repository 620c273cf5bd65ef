package io.framecast.perf.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class StreamLogTest {
    private static final long SECOND_NS = 1_000_000_000;

    private final StreamLog log = new StreamLog();

    @Test
    void shouldKeepWhatWasSaid() {
        log.onLine("joined", "17 1000");
        log.onLine("progress", "20 4 2000");
        log.onLine("wrong", "frame 21 differs");
        log.onLine("memory", "1 2 3");
        log.onLine("garbage", "40 2");
        assertEquals(17, log.firstId());
        assertEquals(20, log.lastId());
        assertEquals(4, log.frames());
        assertEquals(2_000, log.lastNs());
        assertEquals(40, log.garbage());
        assertEquals(List.of("frame 21 differs"), log.wrong());
        assertEquals(List.of(new StreamLog.Memory(1, 2, 3)), log.memory());
        assertEquals(Optional.empty(), log.over());
        assertFalse(log.isEnded());
        log.onLine("end", "30 14");
        log.onLine("over", "source lost: evicted");
        assertTrue(log.isEnded());
        assertEquals(Optional.of("source lost: evicted"), log.over());
    }

    @Test
    void shouldTakeAnUnknownLineForWrong() {
        log.onLine("news", "1");
        assertEquals(List.of("unknown line: news"), log.wrong());
    }

    @Test
    void shouldFindTheLongestGapThatMeetsASpan() {
        log.onLine("joined", "0 " + SECOND_NS);
        log.onLine("gap", 2 * SECOND_NS + " " + 3 * SECOND_NS);
        log.onLine("gap", 5 * SECOND_NS + " " + 9 * SECOND_NS);
        log.onLine("progress", "9 9 " + 10 * SECOND_NS);
        assertEquals(0, log.longestGapNs(3 * SECOND_NS, 5 * SECOND_NS));
        assertEquals(SECOND_NS, log.longestGapNs(0, 4 * SECOND_NS));
        assertEquals(4 * SECOND_NS, log.longestGapNs(0, 6 * SECOND_NS));
        assertEquals(3 * SECOND_NS, log.longestGapNs(9 * SECOND_NS, 13 * SECOND_NS), "the gap that lasts");
    }
}
