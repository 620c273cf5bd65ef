package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// How many sends ask for a completion, on the stand-in: the last of each call, and every 32nd.
final class LaneSignalTest {
    private static final int SLOTS = 256;
    private static final int EVERY = 32;
    private static final LaneRings RINGS = new LaneRings(SLOTS, 24, 64);

    private final Fabric fabric = Fabric.standIn();
    private final Arena arena = Arena.ofShared();
    private Transport transport;
    private Lane lane;
    private long sentBefore;
    private long signalledBefore;

    @BeforeEach
    void open() {
        transport = LaneRings.openTransport();
        lane = RINGS.control(transport, arena);
        sentBefore = fabric.count("sent");
        signalledBefore = fabric.count("signalled");
    }

    @AfterEach
    void close() {
        transport.close();
        arena.close();
    }

    private long sent() {
        return fabric.count("sent") - sentBefore;
    }

    private long signalled() {
        return fabric.count("signalled") - signalledBefore;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 16, 31, 32, 33, 64, 200, SLOTS})
    void shouldAskOnceForEachCallAndForEvery32nd(final int batch) {
        long asked = 0;
        long posted = 0;
        while (posted < 4 * SLOTS) {
            assertEquals(batch, lane.multicast((int) (posted % SLOTS), batch));
            for (int i = 1; i <= batch; i++) {
                asked += i == batch || (posted + i) % EVERY == 0 ? 1 : 0;
            }
            posted += batch;
            // One completion stands for all sends before it.
            assertEquals(posted, lane.completed());
        }
        assertEquals(posted, sent());
        assertEquals(asked, signalled());
    }

    @Test
    void shouldAskAsSeldomForWhatGoesToOnePeer() {
        final Lane other = RINGS.control(transport, arena);
        other.post(0, SLOTS);
        final int peer = lane.connect(other.address());
        Wait.until("an address handle", () -> lane.unicast(peer, 0, 1) == 1);
        assertEquals(1, signalled());
        assertEquals(255, lane.unicast(peer, 1, 255));
        assertEquals(256, sent());
        assertEquals(1 + 256 / EVERY, signalled());
        assertEquals(256, lane.completed());
        final Completions completions = new Completions(SLOTS);
        assertEquals(SLOTS, other.poll(completions));
    }
}
