package io.framecast.reliability.send;

import static io.framecast.reliability.send.CoRootsWorld.LATE_NS;
import static io.framecast.reliability.send.CoRootsWorld.MS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.send.CoRootsWorld.Instruction;
import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.RemotePlace;
import io.framecast.reliability.wire.RepairGroupLayout;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// The source's side of co-roots, without a network.
final class CoRootsTest {
    private static final CoRootOffer SERVES = new CoRootOffer(0, true);

    // The members that each co-root serves, by id, in the last instruction.
    private static Map<Integer, List<Long>> sets(final List<Instruction> instructed) {
        final Map<Integer, List<Long>> sets = new HashMap<>();
        for (final Instruction one : instructed) {
            if (one.coRoot() == 100 + one.member()) {
                sets.put(one.member(), one.serves());
            }
        }
        return sets;
    }

    private static int epochOf(final List<Instruction> instructed, final int member) {
        return instructed.stream()
                .filter(one -> one.member() == member)
                .findFirst()
                .orElseThrow()
                .epoch();
    }

    private static long reportsTo(final List<Instruction> instructed, final int member) {
        return instructed.stream()
                .filter(one -> one.member() == member)
                .findFirst()
                .orElseThrow()
                .coRoot();
    }

    // Member 0 serves 1, 2 and 3, and all have confirmed that.
    private static CoRootsWorld served() {
        final CoRootsWorld world = CoRootsWorld.of(4, 1);
        world.tick();
        world.confirmAll();
        assertEquals(List.of(), world.tick(1, 0, 1, 2, 3));
        return world;
    }

    @Test
    void shouldTellNobodyWhenThereAreToBeNone() {
        final CoRootsWorld world = CoRootsWorld.of(40, 0);
        assertEquals(List.of(), world.tick());
        assertEquals(List.of(), world.tick(1_000 * MS));
        assertFalse(world.coRoots.isOfASet(0));
    }

    @Test
    void shouldTellTheCoRootAndItsSetWhenMembersAreThere() {
        final CoRootsWorld world = CoRootsWorld.of(4, 1);
        final List<Instruction> instructed = world.tick();
        assertEquals(4, instructed.size());
        assertEquals(4, world.counts.get(SenderCount.INSTRUCTIONS));
        assertEquals(1, world.counts.get(SenderCount.CO_ROOTS));
        final int epoch = epochOf(instructed, 0);
        assertTrue(epoch > 0);
        assertEquals(
                new Instruction(0, epoch, 100, List.of(101L, 102L, 103L), List.of(epoch, epoch, epoch)),
                instructed.getFirst());
        for (int m = 1; m < 4; m++) {
            assertEquals(new Instruction(m, epoch, 100, List.of(), List.of()), instructed.get(m));
        }
        for (int m = 0; m < 4; m++) {
            assertTrue(world.coRoots.isOfASet(m));
        }
    }

    @Test
    void shouldRepeatLessAndLessOftenUntilItIsConfirmed() {
        final CoRootsWorld world = CoRootsWorld.of(4, 1);
        world.tick();
        world.confirm(1, epochOf(world.instructed, 1));
        world.confirm(2, epochOf(world.instructed, 2) - 1);
        assertEquals(List.of(), world.tick(20 * MS - 1, 0));
        assertEquals(3, world.tick(1, 0).size());
        assertEquals(0, world.tick(40 * MS - 1, 0).size());
        assertEquals(3, world.tick(1, 0).size());
        world.confirm(0, epochOf(world.instructed, 0));
        for (final int ms : new int[] {80, 160, 320, 320, 320}) {
            assertEquals(0, world.tick(ms * MS - 1, 0).size(), ms + " ms");
            assertEquals(2, world.tick(1, 0).size(), ms + " ms");
        }
        assertEquals(0, world.counts.get(SenderCount.FAILOVERS));
    }

