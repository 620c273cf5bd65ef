package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A port whose address goes, or comes back elsewhere in its table, on the stand-in. The kernel keeps an entry
/// while anything uses it, so an address that comes back meanwhile gets another.
final class LaneAddressTest {
    private static final int FIRST = 1;
    private static final int OTHER = 3;
    private static final int NOWHERE = 6;
    private static final long GONE_NS = 1_200_000_000;
    private static final int SLOTS = 8;
    private static final LaneRings RINGS = new LaneRings(SLOTS, 24, 64);

    private final Completions completions = new Completions(SLOTS);
    private final Fabric fabric = Fabric.standIn();
    private final Arena arena = Arena.ofShared();
    private Transport transport;
    private Lane source;
    private Lane receiver;

    @BeforeEach
    void open() {
        transport = LaneRings.openTransport();
        source = RINGS.source(transport, arena);
        receiver = RINGS.receiver(transport, arena, source);
        receiver.post(0, SLOTS);
    }

    @AfterEach
    void close() {
        fabric.set("ipv4_index", FIRST);
        fabric.set("looks_up_gids", 0);
        transport.close();
        arena.close();
        Wait.until("all to close", () -> fabric.library().liveHandles() == 0);
    }

    private int poll(final Lane lane) {
        completions.clear();
        return lane.poll(completions);
    }

    private void assertArrives(final Lane from, final Lane at) {
        final int peer = from.connect(at.address());
        Wait.until("an address handle", () -> from.unicast(peer, 0, 1) == 1);
        assertEquals(1, poll(at));
    }

    @Test
    void shouldMakeNewWaysFromWhereItsAddressStandsNow() {
        fabric.set("ipv4_index", OTHER);
        assertEquals(1, source.multicast(0, 1));
        assertEquals(1, poll(receiver), "by the handle that is there");
        final Lane later = RINGS.source(transport, arena);
        final Lane laterReceiver = RINGS.receiver(transport, arena, later);
        laterReceiver.post(0, SLOTS);
        assertEquals(1, later.multicast(0, 1));
        assertEquals(1, poll(laterReceiver));
        final Lane control = RINGS.control(transport, arena);
        control.post(0, SLOTS);
        assertArrives(source, control);
    }

    @Test
    void shouldSayWhichAddressIsGoneAndGoOnWithTheWaysThatAreThere() {
        final Lane control = RINGS.control(transport, arena);
        control.post(0, SLOTS);
        fabric.set("ipv4_index", NOWHERE);
        assertEquals(
                "verbs: device standin0 port 1 has lost its address 10.77.0.1, by which peers reach this end: give it"
                        + " back to its interface, or start this end anew",
                assertThrows(TransportException.class, () -> RINGS.source(transport, arena))
                        .getMessage());
        assertEquals(1, source.multicast(0, 1));
        assertEquals(1, poll(receiver));
        Wait.until("a send to be lost, or no handle to be taken", () -> isLost(control));
        fabric.set("ipv4_index", OTHER);
        assertArrives(source, control);
    }

    /// As long as it is gone.
    @Test
    void shouldWaitForItsAddressAndSendFromWhereThatStandsThen() {
        fabric.set("looks_up_gids", 1);
        final Lane control = RINGS.control(transport, arena);
        control.post(0, SLOTS);
        final Lane other = RINGS.control(transport, arena);
        final int peer = other.connect(control.address());
        Wait.until("an address handle", () -> other.unicast(peer, 0, 1) == 1);
        assertEquals(1, poll(control));
        fabric.set("ipv4_index", NOWHERE);
        assertEquals(1, source.multicast(0, 1));
        assertEquals(1, other.unicast(peer, 1, 1));
        final long endNs = System.nanoTime() + GONE_NS;
        while (System.nanoTime() < endNs) {
            source.completed();
            other.completed();
            assertEquals(0, source.multicast(1, 1));
            assertEquals(0, other.unicast(peer, 2, 1));
            Thread.onSpinWait();
        }
        fabric.set("ipv4_index", OTHER);
        Wait.until("the source's lane to be back", () -> source.multicast(1, 1) == 1);
        assertEquals(1, poll(receiver));
        Wait.until("the other to be back", () -> other.unicast(peer, 2, 1) == 1);
        assertEquals(1, poll(control));
        assertEquals(1, source.counter(LaneCounter.SYSTEM_ERRORS));
        assertEquals(1, other.counter(LaneCounter.SYSTEM_ERRORS));
    }

    /// A table that is late still shows what is gone; what is broken for good ends all the same.
    @Test
    void shouldTryAgainAWhileWhereTheTableIsLate() {
        final int number = RdmaAddress.decode(source.address()).queuePair();
        for (int i = 0; i < QueuePairRecovery.AGAIN_MAX; i++) {
            fabric.set("break_qp", number);
            source.multicast(0, 1);
            source.completed();
            Wait.until("the queue pair to be back", () -> source.multicast(1, 1) == 1);
        }
        assertEquals(QueuePairRecovery.AGAIN_MAX, source.counter(LaneCounter.SYSTEM_ERRORS));
        Wait.untilEnded(() -> {
            fabric.set("break_qp", number);
            source.multicast(2, 1);
            source.completed();
        });
    }

    // Making an address handle may take longer than a lane waits for it.
    private boolean isLost(final Lane at) {
        try {
            final int peer = source.connect(at.address());
            final boolean isLost = source.unicast(peer, 0, 1) == 1 && source.counter(LaneCounter.SYSTEM_ERRORS) > 0;
            source.disconnect(peer);
            return isLost;
        } catch (final TransportException _) {
            return true;
        }
    }
}
