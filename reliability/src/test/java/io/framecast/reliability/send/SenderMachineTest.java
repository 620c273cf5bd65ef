package io.framecast.reliability.send;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.receive.MachinePair;
import io.framecast.reliability.window.FrameReaders;
import io.framecast.reliability.window.FrameWriter;
import io.framecast.reliability.window.StreamFormat;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.AdmitLayout;
import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.FormatLayout;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.PolicyLayout;
import io.framecast.reliability.wire.ResumeLayout;
import io.framecast.reliability.wire.SolicitLayout;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/// A source by itself: the test writes its input by hand.
final class SenderMachineTest {
    private static final long TICK_NS = 20_000_000;
    private static final long TIMEOUT_MAX_NS = 1_000_000_000;

    private static final int MEMBERS_MAX = 100;

    private final MachinePair pair = new MachinePair(256, 32, MEMBERS_MAX);
    private final SenderMachine sender = pair.sender;
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);

    /// Of ADMIT, by receiver.
    private final Map<Long, Long> values = new HashMap<>();

    private static ControlWriter ids(final long receiver) {
        return new ControlWriter(MachinePair.SESSION).receiver(receiver);
    }

    private Verdict deliver(final int bytes) {
        return sender.onControl(scratch, 0, bytes, pair.nowNs);
    }

    private int requestJoin(final long id, final Delivery delivery) {
        final JoinLayout.Terms terms = new JoinLayout.Terms(
                256, delivery, MachinePair.SECRET, MachinePair.ADDRESSES, new CoRootOffer(0, false));
        assertEquals(Verdict.GOOD, deliver(JoinLayout.write(ids(id).in(scratch), terms)));
        final MemorySegment admit = pair.toReceiver.removeLast();
        assertEquals(ControlLayout.TYPE_ADMIT, ControlLayout.type(admit, 0));
        values.put(id, AdmitLayout.VALUE.get(admit, 0));
        return AdmitLayout.TOKEN.get(admit, 0);
    }

    private Verdict ready(final long id, final int token, final int grant) {
        return deliver(AdmitLayout.writeReady(ids(id).in(scratch), token, values.get(id), grant));
    }

    private void join(final long id, final Delivery delivery, final int grant) {
        final int token = requestJoin(id, delivery);
        assertEquals(Verdict.GOOD, ready(id, token, grant));
        pair.toReceiver.clear();
    }

    private Verdict ack(final long id, final AckValues values) {
        return deliver(AckLayout.write(ids(id).in(scratch), values));
    }

    private Verdict ack(final long id, final long acknowledged, final long grant) {
        return ack(
                id, new AckValues().progress(acknowledged, grant, acknowledged).echo(AckLayout.NO_ECHO, 0));
    }

    private Verdict nack(final long id, final long first, final int count) {
        NackLayout.range(scratch, false, 0, first, count);
        return deliver(NackLayout.write(ids(id).in(scratch), 1));
    }

    private void publishAndSend(final int slots) {
        for (int left = slots; left > 0; left -= 10) {
            pair.publish(Math.min(10, left));
        }
        final int count = sender.sendable();
        sender.onSent(count, pair.nowNs);
    }

    /// The next heartbeat, whenever it comes.
    private MemorySegment heartbeat() {
        pair.toReceiver.clear();
        while (pair.toReceiver.isEmpty()
                || ControlLayout.type(pair.toReceiver.peekLast(), 0) != ControlLayout.TYPE_HEARTBEAT) {
            pair.nowNs = Math.max(pair.nowNs + 1, sender.nextDeadlineNs());
            sender.onTick(pair.nowNs);
        }
        return pair.toReceiver.removeLast();
    }

    private int flags() {
        return ControlLayout.FLAGS.get(heartbeat(), 0);
    }

    @Test
    void shouldTakeReadyOnlyFromWhoHasTheProbeAndAdmit() {
        final int token = requestJoin(5, Delivery.RELIABLE);
        assertEquals(Verdict.UNKNOWN_MEMBER, ack(5, 0, 1));
        assertEquals(Verdict.UNKNOWN_MEMBER, nack(5, 0, 1));
        assertEquals(Verdict.IMPOSSIBLE, deliver(FrameLayout.writeRequest(ids(5).in(scratch), 0)));
        assertEquals(Verdict.IMPOSSIBLE, ready(5, token + 1, 10));
        assertEquals(Verdict.IMPOSSIBLE, ready(5, token, 0));
        // A host that hears the group knows the token, and no value.
        final long value = values.put(5L, 0L);
        assertEquals(Verdict.IMPOSSIBLE, ready(5, token, 10));
        values.put(5L, value);
        assertEquals(0, sender.readyMembers());
        assertEquals(Verdict.GOOD, ready(5, token, 10));
        assertEquals(1, sender.readyMembers());
        assertEquals(10, sender.grantedSequence());
        assertEquals(Verdict.BAD_TYPE, deliver(AdmitLayout.writeAdmit(ids(5).in(scratch), token, 0)));
    }

    @Test
    void shouldSendNoMoreThanEverybodyHasRoomFor() {
        join(5, Delivery.RELIABLE, 10);
        join(6, Delivery.RELIABLE, 7);
        assertTrue(sender.canFlushBundle());
        pair.publish(5);
        assertFalse(sender.canFlushBundle());
        pair.publish(5);
        assertEquals(7, sender.sendable());
        sender.onSent(7, pair.nowNs);
        assertEquals(0, sender.sendable());
        assertEquals(7, sender.counts().get(SenderCount.SENT_DATAGRAMS));
        assertEquals(Verdict.GOOD, ack(6, 7, 12));
        assertEquals(3, sender.sendable());
        sender.onSent(3, pair.nowNs);
        assertFalse(sender.canFlushBundle(), "everything is sent, and nothing more may be");
    }

    @Test
    void shouldRefuseAnAckThatCannotBe() {
        join(5, Delivery.RELIABLE, 20);
        publishAndSend(10);
        assertEquals(Verdict.IMPOSSIBLE, ack(5, 11, 20));
        assertEquals(Verdict.IMPOSSIBLE, ack(5, 10, 11L + Integer.MAX_VALUE));
        assertEquals(0, sender.releasable());
        assertEquals(20, sender.grantedSequence());
        assertEquals(Verdict.GOOD, ack(5, 10, 10L + Integer.MAX_VALUE));
        assertEquals(10, sender.releasable());
        assertEquals(1, sender.counts().get(SenderCount.ACKS));
    }

    @Test
    void shouldLetOnlyWhoIsNotWaitedForBeAhead() {
        join(5, Delivery.LATEST, 20);
        publishAndSend(10);
        assertEquals(Verdict.IMPOSSIBLE, ack(5, 27, 40));
        assertEquals(Verdict.GOOD, ack(5, 26, 40));
    }

    @Test
    void shouldKeepAllEvictionsOfOneMoment() {
        for (int id = 1; id <= MEMBERS_MAX; id++) {
            pair.nowNs += TICK_NS;
            join(id, Delivery.LATEST, 20);
        }
        pair.nowNs += 2 * MachinePair.ALIVE_NS + MEMBERS_MAX * TICK_NS;
        sender.onTick(pair.nowNs);
        int evicted = 0;
        while (sender.pollEviction() != null) {
            evicted++;
        }
        assertEquals(MEMBERS_MAX, evicted);
    }

    @Test
    void shouldMeasureByEchoesThatCanBe() {
        join(5, Delivery.RELIABLE, 20);
        pair.nowNs = 10_000_000;
        final long unknown = sender.rttNs();
        ack(5, new AckValues().progress(0, 20, 0).echo(pair.nowNs + 1, 0));
        ack(5, new AckValues().progress(0, 20, 0).echo(-1, 0));
        ack(5, new AckValues().progress(0, 20, 0).echo(AckLayout.NO_ECHO, 0));
        assertEquals(unknown, sender.rttNs());
        ack(5, new AckValues().progress(0, 20, 0).echo(4_000_000, 1_000_000));
        assertEquals(5_000_000, sender.rttNs());
        join(6, Delivery.RELIABLE, 20);
        ack(6, new AckValues().progress(0, 20, 0).echo(100_000, 0));
        assertEquals(5_000_000, sender.rttNs(), "of a heartbeat from before it came");
        ack(5, new AckValues().progress(0, 20, 0).echo(pair.nowNs, 0));
        assertEquals(5_000_000 - 5_000_000 / 8, sender.rttNs());
    }

    @Test
    void shouldRepairWhatWasSentAndIsHeld() {
        join(5, Delivery.RELIABLE, 40);
        publishAndSend(20);
        ack(5, 10, 40);
        pair.window.free(sender.releasable());
        pair.publish(5);
        assertEquals(Verdict.GOOD, nack(5, 8, 4));
        sender.onTick(pair.nowNs);
        assertEquals(List.of(10L, 11L), List.copyOf(pair.repairs));
        pair.repairs.clear();
        assertEquals(Verdict.GOOD, nack(5, 18, 100));
        assertEquals(0, sender.nextDeadlineNs());
        sender.onTick(pair.nowNs);
        assertEquals(List.of(18L, 19L), List.copyOf(pair.repairs));
        assertEquals(2, sender.counts().get(SenderCount.NACKS));
        assertEquals(4, sender.counts().get(SenderCount.REPAIRED_DATAGRAMS));
    }

    @Test
    void shouldSendMetadataAgainToWhoAsks() {
        join(5, Delivery.RELIABLE, 40);
        pair.publish(2, new byte[] {1, 2});
        assertEquals(Verdict.IMPOSSIBLE, deliver(FrameLayout.writeRequest(ids(5).in(scratch), 0)));
        sender.announceMetadata(sender.sendable());
        assertEquals(1, pair.toReceiver.size());
        sender.onSent(2, pair.nowNs);
        pair.toReceiver.clear();
        assertEquals(Verdict.GOOD, deliver(FrameLayout.writeRequest(ids(5).in(scratch), 0)));
        final MemorySegment frame = pair.toReceiver.remove();
        assertEquals(0, ControlLayout.RECEIVER.get(frame, 0));
        assertArrayEquals(new byte[] {1, 2}, FrameLayout.metadata(frame, 0));
        assertEquals(Verdict.IMPOSSIBLE, deliver(FrameLayout.writeRequest(ids(5).in(scratch), 2)));
        ack(5, 2, 40);
        pair.window.free(2);
        assertEquals(Verdict.IMPOSSIBLE, deliver(FrameLayout.writeRequest(ids(5).in(scratch), 0)));
        assertEquals(4, sender.counts().get(SenderCount.FRAME_REQUESTS));
    }

    /// One more format than numbers, all of frames that were passed over while there was no member.
    @Test
    void shouldGiveANewMemberTheFormatsOfFramesThatNobodyHeard() {
        for (int kind = 1; kind <= FormatLayout.NUMBERS + 1; kind++) {
            assertTrue(pair.window.useFormat(new byte[kind]));
            pair.publish(1);
            sender.onUnheard(1);
            pair.window.free(sender.releasable());
            if (kind == FormatLayout.NUMBERS) {
                sender.announceFormats();
            }
        }
        ready(5, requestJoin(5, Delivery.RELIABLE), 40);
        final Set<Integer> serials = new HashSet<>();
        for (final MemorySegment sent : pair.toReceiver) {
            if (ControlLayout.type(sent, 0) == ControlLayout.TYPE_FORMAT) {
                serials.add(FormatLayout.SERIAL.get(sent, 0));
            }
        }
        assertTrue(serials.contains(FormatLayout.NUMBERS + 1));
        assertFalse(serials.contains(1));
    }

    /// Another format came before a frame had the first one, and takes its number and serial.
    @Test
    void shouldNotAnnounceAFormatThatNoFrameHas() {
        join(5, Delivery.RELIABLE, 40);
        assertTrue(pair.window.useFormat(new byte[] {1}));
        sender.announceFormats();
        assertTrue(pair.toReceiver.isEmpty());
        assertTrue(pair.window.useFormat(new byte[] {2}));
        pair.publish(1);
        sender.announceFormats();
        final MemorySegment sent = pair.toReceiver.remove();
        assertEquals(ControlLayout.TYPE_FORMAT, ControlLayout.type(sent, 0));
        assertEquals(1, FormatLayout.SERIAL.get(sent, 0));
        assertArrayEquals(new byte[] {2}, FormatLayout.format(sent, 0));
    }

    /// A member that the source does not wait for keeps no number from the next format.
    @Test
    void shouldKeepNothingForOthersWhenThereIsNoNumberForAFormat() {
        join(5, Delivery.LATEST, 40);
        join(6, Delivery.RELIABLE, 40);
        publishAndSend(10);
        ack(6, 10, 40);
        assertEquals(0, sender.releasable());
        final AtomicBoolean room = new AtomicBoolean();
        final FrameWriter writer = new FrameWriter(pair.window, new FormatsOf(room));
        writer.format(new byte[] {1});
        assertFalse(writer.reserve(1));
        assertEquals(10, sender.releasable());
        room.set(true);
        assertTrue(writer.reserve(1));
        assertEquals(0, sender.releasable());
    }

    @Test
    void shouldTellOfTheTrailWhoIsNotWaitedFor() {
        join(5, Delivery.LATEST, 40);
        join(6, Delivery.RELIABLE, 40);
        publishAndSend(10);
        ack(5, 10, 40);
        ack(6, 10, 40);
        pair.window.free(10);
        heartbeat();
        heartbeat();
        final long quietNs = sender.nextDeadlineNs();
        assertTrue(quietNs > pair.nowNs);
        nack(6, 3, 2);
        assertEquals(quietNs, sender.nextDeadlineNs());
        nack(5, 3, 2);
        assertTrue(sender.nextDeadlineNs() <= pair.nowNs, "at once");
        heartbeat();
        // Not for every member that requests it.
        nack(5, 3, 2);
        assertTrue(sender.nextDeadlineNs() > pair.nowNs);
    }

    /// A request may have been overtaken by the acknowledgement of its repair.
    @Test
    void shouldEvictAMemberThatGoesOnAskingForWhatIsFreed() {
        join(5, Delivery.RELIABLE, 40);
        publishAndSend(10);
        ack(5, 10, 40);
        pair.window.free(sender.releasable());
        assertEquals(Verdict.GOOD, nack(5, 3, 1));
        final long askedNs = pair.nowNs;
        pair.nowNs += MachinePair.ALIVE_NS / 2;
        // Late, or sent again by somebody: they say nothing of now.
        ack(5, 3, 40);
        ack(5, new AckValues().progress(3, 40, 3).echo(askedNs, 0));
        assertEquals(Verdict.GOOD, nack(5, 3, 1));
        ack(5, new AckValues().progress(3, 40, 3).echo(askedNs + 1, 0));
        ack(5, 10, 40);
        assertEquals(Verdict.GOOD, nack(5, 3, 1));
        pair.nowNs += 2;
        ack(5, new AckValues().progress(3, 40, 3).echo(pair.nowNs - 1, 0));
        pair.toReceiver.clear();
        assertEquals(Verdict.UNKNOWN_MEMBER, nack(5, 3, 1));
        final MemorySegment evict = pair.toReceiver.remove();
        assertEquals(ControlLayout.TYPE_EVICT, ControlLayout.type(evict, 0));
        assertEquals(Reason.UNREPAIRABLE, LeaveLayout.reason(evict, 0));
        assertEquals(Reason.UNREPAIRABLE, sender.pollEviction().reason());
        assertEquals(0, sender.readyMembers());
    }

    @Test
    void shouldEvictAMemberThatGoesOnAskingForMetadataThatIsFreed() {
        join(5, Delivery.RELIABLE, 40);
        publishAndSend(10);
        ack(5, 10, 40);
        pair.window.free(sender.releasable());
        assertEquals(Verdict.IMPOSSIBLE, deliver(FrameLayout.writeRequest(ids(5).in(scratch), 0)));
        pair.nowNs += 2;
        ack(5, new AckValues().progress(0, 40, 10).echo(pair.nowNs - 1, 0));
        assertEquals(Verdict.UNKNOWN_MEMBER, deliver(FrameLayout.writeRequest(ids(5).in(scratch), 0)));
        assertEquals(0, sender.readyMembers());
    }

    @Test
    void shouldNotEvictForWhatIsFreedAMemberThatItDoesNotWaitFor() {
        join(5, Delivery.LATEST, 40);
        publishAndSend(10);
        ack(5, 10, 40);
        pair.window.free(10);
        for (int i = 0; i < 10; i++) {
            assertEquals(Verdict.GOOD, nack(5, 3, 1));
            pair.nowNs += 2;
            ack(5, new AckValues().progress(3, 40, 3).echo(pair.nowNs - 1, 0));
        }
        assertEquals(1, sender.readyMembers());
    }

    @Test
    void shouldSayInHeartbeatsHowFarItHasCome() {
        join(5, Delivery.RELIABLE, 40);
        publishAndSend(10);
        MemorySegment heartbeat = heartbeat();
        assertEquals(10, HeartbeatLayout.NEXT_SEQUENCE.get(heartbeat, 0));
        assertEquals(1, HeartbeatLayout.NEXT_FRAME_ID.get(heartbeat, 0));
        assertEquals(10, HeartbeatLayout.REPAIRABLE.unsigned(heartbeat, 0));
        assertEquals(1, HeartbeatLayout.MEMBERS.get(heartbeat, 0));
        assertEquals(0, ControlLayout.RECEIVER.get(heartbeat, 0));
        assertEquals(
                HeartbeatLayout.FLAG_ACK_REQUEST | HeartbeatLayout.FLAG_BOUNDARY,
                ControlLayout.FLAGS.get(heartbeat, 0));
        ack(5, 10, 40);
        pair.window.free(6);
        heartbeat = heartbeat();
        assertEquals(4, HeartbeatLayout.REPAIRABLE.unsigned(heartbeat, 0));
        assertEquals(HeartbeatLayout.FLAG_BOUNDARY, ControlLayout.FLAGS.get(heartbeat, 0));
        assertEquals(pair.nowNs, HeartbeatLayout.CLOCK.get(heartbeat, 0));
        // Heartbeats do not announce datagrams that wait in the transport.
        publishAndSend(5);
        sender.onWaiting(2, pair.nowNs);
        heartbeat = heartbeat();
        assertEquals(13, HeartbeatLayout.NEXT_SEQUENCE.get(heartbeat, 0));
        assertEquals(HeartbeatLayout.FLAG_ACK_REQUEST, ControlLayout.FLAGS.get(heartbeat, 0));
        sender.onWaiting(0, pair.nowNs);
        assertEquals(HeartbeatLayout.FLAG_ACK_REQUEST | HeartbeatLayout.FLAG_BOUNDARY, flags());
    }

    @Test
    void shouldSayThatTheStreamEndsWhenAllOfItWentOut() {
        join(5, Delivery.RELIABLE, 12);
        publishAndSend(10);
        sender.end(pair.nowNs);
        sender.onWaiting(1, pair.nowNs);
        assertEquals(0, flags() & HeartbeatLayout.FLAG_END_OF_STREAM);
        sender.onWaiting(0, pair.nowNs);
        assertTrue((flags() & HeartbeatLayout.FLAG_END_OF_STREAM) != 0);
        pair.publish(5);
        assertEquals(0, flags() & HeartbeatLayout.FLAG_END_OF_STREAM);
        sender.onSent(2, pair.nowNs);
        assertEquals(0, flags() & HeartbeatLayout.FLAG_END_OF_STREAM);
    }

    @Test
    void shouldKeepForOthersOnlyWhatLeavesRoom() {
        join(5, Delivery.LATEST, 200);
        publishAndSend(30);
        assertEquals(0, sender.releasable());
        publishAndSend(10);
        // Room for half a window: 40 + 32 − 63.
        assertEquals(9, sender.releasable());
        ack(5, 20, 200);
        assertEquals(20, sender.releasable());
        join(6, Delivery.RELIABLE, 200);
        publishAndSend(5);
        assertEquals(20, sender.releasable());
        ack(5, 45, 200);
        assertEquals(40, sender.releasable(), "where it joined");
        ack(6, 45, 200);
        assertEquals(45, sender.releasable());
    }

    @Test
    void shouldGoOnWithoutThoseItDoesNotWaitFor() {
        join(5, Delivery.LATEST, 10);
        publishAndSend(20);
        assertEquals(10, sender.nextSequence());
        pair.nowNs += TICK_NS;
        sender.onTick(pair.nowNs);
        assertEquals(10, sender.grantedSequence());
        pair.nowNs += TICK_NS;
        sender.onTick(pair.nowNs);
        assertEquals(10 + MachinePair.WINDOW, sender.grantedSequence());
    }

    @Test
    void shouldNotGoOnWithoutThoseItWaitsFor() {
        join(5, Delivery.RELIABLE, 10);
        publishAndSend(20);
        for (int i = 0; i < 5; i++) {
            pair.nowNs += TICK_NS;
            sender.onTick(pair.nowNs);
            assertEquals(10, sender.grantedSequence());
        }
    }

    private int ticksUntilEvicted() {
        int ticks = 0;
        while (sender.readyMembers() > 1 && ticks < 100) {
            pair.nowNs += TICK_NS;
            ack(6, sender.nextSequence(), 1000);
            ack(5, 0, 10);
            sender.onTick(pair.nowNs);
            ticks++;
        }
        return ticks;
    }

    @Test
    void shouldEvictWhoHoldsTheSourceBackForTooLong() {
        join(5, Delivery.evict(200), 10);
        join(6, Delivery.evict(200), 1000);
        publishAndSend(20);
        final int ticks = ticksUntilEvicted();
        assertEquals(1, sender.counts().get(SenderCount.EVICTIONS));
        assertTrue(ticks * TICK_NS > 200_000_000 && (ticks - 3) * TICK_NS <= 200_000_000, ticks + " ticks");
        assertEquals(1000, sender.grantedSequence());
    }

    @Test
    void shouldEvictWhoseAcknowledgementTheNextFrameWaitsFor() {
        join(5, Delivery.evict(200), 1000);
        join(6, Delivery.evict(200), 1000);
        publishAndSend(20);
        assertEquals(100, ticksUntilEvicted(), "no member is waited for");
        sender.onClaimBlocked(true);
        assertTrue(ticksUntilEvicted() < 100);
        assertEquals(1, sender.counts().get(SenderCount.EVICTIONS));
    }

    @Test
    void shouldWaitTwiceAsLongForEachTimeoutOfAMember() {
        join(5, Delivery.RELIABLE, 40);
        ack(5, 0, 40);
        publishAndSend(10);
        final List<Long> intervals = new ArrayList<>();
        long last = pair.nowNs;
        for (long timeouts = 0; timeouts < 6 && sender.readyMembers() > 0; ) {
            pair.nowNs = Math.max(pair.nowNs + 1, sender.nextDeadlineNs());
            // It lives, and acknowledges nothing.
            nack(5, 100, 1);
            sender.onTick(pair.nowNs);
            if (sender.counts().get(SenderCount.TIMEOUTS) > timeouts) {
                timeouts = sender.counts().get(SenderCount.TIMEOUTS);
                intervals.add(pair.nowNs - last);
                last = pair.nowNs;
                sender.onTick(pair.nowNs);
                assertEquals(0L, pair.repairs.removeLast());
            }
        }
        assertEquals(6, intervals.size());
        for (int i = 1; i < intervals.size(); i++) {
            assertTrue(
                    intervals.get(i) >= 2 * intervals.get(i - 1) - 3 * TICK_NS || intervals.get(i) >= TIMEOUT_MAX_NS,
                    intervals::toString);
            assertTrue(intervals.get(i) <= TIMEOUT_MAX_NS + TICK_NS, intervals::toString);
        }
        ack(5, 10, 40);
        pair.nowNs += 2 * TICK_NS;
        final long before = sender.counts().get(SenderCount.TIMEOUTS);
        for (int i = 0; i < 20; i++) {
            pair.nowNs += TICK_NS;
            ack(5, 10, 40);
            sender.onTick(pair.nowNs);
        }
        assertEquals(before, sender.counts().get(SenderCount.TIMEOUTS));
    }

    @Test
    void shouldAnswerAMemberThatSolicitsWithItsClockAndTheSourcesOwn() {
        join(5, Delivery.RELIABLE, 10);
        pair.nowNs += 1_000;
        assertEquals(Verdict.GOOD, deliver(SolicitLayout.write(ids(5).in(scratch), 4711)));
        final MemorySegment answer = pair.toReceiver.removeLast();
        assertEquals(ControlLayout.TYPE_HEARTBEAT, ControlLayout.type(answer, 0));
        assertEquals(5, ControlLayout.RECEIVER.get(answer, 0));
        assertEquals(4711, HeartbeatLayout.ASKED_CLOCK.get(answer, 0));
        assertEquals(pair.nowNs, HeartbeatLayout.HEARD_CLOCK.get(answer, 0));
        assertEquals(pair.nowNs, HeartbeatLayout.CLOCK.get(answer, 0));
        assertEquals(HeartbeatLayout.NO_CLOCK, HeartbeatLayout.ASKED_CLOCK.get(heartbeat(), 0));
    }

    @Test
    void shouldAnswerStrangersThatSolicitByTheGroupsHeartbeatAndSeldom() {
        join(5, Delivery.RELIABLE, 10);
        for (int i = 0; i < 20; i++) {
            pair.nowNs += 100_000_000;
            sender.onTick(pair.nowNs);
        }
        pair.toReceiver.clear();
        // Of no session, because the asker knows none.
        final ControlWriter stranger = new ControlWriter(0).receiver(99);
        for (int i = 0; i < 100; i++) {
            pair.nowNs += 100_000;
            assertEquals(Verdict.GOOD, deliver(SolicitLayout.write(stranger.in(scratch), 1)));
            sender.onTick(pair.nowNs);
        }
        final long own = pair.toReceiver.stream()
                .filter(sent -> ControlLayout.RECEIVER.get(sent, 0) != 0)
                .count();
        assertEquals(0, own);
        // Each that is asked for is followed by those after 0.4, 1.2, 2.8 and 6 ms.
        assertTrue(pair.toReceiver.size() <= 7, pair.toReceiver.size() + " heartbeats");
        assertEquals(
                Verdict.WRONG_SESSION,
                deliver(SolicitLayout.write(new ControlWriter(4).receiver(99).in(scratch), 1)));
    }

    @Test
    void shouldTakeTheNewestPolicyOfAMemberAndSayWhatHolds() {
        join(5, Delivery.RELIABLE, 10);
        join(6, Delivery.RELIABLE, 100);
        assertEquals(10, sender.grantedSequence());
        assertEquals(Verdict.GOOD, deliver(PolicyLayout.write(ids(5).in(scratch), 2, Delivery.LATEST, 1)));
        assertEquals(100, sender.grantedSequence());
        final MemorySegment answer = pair.toReceiver.removeLast();
        assertEquals(2, PolicyLayout.VERSION.get(answer, 0));
        assertEquals(Delivery.LATEST, PolicyLayout.delivery(answer, 0));
        // Overtaken.
        assertEquals(Verdict.GOOD, deliver(PolicyLayout.write(ids(5).in(scratch), 1, Delivery.RELIABLE, 1)));
        assertEquals(Delivery.LATEST, PolicyLayout.delivery(pair.toReceiver.removeLast(), 0));
        assertEquals(Verdict.GOOD, deliver(PolicyLayout.write(ids(5).in(scratch), 3, Delivery.RELIABLE, 1)));
        assertEquals(10, sender.grantedSequence());
        assertEquals(Verdict.UNKNOWN_MEMBER, deliver(PolicyLayout.write(ids(7).in(scratch), 1, Delivery.LATEST, 1)));
    }

    // The receiver that a membership moved to returns what ADMIT says.
    private void proveMove(final long id) {
        final MemorySegment admit = pair.toReceiver.removeLast();
        assertEquals(ControlLayout.TYPE_ADMIT, ControlLayout.type(admit, 0));
        assertEquals(id, ControlLayout.RECEIVER.get(admit, 0));
        values.put(id, AdmitLayout.VALUE.get(admit, 0));
        assertEquals(Verdict.GOOD, ready(id, AdmitLayout.TOKEN.get(admit, 0), 1));
    }

    private Verdict resume(final long id, final long secret, final long acknowledged, final byte[] control) {
        final JoinLayout.Terms terms = new JoinLayout.Terms(
                0, Delivery.RELIABLE, secret, new LaneAddresses(control, control), new CoRootOffer(0, false));
        return deliver(ResumeLayout.write(ids(id).in(scratch), acknowledged, terms));
    }

    @Test
    void shouldMoveAMembershipToWhoeverKnowsItsSecret() {
        join(5, Delivery.RELIABLE, 10);
        final byte[] elsewhere = {7, 7};
        assertEquals(Verdict.UNKNOWN_MEMBER, resume(6, MachinePair.SECRET - 1, 0, elsewhere));
        assertEquals(Verdict.UNKNOWN_MEMBER, resume(5, MachinePair.SECRET, 0, elsewhere));
        assertArrayEquals(MachinePair.ADDRESSES.control(), sender.member(0).controlAddress());
        assertEquals(Verdict.GOOD, resume(6, MachinePair.SECRET, 0, elsewhere));
        assertArrayEquals(elsewhere, sender.member(0).controlAddress());
        proveMove(6);
        assertEquals(ControlLayout.TYPE_START, ControlLayout.type(pair.toReceiver.removeLast(), 0));
        assertEquals(1, sender.readyMembers());
        assertEquals(10, sender.grantedSequence());
        pair.nowNs += 1_000_000;
        // A RESUME that comes late.
        assertEquals(Verdict.GOOD, resume(6, MachinePair.SECRET, 0, elsewhere));
        assertEquals(ControlLayout.TYPE_START, ControlLayout.type(pair.toReceiver.removeLast(), 0));
    }

    @Test
    void shouldHearOnlyTheNewestHolderOfAMembership() {
        join(5, Delivery.RELIABLE, 10);
        pair.publish(4);
        sender.onSent(4, pair.nowNs);
        assertEquals(Verdict.GOOD, resume(6, MachinePair.SECRET, 0, new byte[] {6}));
        pair.nowNs += 1_000_000;
        assertEquals(Verdict.GOOD, resume(7, ResumeLayout.next(MachinePair.SECRET), 0, new byte[] {7}));
        proveMove(7);
        // Of the first holder, which only stood still; and a RESUME that was under way.
        final AckValues values = new AckValues().progress(4, 14, 4).echo(AckLayout.NO_ECHO, 0);
        assertEquals(Verdict.UNKNOWN_MEMBER, deliver(AckLayout.write(ids(5).in(scratch), values)));
        assertEquals(Verdict.UNKNOWN_MEMBER, resume(6, MachinePair.SECRET, 0, new byte[] {6}));
        assertEquals(0, sender.releasable());
        assertArrayEquals(new byte[] {7}, sender.member(0).controlAddress());
        assertEquals(Verdict.GOOD, deliver(AckLayout.write(ids(7).in(scratch), values)));
        assertEquals(4, sender.releasable());
    }

    @Test
    void shouldNotMoveAMembershipBack() {
        join(5, Delivery.RELIABLE, 10);
        pair.publish(4);
        sender.onSent(4, pair.nowNs);
        final AckValues values = new AckValues().progress(4, 14, 4).echo(AckLayout.NO_ECHO, 0);
        assertEquals(Verdict.GOOD, deliver(AckLayout.write(ids(5).in(scratch), values)));
        assertEquals(Verdict.IMPOSSIBLE, resume(6, MachinePair.SECRET, 3, new byte[] {7}));
        assertEquals(Verdict.GOOD, resume(6, MachinePair.SECRET, 4, new byte[] {7}));
    }

    @Test
    void shouldNotWaitForAMemberThatLacksWhatIsFreed() {
        join(5, Delivery.LATEST, 100);
        join(6, Delivery.RELIABLE, 100);
        pair.publish(4);
        sender.onSent(4, pair.nowNs);
        pair.window.free(3);
        assertEquals(Verdict.GOOD, deliver(PolicyLayout.write(ids(5).in(scratch), 1, Delivery.RELIABLE, 1)));
        assertEquals(Delivery.LATEST, PolicyLayout.delivery(pair.toReceiver.removeLast(), 0));
        // It went past what it will never get.
        final AckValues values = new AckValues().progress(4, 104, 4).echo(AckLayout.NO_ECHO, 0);
        assertEquals(Verdict.GOOD, deliver(AckLayout.write(ids(5).in(scratch), values)));
        assertEquals(Verdict.GOOD, deliver(PolicyLayout.write(ids(5).in(scratch), 1, Delivery.RELIABLE, 1)));
        assertEquals(Delivery.RELIABLE, PolicyLayout.delivery(pair.toReceiver.removeLast(), 0));
    }

    /// Readers that take formats only while there is room.
    private record FormatsOf(AtomicBoolean room) implements FrameReaders {
        @Override
        public boolean hasRoom() {
            return true;
        }

        @Override
        public boolean hasRoomForFormat() {
            return room.get();
        }

        @Override
        public void begin(
                final long sequence,
                final long frameId,
                final int flags,
                final long timestampNs,
                final byte[] metadata,
                final StreamFormat format) {
            throw new AssertionError("no frame begins");
        }

        @Override
        public void publish(final long offset, final long length) {
            throw new AssertionError("no frame begins");
        }

        @Override
        public boolean reclaim() {
            return false;
        }
    }
}