    @Test
    void shouldCountAnAggregateForWhomItCovers() {
        final CoRootsWorld world = served();
        world.next = 500;
        final int epoch = 1;
        world.aggregate(0, epoch - 1, 300, 0);
        assertEquals(1, world.counts.get(SenderCount.AGGREGATES));
        assertEquals(0, world.members.of(1).acknowledged);
        world.aggregate(0, epoch, 300, 0);
        for (int m = 1; m < 4; m++) {
            assertEquals(300, world.members.of(m).acknowledged);
            assertEquals(300 + CoRootsWorld.ROOM, world.members.of(m).grant);
        }
        assertEquals(0, world.members.of(0).acknowledged, "its own word is taken elsewhere");
        world.aggregate(0, epoch, 200, 0);
        assertEquals(300, world.members.of(1).acknowledged);
        world.aggregate(0, epoch, 480, 0);
        assertEquals(480 + CoRootsWorld.ROOM, world.members.of(2).grant);
        assertFalse(world.members.isCompleteForAll());
        world.aggregateAll(0, epoch, 500);
        world.members.of(0).complete = true;
        assertTrue(world.members.isCompleteForAll());
    }

    @Test
    void shouldTakeNoAggregateOfOneWhoDoesNotServe() {
        final CoRootsWorld world = served();
        world.aggregate(1, 1, 300, 0);
        assertEquals(0, world.counts.get(SenderCount.AGGREGATES));
        assertEquals(0, world.members.of(2).acknowledged);
    }

    @Test
    void shouldServeANewcomerFromThePlanOnAndCoverItFromItsEpochOn() {
        final CoRootsWorld world = new CoRootsWorld(8, new CoRootConfig(1, CoRootConfig.Feed.MULTICAST));
        for (int m = 0; m < 4; m++) {
            world.join(Delivery.RELIABLE, SERVES);
        }
        world.tick();
        world.confirmAll();
        final int before = epochOf(world.instructed, 0);
        final int newcomer = world.join(Delivery.RELIABLE, SERVES);
        assertEquals(List.of(), world.tick(CoRoots.PLAN_INTERVAL_NS - 1, 0));
        final List<Instruction> instructed = world.tick(1, 0);
        assertEquals(2, instructed.size());
        final int epoch = epochOf(instructed, 0);
        assertTrue(epoch > before);
        assertEquals(
                List.of(before, before, before, epoch), instructed.getFirst().joined());
        assertEquals(100, reportsTo(instructed, newcomer));
        world.aggregate(0, before, 50, 0);
        assertEquals(50, world.members.of(1).acknowledged);
        assertEquals(0, world.members.of(newcomer).acknowledged);
    }

    @Test
    void shouldKeepItsEpochWhenAPlanChangesNothing() {
        final CoRootsWorld world = served();
        final int before = epochOf(List.of(new Instruction(0, 1, 0, List.of(), List.of())), 0);
        for (int i = 0; i < 5; i++) {
            assertEquals(List.of(), world.tick(CoRoots.PLAN_INTERVAL_NS, 0, 1, 2, 3));
        }
        world.leave(3);
        assertEquals(before + 1, epochOf(world.tick(1, 0), 0));
    }

    @Test
    void shouldListWithoutOneWhoIsGone() {
        final CoRootsWorld world = served();
        world.leave(2);
        final List<Instruction> instructed = world.tick(1, 0);
        assertEquals(1, instructed.size());
        assertEquals(
                new TreeSet<>(List.of(101L, 103L)),
                new TreeSet<>(instructed.getFirst().serves()));
        assertFalse(world.coRoots.isOfASet(2));
        world.next = 10;
        world.aggregate(0, instructed.getFirst().epoch(), 10, 0);
        assertEquals(0, world.members.of(2).acknowledged);
        assertEquals(10, world.members.of(3).acknowledged);
    }

