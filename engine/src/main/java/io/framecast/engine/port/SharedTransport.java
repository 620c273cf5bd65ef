package io.framecast.engine.port;

import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.GatherSource;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A provider's transport as the engine uses it. The conductor opens its lanes and an agent closes them, one thread at
/// a time. Without one-sided operations (`one-sided=off`) it accesses no peer's memory, and no peer accesses memory of
/// this process. Owns the provider's transport.
public final class SharedTransport implements Transport {
    private final Transport transport;
    private final boolean isOneSided;

    public SharedTransport(final Transport transport, final boolean isOneSided) {
        this.transport = transport;
        this.isOneSided = isOneSided;
    }

    @Override
    public TransportCapabilities capabilities() {
        return transport.capabilities();
    }

    @Override
    public synchronized Lane open(final LaneConfig config) {
        return transport.open(config);
    }

    @Override
    public Optional<String> canReceiveInto(final DeviceRegion memory) {
        return transport.canReceiveInto(memory);
    }

    @Override
    public @Nullable GatherSource gatherFrom(final DeviceRegion memory) {
        return transport.gatherFrom(memory);
    }

    @Override
    public String describe(final LaneAddress address) {
        return transport.describe(address);
    }

    @Override
    public boolean isOneHost(final LaneAddress first, final LaneAddress second) {
        return transport.isOneHost(first, second);
    }

    @Override
    public String networkInterface() {
        return transport.networkInterface();
    }

    @Override
    public int readyDescriptor() {
        return transport.readyDescriptor();
    }

    @Override
    public @Nullable OneSided oneSided() {
        return isOneSided ? transport.oneSided() : null;
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
    public synchronized void close() {
        transport.close();
    }
}
