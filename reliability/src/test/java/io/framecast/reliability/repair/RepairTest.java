package io.framecast.reliability.repair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class RepairTest {
    private static final int REORDER = 3;
    private static final long RTT_NS = 1_000_000;

    private final ReceiveWindow received = new ReceiveWindow(256);
    private final NackScheduler nacks = new NackScheduler(received, REORDER, new SplittableRandom(1));
    private final List<String> reports = new ArrayList<>();
    private final SendWindow window = new SendWindow(
            new WindowMemory(
                    MemorySegment.ofArray(new byte[16 * DataLayout.LENGTH]), MemorySegment.NULL, new int[16], 16, 64),
            1);
    private final RetransmitScheduler repairs = new RetransmitScheduler(window);
    private final List<String> sent = new ArrayList<>();

    RepairTest() {
        nacks.onRtt(RTT_NS);
    }

    private void receive(final long sequence, final long nowNs) {
        if (sequence > received.end()) {
            nacks.onGap(received.end(), sequence, nowNs);
        }
        received.receive(sequence);
        nacks.onData(sequence, nowNs);
    }

    private int tick(final long nowNs, final long highest) {
        return nacks.onTick(nowNs, highest, (first, count, _) -> reports.add(first + "+" + count));
    }

    @Test
    void shouldWaitWhenAGapIsWithinTheReorderAllowance() {
        receive(0, 0);
        receive(1 + REORDER, 0);
        assertTrue(nacks.nextDeadlineNs() > 0);
        assertEquals(0, tick(0, 1 + REORDER));
    }

    @Test
    void shouldReportAtOnceWhenMoreThanTheAllowanceHasPassed() {
        receive(0, 0);
        receive(2, 5);
        receive(3, 5);
        receive(4, 5);
        assertTrue(nacks.nextDeadlineNs() > 5);
        receive(5, 6);
        assertEquals(6, nacks.nextDeadlineNs());
        assertEquals(1, tick(6, 5));
        assertEquals(List.of("1+1"), reports);
    }

    @Test
    void shouldReportAfterAPauseWhenTheTailIsLost() {
        receive(0, 0);
        nacks.onTail(1, 4, 100);
        received.extend(4);
        final long due = nacks.nextDeadlineNs();
        // Data may be late by as much as answers are: a heartbeat alone does not make it lost sooner.
        assertEquals(100 + Math.max(NackScheduler.GAP_DELAY_NS, RTT_NS), due);
        assertEquals(0, tick(due - 1, 0));
        assertEquals(1, tick(due, 0));
        assertEquals(List.of("1+3"), reports);
    }

    @Test
    void shouldRepeatEverMoreRarelyWhenNoRepairComes() {
        receive(0, 0);
        nacks.onTail(1, 2, 0);
        received.extend(2);
        long last = 0;
        long interval = 0;
        for (int i = 0; i < 12; i++) {
            final long due = nacks.nextDeadlineNs();
            assertTrue(due > last);
            assertEquals(1, tick(due, 0), "attempt " + i);
            interval = nacks.nextDeadlineNs() - due;
            assertTrue(interval >= RTT_NS * 3 / 2);
            assertTrue(interval <= NackScheduler.BACKOFF_MAX_NS * 3 / 2);
            last = due;
        }
        assertTrue(interval >= NackScheduler.BACKOFF_MAX_NS);
    }

    @Test
    void shouldReportRangesAscendingAndDisjointWhenMuchIsLost() {
        final List<String> missing = new ArrayList<>();
        for (long sequence = 0; sequence < 200; sequence += 3) {
            receive(sequence, 0);
            missing.add((sequence + 1) + "+2");
        }
        tick(10, 198);
        // The last gap may still be filled by datagrams that were overtaken.
        assertEquals(missing.subList(0, reports.size()), reports);
        assertEquals("193+2", reports.getLast());
    }

    @Test
    void shouldForgetNothingWhenOnlySomeIsRepaired() {
        receive(0, 0);
        receive(10, 0);
        tick(0, 10);
        received.receive(5);
        final long due = nacks.nextDeadlineNs();
        reports.clear();
        long now = due;
        while (reports.size() < 2) {
            tick(now, 10);
            now = Math.max(now + 1, nacks.nextDeadlineNs());
        }
        assertFalse(reports.contains("5+1"));
    }

    private void commit(final int datagrams) {
        window.beginFrame(64L * datagrams, 0, 0, new byte[0]);
        window.commit(64L * datagrams, datagrams);
    }

    private int drain(final long nowNs) {
        return repairs.drain(100, nowNs, (member, first, count) -> {
            sent.add(member + ":" + first + "+" + count);
            return count;
        });
    }

    @Test
    void shouldSendRunsTogetherWhenOneMemberAsks() {
        commit(10);
        for (long sequence = 2; sequence < 6; sequence++) {
            assertTrue(repairs.request(3, sequence, 0, 100));
        }
        assertFalse(repairs.request(3, 4, 0, 100));
        assertEquals(4, drain(0));
        assertEquals(List.of("3:2+4"), sent);
        assertTrue(repairs.isEmpty());
    }

    @Test
    void shouldMulticastWhenSeveralAsk() {
        commit(10);
        repairs.request(0, 2, 0, 100);
        repairs.request(1, 2, 0, 100);
        repairs.request(1, 3, 0, 100);
        drain(0);
        assertEquals(List.of("-2:2+1", "1:3+1"), sent);
    }

    @Test
    void shouldHoldOffWhenTheSameMemberAsksAgainButNotAnother() {
        commit(10);
        repairs.request(0, 2, 0, 100);
        drain(0);
        assertFalse(repairs.request(0, 2, 50, 100));
        assertTrue(repairs.request(1, 2, 50, 100));
        drain(50);
        assertTrue(repairs.request(1, 2, 150, 100));
    }

    @Test
    void shouldHoldOffForEverybodyWhenTheRepairWasMulticast() {
        commit(10);
        repairs.request(0, 2, 0, 100);
        repairs.request(1, 2, 0, 100);
        drain(0);
        assertFalse(repairs.request(5, 2, 50, 100));
    }

    @Test
    void shouldDropWhenTheSlotWasFreedMeanwhile() {
        commit(10);
        repairs.request(0, 2, 0, 100);
        repairs.request(0, 8, 0, 100);
        window.free(5);
        assertEquals(1, drain(0));
        assertEquals(List.of("0:8+1"), sent);
    }

    @Test
    void shouldGoOnLaterWhenTheTransportTakesOnlySome() {
        commit(10);
        for (long sequence = 0; sequence < 5; sequence++) {
            repairs.request(0, sequence, 0, 100);
        }
        assertEquals(2, repairs.drain(100, 0, (_, _, _) -> 2));
        assertFalse(repairs.isEmpty());
        drain(0);
        assertEquals(List.of("0:2+3"), sent);
    }

    @Test
    void shouldRepairToOthersWhenOneMemberTakesNothing() {
        commit(10);
        repairs.request(0, 3, 0, 100);
        repairs.request(1, 5, 0, 100);
        repairs.request(1, 6, 0, 100);
        assertEquals(2, drainBut(0, 0));
        assertEquals(List.of("1:5+2"), sent);
        sent.clear();
        assertEquals(0, drainBut(0, 1));
        assertFalse(repairs.isEmpty(), "member 0 may take it yet");
        assertEquals(1, drain(2));
        assertEquals(List.of("0:3+1"), sent);
    }

    @Test
    void shouldReachEveryMemberWhenManyTakeNothing() {
        commit(15);
        for (int member = 0; member < 15; member++) {
            repairs.request(member, member, 0, 100);
        }
        int accepted = 0;
        for (int tick = 0; tick < 4; tick++) {
            accepted += drainBut(12, tick);
        }
        assertEquals(2, accepted);
        assertEquals(List.of("13:13+1", "14:14+1"), sent);
    }

    @Test
    void shouldStopAskingWhenTheLaneIsFullForEverybody() {
        commit(15);
        for (int member = 0; member < 15; member++) {
            repairs.request(member, member, 0, 100);
        }
        final int[] asked = new int[1];
        assertEquals(0, repairs.drain(100, 0, (_, _, _) -> asked[0]++ * 0));
        assertEquals(RetransmitScheduler.REFUSALS_MAX, asked[0]);
    }

    /// Members up to `deaf` accept nothing.
    private int drainBut(final int deaf, final long nowNs) {
        return repairs.drain(100, nowNs, (member, first, count) -> {
            if (member <= deaf) {
                return 0;
            }
            sent.add(member + ":" + first + "+" + count);
            return count;
        });
    }

    @Test
    void shouldNotAskForAFrameThatFoundNoRoomUntilThereIsRoom() {
        receive(0, 0);
        receive(20, 0);
        assertEquals(1, tick(0, 20));
        nacks.defer(5, 10, 100 * RTT_NS);
        final long later = 4 * RTT_NS;
        reports.clear();
        tick(later, 20);
        assertEquals(List.of("1+4", "15+2", "17+3"), reports);
        reports.clear();
        nacks.retryNow(5, 10, later);
        assertEquals(later, nacks.nextDeadlineNs());
        assertEquals(1, tick(later, 20));
        assertEquals(List.of("5+10"), reports);
    }

    @Test
    void shouldBackOffAsAtFirstWhenRoomWasFoundAfterManyRefusals() {
        receive(0, 0);
        receive(6, 0);
        long now = 0;
        for (int i = 0; i < 20; i++) {
            tick(now, 6);
            nacks.defer(0, 7, now + 100 * RTT_NS);
            nacks.retryNow(0, 7, now);
            now += RTT_NS;
        }
        reports.clear();
        tick(now, 6);
        assertEquals(List.of("1+5"), reports);
        assertTrue(nacks.nextDeadlineNs() - now <= 9 * RTT_NS / 4, () -> "due at " + nacks.nextDeadlineNs());
    }

    @Test
    void shouldAskOfItselfWhenNobodySaysThatThereIsRoom() {
        receive(0, 0);
        receive(20, 0);
        tick(0, 20);
        nacks.defer(0, 21, 100 * RTT_NS);
        reports.clear();
        assertEquals(0, tick(100 * RTT_NS - 1, 20));
        assertEquals(1, tick(100 * RTT_NS, 20));
        assertEquals(List.of("1+19"), reports);
    }

    @Test
    void shouldAskForNoMoreThanFindsRoomWhenMuchIsMissing() {
        receive(0, 0);
        receive(100, 0);
        nacks.room(2, 10, 0);
        assertEquals(1, tick(0, 100));
        assertEquals(List.of("1+20"), reports);
        nacks.room(2, 10, 5);
        assertTrue(nacks.nextDeadlineNs() > 5);
        for (int sequence = 1; sequence <= 5; sequence++) {
            received.receive(sequence);
        }
        reports.clear();
        nacks.room(2, 10, 6);
        assertEquals(6, nacks.nextDeadlineNs());
        assertEquals(1, tick(6, 100));
        assertEquals(List.of("21+5"), reports);
    }

    @Test
    void shouldAskForMoreWhenThereIsMoreRoom() {
        receive(0, 0);
        receive(100, 0);
        nacks.room(1, 10, 0);
        tick(0, 100);
        reports.clear();
        nacks.room(3, 10, 1);
        assertEquals(1, tick(nacks.nextDeadlineNs(), 100));
        nacks.room(3, 12, 2);
        assertEquals(1, tick(nacks.nextDeadlineNs(), 100));
        assertEquals(List.of("11+20", "31+6"), reports);
    }

    @Test
    void shouldCountWhatIsMissingApartAsAFrameEach() {
        for (long sequence = 0; sequence < 200; sequence += 50) {
            receive(sequence, 0);
            receive(sequence + 1, 0);
        }
        received.receive(3);
        received.receive(4);
        nacks.room(3, 6, 0);
        assertEquals(2, tick(0, 151));
        assertEquals(List.of("2+1", "5+15"), reports);
    }

    /// A link with little loss: repairs come one after the other, as their frames become the oldest.
    @Test
    void shouldAskForSingleDatagramsHoweverLittleRoomThereIs() {
        for (long sequence = 0; sequence <= 200; sequence += 2) {
            receive(sequence, 0);
        }
        nacks.room(1, 1, 0);
        assertEquals(65, tick(0, 200));
        assertEquals("129+1", reports.getLast());
    }

    @Test
    void shouldForgetTheSlotsPastWhenANewSequenceUsesIt() {
        commit(10);
        repairs.request(0, 2, 0, 1_000);
        drain(0);
        window.free(10);
        commit(12);
        repairs.onSent(18);
        assertTrue(repairs.request(0, 18, 10, 1_000));
    }
}
