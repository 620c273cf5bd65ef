package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Which of a port's GIDs is chosen where it has several, as cards do: each address as RoCE v1 and v2 have it, the
/// link's own and a global one of IPv6. On the stand-in.
final class PortChoiceTest {
    private static final LaneRings RINGS = new LaneRings(8, 24, 64);

    private final Fabric fabric = Fabric.standIn();

    @BeforeEach
    void haveTwins() {
        fabric.set("twins", 1);
    }

    @AfterEach
    void haveNone() {
        fabric.set("twins", 0);
    }

    private String chosen(final String group, final String wanted) {
        try (RdmaPort port = RdmaPort.open(fabric.library(), InetAddress.ofLiteral(group), wanted, 0)) {
            return port.gid().index() + " " + port.gid().type() + " "
                    + port.gid().gid().toAddress().getHostAddress();
        }
    }

    @Test
    void shouldTakeTheAddressOfRoceV2OfTheGroupsFamily() {
        assertEquals("3 ROCE_V2 10.77.0.1", chosen("239.77.5.6", ""));
        assertEquals("3 ROCE_V2 10.77.0.2", chosen("239.77.5.6", "standin1"));
        assertEquals("3 ROCE_V2 10.77.0.3", chosen("239.77.5.6", "10.77.0.3"));
    }

    @Test
    void shouldTakeTheLinksOwnAddressOnlyWhereItIsWantedOrTheOnlyOne() {
        assertEquals("4 ROCE_V2 fd77:0:0:0:0:0:0:1", chosen("ff15::77:6", ""));
        assertEquals("2 ROCE_V2 fe80:0:0:0:0:ff:fe00:2", chosen("ff15::77:6", "fe80::ff:fe00:2"));
        fabric.set("twins", 0);
        assertEquals("0 ROCE_V2 fe80:0:0:0:0:ff:fe00:1", chosen("ff15::77:6", ""));
    }

    @Test
    void shouldCarryDatagramsByIt() {
        for (final String group : new String[] {"239.77.5.6", "[ff15::77:6]"}) {
            try (Arena arena = Arena.ofShared();
                    Transport near = LaneRings.openTransport(fabric, "standin0", group);
                    Transport far = LaneRings.openTransport(fabric, "standin1", group);
                    Lane source = RINGS.control(near, arena);
                    Lane other = RINGS.control(far, arena)) {
                other.post(0, 8);
                assertEquals(1, source.multicast(0, 1));
                final int peer = source.connect(other.address());
                Wait.until("an address handle", () -> source.unicast(peer, 1, 1) == 1);
                final Completions completions = new Completions(8);
                assertEquals(2, other.poll(completions));
            }
        }
    }
}
