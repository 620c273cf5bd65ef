package io.framecast.rdma;

import io.framecast.rdma.verbs.Fabric;
import org.junit.jupiter.api.Tag;

/// [TrafficClassContract] on real devices.
@Tag("rdma")
final class RdmaTrafficClassTest extends TrafficClassContract {
    private static final int ROUTE_HOPS = 64;

    @Override
    Fabric fabric() {
        final Fabric fabric = Fabric.real();
        // On InfiniBand no header of IPv4 lands.
        fabric.openRoce(0).close();
        fabric.openRoce(1).close();
        return fabric;
    }

    // The kernel looks up the route of an address handle that it makes, and takes the route's limit (ib_core, Linux 4.5
    // and newer). Providers that make address handles themselves, such as mlx5, keep what they are given.
    @Override
    int hopsToOne(final int ttl) {
        return ROUTE_HOPS;
    }
}
