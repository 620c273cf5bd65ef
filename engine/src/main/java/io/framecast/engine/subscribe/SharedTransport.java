package io.framecast.engine.subscribe;

import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A transport whose lanes the conductor opens and the receiver's thread closes, one thread at a time.
final class SharedTransport implements Transport {
    private final Transport transport;
    private final ReentrantLock lock = new ReentrantLock();

    SharedTransport(final Transport transport) {
        this.transport = transport;
    }

    @Override
    public TransportCapabilities capabilities() {
        return transport.capabilities();
    }

    @Override
    public Lane open(final LaneConfig config) {
        lock.lock();
        try {
            return transport.open(config);
        } finally {
            lock.unlock();
        }
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
        lock.lock();
        try {
            transport.close();
        } finally {
            lock.unlock();
        }
    }
}
