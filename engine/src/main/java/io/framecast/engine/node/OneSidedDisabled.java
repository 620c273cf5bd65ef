package io.framecast.engine.node;

import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import java.util.Optional;

/// A transport without one-sided operations (`one-sided=off`): it accesses no peer's memory, and no peer accesses
/// memory of this process.
final class OneSidedDisabled implements Transport {
    private final Transport transport;

    OneSidedDisabled(final Transport transport) {
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
