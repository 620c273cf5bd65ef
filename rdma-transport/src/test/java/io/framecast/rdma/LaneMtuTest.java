package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Datagrams as long as the port's MTU, longer ones, and ports whose MTU shrinks, on the stand-in: it swallows what is
/// too long, as devices do.
final class LaneMtuTest {
    private static final int PORT_DOWN = 1;
    private static final int PORT_ACTIVE = 4;
    private static final int EVENT_PORT_ACTIVE = 9;
    private static final int SLOTS = 8;
    private static final int HEADER_BYTES = 24;
    private static final int MTU_MAX = 4096;
    private static final int MTU = 1024;

    private final Completions completions = new Completions(SLOTS);
    private final Fabric fabric = Fabric.standIn();
    private final Arena arena = Arena.ofShared();
    private Transport transport;
    private long swallowed;

    @BeforeEach
    void open() {
        transport = LaneRings.openTransport();
        swallowed = fabric.count("swallowed");
    }

    @AfterEach
    void close() {
        fabric.set("mtu", MTU_MAX);
        fabric.set("port_state", PORT_ACTIVE);
        transport.close();
        arena.close();
        assertEquals(swallowed, fabric.count("swallowed"));
        Wait.until("all to close", () -> fabric.library().liveHandles() == 0);
    }

    private int poll(final Lane lane) {
        completions.clear();
        return lane.poll(completions);
    }

    private void assertTooLong(final Lane lane, final int peer) {
        final String what =
                "send: slot 1 of 1025 bytes; expected at most 1024, by the port's MTU and the slot's length";
        assertEquals(
                what,
                assertThrows(IllegalArgumentException.class, () -> lane.multicast(0, 3))
                        .getMessage());
        assertEquals(
                what,
                assertThrows(IllegalArgumentException.class, () -> lane.unicast(peer, 1, 1))
                        .getMessage());
    }

    @Test
    void shouldRefuseADatagramOneByteLongerThanTheMtuAndGoOn() {
        transport.close();
        fabric.set("mtu", MTU);
        transport = LaneRings.openTransport();
        assertEquals(MTU, transport.capabilities().datagramBytesMax());
        final LaneRings rings = new LaneRings(SLOTS, HEADER_BYTES, MTU - HEADER_BYTES + 1);
        final SendRing sent = rings.send(arena);
        sent.payloadLengths()[0] = MTU - HEADER_BYTES;
        sent.payloadLengths()[2] = 1;
        final Lane lane = transport.open(
                new LaneConfig(LaneKind.CONTROL, LaneConfig.Role.SOURCE, sent, rings.receive(arena), null));
        final Lane other = rings.control(transport, arena);
        other.post(0, SLOTS);
        final int peer = lane.connect(other.address());
        Wait.until("an address handle", () -> lane.unicast(peer, 0, 1) == 1);
        assertEquals(1, poll(other));
        assertEquals(MTU, completions.bytes(0));
        assertTooLong(lane, peer);
        assertEquals(0, poll(other));
        assertEquals(1, lane.submitted());
        assertEquals(1, lane.multicast(0, 1));
        assertEquals(1, lane.multicast(2, 1));
        assertEquals(2, poll(other));
        assertEquals(MTU, completions.bytes(0));
        assertEquals(HEADER_BYTES + 1, completions.bytes(1));
        assertEquals(3, lane.completed());
    }

    private static int queuePair(final Lane lane) {
        return RdmaAddress.decode(lane.address()).queuePair();
    }

    // Its queue pair fails, and its port comes back with another MTU.
    private void comeBack(final Lane lane, final int mtu) {
        fabric.set("port_state", PORT_DOWN);
        fabric.set("break_qp", queuePair(lane));
        fabric.set("mtu", mtu);
    }

    private TransportException awaitEnd(final Runnable use) {
        fabric.set("port_state", PORT_ACTIVE);
        return Wait.untilEnded(use);
    }

    private static void assertTold(final TransportException e, final int datagramBytes) {
        assertTrue(
                e.getMessage()
                        .contains(" ended: device standin0 port 1 has an MTU of 1024 now, and this stream's"
                                + " datagrams of " + datagramBytes
                                + " bytes would be lost; put the MTU of its interface"
                                + " back, or start both ends anew"),
                e::getMessage);
    }

