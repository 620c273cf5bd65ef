package io.framecast.engine.testing;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.FifoNetwork.RemoteMemory;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.RegisteredMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/// One NIC for all of a process, whose work is late: it carries out an operation, in order, [#lag] ticks after
/// the operation began, and reads its source no earlier. A test that reuses a source before the completion gets
/// wrong bytes. Operations in flight when a connection breaks still land until the connection is closed. On the
/// test's thread.
public final class LateNic implements OneSided {
    private static final int KEY = 9;

    private final RemoteMemory device;
    private final List<MemorySegment> registered = new ArrayList<>();
    private final List<Endpoint> endpoints = new ArrayList<>();
    /// Ticks that an operation takes, and state queries that a connection takes to come up.
    public int lag = 30;
    /// Ticks by which a read into the host is earlier.
    public int hostLead;
    /// Whether connections come up.
    public boolean connects = true;
    /// Whether an initiating endpoint accepts operations.
    public boolean takes = true;
    /// Connections break when this number of copies to the device have begun.
    public int breaksAt = Integer.MAX_VALUE;
    /// The NIC refuses this request and all that follow it.
    public int refusesFrom = Integer.MAX_VALUE;
    public int asked;
    private long ticks;
    public int copies;
    /// The most copies in flight at a time.
    public int depth;
    public int leases;

    /// @param device writes into the memory of devices
    public LateNic(final RemoteMemory device) {
        this.device = device;
    }

    private void give(final String function) {
        if (asked++ >= refusesFrom) {
            throw new TransportException(function + ": errno 12, raise the memlock limit");
        }
    }

    private final class Registered implements RegisteredMemory {
        private final long address;
        private final long bytes;
        private boolean closed;

        private Registered(final long address, final long bytes) {
            this.address = address;
            this.bytes = bytes;
            leases++;
        }

        @Override
        public long address() {
            return address;
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public int key() {
            return KEY;
        }

        @Override
        public void close() {
            leases -= closed ? 0 : 1;
            closed = true;
        }
    }

    @Override
    public RegisteredMemory register(final MemorySegment memory, final Access access) {
        give("ibv_reg_mr");
        registered.add(memory);
        return new Registered(memory.address(), memory.byteSize());
    }

    @Override
    public RegisteredMemory register(final DeviceRegion memory, final Access access) {
        give("ibv_reg_dmabuf_mr");
        return new Registered(memory.address(), memory.bytes());
    }

    private MemorySegment at(final long address, final long bytes) {
        // The newest registration counts: an older one may cover memory that was reused.
        for (final MemorySegment memory : registered.reversed()) {
            if (address >= memory.address() && address + bytes <= memory.address() + memory.byteSize()) {
                return memory.asSlice(address - memory.address(), bytes);
            }
        }
        throw new IllegalStateException("not registered: " + bytes + " bytes at " + address);
    }

    private boolean isHost(final long address) {
        return registered.stream()
                .anyMatch(memory -> address >= memory.address() && address < memory.address() + memory.byteSize());
    }

    @Override
    public OneSidedEndpoint open(final int operationsMax, final Access peer) {
        give("ibv_create_qp");
        final Endpoint made = new Endpoint(operationsMax);
        endpoints.add(made);
        return made;
    }

    @Override
    public OneSidedEndpoint accept(final byte[] peer, final Access access, final int operationsMax) {
        final Endpoint made = (Endpoint) open(0);
        made.connect(peer);
        return made;
    }

    /// Endpoints not closed.
    public long open() {
        return endpoints.stream().filter(each -> !each.closed).count();
    }

    /// Broken endpoints that may still land operations.
    public long brokenOpen() {
        return endpoints.stream().filter(each -> each.broken && !each.closed).count();
    }

    /// Breaks all connections.
    public void breakNow() {
        endpoints.forEach(each -> each.broken = true);
    }

    /// Advances time for operations in flight; every poll for completions does too.
    public void tick() {
        ticks++;
        endpoints.forEach(Endpoint::tick);
    }

    private record Operation(Runnable work, long token, long begun, int lead) {}

    private final class Endpoint implements OneSidedEndpoint {
        private final int operationsMax;
        private final Deque<Operation> waiting = new ArrayDeque<>();
        private final Deque<Long> tokens = new ArrayDeque<>();
        private int asks;
        private boolean connecting;
        private boolean up;
        private boolean broken;
        private boolean closed;

        private Endpoint(final int operationsMax) {
            this.operationsMax = operationsMax;
        }

        private void tick() {
            while (!closed && !waiting.isEmpty() && ticks - waiting.peek().begun >= lag - waiting.peek().lead) {
                final Operation next = waiting.remove();
                next.work.run();
                if (!broken && next.token != NO_TOKEN) {
                    tokens.add(next.token);
                }
            }
        }

        @Override
        public byte[] descriptor() {
            return new byte[] {4, 2};
        }

        @Override
        public void connect(final byte[] peer) {
            connecting = true;
        }

        @Override
        public State state() {
            if (broken || closed) {
                return State.BROKEN;
            }
            if (!connecting) {
                return State.IDLE;
            }
            up |= connects && ++asks > lag;
            return up ? State.UP : State.CONNECTING;
        }

        @Override
        public String failure() {
            return broken ? "no answer (12)" : "";
        }

        @Override
        public int room() {
            return state() == State.UP && takes ? operationsMax - waiting.size() : 0;
        }

        private boolean add(final Runnable work, final long token, final int lead) {
            if (room() == 0) {
                return false;
            }
            waiting.add(new Operation(work, token, ticks, lead));
            return true;
        }

        @Override
        public boolean write64(final long address, final int key, final long value, final long token) {
            return add(() -> at(address, Long.BYTES).set(JAVA_LONG, 0, value), token, 0);
        }

        @Override
        public boolean read(final Range target, final long address, final int key, final long token) {
            final long to = target.memory().address() + target.offset();
            final int bytes = target.bytes();
            if (isHost(to)) {
                return add(() -> at(to, bytes).copyFrom(at(address, bytes)), token, hostLead);
            }
            final boolean taken = add(() -> device.write(to, at(address, bytes), 0, bytes), token, 0);
            copies += taken ? 1 : 0;
            depth = Math.max(depth, waiting.size());
            broken |= copies >= breaksAt;
            return taken;
        }

        @Override
        public boolean write(final Range source, final long address, final int key, final long token) {
            throw new UnsupportedOperationException("a NIC that only reads");
        }

        @Override
        public int poll(final long[] done) {
            LateNic.this.tick();
            int count = 0;
            while (count < done.length && !tokens.isEmpty()) {
                done[count++] = tokens.remove();
            }
            return count;
        }

        @Override
        public void close() {
            closed = true;
            waiting.clear();
            tokens.clear();
        }
    }
}
