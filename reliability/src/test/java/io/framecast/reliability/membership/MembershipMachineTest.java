package io.framecast.reliability.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.membership.MembershipMachine.Room;
import io.framecast.reliability.membership.MembershipMachine.Step;
import io.framecast.reliability.membership.MembershipMachine.Terms;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import org.junit.jupiter.api.Test;

/// Events with their times, and the decisions that are to follow.
class MembershipMachineTest {
    private static final long MS = 1_000_000;
    private static final long SECOND = 1_000 * MS;
    private static final long NEVER = Long.MAX_VALUE;
    private static final long SILENCE_NS = 5 * SECOND;

    private MembershipMachine machine = of(1, 10_000);

    private static MembershipMachine of(final int sources, final int rejoinMs) {
        return new MembershipMachine(new Terms(sources, rejoinMs, false));
    }

    /// The protocol of one session, as a test says.
    private static final class Session implements Progress {
        private State state = State.JOINING;
        private Reason reason = Reason.SILENT;
        private boolean started;
        private boolean delivered;
        private long nextFrameId;

        @Override
        public State state() {
            return state;
        }

        @Override
        public Reason lostReason() {
            return reason;
        }

        @Override
        public long silenceNs() {
            return SILENCE_NS;
        }

        @Override
        public boolean isStarted() {
            return started;
        }

        @Override
        public boolean isEnded() {
            return delivered;
        }

        @Override
        public long nextFrameId() {
            return nextFrameId;
        }

        private void receive() {
            state = State.RECEIVING;
            started = true;
        }

        private void finish(final State end, final long next) {
            state = end;
            nextFrameId = next;
            delivered = true;
        }
    }

    private SourceMembership join(final long session, final Session protocol, final long nowNs) {
        assertTrue(machine.isWanted(session, false, nowNs));
        assertEquals(Room.FREE, machine.room(nowNs));
        machine.onOpening();
        final SourceMembership made = SourceMembership.joining(session, protocol);
        machine.onOpened(made, nowNs);
        return made;
    }

    private SourceMembership receive(final long session, final Session protocol, final long nowNs) {
        final SourceMembership made = join(session, protocol, nowNs);
        protocol.receive();
        assertEquals(Step.JOINED, machine.step(made, nowNs));
        return made;
    }

    private void lose(final SourceMembership one, final Session protocol, final long nextFrameId, final long nowNs) {
        protocol.finish(State.LOST, nextFrameId);
        assertEquals(Step.LOST, machine.step(one, nowNs));
        assertEquals(Step.NONE, machine.step(one, nowNs));
    }

    @Test
    void shouldJoinTheFirstSourceThatItHearsAndListenToNoOther() {
        assertTrue(machine.isListening());
        final SourceMembership one = join(5, new Session(), 0);
        assertSame(one, machine.joining());
        assertEquals(Room.TAKEN, machine.room(MS));
        assertEquals(0, machine.receiving());
        final Session protocol = new Session();
        machine = of(1, 0);
        receive(6, protocol, 0);
        assertEquals(1, machine.receiving());
        assertNull(machine.joining());
        assertFalse(machine.isListening());
        assertFalse(machine.isWanted(7, false, MS));
    }

    @Test
    void shouldJoinNothingWhileASessionIsOpened() {
        machine.onOpening();
        assertTrue(machine.isOpening());
        assertFalse(machine.isWanted(5, false, 0));
        machine.onNotOpened(5, 0);
        assertFalse(machine.isOpening());
        assertTrue(machine.isWanted(6, false, 0));
    }

    @Test
    void shouldNotJoinAStreamThatEnds() {
        assertFalse(machine.isWanted(5, true, 0));
        assertTrue(machine.isWanted(5, false, 0));
    }

    @Test
    void shouldIgnoreASessionThatCouldNotBeOpenedForLongerEachTime() {
        long nowNs = 0;
        for (int times = 0; times < 3; times++) {
            machine.onOpening();
            machine.onNotOpened(5, nowNs);
            final long untilNs = nowNs + (SECOND << times);
            assertFalse(machine.isWanted(5, false, untilNs - 1));
            assertTrue(machine.isWanted(6, false, nowNs), "another session");
            assertTrue(machine.isWanted(5, false, untilNs));
            nowNs = untilNs;
        }
    }