    @Test
    void shouldHaveTheFurthestServeWhenTheCoRootIsGone() {
        final CoRootsWorld world = served();
        world.next = 20;
        world.acknowledge(1, 5);
        world.acknowledge(2, 9);
        world.acknowledge(3, 7);
        world.leave(0);
        final List<Instruction> instructed = world.tick(1, 1, 2, 3);
        assertEquals(1, world.counts.get(SenderCount.FAILOVERS));
        assertEquals(3, instructed.size());
        final int epoch = epochOf(instructed, 2);
        assertEquals(
                new TreeSet<>(List.of(101L, 103L)),
                new TreeSet<>(sets(instructed).get(2)));
        assertEquals(102, reportsTo(instructed, 1));
        assertEquals(102, reportsTo(instructed, 3));
        // All joined the group anew, so an earlier aggregate covers no member.
        world.aggregate(2, epoch - 1, 15, 0);
        assertEquals(5, world.members.of(1).acknowledged);
        world.aggregate(2, epoch, 15, 0);
        assertEquals(15, world.members.of(1).acknowledged);
    }

    @Test
    void shouldReplaceOneWhoIsSilentOnlyWhileItsWordIsAwaited() {
        final CoRootsWorld world = served();
        assertEquals(List.of(), world.tick(10 * LATE_NS, 1, 2, 3));
        world.next = 1;
        assertEquals(List.of(), world.tick(1, 1, 2, 3));
        assertEquals(List.of(), world.tick(LATE_NS - 1, 1, 2, 3));
        final List<Instruction> instructed = world.tick(1, 1, 2, 3);
        assertEquals(1, world.counts.get(SenderCount.FAILOVERS));
        assertEquals(101, reportsTo(instructed, 2));
        assertEquals(101, reportsTo(instructed, 1));
        assertEquals(0, reportsTo(instructed, 0), "it is not to serve any more");
    }

    @Test
    void shouldBePatientWhereRoundTripsAreLong() {
        final CoRootsWorld world = served();
        for (int i = 0; i < 200; i++) {
            world.members.of(3).rtt.onSample(100 * MS);
        }
        world.next = 1;
        world.tick(1, 0);
        assertEquals(0, world.tick(700 * MS).size());
        assertEquals(0, world.counts.get(SenderCount.FAILOVERS));
        world.tick(200 * MS);
        assertEquals(1, world.counts.get(SenderCount.FAILOVERS));
    }

    @Test
    void shouldNotChooseOneAgainThatWasReplacedWithinTheAliveTimeout() {
        final CoRootsWorld world = served();
        world.next = 5;
        for (int m = 0; m < 4; m++) {
            world.acknowledge(m, 4 - m);
        }
        assertEquals(101, reportsTo(world.tick(LATE_NS + 1, 1, 2, 3), 2));
        assertTrue(world.coRoots.isOfASet(0), "it is served now");
        world.confirmAll();
        // Though it is the furthest.
        world.leave(1);
        assertEquals(102, reportsTo(world.tick(1, 0, 2, 3), 3));
        world.confirmAll();
        world.nowNs += CoRootsWorld.ALIVE_MS * MS;
        world.tick(0, 0, 2, 3);
        world.leave(2);
        assertEquals(100, reportsTo(world.tick(1, 0, 3), 3));
    }

    @Test
    void shouldReplaceOneThatDoesNotConfirmItsList() {
        final CoRootsWorld world = CoRootsWorld.of(4, 1);
        final List<Instruction> first = world.tick();
        for (int m = 1; m < 4; m++) {
            world.confirm(m, epochOf(first, m));
        }
        for (int i = 0; i < 4; i++) {
            world.tick(LATE_NS / 2, 0, 1, 2, 3);
        }
        assertEquals(0, world.counts.get(SenderCount.FAILOVERS));
        final List<Instruction> instructed = world.tick(1, 0, 1, 2, 3);
        assertEquals(1, world.counts.get(SenderCount.FAILOVERS));
        assertEquals(101, reportsTo(instructed, 3));
    }

    @Test
    void shouldSendAllBackToTheSourceWhenNobodyElseCanServe() {
        final CoRootsWorld world = new CoRootsWorld(4, new CoRootConfig(1, CoRootConfig.Feed.MULTICAST));
        world.join(Delivery.RELIABLE, SERVES);
        for (int m = 1; m < 4; m++) {
            world.join(Delivery.RELIABLE, CoRootOffer.NONE);
        }
        world.tick();
        world.confirmAll();
        world.leave(0);
        final List<Instruction> instructed = world.tick(1, 1, 2, 3);
        assertEquals(3, instructed.size());
        for (int m = 1; m < 4; m++) {
            assertEquals(0, reportsTo(instructed, m));
            assertFalse(world.coRoots.isOfASet(m));
        }
        assertEquals(0, world.counts.get(SenderCount.CO_ROOTS));
    }

