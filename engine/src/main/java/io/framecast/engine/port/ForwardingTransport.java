package io.framecast.engine.port;

import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A transport that passes every call to another; subclasses change some of them. Owns the other.
public abstract class ForwardingTransport implements Transport {
    private final Transport transport;

    protected ForwardingTransport(final Transport transport) {
        this.transport = transport;
    }

    @Override
    public TransportCapabilities capabilities() {
        return transport.capabilities();
    }

    @Override
    public Lane open(final LaneConfig config) {
        return transport.open(config);
    }

    @Override
    public Optional<String> canReceiveInto(final DeviceRegion memory) {
        return transport.canReceiveInto(memory);
    }

    @Override
    public String describe(final LaneAddress address) {
        return transport.describe(address);
    }

    @Override
    public int readyDescriptor() {
        return transport.readyDescriptor();
    }

    @Override
    public @Nullable OneSided oneSided() {
        return transport.oneSided();
    }

    @Override
    public long memoryRegistrations() {
        return transport.memoryRegistrations();
    }

    @Override
    public long registrationHits() {
        return transport.registrationHits();
    }

    @Override
    public void close() {
        transport.close();
    }
}