    @Test
    void shouldBackOffWhenTheSourceDoesNotAnswer() {
        final Session protocol = new Session();
        final SourceMembership one = join(5, protocol, 0);
        assertEquals(Step.NONE, machine.step(one, SECOND));
        protocol.state = State.LOST;
        assertEquals(Step.DECLINED, machine.step(one, 2 * SECOND));
        assertEquals(Step.NONE, machine.step(one, 2 * SECOND));
        assertNull(machine.joining());
        machine.onFreed(one);
        assertFalse(machine.isWanted(5, false, 3 * SECOND - 1));
        assertTrue(machine.isWanted(5, false, 3 * SECOND));
        assertEquals(NEVER, machine.nextFrameId(5), "it was no member");
    }

    @Test
    void shouldBackOffWhenTheSourceRefuses() {
        final Session protocol = new Session();
        final SourceMembership one = join(5, protocol, 0);
        protocol.state = State.REFUSED;
        protocol.reason = Reason.FULL;
        assertEquals(Step.DECLINED, machine.step(one, MS));
        assertFalse(machine.isWanted(5, false, SECOND));
        assertFalse(machine.isOver());
    }

    @Test
    void shouldFailWhenTheRingThatTheUserChoseIsTooShortForTheOnlySource() {
        final Session protocol = new Session();
        protocol.state = State.REFUSED;
        protocol.reason = Reason.RING_TOO_SMALL;
        machine = new MembershipMachine(new Terms(1, 0, true));
        assertEquals(Step.UNFIT, machine.step(join(5, protocol, 0), 0));
        assertTrue(machine.isOver());
        assertFalse(machine.isListening());

        // Others may need less.
        machine = new MembershipMachine(new Terms(2, 0, true));
        assertEquals(Step.DECLINED, machine.step(join(5, protocol, 0), 0));
        machine = of(1, 0);
        assertEquals(Step.DECLINED, machine.step(join(5, protocol, 0), 0));
    }

    @Test
    void shouldFailWhenNoSessionCanBeOpenedAndGoOnBesideOtherSources() {
        machine.onOpening();
        assertTrue(machine.onOpenFailed(5, 0));
        machine = of(2, 0);
        machine.onOpening();
        assertTrue(machine.onOpenFailed(5, 0));
        receive(6, new Session(), 0);
        machine.onOpening();
        assertFalse(machine.onOpenFailed(7, 0));
        assertFalse(machine.isOpening());
        assertFalse(machine.isWanted(7, false, SECOND - 1));
    }

    @Test
    void shouldReportAHandshakeThatTakesLongAgainAndAgain() {
        final Session protocol = new Session();
        final SourceMembership one = join(5, protocol, 0);
        assertEquals(Step.NONE, machine.step(one, SECOND));
        assertEquals(Step.SLOW, machine.step(one, SECOND + 1));
        assertEquals(Step.NONE, machine.step(one, SECOND + 200 * MS));
        protocol.state = State.PROBING;
        assertEquals(Step.SLOW, machine.step(one, SECOND + 200 * MS + 1));
    }

    @Test
    void shouldMakeRoomWhenTheSourceThatIsJoinedFellSilent() {
        machine = of(2, 0);
        final SourceMembership one = join(5, new Session(), 0);
        one.onHeard(SECOND);
        assertEquals(Room.TAKEN, machine.room(2 * SECOND));
        assertEquals(Room.SILENT, machine.room(2 * SECOND + 1));
        machine.onFreed(one);
        assertFalse(machine.isWanted(5, false, 3 * SECOND));
        join(6, new Session(), 2 * SECOND + 2);
    }

    @Test
    void shouldEndWithTheOnlySource() {
        final Session protocol = new Session();
        final SourceMembership one = receive(5, protocol, 0);
        protocol.state = State.ENDED;
        assertEquals(Step.NONE, machine.step(one, MS), "frames are to be delivered");
        protocol.finish(State.ENDED, 9);
        assertEquals(Step.ENDED, machine.step(one, MS));
        assertTrue(machine.isOver());
        assertEquals(0, machine.receiving());
        assertFalse(machine.isWanted(6, false, MS));
        assertEquals(Step.NONE, machine.step(one, MS));
        assertEquals(NEVER, machine.nextDeadlineNs());
    }

