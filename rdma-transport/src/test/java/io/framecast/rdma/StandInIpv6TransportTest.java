package io.framecast.rdma;

import io.framecast.rdma.verbs.Fabric;

/// [VerbsTransportContract] over a group of IPv6, on the stand-in.
final class StandInIpv6TransportTest extends VerbsTransportContract {
    @Override
    Fabric fabric() {
        return Fabric.standIn();
    }

    @Override
    String group() {
        return "[ff15::77:5]:4000";
    }
}
