package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.repair.RetransmitScheduler;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.send.SenderOutput;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.RemotePlace;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// A source and its members: addresses, repairs, departures.
final class SendSessionMembersTest {
    private static final long MS = SessionWorld.MS;

    private final SessionWorld world = new SessionWorld();
    private final SourceFixture source = world.source;

    @Test
    void shouldForgetTheAddressesOfAMemberThatLeft() {
        final ReceiverFixture first = world.member();
        world.member();
        assertEquals(Set.of(0, 1), source.controlPeers);
        assertEquals(Set.of(0, 1), source.repair.peers);
        first.machine.leave();
        source.cycle();
        assertEquals(Set.of(1), source.controlPeers);
        assertEquals(Set.of(1), source.repair.peers);
        assertEquals(List.of(0), source.repair.disconnected);
    }

    @Test
    void shouldRefuseAReceiverWithoutAValidRepairAddress() {
        final ReceiverFixture receiver = world.receiver(ReceiverFixture.Terms.PLAIN.repairAt(TestSendLane.STRANGE));
        receiver.machine.start(world.nowNs);
        world.settle();
        assertEquals(State.JOINING, receiver.machine.state());
        assertEquals(Set.of(), source.controlPeers, "its control address is forgotten too");
        assertEquals(Set.of(), source.repair.peers);
    }

    @Test
    void shouldRefuseAReceiverWithoutAValidControlAddress() {
        assertFalse(source.session.connect(2, new byte[] {TestSendLane.STRANGE}, new byte[] {2}));
        assertEquals(Set.of(), source.controlPeers);
        assertEquals(Set.of(), source.repair.peers);
    }

    @Test
    void shouldDisconnectNobodyTwice() {
        assertTrue(source.session.connect(2, new byte[] {5}, new byte[] {6}));
        source.session.disconnect(2);
        source.session.disconnect(2);
        source.session.disconnect(3);
        assertEquals(Set.of(), source.controlPeers);
        assertEquals(List.of(6), source.repair.disconnected);
    }

    @Test
    void shouldSendNothingToAMemberWithoutAddresses() {
        world.member();
        world.publish(3);
        final int controls = world.controls.size();
        source.session.sendControl(3, 40);
        assertEquals(controls, world.controls.size());
        assertEquals(3, source.session.repair(3, 0, 3), "it is done with");
        assertEquals(List.of(), source.repair.sent);
    }

    @Test
    void shouldRepairForTheMemberThatAsked() {
        final ReceiverFixture first = world.member();
        final ReceiverFixture second = world.member();
        world.dataLost = (receiver, sequence) -> receiver == second.number && (sequence == 1 || sequence == 2);
        world.publish(4, 4);
        world.run(20 * MS);
        assertEquals(List.of("0", "1"), first.poll());
        assertEquals(List.of("0", "1"), second.poll());
        assertEquals(List.of(1L, 2L), source.repair.sent);
        assertEquals(List.of(second.number, second.number), source.repair.sentTo);
        assertEquals(2, source.count(SenderCount.REPAIRED_DATAGRAMS));
    }

    @Test
    void shouldRepairForAllWhenSeveralAsked() {
        final ReceiverFixture first = world.member();
        final ReceiverFixture second = world.member();
        world.dataLost = (_, sequence) -> sequence == 1;
        world.publish(4, 4);
        world.run(20 * MS);
        assertEquals(List.of("0", "1"), first.poll());
        assertEquals(List.of("0", "1"), second.poll());
        assertEquals(List.of(1L), source.repair.sent);
        assertEquals(List.of(TestSendLane.GROUP), source.repair.sentTo);
    }

    @Test
    void shouldRepairOnWhereItsLaneRefused() {
        final ReceiverFixture receiver = world.member();
        world.publish(4);
        source.repair.acceptsAtOnce = 1;
        assertEquals(1, source.session.repair(0, 0, 3));
        assertEquals(1, source.session.repair(RetransmitScheduler.EVERYBODY, 1, 2));
        assertEquals(List.of(0L, 1L), source.repair.sent);
        assertEquals(2, receiver.repair.inbox.size());
    }

    @Test
    void shouldRepairUpToTheWindowsEndAtATime() {
        final ReceiverFixture receiver = world.member();
        world.publish(8, 8, 8, 8, 8, 8, 8);
        receiver.poll();
        receiver.consumer.releaseAll();
        world.run(5 * MS);
        world.dataLost = (_, sequence) -> sequence >= 62 && sequence < 66;
        world.publish(8, 8);
        assertEquals(2, source.session.repair(0, 62, 4));
        world.run(20 * MS);
        assertEquals(List.of("7", "8"), receiver.poll());
    }

    @Test
    void shouldNotFreeWhatARepairStillReads() {
        final ReceiverFixture receiver = world.member();
        source.repair.holds = true;
        world.dataLost = (_, sequence) -> sequence == 1;
        world.publish(6);
        world.run(5 * MS);
        assertTrue(source.session.isHeldBack());
        receiver.repair.inbox.add(world.datagram(1));
        world.run(5 * MS);
        assertEquals(List.of("0"), receiver.poll());
        assertEquals(1, source.window.freed());
        source.repair.pass(10);
        world.settle();
        assertEquals(6, source.window.freed());
        assertFalse(source.session.isHeldBack());
    }

    @Test
    void shouldSayGoodbyeToAllWhenItLeaves() {
        final ReceiverFixture first = world.member();
        final ReceiverFixture second = world.member();
        source.session.leave();
        world.run(10 * MS);
        assertEquals(State.LOST, first.machine.state());
        assertEquals(State.LOST, second.machine.state());
    }

    @Test
    void shouldEvictAMemberThatLeavesNoRoomForTheNextClaim() {
        final ReceiverFixture slow = world.member(ReceiverFixture.Terms.of(Delivery.evict(100)));
        slow.mute = true;
        world.publish(4);
        source.session.onClaimBlocked(false);
        world.run(300 * MS);
        assertEquals(0, source.count(SenderCount.EVICTIONS), "the window has room");
        source.session.onClaimBlocked(true);
        world.run(200 * MS);
        assertEquals(1, source.count(SenderCount.EVICTIONS));
    }

    @Test
    void shouldOfferNothingToReadOrWriteWhereTheTransportCannot() {
        final RemotePlace nowhere = RemotePlace.NONE;
        final EndpointOffer offer = new EndpointOffer(new byte[] {1}, nowhere, nowhere, nowhere, nowhere);
        assertFalse(source.session.link(0, new byte[] {1}, false));
        assertNull(source.session.endpointOffer(0));
        assertFalse(source.session.isEndpointBroken(0));
        assertFalse(source.session.openFeed(0, offer, 1, 0));
        assertEquals(SenderOutput.NO_FEED, source.session.feed(0, 0, 1));
        source.session.unlink(0);
    }
}
