package io.framecast.reliability.onesided;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.reliability.onesided.EndpointPort.State;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One process that acts on its own memory by operations that a test carries out one at a time, so that it can do
/// something between any two.
public final class ScriptedPort implements OneSidedPort {
    public final List<Endpoint> endpoints = new ArrayList<>();
    public final List<MemorySegment> registered = new ArrayList<>();
    boolean refuses;
    boolean refusesMemory;
    int leases;

    /// A registered region: a read names it by its address.
    private final class Registered implements Region {
        private final MemorySegment memory;
        private final @Nullable Arena arena;
        private boolean closed;

        private Registered(final MemorySegment memory, final @Nullable Arena arena) {
            this.memory = memory;
            this.arena = arena;
            leases++;
        }

        @Override
        public MemorySegment memory() {
            return memory;
        }

        @Override
        public long address() {
            return memory.address();
        }

        @Override
        public int key() {
            return 9;
        }

        @Override
        public void close() {
            leases -= closed ? 0 : 1;
            closed = true;
            if (arena != null && arena.scope().isAlive()) {
                arena.close();
            }
        }
    }

    @Override
    public Region register(final MemorySegment memory, final Access access) {
        if (refusesMemory && access == Access.PEERS_READ) {
            throw new RefusedException("memlock: raise it");
        }
        registered.add(memory);
        return new Registered(memory, null);
    }

    @Override
    public Region allocate(final long bytes, final Access access) {
        final Arena arena = Arena.ofShared();
        final MemorySegment memory = arena.allocate(bytes, 64);
        registered.add(memory);
        return new Registered(memory, arena);
    }

    private MemorySegment at(final long address, final int bytes) {
        for (final MemorySegment memory : registered) {
            if (address >= memory.address() && address + bytes <= memory.address() + memory.byteSize()) {
                return memory.asSlice(address - memory.address(), bytes);
            }
        }
        throw new IllegalArgumentException("no region holds " + bytes + " bytes at " + address);
    }

    @Override
    public Endpoint open(final int operationsMax, final Access peer) {
        if (refuses) {
            throw new RefusedException("verbs: no queue pair left");
        }
        final Endpoint made = new Endpoint(operationsMax);
        endpoints.add(made);
        return made;
    }

    /// An endpoint that is made at the test's command.
    @Override
    public Endpoint openLater(final int operationsMax) {
        final Endpoint made = new Endpoint(operationsMax);
        made.state = State.OPENING;
        endpoints.add(made);
        return made;
    }

    @Override
    public Endpoint accept(final byte[] peer, final Access access, final int operationsMax) {
        if (peer[0] < 0) {
            throw new RefusedException("no descriptor");
        }
        return open(Math.max(1, operationsMax), access);
    }

    /// Carries out no operation by itself.
    public final class Endpoint implements EndpointPort {
        private final int operationsMax;
        private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
        private final List<Long> tokens = new ArrayList<>();
        public State state = State.IDLE;
        String failure = "";
        boolean closed;
        int takes = Integer.MAX_VALUE;
        Runnable onClose = () -> {};

        private Endpoint(final int operationsMax) {
            this.operationsMax = operationsMax;
        }

        /// Carries the oldest operation out.
        public boolean step() {
            final Runnable next = waiting.poll();
            if (next != null) {
                next.run();
            }
            return next != null;
        }

        public void stepAll() {
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
            return state == State.OPENING ? new byte[0] : new byte[] {4, 2};
        }

        @Override
        public boolean connect(final byte[] peer) {
            if (peer[0] < 0) {
                failure = "verbs: not a descriptor";
                return false;
            }
            state = State.CONNECTING;
            return true;
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
        public boolean read(
                final Region target,
                final long offset,
                final int bytes,
                final long address,
                final int key,
                final long token) {
            return move(target.memory().asSlice(offset, bytes), address, token, true);
        }

        private boolean move(final MemorySegment own, final long address, final long token, final boolean here) {
            if (room() == 0 || takes-- <= 0) {
                return false;
            }
            final MemorySegment other = at(address, (int) own.byteSize());
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
        public boolean write(
                final Region source,
                final long offset,
                final int bytes,
                final long address,
                final int key,
                final long token) {
            return move(source.memory().asSlice(offset, bytes), address, token, false);
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
            onClose.run();
            waiting.clear();
            state = State.BROKEN;
        }
    }
}
