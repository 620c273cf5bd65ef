package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.framecast.api.error.NativeException;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import io.framecast.rdma.verbs.NeedsGcc;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Rings that are longer than a device's queues, on the stand-in.
@NeedsGcc
final class LaneDepthTest {
    private static final int SLOTS = 300;
    private static final int HEADER_BYTES = 24;
    private static final int PAYLOAD_BYTES = 64;
    private static final LaneRings RINGS = new LaneRings(SLOTS, HEADER_BYTES, PAYLOAD_BYTES);
    private static final int ENOMEM = 12;
    private static final int EBUSY = 16;

    private final Completions completions = new Completions(SLOTS);
    private Fabric fabric;
    private Arena arena;
    private Transport transport;
    private SendRing sent;
    private ReceiveRing received;

    @BeforeEach
    void open() {
        fabric = Fabric.standIn();
        arena = Arena.ofShared();
        sent = RINGS.send(arena);
        received = RINGS.receive(arena);
    }

    @AfterEach
    void close() {
        fabric.set("requests_max", 0);
        fabric.set("completions_max", 0);
        transport.close();
        arena.close();
        Wait.until("all to close", () -> fabric.library().liveHandles() == 0);
    }

    private Lane source() {
        return transport.open(new LaneConfig(LaneKind.DATA, LaneConfig.Role.SOURCE, sent, null, null));
    }

    private Lane receiver(final Lane source) {
        return transport.open(
                new LaneConfig(LaneKind.DATA, LaneConfig.Role.RECEIVER, null, received, source.address()));
    }

    // Five times around the ring, never more under way than was posted.
    private void carry(final Lane source, final Lane receiver, final int depth) {
        final long overruns = fabric.count("overruns");
        final DeviceRegion payload = received.payload();
        int posted = 0;
        int next = 0;
        int arrived = 0;
        while (arrived < 5 * SLOTS) {
            posted += receiver.post(posted % SLOTS, Math.min(SLOTS, arrived + SLOTS - posted));
            assertEquals(Math.min(arrived + depth, posted), posted, "posted");
            final int first = next;
            final int count = Math.min(posted - next, SLOTS);
            for (int i = 0; i < count; i++) {
                final long at = (long) ((first + i) % SLOTS) * PAYLOAD_BYTES;
                sent.payload().set(ValueLayout.JAVA_INT, at, first + i);
            }
            next += source.multicast(first % SLOTS, count);
            completions.clear();
            receiver.poll(completions);
            for (int i = 0; i < completions.count(); i++) {
                assertEquals(arrived % SLOTS, completions.slot(i));
                final long at = (long) completions.slot(i) * PAYLOAD_BYTES;
                assertEquals(arrived, payload.host().get(ValueLayout.JAVA_INT, at));
                arrived++;
            }
        }
        assertEquals(arrived, source.completed());
        assertEquals(overruns, fabric.count("overruns"));
    }

    @Test
    void shouldGoRoundWhereCompletionQueuesAreShorterThanRings() {
        fabric.set("completions_max", 41);
        transport = LaneRings.openTransport();
        final Lane source = source();
        final Lane receiver = receiver(source);
        assertEquals(40, receiver.post(0, SLOTS));
        assertEquals(0, receiver.post(40, SLOTS - 40));
        source.multicast(0, 40);
        assertEquals(40, receiver.poll(completions));
        receiver.close();
        final Lane next = source();
        carry(next, receiver(next), 40);
    }

    @Test
    void shouldPushBackWhatTheSendQueueHasNoRoomFor() {
        fabric.set("requests_max", 16);
        transport = LaneRings.openTransport();
        final Lane source = source();
        assertEquals(16, source.multicast(0, SLOTS));
        assertEquals(SLOTS - 16, source.counter(LaneCounter.SEND_BACK_PRESSURED));
        assertEquals(16, source.completed());
        assertEquals(16, source.multicast(16, SLOTS));
        assertEquals(32, source.completed());
    }

    @Test
    void shouldAskForShorterQueuesWhereTheDeviceRefusesTheLongestItNames() {
        transport = LaneRings.openTransport();
        final Lane source = source();
        fabric.fail("ibv_create_qp", ENOMEM);
        carry(source, receiver(source), SLOTS / 2);
    }

    @Test
    void shouldSayWhatTheDeviceSaidWhenItRefusesForAnotherReason() {
        transport = LaneRings.openTransport();
        fabric.fail("ibv_create_qp", EBUSY);
        final NativeException e = assertThrows(NativeException.class, this::source);
        assertEquals(EBUSY, e.errno());
    }
}
