package io.framecast.engine.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.OneSided.Access;
import io.framecast.api.spi.OneSidedEndpoint.State;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.sink.HostReceiveMemory;
import io.framecast.reliability.ReceiverConfig;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.ReceiverOutput;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.assembly.RepairSlots;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.RemotePlace;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A member's endpoint to its co-root: made elsewhere, perhaps too late; connected, broken, cut.
final class SetReachTest {
    private final StreamInfo stream = new StreamInfo(5, "cam", 64, 64, 64, 5_000, new byte[] {1}, new byte[] {1});
    private final ScriptedOneSided oneSided = new ScriptedOneSided();
    private final List<String> notices = new ArrayList<>();
    private final ArrayDeque<Runnable> conductor = new ArrayDeque<>();
    private final MemoryShape shape = MemoryShape.of(
            stream,
            MemoryShape.Kind.BY_ARRIVAL,
            (int) (ReceiverConfig.ringSlotsMin(stream, 1) + 63) / 64 * 64,
            0,
            true,
            2);
    private final HostReceiveMemory sink = new HostReceiveMemory(shape, new HostProvider().open(0), 0);
    private final RepairSlots repairs = new RepairSlots(shape, sink);
    private final PullLanding landing = new PullLanding(oneSided, Objects.requireNonNull(repairs.reads()));
    private final SendMemory memory = new SendMemory(64, 64);
    private final RegisteredMemory headers = oneSided.register(memory.headers(), Access.PEERS_READ);
    private final RegisteredMemory payload = oneSided.register(memory.payload(), Access.PEERS_READ);
    private final SetReach reach = new SetReach(oneSided, stream, landing, conductor::add, notices::add);
    private final ReceiverMachine machine = new ReceiverMachine(
            new ReceiverConfig(
                    stream,
                    7,
                    256,
                    32,
                    2,
                    Delivery.RELIABLE,
                    new LaneAddresses(new byte[] {1}, new byte[] {2}, new byte[] {3})),
            new SplittableRandom(1),
            new Silent());

    /// Says nothing: these tests are about what lies below.
    private static final class Silent implements ReceiverOutput {
        private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);

        @Override
        public MemorySegment control() {
            return scratch;
        }

        @Override
        public void sendControl(final int bytes) {}
    }

    @AfterEach
    void close() {
        reach.close();
        landing.close();
        headers.close();
        payload.close();
        sink.close();
        memory.close();
        oneSided.endpoints.forEach(endpoint -> assertTrue(endpoint.closed));
        assertEquals(0, oneSided.leases);
    }

    private void conduct() {
        while (!conductor.isEmpty()) {
            conductor.remove().run();
        }
    }

    private LinkOffer offer(final int descriptor) {
        final RemotePlace place = new RemotePlace(payload.address(), payload.key());
        return new LinkOffer(
                new byte[] {(byte) descriptor},
                RemotePlace.NONE,
                new RemotePlace(headers.address(), headers.key()),
                place,
                place);
    }

    private ScriptedOneSided.Endpoint connected() {
        assertTrue(reach.make());
        conduct();
        assertTrue(reach.connect(offer(1)));
        final ScriptedOneSided.Endpoint endpoint = oneSided.endpoints.getLast();
        assertTrue(reach.isBusy());
        endpoint.state = State.UP;
        reach.doWork(machine, 0);
        assertFalse(reach.isBusy());
        return endpoint;
    }

    @Test
    void shouldTellItsDescriptorOnceItIsMade() {
        assertNull(reach.descriptor());
        assertTrue(reach.make());
        assertNull(reach.descriptor());
        assertFalse(reach.connect(offer(1)), "there is nothing to connect yet");
        conduct();
        assertArrayEquals(new byte[] {4, 2}, reach.descriptor());
        assertEquals(ReceiverOutput.NO_PULL, reach.pull(0, 1));
    }

    @Test
    void shouldCloseWhatIsMadeTooLate() {
        reach.make();
        final Runnable late = conductor.remove();
        reach.cut();
        late.run();
        assertTrue(oneSided.endpoints.isEmpty(), "nobody wanted it any more");
        oneSided.meanwhile = reach::cut;
        reach.make();
        conduct();
        assertTrue(oneSided.endpoints.getFirst().closed);
        assertNull(reach.descriptor());
        oneSided.meanwhile = () -> {};
        reach.make();
        final Runnable other = conductor.remove();
        reach.close();
        other.run();
        oneSided.endpoints.forEach(endpoint -> assertTrue(endpoint.closed));
        assertFalse(reach.make());
    }

    @Test
    void shouldCloseTheOneBeforeTheNext() {
        final ScriptedOneSided.Endpoint first = connected();
        assertTrue(reach.make());
        assertTrue(first.closed);
        conduct();
        assertFalse(oneSided.endpoints.getLast().closed);
        assertNotNull(reach.descriptor());
    }

    @Test
    void shouldDoWithoutWhenTheSystemRefuses() {
        oneSided.refuses = true;
        reach.make();
        conduct();
        reach.doWork(machine, 0);
        assertEquals(1, notices.size());
        assertTrue(notices.getFirst().contains("no queue pair left"), notices::toString);
        assertNull(reach.descriptor());
        reach.doWork(machine, 1);
        assertEquals(1, notices.size());
    }

    @Test
    void shouldRefuseAHostileDescriptor() {
        reach.make();
        conduct();
        assertFalse(reach.connect(offer(-1)));
        assertEquals(1, notices.size());
        assertEquals(ReceiverOutput.NO_PULL, reach.pull(0, 1));
    }

    @Test
    void shouldGoOnWithTheNextCoRootWhenOneBrokeUnderAPull() {
        for (int round = 0; round < 5; round++) {
            final ScriptedOneSided.Endpoint endpoint = connected();
            assertEquals(ReadSlots.SLOTS, reach.pull(0, ReadSlots.SLOTS), "all slots are there again");
            endpoint.step();
            endpoint.fail("given back");
            reach.doWork(machine, round);
            assertTrue(endpoint.closed);
            assertFalse(reach.isBusy());
            assertEquals(ReceiverOutput.NO_PULL, reach.pull(0, 1));
        }
        assertEquals(5, notices.size());
        assertTrue(notices.getFirst().endsWith("given back"), notices::toString);
    }
}
