package io.framecast.rdma;

import io.framecast.api.spi.RegisteredMemory;

/// A part of a registered region that endpoints use.
final class RcMemory implements RegisteredMemory {
    private final RegistrationCache.Lease lease;
    private final long address;
    private final long bytes;

    RcMemory(final RegistrationCache.Lease lease, final long address, final long bytes) {
        this.lease = lease;
        this.address = address;
        this.bytes = bytes;
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
