package io.framecast.engine.node;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.RegisteredMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/// One process that acts on its own memory by operations that a test carries out one at a time, so that it can do
/// something between any two.
final class ScriptedOneSided implements OneSided {
    final List<Endpoint> endpoints = new ArrayList<>();
    private final List<MemorySegment> registered = new ArrayList<>();
    boolean refuses;
    /// What happens while an endpoint is being made.
    Runnable meanwhile = () -> {};
    int leases;

    /// What was registered: a read names it by its address.
    private final class Registered implements RegisteredMemory {
        private final MemorySegment memory;
        private boolean closed;

        private Registered(final MemorySegment memory) {
            this.memory = memory;
            leases++;
        }

        @Override
        public long address() {
            return memory.address();
        }

        @Override
        public long bytes() {
            return memory.byteSize();
        }

        @Override
        public int key() {
            return 9;
        }

        @Override
        public void close() {
            leases -= closed ? 0 : 1;
            closed = true;
        }
    }

    @Override
    public RegisteredMemory register(final MemorySegment memory, final Access access) {
        registered.add(memory);
        return new Registered(memory);
    }

    @Override
    public RegisteredMemory register(final DeviceRegion memory, final Access access) {
        throw new UnsupportedOperationException("no devices");
    }

    private MemorySegment at(final long address, final int bytes) {
        for (final MemorySegment memory : registered) {
            if (address >= memory.address() && address + bytes <= memory.address() + memory.byteSize()) {
                return memory.asSlice(address - memory.address(), bytes);
            }
        }
        throw new IllegalArgumentException("nobody registered " + bytes + " bytes at " + address);
    }

    @Override
    public OneSidedEndpoint open(final int operationsMax) {
        if (refuses) {
            throw new TransportException("verbs: no queue pair left");
        }
        final Endpoint made = new Endpoint(operationsMax);
        endpoints.add(made);
        meanwhile.run();
        return made;
    }

    @Override
    public OneSidedEndpoint accept(final byte[] peer) {
        if (peer[0] < 0) {
            throw new TransportException("no descriptor");
        }
        return open(1);
    }

    /// Carries nothing out by itself.
    final class Endpoint implements OneSidedEndpoint {
        private final int operationsMax;
        private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
        private final List<Long> tokens = new ArrayList<>();
        State state = State.IDLE;
        String failure = "";
        boolean closed;
        int takes = Integer.MAX_VALUE;

        private Endpoint(final int operationsMax) {
            this.operationsMax = operationsMax;
        }

        /// Carries the oldest operation out.
        boolean step() {
            final Runnable next = waiting.poll();
            if (next != null) {
                next.run();
            }
            return next != null;
        }

        void stepAll() {
            while (step()) {
                // One after the other.
            }
        }

        void fail(final String why) {
            state = State.BROKEN;
            failure = why;
        }

        @Override
        public byte[] descriptor() {
            return new byte[] {4, 2};
        }

        @Override
        public void connect(final byte[] peer) {
            if (peer[0] < 0) {
                throw new TransportException("verbs: not a descriptor");
            }
            state = State.CONNECTING;
        }

        @Override
        public State state() {
            return state;
        }

        @Override
        public String failure() {
            return failure;
        }

        @Override
        public int room() {
            return state == State.UP ? operationsMax - waiting.size() : 0;
        }

        @Override
        public boolean write64(final long address, final int key, final long value, final long token) {
            return false;
        }

        @Override
        public boolean read(final Target target, final long address, final int key, final long token) {
            if (room() == 0 || takes-- <= 0) {
                return false;
            }
            final MemorySegment to = at(target.memory().address() + target.offset(), target.bytes());
            final MemorySegment from = at(address, target.bytes());
            waiting.add(() -> {
                if (closed) {
                    throw new IllegalStateException("something is read over an endpoint that was closed");
                }
                to.copyFrom(from);
                if (token != NO_TOKEN) {
                    tokens.add(token);
                }
            });
            return true;
        }

        @Override
        public int poll(final long[] done) {
            int count = 0;
            while (count < done.length && !tokens.isEmpty()) {
                done[count++] = tokens.removeFirst();
            }
            return count;
        }

        @Override
        public void close() {
            closed = true;
            waiting.clear();
            state = State.BROKEN;
        }
    }
}
