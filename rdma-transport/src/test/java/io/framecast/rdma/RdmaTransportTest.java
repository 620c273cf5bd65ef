package io.framecast.rdma;

import io.framecast.rdma.verbs.Fabric;
import org.junit.jupiter.api.Tag;

/// [VerbsTransportContract] on real devices.
@Tag("rdma")
final class RdmaTransportTest extends VerbsTransportContract {
    @Override
    Fabric fabric() {
        return Fabric.real();
    }

    /// Soft-RoCE's sender moves between CPUs, and what it handed to the network on one may pass what it did on the
    /// other.
    @Override
    protected boolean keepsOrder() {
        return false;
    }
}
