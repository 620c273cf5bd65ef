package io.framecast.rdma.verbs;

import org.junit.jupiter.api.Tag;

/// [ConnectionContract] on real devices.
@Tag("rdma")
final class RdmaConnectionTest extends ConnectionContract {
    @Override
    Fabric fabric() {
        return Fabric.real();
    }
}
