package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.HeartbeatLayout;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/// A source's cycle: it sends what members granted, frees what they acknowledged, and ends.
final class SendSessionTest {
    private static final int SLOT = SessionWorld.SLOT_BYTES;
    private static final long MS = SessionWorld.MS;

    private final SessionWorld world = new SessionWorld();
    private final SourceFixture source = world.source;

    private static List<Long> sequences(final long end) {
        return LongStream.range(0, end).boxed().toList();
    }

    @Test
    void shouldSendWhatIsCommittedOnceAndInOrder() {
        final ReceiverFixture receiver = world.member();
        source.publish(3);
        source.publish(1);
        assertEquals(4, source.cycle());
        assertEquals(0, source.cycle());
        assertEquals(sequences(4), source.data.sent);
        assertEquals(4, source.count(SenderCount.SENT_DATAGRAMS));
        world.settle();
        assertEquals(List.of("0", "1"), receiver.poll());
    }

    @Test
    void shouldSendOnlyWhatTheMemberGranted() {
        final ReceiverFixture receiver = world.member();
        for (int frame = 0; frame < 20; frame++) {
            source.publish(7);
            world.run(5 * MS);
            assertTrue(source.machine.nextSequence() <= receiver.machine.grantedSequence());
        }
        assertEquals(128, source.machine.nextSequence());
        assertEquals(140, source.window.committed());
        assertFalse(source.session.isHeldBack(), "credit comes by datagram");
        receiver.poll();
        receiver.consumer.releaseAll();
        world.run(5 * MS);
        assertEquals(140, source.machine.nextSequence());
        assertEquals(List.of("18", "19"), receiver.poll());
    }

    @Test
    void shouldGoOnWhereItsLaneRefused() {
        final ReceiverFixture receiver = world.member();
        source.data.acceptsAtOnce = 2;
        source.publish(5);
        assertEquals(2, source.cycle());
        assertEquals(2, source.machine.nextSequence());
        assertTrue(source.session.isHeldBack());
        assertEquals(2, source.cycle());
        assertEquals(1, source.cycle());
        assertFalse(source.session.isHeldBack());
        assertEquals(sequences(5), source.data.sent);
        world.settle();
        assertEquals(List.of("0"), receiver.poll());
    }

    @Test
    void shouldSendOnAcrossTheWindowsEndInOneCycle() {
        final ReceiverFixture receiver = world.member();
        world.publish(8, 8, 8, 8, 8, 8, 8);
        receiver.poll();
        receiver.consumer.releaseAll();
        world.run(5 * MS);
        source.publish(8);
        source.publish(8);
        assertEquals(16, source.cycle());
        world.settle();
        assertEquals(List.of("7", "8"), receiver.poll());
    }

    @Test
    void shouldDropWhatNobodyHears() {
        source.publish(3);
        source.cycle();
        assertEquals(3, source.machine.nextSequence());
        assertEquals(3, source.window.freed());
        assertEquals(List.of(), source.data.sent);
        assertEquals(0, source.data.submitted());
    }

    @Test
    void shouldLeaveTimeForControlWhenMuchIsToBeSent() {
        final SessionWorld large = new SessionWorld(SessionWorld.Setup.PLAIN.slots(1 << 15, 128));
        for (int frame = 0; frame < 12; frame++) {
            large.source.publish(8);
        }
        large.source.cycle();
        assertEquals(64, large.source.machine.nextSequence(), "two batches of a mebibyte");
        large.source.cycle();
        assertEquals(96, large.source.machine.nextSequence());
    }

    @Test
    void shouldSendAtLeastAFewLongDatagramsAtATime() {
        final SessionWorld large = new SessionWorld(SessionWorld.Setup.PLAIN.slots(65_472, 64));
        for (int frame = 0; frame < 5; frame++) {
            large.source.publish(8);
        }
        large.source.cycle();
        assertEquals(32, large.source.machine.nextSequence());
    }

    @Test
    void shouldFreeWhatEveryMemberAcknowledged() {
        final ReceiverFixture first = world.member();
        final ReceiverFixture second = world.member();
        second.mute = true;
        world.publish(4);
        world.run(5 * MS);
        assertEquals(0, source.window.freed());
        second.mute = false;
        world.run(50 * MS);
        assertEquals(4, source.window.freed());
        assertEquals(List.of("0"), first.poll());
        assertEquals(List.of("0"), second.poll());
    }

    @Test
    void shouldNotFreeWhatItsLaneStillReads() {
        final ReceiverFixture receiver = world.member();
        source.data.holds = true;
        source.publish(4);
        source.cycle();
        for (int sequence = 0; sequence < 4; sequence++) {
            receiver.data.inbox.add(world.datagram(sequence));
        }
        world.run(5 * MS);
        assertEquals(List.of("0"), receiver.poll());
        assertEquals(0, source.window.freed());
        assertTrue(source.session.isHeldBack());
        source.data.pass(3);
        world.settle();
        assertEquals(3, source.window.freed());
        source.data.pass(1);
        world.settle();
        assertEquals(4, source.window.freed());
        assertFalse(source.session.isHeldBack());
    }

