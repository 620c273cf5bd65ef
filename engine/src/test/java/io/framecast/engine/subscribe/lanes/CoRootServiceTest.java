package io.framecast.engine.subscribe.lanes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.Transport;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.port.LossInjector;
import io.framecast.engine.port.TransportOneSided;
import io.framecast.engine.testing.ScriptedTransport;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.engine.udp.UdpTransportProvider;
import io.framecast.reliability.receive.CoRootOutput.Filler;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.RemotePlace;
import io.framecast.reliability.wire.RepairGroupLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The service of a co-root under hostile commands, and when its memory, lanes or peers fail.
class CoRootServiceTest {
    private static final int SLOTS = 256;
    private static final byte[] PEER = {4, 127, 0, 0, 1, 9, 9};

    private final ScriptedTransport faulty = new ScriptedTransport(new UdpTransportProvider());
    private final Channel channel = StreamFixture.channel("udp", "|mtu=1500");
    private final List<String> notices = new ArrayList<>();
    private final Queue<Runnable> conductor = new ArrayDeque<>();
    private final Transport transport = faulty.open(new TransportConfig(channel, notices::add));
    private final ControlLane control =
            new ControlLane(transport, LaneConfig.Role.RECEIVER, new LossInjector(0, 1), System::nanoTime);
    private CoRootService service = service(SLOTS);

    @AfterEach
    void close() {
        service.closeLane();
        service.close();
        service.close();
        control.close();
        transport.close();
    }

    private CoRootService service(final int windowSlots) {
        final StreamInfo stream = new StreamInfo(1, channel.name(), 1408, windowSlots, 5_000, 50, PEER, PEER);
        return new CoRootService(lanes(), null, 1, stream, null, Filler.RECEIVER);
    }

    private SubscriptionLanes lanes() {
        return new SubscriptionLanes(transport, control, new LossInjector(0, 1), notices::add, conductor::add);
    }

    private void conduct() {
        while (!conductor.isEmpty()) {
            conductor.remove().run();
        }
    }

    private RepairStore open() {
        service.openStore();
        conduct();
        return Objects.requireNonNull(service.openStore());
    }

    private void fill(final RepairStore store) {
        final byte[] bytes = new byte[1408];
        for (long sequence = 0; sequence < SLOTS; sequence++) {
            store.putPayload(sequence, MemorySegment.ofArray(bytes), 0, bytes.length);
            store.putHeader(sequence, MemorySegment.ofArray(bytes), 0);
        }
    }

    @Test
    void shouldNotWaitForItsMemory() {
        assertNull(service.openStore());
        assertNull(service.openStore());
        assertEquals(1, conductor.size(), "asked for once");
        assertFalse(service.connect(0, new LaneAddresses(PEER, PEER)));
        conduct();
        final RepairStore store = service.openStore();
        assertNotNull(store);
        assertSame(store, service.openStore());
        assertEquals(SLOTS, store.slots());
    }

    @Test
    void shouldLeakNothingWhenItIsClosedWhileItsMemoryIsMade() {
        service.openStore();
        service.closeLane();
        conduct();
        assertNull(service.openStore());
        service.close();
        service = service(SLOTS);
        // The store exists, and is never requested again.
        service.openStore();
        conduct();
        service.closeLane();
        service.close();
        assertEquals(
                List.of(),
                faulty.leaks().stream()
                        .filter(leak -> leak.startsWith("lane REPAIR"))
                        .toList());
        assertEquals(2, faulty.opened(), "lanes for control and for repairs");
    }

    @Test
    void shouldServeNoMemberWhenTheSourceNamesAWindowThatIsNone() {
        service = service(100);
        service.openStore();
        conduct();
        assertNull(service.openStore());
        assertEquals(1, notices.size(), () -> "" + notices);
        assertTrue(notices.getFirst().contains("cannot serve others"), () -> "" + notices);
    }

    @Test
    void shouldServeNoMemberWhenItsLaneDoesNotOpen() {
        faulty.opensUntilFailure.set(0);
        service.openStore();
        conduct();
        assertNull(service.openStore());
        assertTrue(notices.getFirst().contains("injected"), () -> "" + notices);
    }