    @Test
    void shouldEndASendersLaneWhenItsPortComesBackWithASmallerMtu() {
        final Lane source = new LaneRings(SLOTS, HEADER_BYTES, 2000).source(transport, arena);
        comeBack(source, MTU);
        assertEquals(1, source.multicast(0, 1));
        assertEquals(1, source.completed(), "given back");
        assertEquals(0, source.multicast(1, 1));
        assertTold(awaitEnd(() -> source.multicast(1, 1)), 2024);
        assertThrows(TransportException.class, source::completed);
    }

    @Test
    void shouldEndAReceiversLaneWhenItsPortComesBackWithASmallerMtu() {
        final LaneRings rings = new LaneRings(SLOTS, HEADER_BYTES, 5000);
        final Lane source = rings.source(transport, arena);
        final Lane receiver = rings.receiver(transport, arena, source);
        receiver.post(0, SLOTS);
        comeBack(receiver, MTU);
        assertEquals(0, poll(receiver));
        assertEquals(0, receiver.post(0, 1));
        // No datagram was ever longer than the port's MTU, whatever slots hold.
        assertTold(awaitEnd(() -> poll(receiver)), MTU_MAX);
    }

    @Test
    void shouldGoOnWhenThePortComesBackWithAnMtuThatIsSmallerButWillDo() {
        final LaneRings rings = new LaneRings(SLOTS, HEADER_BYTES, MTU - HEADER_BYTES);
        final Lane source = rings.source(transport, arena);
        final Lane receiver = rings.receiver(transport, arena, source);
        receiver.post(0, SLOTS);
        comeBack(source, MTU);
        fabric.set("port_state", PORT_ACTIVE);
        source.multicast(0, 1);
        assertEquals(1, source.completed());
        Wait.until("the queue pair to be back", () -> source.multicast(1, 1) == 1);
        assertEquals(1, poll(receiver));
        assertEquals(MTU, completions.bytes(0));
    }

    /// No event reports the change.
    @Test
    void shouldEndALaneWhoseMtuShrinksWhileItsPortStaysUp() {
        final LaneRings rings = new LaneRings(SLOTS, HEADER_BYTES, 2000);
        final Lane source = rings.source(transport, arena);
        final Lane small = new LaneRings(SLOTS, HEADER_BYTES, 64).control(transport, arena);
        fabric.set("mtu", MTU);
        assertTold(Wait.untilEnded(source::completed), 2024);
        assertEquals(0, poll(small));
        assertEquals(1, small.multicast(0, 1));
    }

    /// Nothing reports the change to such a lane afterwards.
    @Test
    void shouldNotOpenALaneForLongerDatagramsThanThePortCarriesSince() {
        fabric.set("mtu", MTU);
        final int handles = fabric.library().liveHandles();
        final LaneRings rings = new LaneRings(SLOTS, HEADER_BYTES, 2000);
        final TransportException refused = assertThrows(TransportException.class, () -> rings.source(transport, arena));
        assertTrue(refused.getMessage().contains("port 1 has an MTU of 1024 now, and this stream's datagrams of 2024"));
        assertEquals(handles, fabric.library().liveHandles());
        assertEquals(
                1,
                new LaneRings(SLOTS, HEADER_BYTES, MTU - HEADER_BYTES)
                        .source(transport, arena)
                        .multicast(0, 1));
    }

    /// A queue pair that had nothing to send while the cable was out has not failed.
    @Test
    void shouldEndALaneThatDidNotFailWhenThePortSaysThatItIsBack() {
        final LaneRings rings = new LaneRings(SLOTS, HEADER_BYTES, 2000);
        final Lane source = rings.source(transport, arena);
        final Lane receiver = rings.receiver(transport, arena, source);
        fabric.deviceEvent(queuePair(receiver), EVENT_PORT_ACTIVE);
        receiver.armReady();
        fabric.set("mtu", MTU);
        fabric.deviceEvent(queuePair(receiver), EVENT_PORT_ACTIVE);
        assertTold(assertThrows(TransportException.class, receiver::armReady), 2024);
        assertTold(awaitEnd(source::completed), 2024);
        assertEquals(
                1,
                new LaneRings(SLOTS, HEADER_BYTES, 64).source(transport, arena).multicast(0, 1));
    }
}
