package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Lanes whose device's interface cannot become a member of the group, on the stand-in: attached all the same they
/// would receive nothing, and no error.
final class LaneGroupTest {
    private static final int NO_INTERFACE = 987_654;
    private static final LaneRings RINGS = new LaneRings(8, 24, 64);

    private final Fabric fabric = Fabric.standIn();

    @AfterEach
    void comeBack() {
        fabric.set("interface", 1);
    }

    @Test
    void shouldRefuseAGroupAsRoceV1HasIt() {
        final int handles = fabric.library().liveHandles();
        assertEquals(
                "verbs: group=: ff0e:0:0:0:0:ffff:ef01:203 is how RoCE v1 has the group 239.1.2.3, and over RoCE v2"
                        + " nothing would come by it; write 239.1.2.3",
                assertThrows(
                                ConfigException.class,
                                () -> LaneRings.openTransport(fabric, "standin0", "[ff0e::ffff:ef01:203]"))
                        .getMessage());
        Wait.until("all to close", () -> fabric.library().liveHandles() == handles);
    }

    @Test
    void shouldNotOpenALaneThatCouldNotJoin() {
        final int handles = fabric.library().liveHandles();
        try (Arena arena = Arena.ofShared()) {
            fabric.set("interface", NO_INTERFACE);
            try (Transport transport = LaneRings.openTransport();
                    // It only sends.
                    Lane source = RINGS.source(transport, arena)) {
                final int open = fabric.library().liveHandles();
                final long attached = fabric.count("attached");
                final String why = "verbs: no network interface " + NO_INTERFACE + " to join 239.77.5.6 on; is the"
                        + " device's interface up, with an address?";
                assertEquals(
                        why,
                        assertThrows(TransportException.class, () -> RINGS.receiver(transport, arena, source))
                                .getMessage());
                assertEquals(
                        why,
                        assertThrows(TransportException.class, () -> RINGS.control(transport, arena))
                                .getMessage());
                assertEquals(attached, fabric.count("attached"));
                assertEquals(open, fabric.library().liveHandles());
            }
        }
        assertEquals(handles, fabric.library().liveHandles());
    }
}
