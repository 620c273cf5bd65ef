package io.framecast.rdma;

import io.framecast.rdma.verbs.Fabric;

/// [VerbsTransportContract] on the stand-in.
final class StandInTransportTest extends VerbsTransportContract {
    @Override
    Fabric fabric() {
        return Fabric.standIn();
    }
}