    @Test
    void shouldTakeOnlyStartedMembersThatGetEveryFrame() {
        final CoRootsWorld world = new CoRootsWorld(8, new CoRootConfig(1, CoRootConfig.Feed.MULTICAST));
        world.join(Delivery.LATEST, SERVES);
        world.join(Delivery.deadline(40), SERVES);
        world.join(Delivery.evict(40), SERVES);
        world.admit(Delivery.RELIABLE, SERVES);
        final int notStarted = world.admit(Delivery.RELIABLE, SERVES);
        world.members.activate(notStarted, 0, 0, 9);
        final int serving = world.join(Delivery.RELIABLE, SERVES);
        assertEquals(List.of(), world.tick());
        final int other = world.join(Delivery.RELIABLE, SERVES);
        final List<Instruction> instructed = world.tick(CoRoots.PLAN_INTERVAL_NS);
        assertEquals(Map.of(serving, List.of(100L + other)), sets(instructed));
        assertEquals(2, instructed.size());
    }

    @Test
    void shouldPutMembersOfOneSiteTogether() {
        final CoRootsWorld world = new CoRootsWorld(6, new CoRootConfig(2, CoRootConfig.Feed.MULTICAST));
        for (int m = 0; m < 6; m++) {
            world.join(Delivery.RELIABLE, new CoRootOffer(1 + m % 2, true));
        }
        final Map<Integer, List<Long>> sets = sets(world.tick());
        assertEquals(Map.of(0, List.of(102L, 104L), 1, List.of(103L, 105L)), sets);
    }

    @Test
    void shouldPutMembersTogetherAsTheyCameWhereTheyAreOfNoSite() {
        final CoRootsWorld world = new CoRootsWorld(6, new CoRootConfig(2, CoRootConfig.Feed.MULTICAST));
        for (int m = 0; m < 6; m++) {
            world.join(Delivery.RELIABLE, new CoRootOffer(0, true));
        }
        final Map<Integer, List<Long>> sets = sets(world.tick());
        assertEquals(new TreeSet<>(List.of(0, 1)), new TreeSet<>(sets.keySet()));
        assertEquals(2, sets.get(0).size());
        assertEquals(2, sets.get(1).size());
    }

    @Test
    void shouldLetASiteFillItsSetTwiceAsFarAsOthers() {
        final CoRootsWorld world = new CoRootsWorld(12, new CoRootConfig(3, CoRootConfig.Feed.MULTICAST));
        // Three groups of at most three: ten members at one site, and one at each of two others.
        for (int m = 0; m < 12; m++) {
            world.join(Delivery.RELIABLE, new CoRootOffer(m < 10 ? 1 : m, true));
        }
        final Map<Integer, List<Long>> sets = sets(world.tick());
        assertEquals(new TreeSet<>(List.of(0, 10, 11)), new TreeSet<>(sets.keySet()));
        assertEquals(6, sets.get(0).size());
        assertEquals(9, sets.values().stream().mapToInt(List::size).sum());
    }

    @Test
    void shouldTellALongListInParts() {
        final CoRootsWorld world = CoRootsWorld.of(33, 1);
        final List<Instruction> instructed = world.tick();
        final List<Instruction> parts =
                instructed.stream().filter(one -> one.member() == 0).toList();
        assertEquals(RepairGroupLayout.partsOf(32), parts.size());
        assertTrue(parts.size() > 2);
        final TreeSet<Long> served = new TreeSet<>();
        parts.forEach(part -> served.addAll(part.serves()));
        assertEquals(32, served.size());
        assertEquals(32 + parts.size(), world.counts.get(SenderCount.INSTRUCTIONS));
    }

