package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.onesided.EndpointPort.State;
import io.framecast.reliability.onesided.ReadCount;
import io.framecast.reliability.onesided.ScriptedPort;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.wire.Delivery;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// Sessions that act on each other's memory: credit words, reads of the window, writes into a co-root's replica.
final class SessionMemoryTest {
    private static final long MS = SessionWorld.MS;

    private final SessionWorld world = new SessionWorld(SessionWorld.Setup.PLAIN.withOneSided());
    private final SourceFixture source = world.source;

    // Connects members, and lets their first words arrive.
    private static void link(final SessionWorld sessions) {
        for (int i = 0; i < 8; i++) {
            sessions.connect();
            sessions.run(25 * MS);
        }
    }

    private ReceiverFixture linked(final Delivery delivery) {
        final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.of(delivery));
        link(world);
        assertEquals(1, source.count(SenderCount.LINKS));
        return receiver;
    }

    private void pass(final int times) {
        for (int i = 0; i < times; i++) {
            world.connect();
            world.run(MS);
        }
    }

    @Test
    void shouldTakeCreditFromAMembersWord() {
        final ReceiverFixture receiver = linked(Delivery.RELIABLE);
        final long before = source.machine.grantedSequence();
        world.publish(8, 8, 8);
        receiver.poll();
        receiver.consumer.releaseAll();
        world.run(2 * MS);
        assertTrue(receiver.count(ReceiverCount.GRANTS_WRITTEN) > 0);
        world.connect();
        assertEquals(1, source.cycle(), "a word");
        assertTrue(source.machine.grantedSequence() > before);
        assertEquals(0, source.cycle());
    }

    @Test
    void shouldWatchItsMemoryWhileItWaitsForCredit() {
        linked(Delivery.RELIABLE);
        assertFalse(source.session.isHeldBack());
        for (int frame = 0; frame < 18; frame++) {
            source.publish(8);
            pass(3);
        }
        assertEquals(128, source.machine.nextSequence());
        assertTrue(source.session.isHeldBack());
    }

    @Test
    void shouldNotWatchItsMemoryWhenMembersDoNotWriteThere() {
        world.member();
        for (int frame = 0; frame < 18; frame++) {
            source.publish(8);
            world.run(3 * MS);
        }
        assertEquals(128, source.machine.nextSequence());
        assertFalse(source.session.isHeldBack());
    }

    @Test
    void shouldWatchAWriteUntilItHasEnded() {
        final ReceiverFixture receiver = linked(Delivery.RELIABLE);
        pass(3);
        assertFalse(receiver.session.isWaiting());
        world.publish(8, 8, 8);
        receiver.poll();
        receiver.consumer.releaseAll();
        world.settle();
        assertTrue(receiver.session.isWaiting());
        world.connect();
        assertEquals(1, receiver.cycle(), "a write has ended");
        assertEquals(0, receiver.cycle());
    }

    @Test
    void shouldReadWhatIsMissingOutOfTheWindow() {
        final ReceiverFixture receiver = linked(Delivery.RELIABLE);
        world.dataLost = (_, sequence) -> sequence == 1;
        world.publish(5);
        pass(6);
        assertEquals(List.of("0"), receiver.poll());
        assertEquals(0, source.count(SenderCount.NACKS));
        assertEquals(1, Objects.requireNonNull(receiver.windows).sourceReads().get(ReadCount.ARRIVED));
    }

    @Test
    void shouldReadGuardedSlotsWhereTheSourceDoesNotWait() {
        final ReceiverFixture receiver = linked(Delivery.LATEST);
        world.dataLost = (_, sequence) -> sequence == 1;
        world.publish(5);
        pass(6);
        assertEquals(List.of("0"), receiver.poll());
        assertEquals(0, source.count(SenderCount.NACKS));
        assertEquals(0, Objects.requireNonNull(receiver.windows).sourceReads().get(ReadCount.STALE));
    }

    @Test
    void shouldGoOnByDatagramWhenAMembersConnectionBreaks() {
        final ReceiverFixture receiver = linked(Delivery.RELIABLE);
        final ScriptedPort.Endpoint accepted = world.port.endpoints.getLast();
        accepted.state = State.BROKEN;
        world.run(50 * MS);
        assertEquals(0, source.count(SenderCount.LINKS));
        assertEquals(1, source.count(SenderCount.LINK_FAILURES));
        world.port.endpoints.getFirst().state = State.BROKEN;
        for (int frame = 0; frame < 20; frame++) {
            world.publish(8);
            world.run(5 * MS);
            receiver.poll();
            receiver.consumer.releaseAll();
            world.run(5 * MS);
        }
        assertEquals(160, source.machine.nextSequence());
    }

    @Test
    void shouldCutAMemberOffThatLeaves() {
        final ReceiverFixture receiver = linked(Delivery.RELIABLE);
        receiver.machine.leave();
        source.cycle();
        assertEquals(0, source.count(SenderCount.LINKS));
        assertEquals(State.BROKEN, world.port.endpoints.getLast().state, "it was closed");
    }

    @Test
    void shouldWriteTheWindowIntoACoRootsReplica() {
        final SessionWorld set = new SessionWorld(
                SessionWorld.Setup.PLAIN.withOneSided().coRoots(new CoRootConfig(1, CoRootConfig.Feed.UNICAST)));
        final ReceiverFixture first = set.member(ReceiverFixture.Terms.PLAIN.serving());
        final ReceiverFixture second = set.member();
        for (int i = 0; i < 4; i++) {
            link(set);
        }
        set.publish(4);
        assertEquals(4, set.source.count(SenderCount.WRITTEN_DATAGRAMS));
        assertTrue(set.source.session.isHeldBack(), "a write is in flight");
        assertEquals(List.of("0"), first.poll());
        assertEquals(List.of("0"), second.poll());
        set.run(2 * MS);
        assertEquals(0, set.source.window.freed());
        for (int i = 0; i < 10; i++) {
            set.connect();
            set.run(5 * MS);
        }
        assertFalse(set.source.session.isHeldBack());
        assertEquals(4, set.source.window.freed());
        for (int sequence = 0; sequence < 4; sequence++) {
            assertTrue(Objects.requireNonNull(first.coRoot).store.holds(sequence), "datagram " + sequence);
            assertArrayEquals(set.datagram(sequence), first.coRoot.store.datagram(sequence));
        }
    }
}
