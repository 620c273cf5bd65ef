package io.framecast.engine.udp;

import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.Transport;
import io.framecast.engine.libc.Linux;
import java.util.Optional;

/// Offers `udp`: multicast by the kernel's sockets, straight between the network and the rings. Linux on 64-bit
/// x86 or ARM.
public final class UdpTransportProvider implements TransportProvider {
    // After verbs, before aeron.
    private static final int RANK = 20;

    @Override
    public String name() {
        return UdpTransport.NAME;
    }

    @Override
    public Optional<String> unavailable() {
        return Linux.unavailable().map(reason -> UdpTransport.NAME + " " + reason);
    }

    @Override
    public int rank() {
        return RANK;
    }

    @Override
    public Transport open(final TransportConfig config) {
        return UdpTransport.open(config);
    }
}
