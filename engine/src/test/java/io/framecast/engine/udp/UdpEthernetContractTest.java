package io.framecast.engine.udp;

/// The contract with datagrams that fit Ethernet.
final class UdpEthernetContractTest extends UdpContractTest {
    @Override
    String uri() {
        return UdpTests.URI + "|mtu=1500";
    }
}
