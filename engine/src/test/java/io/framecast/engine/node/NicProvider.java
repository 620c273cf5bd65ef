package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import java.util.Optional;

/// A provider whose transports also offer one-sided operations, all by one NIC.
record NicProvider(TransportProvider inner, OneSided nic) implements TransportProvider {
    @Override
    public String name() {
        return inner.name();
    }

    @Override
    public Optional<String> unavailable() {
        return inner.unavailable();
    }

    @Override
    public Optional<String> unavailable(final Channel channel) {
        return inner.unavailable(channel);
    }

    @Override
    public int rank() {
        return inner.rank();
    }

    @Override
    public Transport open(final TransportConfig config) {
        return new Reaching(inner.open(config), nic);
    }

    private static final class Reaching extends ForwardingTransport {
        private final OneSided nic;

        Reaching(final Transport inner, final OneSided nic) {
            super(inner);
            this.nic = nic;
        }

        @Override
        public OneSided oneSided() {
            return nic;
        }

        @Override
        public TransportCapabilities capabilities() {
            final TransportCapabilities known = inner.capabilities();
            return new TransportCapabilities(
                    known.name(),
                    known.hardwareMulticast(),
                    known.deviceMemory(),
                    true,
                    true,
                    known.maxScatter(),
                    known.headerReserveBytes(),
                    known.datagramBytesMax(),
                    known.placement());
        }
    }
}