    @Test
    void shouldRepairNothingAnyMoreWhenItsLaneFails() {
        fill(open());
        assertTrue(service.connect(0, new LaneAddresses(PEER, PEER)));
        assertEquals(3, service.repair(0, SLOTS - 2, 3), "around the end");
        faulty.lanesFail = true;
        notices.clear();
        for (int i = 0; i < 5; i++) {
            assertEquals(0, service.repair(0, 0, 3));
        }
        faulty.lanesFail = false;
        assertEquals(0, service.repair(0, 0, 3));
        assertEquals(1, notices.size(), () -> "" + notices);
        assertFalse(service.connect(1, new LaneAddresses(PEER, PEER)));
        service.disconnect(0);
    }

    @Test
    void shouldSendToNobodyButSingleHosts() {
        fill(open());
        final List<byte[]> addresses = List.of(
                new byte[] {4, 0, 0, 0, 0, 9, 9},
                new byte[] {4, 127, 0, 0, 1, 0, 0},
                new byte[] {4, (byte) 224, 20, 30, 41, 9, 9},
                new byte[] {4, (byte) 239, 1, 1, 1, 9, 9},
                new byte[] {4, (byte) 255, (byte) 255, (byte) 255, (byte) 255, 9, 9},
                new byte[] {6, 127, 0, 0, 1, 9, 9},
                new byte[19],
                new byte[32],
                new byte[] {4});
        // More rounds than a lane has places for peers.
        for (int round = 0; round < 200; round++) {
            for (final byte[] address : addresses) {
                final int member = round % RepairGroupLayout.MEMBERS_MAX;
                assertFalse(service.connect(member, new LaneAddresses(PEER, address)));
                assertFalse(service.connect(member, new LaneAddresses(address, PEER)));
                assertEquals(0, service.repair(member, 0, 64));
            }
        }
        for (int member = 0; member < RepairGroupLayout.MEMBERS_MAX; member++) {
            assertTrue(service.connect(member, new LaneAddresses(PEER, PEER)));
        }
        for (int member = 0; member < RepairGroupLayout.MEMBERS_MAX; member++) {
            service.disconnect(member);
            service.disconnect(member);
        }
    }

    @Test
    void shouldLetMembersReadItsCopyUntilTheyAreNotOfItsSet() {
        final ScriptedOneSided oneSided = new ScriptedOneSided();
        service = new CoRootService(
                lanes(),
                TransportOneSided.of(oneSided, conductor::add),
                1,
                new StreamInfo(1, channel.name(), 1408, SLOTS, 5_000, 50, PEER, PEER),
                null,
                Filler.RECEIVER);
        assertFalse(service.link(0, new byte[] {1}), "there is no copy yet");
        assertTrue(open().guard());
        assertTrue(service.connect(0, new LaneAddresses(PEER, PEER)));
        assertTrue(service.link(0, new byte[] {1}));
        assertNull(service.endpointOffer(0));
        final ScriptedOneSided.Endpoint first = oneSided.endpoints.getFirst();
        first.state = OneSidedEndpoint.State.UP;
        assertEquals(
                RemotePlace.NONE,
                Objects.requireNonNull(service.endpointOffer(0)).word());
        assertTrue(service.link(0, new byte[] {2}), "it came back");
        assertTrue(first.closed);
        assertFalse(service.link(1, new byte[] {-1}));
        assertFalse(service.link(2, new byte[] {-1}));
        assertEquals(
                1,
                notices.stream().filter(line -> line.contains("no descriptor")).count(),
                notices::toString);
        service.disconnect(0);
        assertTrue(oneSided.endpoints.getLast().closed);
        assertNull(service.endpointOffer(0));
        service.link(3, new byte[] {3});
        service.closeLane();
        assertTrue(oneSided.endpoints.getLast().closed);
        assertFalse(service.link(3, new byte[] {3}));
        service.close();
        assertEquals(0, oneSided.leases);
    }
}
