package io.framecast.reliability.succession;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.succession.SuccessionMachine.Entry;
import io.framecast.reliability.succession.SuccessionMachine.Found;
import io.framecast.reliability.succession.SuccessionMachine.Look;
import io.framecast.reliability.succession.SuccessionMachine.Past;
import io.framecast.reliability.succession.SuccessionMachine.Resume;
import io.framecast.reliability.succession.SuccessionMachine.Term;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SuccessionMachineTest {
    private static final long MS = 1_000_000;
    private static final long BEAT_NS = 250 * MS;
    private static final long FIRST = 11;
    private static final long OTHER = 12;
    private static final SuccessionConfig CONFIG = new SuccessionConfig(1_000 * MS, 10_000 * MS);

    private final SuccessionMachine machine = new SuccessionMachine(CONFIG, 0);
    // Of the member in a table of events.
    private Past past = Past.NONE;
    private long heartbeat;

    // Follows a leader, by way of its place.
    private void follow(final long leader, final Past past, final long nowNs) {
        assertTrue(machine.isEntryDue(nowNs));
        assertEquals(Entry.FOLLOW, machine.choose(Found.LEADER, leader, past, nowNs));
        machine.onFollows(leader, false, nowNs);
    }

    // Looks as often as they are due, at the same heartbeat.
    private Look lookInVain(final int looks, final long heartbeat, final long fromNs) {
        Look look = Look.RUNS;
        for (int i = 1; i <= looks; i++) {
            assertTrue(machine.isLookDue(fromNs + i * BEAT_NS), "look " + i);
            look = machine.onLook(heartbeat, fromNs + i * BEAT_NS);
        }
        return look;
    }

    /// Events of a member, each a beat behind the one before, and the result of the last one. Looks are `beat`
    /// and `still` at a segment, `read`, `unread` and `replaced` before there is one. The member finds at the
    /// place: `join` and `back` the same leader, `vacant` and `still-there` none or the one that it left.
    @ParameterizedTest
    @CsvSource({
        "join, FOLLOW",
        "join shared beat, RUNS",
        "join shared beat still still still, RUNS",
        "join shared beat still still still still, STANDS_STILL",
        "join shared still still still beat still still still, RUNS",
        "join shared still still still still still-there, LEAD",
        "join read, PROBE",
        "join unread unread unread, RUNS",
        "join unread unread unread unread, STANDS_STILL",
        "join unread unread unread unread still-there, WAIT",
        "join unread unread unread read unread, RUNS",
        "join unread unread unread shared still, RUNS",
        "join replaced, REPLACED",
        "join replaced join shared still, RUNS",
        "join shared gone vacant, LEAD",
        "join gone vacant, WAIT",
        "vacant, WAIT",
        "vacant vacant, WAIT",
        "vacant vacant vacant, LEAD",
        "vacant join gone vacant, WAIT",
        "lead shared gone vacant, LEAD",
        "lead shared fenced vacant, WAIT",
        "lead shared fenced vacant vacant vacant, LEAD",
        "lead shared fenced back, FOLLOW",
        "lead shared fenced join shared gone vacant, LEAD",
        "join refused gone back, APART",
        "join gone join gone back, FOLLOW",
        "join gone join gone join gone back, APART",
        "join gone join shared gone join gone join gone back, FOLLOW",
    })
    void shouldAnswerEventsInOrder(final String events, final String last) {
        String result = "";
        final List<String> all = List.of(events.split(" ", -1));
        for (int i = 0; i < all.size(); i++) {
            result = answer(all.get(i), (i + 1) * BEAT_NS);
        }
        assertEquals(last, result);
    }

    private String answer(final String event, final long nowNs) {
        return switch (event) {
            case "join" -> {
                follow(FIRST, past, nowNs);
                yield Entry.FOLLOW.name();
            }
            case "back" -> machine.choose(Found.LEADER, FIRST, past, nowNs).name();
            case "vacant" -> machine.choose(Found.VACANT, 0, past, nowNs).name();
            case "still-there" ->
                machine.choose(Found.STILL, FIRST, past, nowNs).name();
            case "lead" -> {
                machine.onLeads(past);
                yield Entry.LEAD.name();
            }
            case "shared" -> {
                past = Past.OPEN;
                machine.onShared(heartbeat, nowNs);
                yield "";
            }
            case "refused" -> {
                machine.onRefused();
                yield "";
            }
            case "gone", "fenced" -> {
                machine.onGone(event.equals("fenced"), nowNs);
                yield "";
            }
            case "beat" -> machine.onLook(++heartbeat, nowNs).name();
            case "still" -> machine.onLook(heartbeat, nowNs).name();
            case "read", "unread" ->
                machine.onSilentLook(event.equals("unread"), false, nowNs).name();
            case "replaced" -> machine.onSilentLook(false, true, nowNs).name();
            default -> throw new IllegalArgumentException(event);
        };
    }

    /// By the finding at the place, and by the state that a member has of earlier leaders.
    @ParameterizedTest
    @CsvSource({
        "EMPTY, NONE, LEAD, false",
        "EMPTY, OVER, LEAD, false",
        "EMPTY, OPEN, LEAD, true",
        "VACANT, NONE, WAIT, false",
        "VACANT, OVER, LEAD, false",
        "VACANT, OPEN, LEAD, true",
        "STILL, NONE, WAIT, false",
        "STILL, OVER, LEAD, false",
        "STILL, OPEN, LEAD, true",
        "LEADER, NONE, FOLLOW, false",
        "LEADER, OVER, FOLLOW, false",
        "LEADER, OPEN, FOLLOW, false",
        "BEGINNER, NONE, FOLLOW, false",
        "BEGINNER, OVER, FOLLOW, false",
        "BEGINNER, OPEN, LEAD, true",
        "PUBLISHER, NONE, FOLLOW, false",
        "PUBLISHER, OPEN, FOLLOW, false",
    })
    void shouldChooseByItsFindings(final Found found, final Past past, final Entry entry, final boolean claims) {
        assertTrue(machine.isEntryDue(0));
        assertEquals(entry, machine.choose(found, FIRST, past, 0));
        if (entry == Entry.LEAD) {
            assertEquals(claims, machine.onLeads(past));
            assertFalse(machine.isEntering());
        }
    }

    @Test
    void shouldLetOthersComeFirstForAWhileWhenItIsANewcomer() {
        for (long nowNs = 0; nowNs < SuccessionMachine.NEWCOMER_NS; nowNs += SuccessionMachine.NEWCOMER_LOOK_NS) {
            assertTrue(machine.isEntryDue(nowNs));
            assertEquals(Entry.WAIT, machine.choose(Found.VACANT, 0, Past.NONE, nowNs));
            assertEquals(nowNs + SuccessionMachine.NEWCOMER_LOOK_NS, machine.nextDeadlineNs());
            assertFalse(machine.isEntryDue(nowNs + 1));
        }
        assertEquals(Entry.LEAD, machine.choose(Found.VACANT, 0, Past.NONE, SuccessionMachine.NEWCOMER_NS));
        assertFalse(machine.onLeads(Past.NONE), "it has nothing to claim");
    }

    @Test
    void shouldWaitAnewAsANewcomerWhenALeaderCameMeanwhile() {
        assertEquals(Entry.WAIT, machine.choose(Found.VACANT, 0, Past.NONE, 0));
        follow(FIRST, Past.NONE, 100 * MS);
        machine.onGone(false, 1_000 * MS);
        assertEquals(Entry.WAIT, machine.choose(Found.VACANT, 0, Past.NONE, 1_000 * MS));
    }

    @Test
    void shouldLeaveItsLeaderAtOnceWhenThatIsGone() {
        follow(FIRST, Past.NONE, 0);
        machine.onShared(1, 0);
        machine.onGone(false, 5 * MS);
        assertTrue(machine.isEntering());
        assertTrue(machine.isEntryDue(5 * MS));
        assertEquals(Entry.LEAD, machine.choose(Found.VACANT, 0, Past.OPEN, 5 * MS));
        assertTrue(machine.onLeads(Past.OPEN), "it claims the membership");
    }

    @Test
    void shouldTakeALeaderForOneThatStandsStillAfterFourLooks() {
        follow(FIRST, Past.NONE, 0);
        machine.onShared(7, 0);
        assertFalse(machine.isLookDue(BEAT_NS - 1));
        assertEquals(Look.RUNS, lookInVain(3, 7, 0));
        assertFalse(machine.isEntering());
        assertEquals(Look.STANDS_STILL, lookInVain(1, 7, 3 * BEAT_NS));
        assertTrue(machine.isEntryDue(4 * BEAT_NS));
        assertEquals(Entry.LEAD, machine.choose(Found.STILL, FIRST, Past.OPEN, 4 * BEAT_NS));
        assertTrue(machine.onLeads(Past.OPEN));
    }

    @Test
    void shouldCountAnewWhenTheHeartbeatGoesOn() {
        follow(FIRST, Past.NONE, 0);
        machine.onShared(7, 0);
        assertEquals(Look.RUNS, lookInVain(3, 7, 0));
        assertEquals(Look.RUNS, lookInVain(4, 8, 3 * BEAT_NS), "the first of these shows life");
        assertEquals(Look.STANDS_STILL, lookInVain(1, 8, 7 * BEAT_NS));
    }

    /// However long that was: it counts looks.
    @Test
    void shouldTakeOneLookWhenItStoodStillItself() {
        follow(FIRST, Past.NONE, 0);
        machine.onShared(7, 0);
        final long wakesNs = 60_000 * MS;
        assertEquals(Look.RUNS, machine.onLook(7, wakesNs));
        assertFalse(machine.isLookDue(wakesNs + BEAT_NS - 1));
        assertFalse(machine.isEntering());
    }

    @Test
    void shouldProbeALeaderThatHasSharedNothing() {
        follow(FIRST, Past.NONE, 0);
        assertFalse(machine.isShared());
        assertEquals(Look.PROBE, machine.onSilentLook(false, false, BEAT_NS));
        for (int i = 2; i <= 4; i++) {
            assertEquals(Look.RUNS, machine.onSilentLook(true, false, i * BEAT_NS));
        }
        assertEquals(Look.STANDS_STILL, machine.onSilentLook(true, false, 5 * BEAT_NS));
        assertEquals(Entry.WAIT, machine.choose(Found.STILL, FIRST, Past.NONE, 5 * BEAT_NS));
    }

    @Test
    void shouldLeaveALeaderThatHasSharedNothingAndIsReplaced() {
        follow(FIRST, Past.NONE, 0);
        assertEquals(Look.REPLACED, machine.onSilentLook(false, true, BEAT_NS));
        follow(OTHER, Past.NONE, BEAT_NS);
    }

    @Test
    void shouldNotJudgeAPublisher() {
        assertEquals(Entry.FOLLOW, machine.choose(Found.PUBLISHER, FIRST, Past.NONE, 0));
        machine.onFollows(FIRST, true, 0);
        assertFalse(machine.isLookDue(100 * BEAT_NS));
        machine.onShared(1, 0);
        assertFalse(machine.isLookDue(100 * BEAT_NS));
        assertEquals(Long.MAX_VALUE, machine.nextDeadlineNs());
        assertEquals(BEAT_NS, machine.waitNs(0));
    }

    @Test
    void shouldGiveUpWhenAPublisherDoesNotComeBack() {
        machine.choose(Found.PUBLISHER, FIRST, Past.NONE, 0);
        machine.onFollows(FIRST, true, 0);
        machine.onShared(1, 0);
        machine.onGone(false, 1_000 * MS);
        assertEquals(Entry.LEAD, machine.choose(Found.EMPTY, 0, Past.OPEN, 1_000 * MS));
        machine.onLeads(Past.OPEN);
        assertFalse(machine.isGivenUp(11_000 * MS - 1));
        assertTrue(machine.isGivenUp(11_000 * MS));
        assertEquals(11_000 * MS, machine.nextDeadlineNs());
    }

    @Test
    void shouldGoOnWhenAPublisherComesBackInTime() {
        machine.choose(Found.PUBLISHER, FIRST, Past.NONE, 0);
        machine.onFollows(FIRST, true, 0);
        machine.onShared(1, 0);
        machine.onGone(false, 1_000 * MS);
        machine.choose(Found.PUBLISHER, OTHER, Past.OPEN, 1_000 * MS);
        machine.onFollows(OTHER, true, 1_000 * MS);
        machine.onShared(1, 2_000 * MS);
        assertFalse(machine.isGivenUp(100_000 * MS));
    }

    @Test
    void shouldPauseInFrontOfTheThirdEntryWithoutASegment() {
        follow(FIRST, Past.NONE, 0);
        machine.onGone(false, 0);
        follow(OTHER, Past.NONE, 0);
        machine.onGone(false, 0);
        follow(FIRST, Past.NONE, 0);
        machine.onGone(false, 0);
        assertFalse(machine.isEntryDue(SuccessionMachine.ENTRY_PAUSE_MAX_NS - 1));
        assertTrue(machine.isEntryDue(SuccessionMachine.ENTRY_PAUSE_MAX_NS));
        assertEquals(SuccessionMachine.ENTRY_PAUSE_MAX_NS, machine.waitNs(0));
    }

    @Test
    void shouldLeadApartWhenTheSameLeaderRefusesItThreeTimes() {
        for (int i = 0; i < 3; i++) {
            final long nowNs = i * BEAT_NS;
            follow(FIRST, Past.NONE, nowNs);
            machine.onGone(false, nowNs);
        }
        assertEquals(Entry.FOLLOW, machine.choose(Found.LEADER, OTHER, Past.NONE, 3 * BEAT_NS), "another leader");
        assertEquals(Entry.APART, machine.choose(Found.LEADER, FIRST, Past.NONE, 3 * BEAT_NS));
        assertFalse(machine.onLeads(Past.NONE));
    }

    @Test
    void shouldAskNoFurtherWhenThereIsNoPlace() {
        follow(FIRST, Past.NONE, 0);
        machine.onRefused();
        machine.onGone(false, 0);
        assertEquals(Entry.APART, machine.choose(Found.LEADER, FIRST, Past.NONE, 0));
    }

    @Test
    void shouldFollowWithNothingToGoOnWithWhenItWasFenced() {
        assertEquals(Entry.LEAD, machine.choose(Found.EMPTY, 0, Past.NONE, 0));
        machine.onLeads(Past.NONE);
        machine.onShared(1, 0);
        assertFalse(machine.isLookDue(10 * BEAT_NS), "a leader does not judge itself");
        machine.onGone(true, 5 * MS);
        assertTrue(machine.isFenced());
        // Its successor died meanwhile: the others come first.
        assertEquals(Entry.WAIT, machine.choose(Found.VACANT, 0, Past.OPEN, 5 * MS));
        assertEquals(Entry.FOLLOW, machine.choose(Found.BEGINNER, OTHER, Past.OPEN, 25 * MS));
        final long lastNs = 5 * MS + SuccessionMachine.NEWCOMER_NS;
        assertEquals(Entry.LEAD, machine.choose(Found.VACANT, 0, Past.OPEN, lastNs));
        assertFalse(machine.onLeads(Past.OPEN), "the membership is another's");
        assertTrue(machine.isFenced());
    }

    @Test
    void shouldForgetThatItWasFencedWhenItFollows() {
        machine.onLeads(Past.NONE);
        machine.onGone(true, 0);
        follow(OTHER, Past.OPEN, 0);
        assertFalse(machine.isFenced());
        machine.onShared(1, 0);
        machine.onGone(false, MS);
        assertEquals(Entry.LEAD, machine.choose(Found.VACANT, 0, Past.OPEN, MS));
        assertTrue(machine.onLeads(Past.OPEN));
    }

    @Test
    void shouldAskForNothingWhenItsStreamIsOver() {
        follow(FIRST, Past.NONE, 0);
        machine.onShared(1, 0);
        machine.end();
        machine.onGone(false, MS);
        assertTrue(machine.isOver());
        assertFalse(machine.isEntering());
        assertFalse(machine.isLookDue(100 * BEAT_NS));
        assertFalse(machine.isEntryDue(100 * BEAT_NS));
        assertEquals(Long.MAX_VALUE, machine.nextDeadlineNs());
    }

    /// A leader's thread that listens goes on where that which receives does not.
    @Test
    void shouldShowLifeOnlyWhereTheReceiverWorked() {
        final Term term = new Term();
        assertTrue(term.beats(0), "a leader without a receiver");
        assertTrue(term.beats(5));
        assertFalse(term.beats(5));
        assertFalse(term.beats(5));
        assertTrue(term.beats(6));
        assertFalse(term.mustBeat(1), "no process follows");
        assertTrue(term.mustBeat(2));
        term.adopt(List.of(1L), 0);
        assertTrue(term.mustBeat(1), "a survivor is to come");
    }

    @Test
    void shouldAwaitSurvivorsThatLive() {
        final Term term = new Term();
        final Set<Long> living = new HashSet<>(Set.of(1L, 2L, 3L));
        term.onSurvivor(9);
        assertFalse(term.awaits(living::contains, 0));
        term.adopt(List.of(1L, 2L, 3L), 0);
        assertTrue(term.awaits(living::contains, 0));
        term.onSurvivor(2);
        living.remove(1L);
        assertTrue(term.awaits(living::contains, 0));
        assertFalse(term.isAwaited(1), "it died");
        assertFalse(term.isAwaited(2), "it came");
        assertTrue(term.isAwaited(3));
        assertFalse(term.isHandoverComplete(2, true));
        assertTrue(term.awaits(living::contains, Term.SURVIVORS_NS));
        assertFalse(term.awaits(living::contains, Term.SURVIVORS_NS + 1), "it stands still");
        assertTrue(term.isHandoverComplete(2, true));
        assertFalse(term.isHandoverComplete(0, true), "no member has the segment");
        assertFalse(term.isHandoverComplete(2, false), "a member has come and lacks it");
    }

    @ParameterizedTest
    @CsvSource({"5, 5, KEPT, false", "5, 0, REMOVED, false", "5, 6, TAKEN, true"})
    void shouldBeFencedWhenAnotherLeaderIsAtItsPlace(
            final long own, final long present, final Term.Place place, final boolean fenced) {
        final Term term = new Term();
        assertEquals(place, term.look(own, present));
        assertEquals(fenced, term.isFenced());
        term.look(own, own);
        assertEquals(fenced, term.isFenced());
    }

    @ParameterizedTest
    @CsvSource({
        // A quarter of the alive timeout, and a second at most.
        "2000, false, 500, false",
        "2000, false, 501, true",
        "2000, true, 0, true",
        "20000, false, 1000, false",
        "20000, false, 1001, true",
    })
    void shouldSendResumeWhenSurvivorsHaveItsSegment(
            final long aliveMs, final boolean complete, final long waitedMs, final boolean sends) {
        assertEquals(sends, new Resume(aliveMs * MS).maySend(complete, waitedMs * MS));
    }

    @Test
    void shouldOpenWithKeysOrWhenTheSourceIsLost() {
        assertTrue(new Resume(2_000 * MS).mayOpen(true, 0));
        final Resume resume = new Resume(2_000 * MS);
        assertFalse(resume.mayOpen(false, 5 * MS));
        assertFalse(resume.mayOpen(false, 2_005 * MS - 1));
        assertTrue(resume.mayOpen(false, 2_005 * MS));
    }

    @Test
    void shouldEndTheMembershipOnlyWhereNoFollowerIsLeft() {
        assertTrue(SuccessionMachine.endsMembership(0));
        assertFalse(SuccessionMachine.endsMembership(1));
    }

    @Test
    void shouldRefuseTimesThatCannotBe() {
        assertThrows(IllegalArgumentException.class, () -> new SuccessionConfig(3, 0));
        assertThrows(IllegalArgumentException.class, () -> new SuccessionConfig(1_000, -1));
        assertEquals(250, new SuccessionConfig(1_000, 0).beatNs());
    }
}
