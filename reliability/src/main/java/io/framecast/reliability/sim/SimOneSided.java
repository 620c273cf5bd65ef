package io.framecast.reliability.sim;

import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.onesided.EndpointPort;
import io.framecast.reliability.onesided.OneSidedPort;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// One-sided operations of one process: memory that peers reach whether the process runs or stands still.
final class SimOneSided implements OneSidedPort {
    private static final long MAKING_MAX_NS = 5_000_000;
    private static final long CONNECTING_MAX_NS = 30_000_000;

    private final SimNode process;
    private final SimWorld world;
    private final @Nullable ReadSlots reads;

    /// Registered memory of one process.
    static final class SimRegion implements Region {
        private final SimNode owner;
        private final MemorySegment memory;
        private final Access access;
        private final int key;
        private boolean closed;

        private SimRegion(final SimNode owner, final MemorySegment memory, final Access access, final int key) {
            this.owner = owner;
            this.memory = memory;
            this.access = access;
            this.key = key;
        }

        boolean isReachable(final SimNode peer, final SimFabric.OneSidedAccess operation) {
            final boolean allowed =
                    operation == SimFabric.OneSidedAccess.READ ? access != Access.LOCAL : access == Access.PEERS_WRITE;
            return owner == peer && allowed && !closed;
        }

        @Override
        public MemorySegment memory() {
            return memory;
        }

        @Override
        public long address() {
            return SimFabric.address(key);
        }

        @Override
        public int key() {
            return key;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    /// @param reads landing slots of the process's reads; null where it reads nothing
    SimOneSided(final SimNode process, final SimWorld world, final @Nullable ReadSlots reads) {
        this.process = process;
        this.world = world;
        this.reads = reads;
    }

    @Override
    public Region register(final MemorySegment memory, final Access access) {
        final SimRegion made =
                new SimRegion(process, memory, access, world.fabric().nextKey());
        world.fabric().add(made);
        return made;
    }

    @Override
    public Region allocate(final long bytes, final Access access) {
        return register(MemorySegment.ofArray(new long[(int) (bytes / Long.BYTES)]), access);
    }

    @Override
    public EndpointPort open(final int operationsMax, final Access peer) {
        return new SimEndpoint(process, world, reads, operationsMax, 0);
    }

    @Override
    public EndpointPort openLater(final int operationsMax) {
        final long madeNs = world.events().nowNs() + process.random().nextLong(MAKING_MAX_NS);
        return new SimEndpoint(process, world, reads, operationsMax, madeNs);
    }

    @Override
    public EndpointPort accept(final byte[] descriptor, final Access peer, final int operationsMax) {
        final SimEndpoint endpoint = world.fabric().endpoint(descriptor);
        if (endpoint == null) {
            throw new RefusedException("no endpoint has this descriptor");
        }
        return new SimEndpoint(process, world, reads, operationsMax, 0)
                .accepted(endpoint, world.events().nowNs() + process.random().nextLong(CONNECTING_MAX_NS));
    }
}
