package io.framecast.rdma.verbs;

import org.junit.jupiter.api.Tag;

/// [DatagramContract] on real devices.
@Tag("rdma")
final class RdmaDatagramTest extends DatagramContract {
    @Override
    Fabric fabric() {
        return Fabric.real();
    }
}
