package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.error.TransportException;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import io.framecast.rdma.verbs.Gid;
import io.framecast.rdma.verbs.NeedsGcc;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Queue pairs that fail and peers that cannot be reached, on the stand-in.
@NeedsGcc
final class LaneFailureTest {
    private static final int SLOTS = 8;
    private static final int PORT_DOWN = 1;
    private static final int PORT_ACTIVE = 4;
    private static final int EIO = 5;
    private static final LaneRings RINGS = new LaneRings(SLOTS, 24, 64);

    private final Completions completions = new Completions(SLOTS);
    private Fabric fabric;
    private Arena arena;
    private Transport transport;
    private Lane source;
    private Lane receiver;

    @BeforeEach
    void open() {
        fabric = Fabric.standIn();
        arena = Arena.ofShared();
        transport = LaneRings.openTransport();
        source = RINGS.source(transport, arena);
        receiver = RINGS.receiver(transport, arena, source);
        receiver.post(0, SLOTS);
    }

    @AfterEach
    void close() {
        fabric.set("port_state", PORT_ACTIVE);
        transport.close();
        arena.close();
        fabric.set("ah_hangs", 0);
        Wait.until("all to close", () -> fabric.library().liveHandles() == 0);
    }

    private static int queuePair(final Lane lane) {
        return RdmaAddress.decode(lane.address()).queuePair();
    }

    // A queue pair that fails with its port active comes back once in a while, not again and again.
    private static TransportException breakUntilItEnds(final Fabric fabric, final Lane lane, final Runnable use) {
        final int number = queuePair(lane);
        return Wait.untilEnded(() -> {
            fabric.set("break_qp", number);
            use.run();
        });
    }

    private int poll() {
        completions.clear();
        return receiver.poll(completions);
    }

    @Test
    void shouldEndAloneAndSayWhyWhenAReceivingQueuePairFailsAgain() {
        final Lane other = RINGS.receiver(transport, arena, source);
        other.post(0, SLOTS);
        final int number = queuePair(receiver);
        receiver.armReady();
        fabric.set("break_qp", number);
        assertTrue(ReadyCall.isReadable(receiver.readyDescriptor()));
        final TransportException e = breakUntilItEnds(fabric, receiver, () -> receiver.poll(completions));
        assertEquals(
                "verbs: lane DATA of UD queue pair " + number + " on standin0 ended: a receive failed: given back: the"
                        + " queue pair had failed before, or was closed; the queue pair is ERROR, device standin0"
                        + " port 1 ACTIVE",
                e.getMessage());
        assertEquals(
                e.getMessage(),
                assertThrows(TransportException.class, () -> receiver.post(0, 1))
                        .getMessage());
        receiver.close();
        source.multicast(0, 3);
        completions.clear();
        assertEquals(3, other.poll(completions));
        assertEquals(3, source.completed());
    }

    @Test
    void shouldEndWhenASendingQueuePairFailsAgain() {
        final TransportException e = breakUntilItEnds(fabric, source, () -> {
            source.multicast(0, 1);
            source.completed();
        });
        assertTrue(e.getMessage().startsWith("verbs: lane DATA of UD queue pair "), e.getMessage());
        assertThrows(TransportException.class, () -> source.multicast(0, 1));
        try (Lane next = RINGS.source(transport, arena)) {
            assertEquals(2, next.multicast(0, 2));
            assertEquals(2, next.completed());
        }
    }

    @Test
    void shouldReceiveAgainWhenTheCableIsBack() {
        source.multicast(0, 3);
        fabric.set("port_state", PORT_DOWN);
        fabric.set("break_qp", queuePair(receiver));
        assertEquals(3, poll());
        for (int i = 0; i < 100; i++) {
            assertEquals(0, poll());
            assertEquals(0, receiver.post(0, 3));
        }
        fabric.set("port_state", PORT_ACTIVE);
        Wait.until("the queue pair to be back", () -> receiver.post(0, 3) == 3);
        assertEquals(1, receiver.counter(LaneCounter.SYSTEM_ERRORS));
        // Receives posted before the failure come first, then the receives posted since.
        assertEquals(SLOTS, source.multicast(0, SLOTS));
        assertEquals(SLOTS, poll());
        for (int i = 0; i < SLOTS; i++) {
            assertEquals((3 + i) % SLOTS, completions.slot(i));
        }
        assertEquals(SLOTS, receiver.post(3, SLOTS));
    }

    @Test
    void shouldSendAgainWhenTheCableIsBack() {
        fabric.set("port_state", PORT_DOWN);
        fabric.set("break_qp", queuePair(source));
        assertEquals(2, source.multicast(0, 2));
        assertEquals(2, source.completed(), "given back");
        for (int i = 0; i < 100; i++) {
            assertEquals(0, source.multicast(2, 1));
        }
        assertEquals(100, source.counter(LaneCounter.SEND_BACK_PRESSURED));
        fabric.set("port_state", PORT_ACTIVE);
        Wait.until("the queue pair to be back", () -> source.multicast(2, 1) == 1);
        assertEquals(3, source.completed());
        assertEquals(3, source.submitted());
        assertEquals(1, poll());
        assertEquals(1, source.counter(LaneCounter.SYSTEM_ERRORS));
    }

