package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import io.framecast.rdma.verbs.Gid;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Sleeping, and neighbours that do not answer, on real devices.
@Tag("rdma")
final class RdmaLaneTest {
    private static final int SLOTS = 16;
    private static final LaneRings RINGS = new LaneRings(SLOTS, 24, 64);
    private static final int NAP_MS = 20_000;

    private final Completions completions = new Completions(SLOTS);
    private Arena arena;
    private Transport near;
    private Transport far;

    @BeforeEach
    void open() {
        final Fabric fabric = Fabric.real();
        arena = Arena.ofShared();
        near = LaneRings.openTransport(fabric, fabric.device(0));
        far = LaneRings.openTransport(fabric, fabric.device(1));
    }

    @AfterEach
    void close() {
        if (arena != null) {
            near.close();
            far.close();
            arena.close();
        }
    }

    private int poll(final Lane lane) {
        completions.clear();
        return lane.poll(completions);
    }

    @Test
    void shouldWakeForEachDatagramThatComesAfterTheLastLook() {
        final Lane source = RINGS.source(near, arena);
        final Lane receiver = RINGS.receiver(far, arena, source);
        receiver.post(0, SLOTS);
        for (int i = 0; i < 50; i++) {
            receiver.armReady();
            assertEquals(0, poll(receiver));
            assertFalse(ReadyCall.isReadable(receiver.readyDescriptor()));
            source.multicast(i % SLOTS, 1);
            assertTrue(ReadyCall.isReadable(receiver.readyDescriptor(), NAP_MS), "woken in round " + i);
            Wait.until("the datagram", () -> poll(receiver) == 1);
            receiver.post(completions.slot(0), 1);
        }
        Wait.until("completions", () -> source.completed() == 50);
    }

    @Test
    void shouldGoOnWhileANeighbourIsSoughtAndLoseWhatNoWayLeadsTo() {
        // Elsewhere somebody may have the address.
        Assumptions.assumeTrue("1".equals(System.getenv("FRAMECAST_LAB")), "not in the lab");
        final Lane control = RINGS.control(near, arena);
        final Lane peer = RINGS.control(far, arena);
        peer.post(0, SLOTS);
        final RdmaAddress real = RdmaAddress.decode(peer.address());
        final Gid unused = new Gid(real.gid().high(), real.gid().low() | 0xfe);
        final int hostile =
                control.connect(new RdmaAddress(unused, 0, real.queuePair(), real.queueKey()).toLaneAddress());
        assertEquals(0, control.unicast(hostile, 0, 1), "the neighbour is still sought");
        assertEquals(2, control.multicast(0, 2));
        Wait.until("what goes to the group", () -> {
            poll(peer);
            return peer.counter(LaneCounter.RECEIVED_DATAGRAMS) == 2;
        });
        final int friend = control.connect(peer.address());
        Wait.until("unicast to be taken", () -> control.unicast(friend, 2, 1) == 1);
        Wait.until("sends to be lost", () -> control.unicast(hostile, 3, 1) == 1);
        assertEquals(1, control.counter(LaneCounter.SYSTEM_ERRORS));
        Wait.until("completions", () -> control.completed() == 4);
    }

    /// The group's GID is its address as it is, and interfaces join it by MLD; unicast goes by the devices' own
    /// addresses of IPv6.
    @Test
    void shouldCarryAGroupOfIpv6AndUnicast() {
        final Fabric fabric = Fabric.real();
        Assumptions.assumeTrue(fabric.hasIpv6(), "a device here has no GID of IPv6 besides the link's own");
        try (Transport first = LaneRings.openTransport(fabric, fabric.device(0), "[ff15::77:6]");
                Transport second = LaneRings.openTransport(fabric, fabric.device(1), "[ff15::77:6]");
                Lane control = RINGS.control(first, arena);
                Lane peer = RINGS.control(second, arena)) {
            peer.post(0, SLOTS);
            assertFalse(RdmaAddress.decode(peer.address()).gid().isIpv4Mapped());
            assertEquals(3, control.multicast(0, 3));
            Wait.until("what goes to the group", () -> {
                poll(peer);
                return peer.counter(LaneCounter.RECEIVED_DATAGRAMS) == 3;
            });
            final int friend = control.connect(peer.address());
            Wait.until("unicast to be taken", () -> control.unicast(friend, 3, 2) == 2);
            Wait.until("unicast", () -> {
                poll(peer);
                return peer.counter(LaneCounter.RECEIVED_DATAGRAMS) == 5;
            });
            Wait.until("completions", () -> control.completed() == 5);
            assertEquals(0, peer.counter(LaneCounter.MALFORMED));
        }
    }
}