    @Test
    void shouldGoOnListeningWhenOneOfSeveralSourcesEnds() {
        machine = of(2, 10_000);
        final Session protocol = new Session();
        final SourceMembership one = receive(5, protocol, 0);
        protocol.finish(State.ENDED, 9);
        assertEquals(Step.ENDED, machine.step(one, MS));
        assertFalse(machine.isOver());
        assertFalse(machine.isWanted(5, false, MS), "its datagrams are old ones");
        assertTrue(machine.isWanted(6, false, MS));
    }

    @Test
    void shouldAnswerASourceThatEndedUntilItIsSilent() {
        machine = of(2, 0);
        final Session protocol = new Session();
        final SourceMembership one = receive(5, protocol, 0);
        assertFalse(one.isForgotten(NEVER));
        protocol.finish(State.ENDED, 9);
        machine.step(one, MS);
        one.onHeard(SECOND);
        assertFalse(one.isForgotten(SECOND + SILENCE_NS));
        assertTrue(one.isForgotten(SECOND + SILENCE_NS + 1));
        assertTrue(one.isForgotten(NEVER));
    }

    /// An eviction, a loss and a return in time, as the class's comment explains them.
    @Test
    void shouldRejoinTheSameSessionAtOnceAndKnowWhatWasMissed() {
        final Session protocol = new Session();
        final SourceMembership one = receive(5, protocol, 0);
        protocol.state = State.LOST;
        assertEquals(Step.NONE, machine.step(one, SECOND), "whole frames are delivered first");
        lose(one, protocol, 17, SECOND);
        assertFalse(machine.isOver());
        assertEquals(11 * SECOND, machine.nextDeadlineNs());
        assertEquals(17, machine.nextFrameId(5));

        // The user still holds frames of the earlier membership.
        final Session again = new Session();
        final SourceMembership other = join(5, again, SECOND + MS);
        assertEquals(NEVER, machine.nextDeadlineNs(), "it may complete behind the deadline");
        again.receive();
        assertEquals(Step.REJOINED, machine.step(other, SECOND + 2 * MS));
        assertEquals(1, machine.rejoins());
        assertEquals(NEVER, machine.nextDeadlineNs());
        assertFalse(machine.onTick(12 * SECOND));
    }

    @Test
    void shouldTakeAnySessionForTheReturnOfTheOnlySource() {
        final Session protocol = new Session();
        lose(receive(5, protocol, 0), protocol, 17, 0);
        final Session other = new Session();
        final SourceMembership next = join(6, other, MS);
        other.receive();
        assertEquals(Step.REJOINED, machine.step(next, 2 * MS));
        assertEquals(NEVER, machine.nextFrameId(6));
    }

    @Test
    void shouldWaitInVainForTheOnlySource() {
        final Session protocol = new Session();
        lose(receive(5, protocol, 0), protocol, 17, SECOND);
        assertFalse(machine.onTick(11 * SECOND - 1));
        assertFalse(machine.isWanted(5, false, 11 * SECOND), "it is too late");
        assertTrue(machine.onTick(11 * SECOND));
        assertTrue(machine.isOver());
        assertFalse(machine.onTick(12 * SECOND), "once");
    }

    @Test
    void shouldNotGiveUpWhileASessionIsOpenedOrJoined() {
        final Session protocol = new Session();
        lose(receive(5, protocol, 0), protocol, 17, 0);
        machine.onOpening();
        assertFalse(machine.onTick(10 * SECOND));
        final Session late = new Session();
        final SourceMembership one = SourceMembership.joining(6, late);
        machine.onOpened(one, 10 * SECOND);
        assertFalse(machine.onTick(11 * SECOND));
        late.state = State.LOST;
        assertEquals(Step.DECLINED, machine.step(one, 12 * SECOND));
        assertTrue(machine.onTick(12 * SECOND));
    }

    @Test
    void shouldEndWithTheOnlySourceThatIsLostWhenNoReturnIsAwaited() {
        machine = of(1, 0);
        final Session protocol = new Session();
        final SourceMembership one = receive(5, protocol, 0);
        protocol.finish(State.LOST, 17);
        assertEquals(Step.LOST, machine.step(one, SECOND));
        assertTrue(machine.isOver());
    }

    @Test
    void shouldFollowAsManySourcesAsAskedForOneAfterAnother() {
        machine = of(2, 0);
        receive(5, new Session(), 0);
        final Session second = new Session();
        final SourceMembership joining = join(6, second, 0);
        assertEquals(Room.TAKEN, machine.room(0), "the third waits for the handshake");
        second.receive();
        machine.step(joining, 0);
        assertEquals(2, machine.receiving());
        assertFalse(machine.isWanted(7, false, 0));
    }

