package io.framecast.engine.udp;

import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportContract;

/// The contract on loopback at its own MTU, where a datagram is as long as UDP allows.
class UdpContractTest extends TransportContract {
    @Override
    protected Transport openTransport() {
        UdpTests.assumeUdp();
        return new UdpTransportProvider().open(new TransportConfig(Channel.parse(uri()), UdpTests::ignore));
    }

    String uri() {
        return UdpTests.URI;
    }
}
