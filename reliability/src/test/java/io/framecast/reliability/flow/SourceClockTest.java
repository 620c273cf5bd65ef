package io.framecast.reliability.flow;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class SourceClockTest {
    private static final long MS = 1_000_000;
    // The source's clock less the engine's time.
    private static final long AHEAD_NS = 1_000_000 * MS;
    // As docs/protocol.md has it.
    private static final long CLOCK_AT = 96;

    private final MemorySegment heartbeat = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private final ClockOffset measured = new ClockOffset(0);

    private void hear(final SourceClock clock, final long nowNs) {
        heartbeat.set(JAVA_LONG_UNALIGNED, CLOCK_AT, nowNs + AHEAD_NS);
        clock.onHeartbeat(heartbeat, 0, measured, nowNs);
    }

    @Test
    void shouldTellAFramesAgeByTheSourcesClock() {
        final SourceClock clock = new SourceClock(Delivery.deadline(50));
        assertTrue(clock.isExpiring());
        assertFalse(clock.isExpired(0, Long.MAX_VALUE / 2), "the source's clock is not known");
        hear(clock, 10 * MS);
        final long stampNs = 10 * MS + AHEAD_NS;
        assertFalse(clock.isExpired(stampNs, 60 * MS - 1));
        assertTrue(clock.isExpired(stampNs, 60 * MS));
    }

    @Test
    void shouldExpireNothingUnderOtherPolicies() {
        for (final Delivery delivery : new Delivery[] {Delivery.RELIABLE, Delivery.LATEST, Delivery.evict(1)}) {
            final SourceClock clock = new SourceClock(delivery);
            hear(clock, 0);
            assertFalse(clock.isExpiring());
            assertFalse(clock.isExpired(0, AHEAD_NS));
        }
    }

    @Test
    void shouldKnowTheOffsetWithItsBoundOnceItIsMeasured() {
        final SourceClock clock = new SourceClock(Delivery.RELIABLE);
        hear(clock, 0);
        assertEquals(ClockOffset.UNKNOWN, clock.boundNs());
        assertEquals(0, clock.hostOffsetNs());
        final long asked = measured.ask(0);
        measured.onAnswer(asked, AHEAD_NS + MS, AHEAD_NS + MS, 2 * MS);
        hear(clock, 2 * MS);
        assertEquals(AHEAD_NS, clock.hostOffsetNs());
        assertEquals(MS + 1, clock.boundNs());
    }
}
