package io.framecast.engine.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.DeviceAccess;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Order, capacity and failure of a NIC's copies, one step at a time.
final class NicCopyEngineTest {
    private static final int SLOT_BYTES = 64;
    private static final long RING = 0x7000_0000L;
    private static final int ROOM = 4;

    private final StreamInfo stream =
            new StreamInfo(5, "cam", SLOT_BYTES, 64, SLOT_BYTES, 5_000, new byte[] {1}, new byte[] {1});
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment host = arena.allocate(1 << 20);
    private final List<String> notices = new ArrayList<>();
    // The events in order.
    private final List<String> log = new ArrayList<>();
    private final Endpoint reader = new Endpoint("reader");
    private final Endpoint served = new Endpoint("served");
    private final MemoryShape shape = MemoryShape.of(stream, MemoryShape.Kind.STAGED, 64, 0, true, 2);
    private final NicCopyEngine copies = new NicCopyEngine(
            shape, device(), new LoopbackQueuePair(new Nic(), notices::add), DeviceRegion.ofDevice(RING, 4096), host);

    private DeviceBackend device() {
        final DeviceAccess access = new DeviceAccess() {
            @Override
            public DeviceRegion export(final DeviceRegion region) {
                return region;
            }

            @Override
            public void unexport(final DeviceRegion region) {
                log.add("unexport");
            }

            @Override
            public void flushRemoteWrites() {
                log.add("flush");
            }
        };
        return (DeviceBackend) Proxy.newProxyInstance(
                DeviceBackend.class.getClassLoader(), new Class<?>[] {DeviceBackend.class}, (_, _, _) -> access);
    }

    private record Memory(long address, long bytes, List<String> log) implements RegisteredMemory {
        @Override
        public int key() {
            return 9;
        }

        @Override
        public void close() {
            log.add("deregister");
        }
    }

    private final class Nic implements OneSided {
        @Override
        public RegisteredMemory register(final MemorySegment memory, final Access access) {
            assertEquals(Access.PEERS_READ, access);
            return new Memory(memory.address(), memory.byteSize(), log);
        }

        @Override
        public RegisteredMemory register(final DeviceRegion memory, final Access access) {
            assertEquals(Access.LOCAL, access, "no peer needs access");
            return new Memory(memory.address(), memory.bytes(), log);
        }

        @Override
        public OneSidedEndpoint open(final int operationsMax, final Access peer) {
            return reader;
        }

        @Override
        public OneSidedEndpoint accept(final byte[] peer, final Access access, final int operationsMax) {
            return served;
        }
    }

    private final class Endpoint implements OneSidedEndpoint {
        private final String name;
        private final Deque<Long> under = new ArrayDeque<>();
        private State state = State.IDLE;
        private int tokens;
        private boolean closed;

        private Endpoint(final String name) {
            this.name = name;
        }

        @Override
        public byte[] descriptor() {
            return new byte[] {1};
        }

        @Override
        public void connect(final byte[] peer) {
            state = State.UP;
        }

        @Override
        public State state() {
            return state;
        }

        @Override
        public String failure() {
            return "given back";
        }

        @Override
        public int room() {
            return ROOM - under.size();
        }

        @Override
        public boolean write64(final long address, final int key, final long value, final long token) {
            throw new UnsupportedOperationException("only reads");
        }

        @Override
        public boolean read(final Range target, final long address, final int key, final long token) {
            if (room() == 0) {
                return false;
            }
            log.add("read " + (address - host.address()) + " to " + target.offset());
            under.add(token);
            return true;
        }

        @Override
        public boolean write(final Range source, final long address, final int key, final long token) {
            throw new UnsupportedOperationException("a NIC that only reads");
        }