    @Test
    void shouldNeverPutMoreIntoASetThanAListCanSay() {
        final CoRootsWorld world = CoRootsWorld.of(200, 1);
        final List<Instruction> instructed = world.tick();
        final int served = instructed.stream()
                .filter(one -> one.member() == 0)
                .mapToInt(one -> one.serves().size())
                .sum();
        assertEquals(RepairGroupLayout.MEMBERS_MAX, served);
    }

    @Test
    void shouldFollowTheModelWhenTheirNumberIsAutomatic() {
        final CoRootsWorld world = CoRootsWorld.of(64, CoRootConfig.AUTO);
        world.tick();
        assertEquals(8, world.counts.get(SenderCount.CO_ROOTS));
        world.confirmAll();
        // Half as many: still not more than twice the model's number.
        for (int m = 63; m >= 20; m--) {
            world.leave(m);
        }
        world.tick(CoRoots.PLAN_INTERVAL_NS);
        assertEquals(8, world.counts.get(SenderCount.CO_ROOTS));
        for (int m = 19; m >= 15; m--) {
            world.leave(m);
        }
        // Too few for any: one less with each plan.
        for (int i = 7; i >= 0; i--) {
            world.tick(CoRoots.PLAN_INTERVAL_NS, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
            assertEquals(i, world.counts.get(SenderCount.CO_ROOTS));
            world.confirmAll();
        }
        for (int m = 0; m < 15; m++) {
            assertFalse(world.coRoots.isOfASet(m));
        }
    }

    @Test
    void shouldHaveNoMoreThanHalfOfThemServe() {
        final CoRootsWorld world = CoRootsWorld.of(5, 10);
        final Map<Integer, List<Long>> sets = sets(world.tick());
        assertEquals(2, sets.size());
        world.confirmAll();
        world.leave(3);
        world.leave(4);
        world.tick(CoRoots.PLAN_INTERVAL_NS, 0, 1, 2);
        assertEquals(1, world.counts.get(SenderCount.CO_ROOTS));
    }

    @Test
    void shouldAskEverybodyWhenNothingMovesForLong() {
        final CoRootsWorld world = served();
        world.next = 10;
        world.tick(1, 0, 1, 2, 3);
        world.tick(LATE_NS - 1, 0, 1, 2, 3);
        assertFalse(world.coRoots.takeDirectRequest());
        world.tick(1, 0, 1, 2, 3);
        assertTrue(world.coRoots.takeDirectRequest());
        assertFalse(world.coRoots.takeDirectRequest(), "once");
        world.tick(LATE_NS - 1, 0, 1, 2, 3);
        assertFalse(world.coRoots.takeDirectRequest());
        world.tick(1, 0, 1, 2, 3);
        assertTrue(world.coRoots.takeDirectRequest(), "again while it lasts");
        for (int m = 0; m < 4; m++) {
            world.acknowledge(m, 4);
        }
        world.tick(LATE_NS, 0, 1, 2, 3);
        world.tick(LATE_NS - 1, 0, 1, 2, 3);
        assertFalse(world.coRoots.takeDirectRequest(), "it moved");
    }

    @Test
    void shouldPartTwoThatDoNotReachEachOther() {
        final CoRootsWorld world = served();
        world.next = 10;
        world.tick(1, 0, 1, 2, 3);
        // Member 2 reports to the source that it has everything; its co-root's aggregate still says otherwise.
        world.nowNs += 1;
        for (int m = 0; m < 4; m++) {
            world.acknowledge(m, m == 2 ? 10 : 4);
        }
        assertEquals(List.of(), world.tick());
        world.nowNs += LATE_NS;
        world.aggregate(0, 1, 4, 102);
        assertEquals(List.of(), world.tick(0, 1, 2, 3));
        world.nowNs += 1;
        world.aggregate(0, 1, 4, 102);
        final List<Instruction> instructed = world.tick(0, 1, 2, 3);
        assertEquals(2, instructed.size());
        assertEquals(0, reportsTo(instructed, 2));
        assertEquals(
                List.of(101L, 103L), sets(instructed).get(0).stream().sorted().toList());
        assertFalse(world.coRoots.isOfASet(2));
        world.confirmAll();
        world.tick(CoRoots.PLAN_INTERVAL_NS, 0, 1, 2, 3);
        assertFalse(world.coRoots.isOfASet(2), "it stays alone");
        assertEquals(0, world.counts.get(SenderCount.FAILOVERS));
        // The next member at this place starts anew.
        world.leave(2);
        assertEquals(2, world.join(Delivery.RELIABLE, SERVES));
        world.tick(CoRoots.PLAN_INTERVAL_NS, 0, 1, 2, 3);
        assertTrue(world.coRoots.isOfASet(2));
    }

    @Test
    void shouldNotPartWithOneWhoseWordTheCoRootHas() {
        final CoRootsWorld world = served();
        world.next = 10;
        world.tick(1, 0, 1, 2, 3);
        for (int m = 0; m < 4; m++) {
            world.acknowledge(m, 4);
        }
        for (int i = 0; i < 5; i++) {
            world.nowNs += LATE_NS;
            // As much as the member reported itself: the co-root is just behind.
            world.aggregate(0, 1, 4, 102);
            assertEquals(List.of(), world.tick(0, 1, 2, 3), "round " + i);
        }
        assertTrue(world.coRoots.isOfASet(2));
    }

    @Test
    void shouldTellAMemberThatJoinsAtAPlaceOfAnotherEverything() {
        final CoRootsWorld world = served();
        world.leave(1);
        assertEquals(1, world.join(Delivery.RELIABLE, SERVES));
        final List<Instruction> instructed = world.tick(CoRoots.PLAN_INTERVAL_NS, 0, 2, 3);
        assertEquals(100, reportsTo(instructed, 1));
        assertEquals(3, sets(instructed).get(0).size());
        // An ACK of its predecessor does not confirm for the new member.
        assertEquals(
                1,
                world.tick(20 * MS, 0).stream().filter(one -> one.member() == 1).count());
    }

    // Four members whose payloads land where they cannot read them, with connections.
    private static CoRootsWorld direct() {
        final CoRootsWorld world = CoRootsWorld.of(0, 1, 4);
        for (int m = 0; m < 4; m++) {
            final int member = world.join(Delivery.RELIABLE, new CoRootOffer(0, true, true));
            world.members.of(member).connection.stage = CreditWords.Stage.LIVE;
        }
        return world;
    }

    private static void announceReplica(final CoRootsWorld world, final int coRoot, final int epoch) {
        final RemotePlace place = new RemotePlace(64, 9);
        final MemorySegment datagram = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final ControlWriter ids = new ControlWriter(1).receiver(100 + coRoot).epoch(epoch);
        RcConnectLayout.writeFeed(ids.in(datagram), 1, EndpointOffer.ofCopy(place, place, place, place));
        assertEquals(Verdict.GOOD, world.coRoots.onCopy(coRoot, datagram, 0, world.next));
    }

    /// Its replica has to be made, registered and written first: until then no member waits for it.
    @Test
    void shouldGiveMembersToOneThatIsFedOnlyWhenItIsFed() {
        final CoRootsWorld world = direct();
        assertEquals(Map.of(0, List.of()), sets(world.tick()));
        for (int seconds = 0; seconds < 9; seconds++) {
            world.tick(1000 * MS, 0, 1, 2, 3);
            assertEquals(0, world.counts.get(SenderCount.FAILOVERS));
        }
        world.confirm(0, 1);
        announceReplica(world, 0, 1);
        assertEquals(Map.of(0, List.of(101L, 102L, 103L)), sets(world.tick(100 * MS, 0, 1, 2, 3)));
    }

    @Test
    void shouldReplaceOneThatIsNotFedInTime() {
        final CoRootsWorld world = direct();
        world.tick();
        world.confirm(0, 1);
        world.tick(CoRoots.FORM_WAIT_NS - 1, 0, 1, 2, 3);
        assertEquals(0, world.counts.get(SenderCount.FAILOVERS));
        world.tick(2, 0, 1, 2, 3);
        assertEquals(1, world.counts.get(SenderCount.FAILOVERS));
        assertEquals(Map.of(1, List.of()), sets(world.tick(100 * MS, 0, 1, 2, 3)));
    }
}
