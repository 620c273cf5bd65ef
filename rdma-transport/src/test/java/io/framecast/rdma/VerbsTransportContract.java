package io.framecast.rdma;

import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportContract;
import io.framecast.rdma.verbs.Fabric;

/// [TransportContract] over verbs, each transport on the next device.
abstract class VerbsTransportContract extends TransportContract {
    private Fabric fabric;
    private int device;

    abstract Fabric fabric();

    String group() {
        return "239.77.5.5:4000";
    }

    @Override
    protected final Transport openTransport() {
        if (fabric == null) {
            fabric = fabric();
        }
        final Channel channel = Channel.parse(
                "framecast:verbs?group=" + group() + "|channel=contract|interface=" + fabric.device(device++));
        return VerbsTransport.open(fabric.library(), new TransportConfig(channel, _ -> {}));
    }

    @Override
    protected final boolean dropsAfterArrival() {
        return true;
    }
}