    @Test
    void shouldNotRejoinALostSourceAmongSeveralWhenNoReturnIsAwaited() {
        machine = of(2, 0);
        final Session protocol = new Session();
        lose(receive(5, protocol, 0), protocol, 17, 0);
        assertFalse(machine.isWanted(5, false, MS));
        assertTrue(machine.isWanted(6, false, MS));
    }

    @Test
    void shouldRejoinEachOfSeveralSourcesUntilItsTimeIsOver() {
        machine = of(2, 100);
        final Session protocol = new Session();
        final SourceMembership one = receive(5, protocol, 0);
        lose(one, protocol, 17, 0);
        assertEquals(NEVER, machine.nextDeadlineNs(), "other sources may come");
        assertTrue(machine.isWanted(5, false, 100 * MS - 1));
        assertFalse(machine.isWanted(5, false, 100 * MS));
        final Session again = new Session();
        final SourceMembership other = join(5, again, MS);
        again.receive();
        assertEquals(Step.REJOINED, machine.step(other, MS));
    }

    @Test
    void shouldHaveTwoPlacesForEachSource() {
        final Session first = new Session();
        final SourceMembership one = receive(5, first, 0);
        lose(one, first, 1, 0);
        final Session second = new Session();
        lose(receiveAgain(5, second), second, 2, 0);
        assertTrue(machine.isWanted(5, false, MS));
        assertEquals(Room.FULL, machine.room(MS), "the user has not taken everything");
        machine.onFreed(one);
        assertEquals(Room.FREE, machine.room(MS));
    }

    private SourceMembership receiveAgain(final long session, final Session protocol) {
        final SourceMembership made = join(session, protocol, 0);
        protocol.receive();
        assertEquals(Step.REJOINED, machine.step(made, 0));
        return made;
    }

    @Test
    void shouldCountNoTimeInWhichThisProcessStoodStill() {
        final Session protocol = new Session();
        lose(receive(5, protocol, 0), protocol, 17, 0);
        assertEquals(0, machine.onCycle(0));
        assertEquals(0, machine.onCycle(SECOND - 1));
        assertEquals(3 * SECOND, machine.onCycle(4 * SECOND - 1));
        assertEquals(13 * SECOND, machine.nextDeadlineNs());
        assertTrue(machine.isWanted(5, false, 13 * SECOND - 1));

        final SourceMembership joining = join(5, new Session(), 4 * SECOND);
        assertEquals(3 * SECOND, machine.onCycle(7 * SECOND - 1));
        assertEquals(Room.TAKEN, machine.room(7 * SECOND), "its source had no time to answer");
        assertEquals(Step.NONE, machine.step(joining, 7 * SECOND));
        assertEquals(MS, joining.waitedNs(7 * SECOND - 1 + MS));
    }

    @Test
    void shouldTakeTheSourceOfAMembershipThatGoesOnHereForLost() {
        final Session protocol = new Session();
        protocol.state = State.STARTING;
        machine.onOpening();
        final SourceMembership one = SourceMembership.resuming(5, protocol);
        machine.onOpened(one, 0);
        assertEquals(Step.NONE, machine.step(one, MS));
        protocol.finish(State.LOST, 17);
        assertEquals(Step.GONE, machine.step(one, MS));
        assertEquals(17, machine.nextFrameId(5));
        assertTrue(machine.isWanted(5, false, MS), "it was a member, so there is no back-off");
        machine = of(1, 0);
        final SourceMembership last = SourceMembership.resuming(5, protocol);
        machine.onOpened(last, 0);
        assertEquals(Step.GONE, machine.step(last, MS));
        assertTrue(machine.isOver());
    }

    @Test
    void shouldDecideNothingOnceItFailed() {
        final Session protocol = new Session();
        final SourceMembership one = join(5, protocol, 0);
        machine.onFailed();
        protocol.receive();
        assertEquals(Step.NONE, machine.step(one, 0));
        assertTrue(machine.isOver());
    }

    @Test
    void shouldRefuseTermsThatNoUserCanAskFor() {
        assertThrows(IllegalArgumentException.class, () -> new Terms(0, 0, false));
        assertThrows(IllegalArgumentException.class, () -> new Terms(1, -1, false));
    }
}