    @Test
    void shouldEndWhenTheDeviceDoesNotAnswerAnyMore() {
        fabric.set("break_qp", queuePair(receiver));
        fabric.fail("ibv_query_port", EIO);
        final TransportException e = assertThrows(TransportException.class, () -> receiver.poll(completions));
        assertTrue(e.getMessage().startsWith("verbs: lane DATA of UD queue pair "), e.getMessage());
        assertTrue(e.getMessage().contains("ibv_query_port"), e.getMessage());
    }

    @Test
    void shouldPushBackUntilAWayIsMadeAndGoOnMeanwhile() throws Exception {
        try (Lane control = RINGS.control(transport, arena);
                Lane peer = RINGS.control(transport, arena)) {
            peer.post(0, SLOTS);
            final RdmaAddress real = RdmaAddress.decode(peer.address());
            final Gid unused = Gid.ofAddress(InetAddress.getByName("10.77.0.99"));
            fabric.set("ah_hangs", 1);
            final int hostile =
                    control.connect(new RdmaAddress(unused, 0, real.queuePair(), real.queueKey()).toLaneAddress());
            assertEquals(0, control.unicast(hostile, 0, 2));
            assertEquals(2, control.counter(LaneCounter.SEND_BACK_PRESSURED));
            assertEquals(2, control.multicast(0, 2));
            assertEquals(2, peer.poll(completions));
            final int friend = control.connect(peer.address());
            fabric.set("ah_hangs", 0);
            Wait.until("unicast to be taken", () -> control.unicast(friend, 2, 1) == 1);
            completions.clear();
            assertEquals(1, peer.poll(completions));
            control.disconnect(hostile);
        }
    }

    @Test
    void shouldLoseWhatNoWayLeadsTo() throws Exception {
        try (Lane control = RINGS.control(transport, arena)) {
            fabric.set("ah_hangs", 1);
            final RdmaAddress own = RdmaAddress.decode(control.address());
            final Gid unused = Gid.ofAddress(InetAddress.getByName("10.77.0.99"));
            final int hostile =
                    control.connect(new RdmaAddress(unused, 0, own.queuePair(), own.queueKey()).toLaneAddress());
            fabric.set("ah_fails", 113);
            fabric.set("ah_hangs", 0);
            Wait.until("sends to be lost", () -> control.unicast(hostile, 0, 3) == 3);
            assertEquals(3, control.counter(LaneCounter.SYSTEM_ERRORS));
            assertEquals(3, control.completed());
            assertEquals(2, control.multicast(3, 2));
            assertEquals(5, control.completed());
            assertEquals(1, control.unicast(hostile, 5, 1));
            assertEquals(6, control.completed());
            // A neighbour may have been away: it is sought again.
            fabric.set("ah_fails", 0);
            Wait.until("an address handle after all", () -> {
                final long lost = control.counter(LaneCounter.SYSTEM_ERRORS);
                return control.unicast(hostile, 6, 1) == 1 && control.counter(LaneCounter.SYSTEM_ERRORS) == lost;
            });
            assertEquals(control.submitted(), control.completed());
        } finally {
            fabric.set("ah_fails", 0);
        }
    }

    @Test
    void shouldLeaveNothingOpenWhenAGroupCannotBeLeft() {
        final Fabric fabric = Fabric.standIn();
        try (Arena arena = Arena.ofShared();
                Transport transport = LaneRings.openTransport(fabric, "standin0");
                Lane other = new LaneRings(8, 32, 64).control(transport, arena)) {
            fabric.fail("ibv_detach_mcast", 5);
            new LaneRings(8, 32, 64).control(transport, arena).close();
            assertEquals(1, other.multicast(0, 1));
        }
        assertEquals(0, fabric.library().liveHandles());
    }

    @Test
    void shouldOutliveADatagramLongerThanItsOwnMtu() {
        final Fabric fabric = Fabric.standIn();
        final Channel small = Channel.parse("framecast:verbs?group=239.77.5.6:4000|channel=rings|mtu=1280");
        try (Arena arena = Arena.ofShared();
                Transport near = LaneRings.openTransport(fabric, "standin0");
                Transport far = VerbsTransport.open(fabric.library(), new TransportConfig(small, _ -> {}));
                Lane sender = new LaneRings(4, 32, 4_000).control(near, arena);
                Lane receiver = new LaneRings(4, 32, 1_000).control(far, arena)) {
            receiver.post(0, 4);
            assertEquals(1, sender.multicast(0, 1));
            final Completions completions = new Completions(4);
            assertEquals(0, receiver.poll(completions));
            assertEquals(1, receiver.counter(LaneCounter.TRUNCATED));
            assertEquals(0, receiver.poll(completions));
        }
    }
}