        @Override
        public int poll(final long[] done) {
            int count = 0;
            while (tokens > 0) {
                done[count++] = under.remove();
                tokens--;
            }
            return count;
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                log.add("close " + name);
            }
        }
    }

    @AfterEach
    void close() {
        copies.close();
        arena.close();
    }

    private void connect() {
        served.state = OneSidedEndpoint.State.UP;
        assertTrue(copies.work(true));
        assertTrue(copies.work(true));
    }

    // Run k: from slot k in the host to slot 10 + k of the ring, as copy number 3 k + 2.
    private void give(final int from, final int to) {
        for (int k = from; k < to; k++) {
            assertTrue(copies.copy((10L + k) * SLOT_BYTES, (long) k * SLOT_BYTES, SLOT_BYTES, 3L * k + 2));
        }
    }

    private static String read(final int run) {
        return "read " + run * SLOT_BYTES + " to " + (10 + run) * SLOT_BYTES;
    }

    @Test
    void shouldLeaveToTheStreamWhatComesBeforeItIsConnected() {
        assertFalse(copies.copy(0, 0, SLOT_BYTES, 1));
        assertTrue(copies.isBusy(), "work must be called again");
        connect();
        assertEquals(1, copies.earlyRuns());
        assertFalse(copies.isBusy());
        give(0, 1);
        assertTrue(copies.isBusy());
    }

    @Test
    void shouldReadInOrderAsFarAsThereIsRoomAndOnlyWhileTheRingIsQuiet() {
        connect();
        give(0, 6);
        assertTrue(copies.work(false));
        assertEquals(List.of(), log);
        assertTrue(copies.work(true));
        assertEquals(List.of(read(0), read(1), read(2), read(3)), log);
        reader.tokens = 1;
        assertTrue(copies.work(false));
        assertEquals(4, log.size());
        assertTrue(copies.work(true));
        assertEquals(read(4), log.getLast());
    }

    @Test
    void shouldTellTheCopiesBeforeTheOldestThatIsRead() {
        connect();
        give(0, 4);
        copies.work(true);
        assertEquals(1, copies.completed(50));
        reader.tokens = 3;
        copies.work(true);
        assertEquals(10, copies.completed(50));
        assertEquals(3 * SLOT_BYTES, copies.copiedBytes());
        reader.tokens = 1;
        copies.work(true);
        assertEquals(50, copies.completed(50));
    }

    @Test
    void shouldFlushOnceWhatIsThere() {
        connect();
        give(0, 2);
        copies.work(true);
        copies.flush();
        assertFalse(log.contains("flush"), "nothing is there");
        reader.tokens = 2;
        copies.work(true);
        copies.flush();
        copies.flush();
        assertEquals("flush", log.removeLast());
        assertFalse(log.contains("flush"));
    }

    @Test
    void shouldCloseFlushAndGiveBackInOrderWhenItBreaks() {
        connect();
        give(0, 6);
        copies.work(true);
        reader.tokens = 1;
        copies.work(false);
        log.clear();
        reader.state = OneSidedEndpoint.State.BROKEN;
        assertFalse(copies.work(true));
        copies.giveBack((ringOffset, hostOffset, bytes) -> log.add("copy " + hostOffset + " to " + ringOffset));
        final List<String> wanted = new ArrayList<>(List.of("close reader", "close served", "flush"));
        for (int run = 1; run < 6; run++) {
            wanted.add(read(run).replace("read", "copy"));
        }
        assertEquals(wanted, log);
        assertEquals(List.of("placement of cam: the NIC copies no more, the copy engine does: given back"), notices);
        assertEquals(50, copies.completed(50));
        assertFalse(copies.isBusy());
        assertFalse(copies.copy(0, 0, SLOT_BYTES, 1));
        assertEquals(6, copies.brokenRuns());
        assertTrue(copies.work(true), "reported once");
    }

    @Test
    void shouldBreakWhenTheEndThatServesDoes() {
        connect();
        give(0, 1);
        served.state = OneSidedEndpoint.State.BROKEN;
        assertFalse(copies.work(true));
    }

    @Test
    void shouldBreakWhenItCannotConnect() {
        served.state = OneSidedEndpoint.State.BROKEN;
        assertFalse(copies.work(true));
        assertTrue(log.contains("close reader"));
    }

    @Test
    void shouldTakeAsManyRunsAsThereAreSlots() {
        connect();
        give(0, NicCopyEngine.runsMax(shape));
        assertThrows(IllegalStateException.class, () -> copies.copy(0, 0, SLOT_BYTES, 1));
    }

    @Test
    void shouldLetGoInOrder() {
        connect();
        give(0, 2);
        copies.work(true);
        log.clear();
        copies.close();
        copies.close();
        assertEquals(List.of("close reader", "close served", "deregister", "deregister", "unexport"), log);
    }
}
