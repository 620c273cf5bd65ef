package io.framecast.rdma;

import io.framecast.rdma.verbs.Fabric;
import org.junit.jupiter.api.Tag;

/// [OneSidedContract] on real devices.
@Tag("rdma")
final class RdmaOneSidedTest extends OneSidedContract {
    @Override
    Fabric fabric() {
        return Fabric.real();
    }
}
