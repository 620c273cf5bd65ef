package io.framecast.rdma;

import io.framecast.rdma.verbs.Fabric;
import org.junit.jupiter.api.Tag;

/// [TrafficClassContract] on real devices.
@Tag("rdma")
final class RdmaTrafficClassTest extends TrafficClassContract {
    @Override
    Fabric fabric() {
        final Fabric fabric = Fabric.real();
        // On InfiniBand no header of IPv4 lands.
        fabric.openRoce(0).close();
        fabric.openRoce(1).close();
        return fabric;
    }
}
