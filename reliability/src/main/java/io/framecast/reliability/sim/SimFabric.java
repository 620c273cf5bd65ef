package io.framecast.reliability.sim;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// All registered memory and all endpoints of a run, by key and number.
final class SimFabric {
    private static final int KEY_BITS = 32;

    private final List<SimOneSided.SimRegion> regions = new ArrayList<>();
    private final List<SimEndpoint> endpoints = new ArrayList<>();

    /// @return the key of the region that is added next
    int nextKey() {
        return regions.size() + 1;
    }

    void add(final SimOneSided.SimRegion region) {
        regions.add(region);
    }

    /// The address of the first byte of a key's region for peers.
    static long address(final int key) {
        return (long) key << KEY_BITS;
    }

    /// The part of a process's memory that an operation of a peer names.
    ///
    /// @return null where the peer has no such memory, or does not allow it
    @Nullable
    MemorySegment find(
            final SimNode owner, final OneSidedAccess access, final long address, final int key, final int bytes) {
        if (key < 1 || key > regions.size()) {
            return null;
        }
        final SimOneSided.SimRegion region = regions.get(key - 1);
        final long offset = address - address(key);
        return region.isReachable(owner, access)
                        && offset >= 0
                        && offset <= region.memory().byteSize() - bytes
                ? region.memory().asSlice(offset, bytes)
                : null;
    }

    /// The effect of an operation on the peer's memory.
    enum OneSidedAccess {
        READ,
        WRITE
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
        final int number = descriptor.length == 2 ? ((descriptor[0] & 0xff) << 8) | (descriptor[1] & 0xff) : -1;
        return number >= 0 && number < endpoints.size() ? endpoints.get(number) : null;
    }
}
