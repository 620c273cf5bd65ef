package io.framecast.engine.udp;

import io.framecast.api.Channel;
import io.framecast.api.spi.Transport;

/// The contract where the kernel neither cuts nor joins datagrams.
final class UdpPlainContractTest extends UdpContractTest {
    @Override
    String uri() {
        return UdpTests.URI + "|mtu=1500";
    }

    @Override
    protected Transport openTransport() {
        UdpTests.assumeUdp();
        final Channel.Multicast channel = (Channel.Multicast) Channel.parse(uri());
        return new UdpTransport(
                UdpLink.of(channel, UdpTests::ignore),
                new SocketBuffers(0, UdpTests::ignore),
                new Offload("", _ -> {}, 1),
                new SystemFaults("lo", Long.MAX_VALUE, UdpTests::ignore));
    }
}
