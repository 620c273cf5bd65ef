package io.framecast.reliability.onesided;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.assembly.RepairSlots;
import io.framecast.reliability.onesided.EndpointPort.State;
import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.onesided.OneSidedPort.Region;
import io.framecast.reliability.receive.ReceiverConfig;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.ReceiverOutput;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.RemotePlace;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A member's endpoint to its co-root: made elsewhere, perhaps too late; connected, broken, cut.
final class RemoteWindowsTest {
    private final StreamInfo stream = new StreamInfo(5, "cam", 64, 64, 64, 5_000, new byte[] {1}, new byte[] {1});
    private final ScriptedPort oneSided = new ScriptedPort();
    private final List<String> notices = new ArrayList<>();
    private final TestMemory arena = new TestMemory();
    private final MemoryShape shape = MemoryShape.of(
            stream,
            MemoryShape.Kind.BY_ARRIVAL,
            (int) (ReceiverConfig.ringSlotsMin(stream, 1) + 63) / 64 * 64,
            0,
            true,
            2);
    private final RepairSlots repairs = new RepairSlots(shape, arena.repairs(shape));
    private final WindowMemory memory = arena.window(64, 64);
    private final Region headers = oneSided.register(memory.headers(), Access.PEERS_READ);
    private final Region payload = oneSided.register(memory.payload(), Access.PEERS_READ);
    private final RemoteWindows windows =
            new RemoteWindows(oneSided, stream, Objects.requireNonNull(repairs.reads()), notices::add);
    private final ReceiverMachine machine = new ReceiverMachine(
            new ReceiverConfig(
                    stream,
                    7,
                    70,
                    256,
                    32,
                    2,
                    Delivery.RELIABLE,
                    new LaneAddresses(new byte[] {1}, new byte[] {2}, new byte[] {3}),
                    0,
                    0),
            new SplittableRandom(1),
            new Silent(),
            null);

    /// Sends nothing: these tests are about the layers below.
    private static final class Silent implements ReceiverOutput {
        private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);

        @Override
        public MemorySegment control() {
            return scratch;
        }

        @Override
        public void sendControl(final int bytes) {}
    }

    @BeforeEach
    void attach() {
        windows.attach(machine);
    }

    @AfterEach
    void close() {
        windows.close();
        headers.close();
        payload.close();
        arena.close();
        oneSided.endpoints.forEach(endpoint -> assertTrue(endpoint.closed));
        assertEquals(0, oneSided.leases);
    }

    // The endpoint that was being made is ready.
    private void make() {
        oneSided.endpoints.getLast().state = State.IDLE;
    }

    private EndpointOffer offer(final int descriptor) {
        final RemotePlace place = new RemotePlace(payload.address(), payload.key());
        return new EndpointOffer(
                new byte[] {(byte) descriptor}, place, new RemotePlace(headers.address(), headers.key()), place, place);
    }

    private ScriptedPort.Endpoint connected() {
        assertTrue(windows.openCoRootEndpoint());
        make();
        assertTrue(windows.connectCoRootEndpoint(offer(1)));
        final ScriptedPort.Endpoint endpoint = oneSided.endpoints.getLast();
        assertTrue(windows.isBusy());
        endpoint.state = State.UP;
        windows.poll(0);
        assertFalse(windows.isBusy());
        return endpoint;
    }

    @Test
    void shouldShowItsDescriptorOnceItIsMade() {
        assertNull(windows.coRootDescriptor());
        assertTrue(windows.openCoRootEndpoint());
        assertNull(windows.coRootDescriptor());
        assertFalse(windows.connectCoRootEndpoint(offer(1)), "there is nothing to connect yet");
        make();
        assertArrayEquals(new byte[] {4, 2}, windows.coRootDescriptor());
        assertEquals(RemoteMemory.NOT_READ, windows.readFromCoRoot(0, 1));
        assertEquals(List.of(), notices);
    }

    @Test
    void shouldCloseTheOneBeforeTheNext() {
        final ScriptedPort.Endpoint first = connected();
        assertTrue(windows.openCoRootEndpoint());
        assertTrue(first.closed);
        make();
        assertFalse(oneSided.endpoints.getLast().closed);
        assertNotNull(windows.coRootDescriptor());
        windows.close();
        assertFalse(windows.openCoRootEndpoint());
    }

    @Test
    void shouldDoWithoutWhenTheSystemRefuses() {
        windows.openCoRootEndpoint();
        oneSided.endpoints.getLast().fail("no queue pair left");
        windows.poll(0);
        assertEquals(1, notices.size());
        assertTrue(notices.getFirst().contains("no queue pair left"), notices::toString);
        assertNull(windows.coRootDescriptor());
        windows.poll(1);
        assertEquals(1, notices.size());
    }

    @Test
    void shouldRefuseAHostileDescriptor() {
        windows.openCoRootEndpoint();
        make();
        assertFalse(windows.connectCoRootEndpoint(offer(-1)));
        assertEquals(1, notices.size());
        assertEquals(RemoteMemory.NOT_READ, windows.readFromCoRoot(0, 1));
    }

    @Test
    void shouldGoOnWithTheNextCoRootWhenOneBrokeUnderARead() {
        for (int round = 0; round < 5; round++) {
            final ScriptedPort.Endpoint endpoint = connected();
            assertEquals(ReadSlots.SLOTS, windows.readFromCoRoot(0, ReadSlots.SLOTS), "all slots are there again");
            endpoint.step();
            endpoint.fail("given back");
            windows.poll(round);
            assertTrue(endpoint.closed);
            assertFalse(windows.isBusy());
            assertEquals(RemoteMemory.NOT_READ, windows.readFromCoRoot(0, 1));
        }
        assertEquals(5, notices.size());
        assertTrue(notices.getFirst().endsWith("given back"), notices::toString);
    }

    @Test
    void shouldWriteCreditAndReportItsEnd() {
        final ScriptedPort.Endpoint endpoint = oneSided.endpoints.getFirst();
        endpoint.state = State.IDLE;
        assertFalse(windows.writeCredit(7), "not connected");
        assertTrue(windows.connectToSource(offer(1)));
        endpoint.state = State.UP;
        windows.poll(0);
        assertTrue(windows.writeCredit(7));
        assertFalse(windows.writeCredit(8), "one at a time");
        assertTrue(windows.isBusy());
        endpoint.stepAll();
        assertEquals(1, windows.poll(1));
        assertFalse(windows.isBusy());
        assertEquals(7, payload.memory().get(JAVA_LONG, 0));
        endpoint.fail("gone");
        windows.poll(2);
        assertTrue(endpoint.closed);
        assertTrue(notices.getFirst().endsWith("gone"), notices::toString);
    }
}
