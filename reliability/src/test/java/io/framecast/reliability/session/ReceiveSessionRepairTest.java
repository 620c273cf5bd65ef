package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.wire.Verdict;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// A receiver's repairs: when it asks for them, takes them, and keeps them for others.
final class ReceiveSessionRepairTest {
    private static final long MS = SessionWorld.MS;

    private final SessionWorld world = new SessionWorld();

    @Test
    void shouldLetRepairsThatOthersAskedForWaitWhileDataFlows() {
        final ReceiverFixture receiver = world.member();
        world.publish(1);
        final byte[] duplicate = world.datagram(0);
        receiver.repair.inbox.add(duplicate);
        receiver.cycle();
        assertEquals(1, receiver.verdicts(Verdict.DUPLICATE), "nothing better to do");
        receiver.repair.inbox.add(duplicate);
        for (int cycle = 0; cycle < 4; cycle++) {
            world.nowNs += 49_000;
            world.source.publish(1);
            world.source.cycle();
            receiver.cycle();
            assertEquals(1, receiver.verdicts(Verdict.DUPLICATE));
        }
        world.nowNs += 4_000;
        world.source.publish(1);
        world.source.cycle();
        receiver.cycle();
        assertEquals(2, receiver.verdicts(Verdict.DUPLICATE));
        receiver.repair.inbox.add(duplicate);
        world.source.publish(1);
        world.source.cycle();
        receiver.cycle();
        assertEquals(2, receiver.verdicts(Verdict.DUPLICATE), "the wait begins again");
    }

    @Test
    void shouldTakeRepairsAtOnceWhenADatagramIsMissing() {
        final ReceiverFixture receiver = world.member();
        world.dataLost = (_, sequence) -> sequence == 1;
        world.publish(3);
        receiver.repair.inbox.add(world.datagram(1));
        world.source.publish(1);
        world.source.cycle();
        receiver.cycle();
        assertEquals(List.of("0", "1"), receiver.poll());
        assertEquals(1, receiver.count(ReceiverCount.REPAIRED_DATAGRAMS));
    }

    @Test
    void shouldCountRepairsAsWork() {
        final ReceiverFixture receiver = world.member();
        world.dataLost = (_, sequence) -> sequence == 1;
        world.publish(3);
        receiver.repair.inbox.add(world.datagram(1));
        assertEquals(2, receiver.cycle(), "a repair and a frame");
    }

    @Test
    void shouldPreferTheOriginalToARepairThatCameBesideIt() {
        final ReceiverFixture receiver = world.member();
        world.source.publish(2);
        world.source.cycle();
        receiver.repair.inbox.add(world.datagram(1));
        receiver.cycle();
        assertEquals(List.of("0"), receiver.poll());
        assertEquals(0, receiver.count(ReceiverCount.REPAIRED_DATAGRAMS));
        assertEquals(0, receiver.session.assembly().reassembledBytes());
    }

    @Test
    void shouldNotAskForTheTailWhileDatagramsWaitInItsLane() {
        final ReceiverFixture receiver = world.member();
        world.publish(1);
        receiver.poll();
        world.run(2 * MS);
        final byte[] duplicate = world.datagram(0);
        world.dataLost = (_, _) -> true;
        world.source.publish(1);
        world.source.cycle();
        world.nowNs += MS;
        world.source.cycle();
        receiver.data.batchMax = 1;
        for (int i = 0; i < 40; i++) {
            receiver.data.inbox.add(duplicate);
        }
        receiver.data.inbox.add(world.datagram(1));
        receiver.cycle();
        world.nowNs += 20 * MS;
        receiver.cycle();
        assertEquals(0, receiver.count(ReceiverCount.NACKS));
        receiver.cycle();
        assertEquals(List.of("1"), receiver.poll());
    }

    @Test
    void shouldAskForTheTailWhenItsLaneIsEmpty() {
        final ReceiverFixture receiver = world.member();
        world.dataLost = (_, _) -> true;
        world.publish(1);
        world.run(20 * MS);
        assertEquals(1, receiver.count(ReceiverCount.NACKS));
        assertEquals(List.of("0"), receiver.poll());
    }

    @Test
    void shouldTakeRepairsOfALaterFrameWhenThereIsABufferForIt() {
        final ReceiverFixture receiver = world.member(ReceiverFixture.Terms.PLAIN.in(Kind.BY_ARRIVAL));
        world.dataLost = (_, sequence) -> sequence % 4 == 1;
        world.repairsLost = (_, sequence) -> sequence == 1;
        world.publish(4, 4);
        world.run(30 * MS);
        assertEquals(List.of(), receiver.poll());
        assertTrue(receiver.session.assembly().refusedRepairs() > 0, "the only buffer is the oldest frame's");
        assertEquals(0, receiver.count(ReceiverCount.REPAIRED_DATAGRAMS));
        world.repairsLost = (_, _) -> false;
        world.run(200 * MS);
        assertEquals(List.of("0"), receiver.poll());
        receiver.consumer.releaseAll();
        world.run(5 * MS);
        assertEquals(List.of("1"), receiver.poll(), "its repair was asked for when the buffer was free");
    }

    @Test
    void shouldKeepForItsGroupWhatItReceives() {
        final SessionWorld set =
                new SessionWorld(SessionWorld.Setup.PLAIN.coRoots(new CoRootConfig(1, CoRootConfig.Feed.MULTICAST)));
        final ReceiverFixture first = set.member(ReceiverFixture.Terms.PLAIN.serving());
        final ReceiverFixture second = set.member();
        set.run(500 * MS);
        final TestCoRoot coRoot = Objects.requireNonNull(first.coRoot);
        assertEquals(coRoot.store, first.machine.store());
        set.dataLost = (receiver, sequence) -> sequence == (receiver == first.number ? 2 : 5);
        set.source.publish(8 * SessionWorld.SLOT_BYTES - 100, 0);
        set.settle();
        set.run(30 * MS);
        assertEquals(List.of("0"), first.poll());
        assertEquals(List.of("0"), second.poll());
        for (int sequence = 0; sequence < 8; sequence++) {
            assertTrue(coRoot.store.holds(sequence), "datagram " + sequence);
            assertArrayEquals(set.datagram(sequence), coRoot.store.datagram(sequence), "datagram " + sequence);
        }
        assertEquals(1, set.source.count(SenderCount.REPAIRED_DATAGRAMS), "the second was repaired by the first");
        assertEquals(1, first.count(ReceiverCount.REPAIRS_SENT));
    }

    @Test
    void shouldRepairForItsGroupWhatArrivesAfterTheRequest() {
        final SessionWorld set =
                new SessionWorld(SessionWorld.Setup.PLAIN.coRoots(new CoRootConfig(1, CoRootConfig.Feed.MULTICAST)));
        final ReceiverFixture first = set.member(ReceiverFixture.Terms.PLAIN.serving());
        final ReceiverFixture second = set.member();
        set.run(500 * MS);
        set.dataLost = (receiver, sequence) -> receiver == second.number && sequence == 2;
        set.source.publish(8);
        set.source.cycle();
        second.cycle();
        assertEquals(1, second.count(ReceiverCount.NACKS));
        assertFalse(first.controlInbox.isEmpty(), "the request is there before the data is");
        first.cycle();
        first.cycle();
        second.cycle();
        assertEquals(List.of("0"), second.poll());
        assertEquals(1, first.count(ReceiverCount.REPAIRS_SENT));
    }
}
