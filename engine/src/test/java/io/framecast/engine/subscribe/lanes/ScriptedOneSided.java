package io.framecast.engine.subscribe.lanes;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.RegisteredMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/// One process with one-sided access to its own memory. A test carries out one operation at a time, so that it
/// can do something between any two.
final class ScriptedOneSided implements OneSided {
    final List<Endpoint> endpoints = new ArrayList<>();
    private final List<MemorySegment> registered = new ArrayList<>();
    boolean refuses;
    /// Runs while an endpoint is being opened.
    Runnable meanwhile = () -> {};
    int leases;

    /// A registration; a read names it by its address.
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
        throw new IllegalArgumentException("not registered: " + bytes + " bytes at " + address);
    }

    @Override
    public OneSidedEndpoint open(final int operationsMax, final Access peer) {
        if (refuses) {
            throw new TransportException("verbs: no queue pair left");
        }
        final Endpoint made = new Endpoint(operationsMax);
        endpoints.add(made);
        meanwhile.run();
        return made;
    }

    @Override
    public OneSidedEndpoint accept(final byte[] peer, final Access access, final int operationsMax) {
        if (peer[0] < 0) {
            throw new TransportException("no descriptor");
        }
        return open(Math.max(1, operationsMax));
    }

    /// An endpoint that carries out operations only on [#step].
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

        /// Carries out the oldest operation.
        boolean step() {
            final Runnable next = waiting.poll();
            if (next != null) {
                next.run();
            }
            return next != null;
        }

        void stepAll() {
            while (step()) {
                // The operations are carried out in order.
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
            if (room() == 0 || takes-- <= 0) {
                return false;
            }
            final MemorySegment word = at(address, Long.BYTES);
            waiting.add(() -> carryOut(() -> word.set(JAVA_LONG, 0, value), token));
            return true;
        }

        @Override
        public boolean read(final Range target, final long address, final int key, final long token) {
            return move(target, address, token, true);
        }

        private boolean move(final Range near, final long address, final long token, final boolean here) {
            if (room() == 0 || takes-- <= 0) {
                return false;
            }
            final MemorySegment own = at(near.memory().address() + near.offset(), near.bytes());
            final MemorySegment other = at(address, near.bytes());
            waiting.add(() -> carryOut(() -> (here ? own : other).copyFrom(here ? other : own), token));
            return true;
        }

        private void carryOut(final Runnable operation, final long token) {
            if (closed) {
                throw new IllegalStateException("something is done over an endpoint that was closed");
            }
            operation.run();
            if (token != NO_TOKEN) {
                tokens.add(token);
            }
        }

        @Override
        public boolean write(final Range source, final long address, final int key, final long token) {
            return move(source, address, token, false);
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
