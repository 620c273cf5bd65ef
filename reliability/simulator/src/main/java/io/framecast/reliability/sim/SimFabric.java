package io.framecast.reliability.sim;

import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.onesided.OneSidedPort.Region;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// All registered memory and all endpoints of a run, by key and number.
final class SimFabric {
    private static final int KEY_BITS = 32;

    private final List<SimRegion> regions = new ArrayList<>();
    private final List<SimEndpoint> endpoints = new ArrayList<>();

    /// Registered memory of one process.
    private static final class SimRegion implements Region {
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

        @Override
        public MemorySegment memory() {
            return memory;
        }

        @Override
        public long address() {
            return (long) key << KEY_BITS;
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

    Region register(final SimNode owner, final MemorySegment memory, final Access access) {
        regions.add(new SimRegion(owner, memory, access, regions.size() + 1));
        return regions.getLast();
    }

    /// The part of a process's memory that an operation of a peer names.
    ///
    /// @param access that the operation needs
    /// @return null where the peer has no such memory, or does not allow it
    @Nullable
    MemorySegment find(final SimNode owner, final Access access, final long address, final int key, final int bytes) {
        if (key < 1 || key > regions.size()) {
            return null;
        }
        final SimRegion region = regions.get(key - 1);
        final long offset = address - region.address();
        return region.owner == owner
                        && !region.closed
                        && region.access.compareTo(access) >= 0
                        && offset >= 0
                        && offset <= region.memory.byteSize() - bytes
                ? region.memory.asSlice(offset, bytes)
                : null;
    }

    /// @return the endpoint's number
    int add(final SimEndpoint endpoint) {
        endpoints.add(endpoint);
        return endpoints.size() - 1;
    }

    /// @param descriptor from the wire
    /// @return null where no endpoint has it
    @Nullable
    SimEndpoint endpoint(final byte[] descriptor) {
        final int number = SimNetwork.number(descriptor);
        return number >= 0 && number < endpoints.size() ? endpoints.get(number) : null;
    }
}