    @Test
    void shouldNotAnnounceWhatItsLaneHasNotSent() {
        world.member();
        source.data.holds = true;
        world.publish(4);
        world.run(50 * MS);
        assertEquals(0, announced());
        source.data.pass(3);
        world.run(50 * MS);
        assertEquals(3, announced());
        source.data.pass(1);
        world.run(50 * MS);
        assertEquals(4, announced());
    }

    private long announced() {
        return HeartbeatLayout.NEXT_SEQUENCE.get(world.lastControl(ControlLayout.TYPE_HEARTBEAT), 0);
    }

    @Test
    void shouldSendMetadataAheadOfItsFrame() {
        final ReceiverFixture receiver = world.member();
        source.publish(SLOT, 0, new byte[] {7});
        source.publish(SLOT, 0);
        source.cycle();
        receiver.cycle();
        assertEquals(List.of("0", "1"), receiver.poll());
        world.run(20 * MS);
        assertEquals(0, source.count(SenderCount.FRAME_REQUESTS));
        assertEquals(1, world.sentControls(ControlLayout.TYPE_FRAME));
    }

    @Test
    void shouldSendAnOpenBundleWhenNothingElseIsToBeSent() {
        final ReceiverFixture receiver = world.member();
        source.publishSmall(50, 0);
        source.publishSmall(60, 0);
        assertEquals(1, source.cycle());
        assertFalse(source.window.hasBundle());
        world.settle();
        assertEquals(List.of("0", "1"), receiver.poll());
    }

    @Test
    void shouldLetABundleFillWhileOtherDatagramsWait() {
        world.member();
        source.data.acceptsAtOnce = 0;
        source.publish(1);
        source.publishSmall(50, 0);
        source.cycle();
        source.publishSmall(50, 0);
        source.cycle();
        assertTrue(source.window.hasBundle());
        source.data.acceptsAtOnce = 1;
        source.cycle();
        source.cycle();
        assertFalse(source.window.hasBundle());
        assertEquals(2, source.machine.nextSequence());
    }

    @Test
    void shouldTakeTheOpenBundleWhenTheStreamEnds() {
        final ReceiverFixture receiver = world.member();
        source.data.acceptsAtOnce = 0;
        source.publish(1);
        source.publishSmall(50, 0);
        source.cycle();
        source.session.end();
        source.cycle();
        assertFalse(source.window.hasBundle());
        source.data.acceptsAtOnce = 2;
        world.run(20 * MS);
        assertEquals(List.of("0", "1"), receiver.poll());
        assertEquals(State.ENDED, receiver.machine.state());
    }

    @Test
    void shouldBeDrainedWhenEveryMemberHasEverything() {
        final ReceiverFixture receiver = world.member();
        world.publish(2);
        world.run(20 * MS);
        assertFalse(source.session.isDrained(), "it has not ended");
        assertFalse(source.session.isSettled());
        receiver.mute = true;
        source.session.end();
        source.cycle();
        world.run(5 * MS);
        assertFalse(source.session.isDrained());
        receiver.mute = false;
        world.run(50 * MS);
        assertTrue(source.session.isDrained());
        assertTrue(source.session.isSettled());
    }

    @Test
    void shouldBeSettledThoughNotDrainedWhenItEndsWithinAFrame() {
        final ReceiverFixture receiver = world.member();
        source.begin(3 * SLOT, 0, new byte[0]);
        source.commit(3 * SLOT, 2);
        world.settle();
        source.session.end();
        world.run(50 * MS);
        assertFalse(source.session.isDrained());
        assertTrue(source.session.isSettled());
        source.session.leave();
        world.run(50 * MS);
        assertEquals(State.LOST, receiver.machine.state());
        assertEquals(List.of("0+1 UNREPAIRABLE"), receiver.poll());
    }

    @Test
    void shouldCountTimersAsWork() {
        world.member();
        world.run(MS);
        world.nowNs = source.session.nextDeadlineNs();
        assertEquals(1, source.cycle(), "a heartbeat, or a member");
    }

    @Test
    void shouldTellHowLongItsProcessStoodStill() {
        world.member();
        world.run(5 * MS);
        assertEquals(0, source.session.standstillNs());
        world.nowNs += 600 * MS;
        source.cycle();
        assertEquals(600 * MS, source.session.standstillNs());
        source.cycle();
        assertEquals(0, source.session.standstillNs());
    }

    @Test
    void shouldGiveItsStream() {
        assertEquals(world.stream, source.session.stream());
    }
}
