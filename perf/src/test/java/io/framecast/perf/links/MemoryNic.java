package io.framecast.perf.links;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.RegisteredMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/// One-sided operations within this process: keys are checked, words are written last.
final class MemoryNic implements OneSided {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final AtomicInteger NUMBERS = new AtomicInteger();
    private static final Map<Integer, MemorySegment> KEYS = new ConcurrentHashMap<>();

    private record Registered(MemorySegment memory, int key) implements RegisteredMemory {
        @Override
        public long address() {
            return memory.address();
        }

        @Override
        public long bytes() {
            return memory.byteSize();
        }

        @Override
        public void close() {
            KEYS.remove(key);
        }
    }

    private static final class Endpoint implements OneSidedEndpoint {
        private final byte[] descriptor = ByteBuffer.allocate(Integer.BYTES)
                .putInt(NUMBERS.incrementAndGet())
                .array();
        private final Queue<Long> tokens = new ArrayDeque<>();
        private final int operationsMax;
        private State state;

        private Endpoint(final int operationsMax, final State state) {
            this.operationsMax = operationsMax;
            this.state = state;
        }

        @Override
        public byte[] descriptor() {
            return descriptor;
        }

        @Override
        public void connect(final byte[] peer) {
            state = peer.length == Integer.BYTES ? State.UP : State.BROKEN;
        }

        @Override
        public State state() {
            return state;
        }

        @Override
        public String failure() {
            return state == State.BROKEN ? "closed, or out of bounds" : "";
        }

        @Override
        public int room() {
            return state == State.UP ? operationsMax - tokens.size() : 0;
        }

        private MemorySegment target(final long address, final int key, final long bytes) {
            final MemorySegment memory = KEYS.get(key);
            final long offset = memory == null ? -1 : address - memory.address();
            if (memory == null || offset < 0 || offset + bytes > memory.byteSize()) {
                state = State.BROKEN;
                return MemorySegment.NULL;
            }
            return memory.asSlice(offset, bytes);
        }

        @Override
        public boolean write64(final long address, final int key, final long value, final long token) {
            if (room() == 0) {
                return false;
            }
            final MemorySegment target = target(address, key, Long.BYTES);
            if (target.byteSize() > 0) {
                WORD.setRelease(target, 0L, value);
                tokens.add(token);
            }
            return true;
        }

        @Override
        public boolean read(final Range into, final long address, final int key, final long token) {
            throw new UnsupportedOperationException("not needed");
        }

        @Override
        public boolean write(final Range source, final long address, final int key, final long token) {
            if (room() == 0) {
                return false;
            }
            final MemorySegment from = ((Registered) source.memory()).memory();
            target(address, key, source.bytes()).copyFrom(from.asSlice(source.offset(), source.bytes()));
            return true;
        }

        @Override
        public int poll(final long[] into) {
            int count = 0;
            while (count < into.length && !tokens.isEmpty()) {
                into[count++] = tokens.remove();
            }
            return count;
        }

        @Override
        public void close() {
            state = State.BROKEN;
        }
    }

    @Override
    public RegisteredMemory register(final MemorySegment memory, final Access access) {
        final int key = NUMBERS.incrementAndGet();
        KEYS.put(key, memory);
        return new Registered(memory, key);
    }

    @Override
    public RegisteredMemory register(final DeviceRegion memory, final Access access) {
        throw new TransportException("host memory only");
    }

    @Override
    public OneSidedEndpoint open(final int operationsMax, final Access peer) {
        return new Endpoint(operationsMax, OneSidedEndpoint.State.IDLE);
    }

    @Override
    public OneSidedEndpoint accept(final byte[] descriptor, final Access peer, final int operationsMax) {
        return new Endpoint(operationsMax, OneSidedEndpoint.State.UP);
    }
}
