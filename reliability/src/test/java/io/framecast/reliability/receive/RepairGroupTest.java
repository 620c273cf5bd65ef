package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

final class RepairGroupTest {
    private final RepairGroup set = new RepairGroup();
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);

    private void report(final int member, final long acknowledged, final long grant, final boolean complete) {
        final AckValues values = new AckValues()
                .progress(acknowledged, grant, acknowledged)
                .complete(complete)
                .echo(0, 0);
        AckLayout.write(new ControlWriter(1).receiver(set.id(member)).in(scratch), values);
        set.onAck(member, scratch, 0);
    }

    @Test
    void shouldSpeakForNobodyWhenNobodyHasReported() {
        set.add(10, 3);
        set.settle(3);
        assertEquals(2, set.covered());
        assertEquals(Long.MAX_VALUE, set.leastAcknowledged());
        assertEquals(Long.MAX_VALUE, set.leastGrant());
    }

    @Test
    void shouldSayTheLeastWhenAllHaveReported() {
        final int a = set.add(10, 3);
        final int b = set.add(11, 3);
        set.settle(3);
        report(a, 100, 150, true);
        report(b, 90, 160, false);
        assertEquals(3, set.covered());
        assertEquals(90, set.leastAcknowledged());
        assertEquals(150, set.leastGrant());
        assertEquals(11, set.slowestMember());
        assertFalse(set.isComplete());
        report(b, 95, 155, true);
        assertEquals(95, set.leastAcknowledged());
        assertTrue(set.isComplete());
    }

    @Test
    void shouldLeaveOutWhoJoinedLaterUntilItReports() {
        final int a = set.add(10, 3);
        set.settle(3);
        report(a, 100, 150, false);
        final int late = set.add(12, 4);
        set.settle(4);
        assertEquals(3, set.covered());
        assertEquals(100, set.leastAcknowledged());
        assertEquals(12, set.slowestMember());
        report(late, 40, 60, false);
        assertEquals(4, set.covered());
        assertEquals(40, set.leastAcknowledged());
        assertEquals(60, set.leastGrant());
    }

    @Test
    void shouldKeepTheMostWhenReportsComeOutOfOrder() {
        final int a = set.add(10, 3);
        set.settle(3);
        report(a, 100, 150, true);
        report(a, 90, 140, false);
        assertEquals(100, set.leastAcknowledged());
        assertEquals(150, set.leastGrant());
        assertTrue(set.isComplete());
    }

    @Test
    void shouldForgetWhatAMemberSaidWhenItsPlaceIsAnothers() {
        final int a = set.add(10, 3);
        set.settle(3);
        report(a, 100, 150, true);
        set.remove(a);
        final int b = set.add(11, 5);
        set.settle(5);
        assertEquals(a, b);
        assertEquals(4, set.covered());
        assertEquals(Long.MAX_VALUE, set.leastAcknowledged());
        report(b, 1, 2, false);
        assertEquals(1, set.leastAcknowledged());
    }

    @Test
    void shouldKnowAMemberAgainWhenItIsListedAnew() {
        final int a = set.add(10, 3);
        set.settle(3);
        report(a, 100, 150, false);
        assertEquals(-1 - a, set.add(10, 6));
        set.settle(6);
        assertEquals(6, set.covered());
        assertEquals(100, set.leastAcknowledged());
    }
}
