package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// How often a device is called, on the stand-in: once for all that is posted together, and once for each 64
/// completions.
final class LaneBatchTest {
    private static final int SLOTS = 256;
    private static final int POLLED = 64;
    private static final LaneRings RINGS = new LaneRings(SLOTS, 24, 64);

    private final Fabric fabric = Fabric.standIn();

    private long calls(final String name, final Runnable what) {
        final long before = fabric.count(name + "_calls");
        what.run();
        return fabric.count(name + "_calls") - before;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 8, 63, 64, 65, 200, SLOTS})
    void shouldCallOnceForABatch(final int batch) {
        try (Arena arena = Arena.ofShared();
                Transport transport = LaneRings.openTransport();
                Lane source = RINGS.source(transport, arena);
                Lane receiver = RINGS.receiver(transport, arena, source)) {
            final Completions completions = new Completions(SLOTS);
            int first = 0;
            for (int round = 0; round < 5; round++) {
                final int at = first;
                // Beyond the ring's end too.
                assertEquals(1, calls("receive", () -> receiver.post(at, batch)));
                assertEquals(1, calls("send", () -> source.multicast(at, batch)));
                completions.clear();
                assertEquals(
                        Math.min(batch / POLLED + 1, SLOTS / POLLED), calls("poll", () -> receiver.poll(completions)));
                assertEquals(batch, completions.count());
                source.completed();
                first = (first + batch) % SLOTS;
            }
        }
    }

    @Test
    void shouldCallOnceForABatchToOnePeer() {
        try (Arena arena = Arena.ofShared();
                Transport transport = LaneRings.openTransport();
                Lane source = RINGS.control(transport, arena);
                Lane other = RINGS.control(transport, arena)) {
            other.post(0, SLOTS);
            final int peer = source.connect(other.address());
            Wait.until("an address handle", () -> source.unicast(peer, 0, 1) == 1);
            assertEquals(1, calls("send", () -> assertEquals(100, source.unicast(peer, 1, 100))));
        }
    }
}
