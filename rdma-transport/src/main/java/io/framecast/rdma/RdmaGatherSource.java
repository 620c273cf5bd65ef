package io.framecast.rdma;

import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.GatherSource;

/// Registered memory from which requests gather payloads.
///
/// @param lease closed with it
record RdmaGatherSource(DeviceRegion memory, RegistrationCache.Lease lease) implements GatherSource {
    int localKey() {
        return lease.localKey();
    }

    @Override
    public void close() {
        lease.close();
    }
}
