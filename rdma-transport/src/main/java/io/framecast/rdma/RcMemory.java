package io.framecast.rdma;

import io.framecast.api.spi.RegisteredMemory;

/// A part of a registered region that endpoints use.
record RcMemory(RegistrationCache.Lease lease, long address, long bytes) implements RegisteredMemory {
    @Override
    public int key() {
        return lease.region().remoteKey();
    }

    int localKey() {
        return lease.localKey();
    }

    @Override
    public void close() {
        lease.close();
    }
}
