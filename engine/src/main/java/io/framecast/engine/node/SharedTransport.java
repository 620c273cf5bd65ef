package io.framecast.engine.node;

import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import java.util.concurrent.locks.ReentrantLock;

/// A transport whose lanes are opened by two threads, one at a time: the conductor's for sessions, the
/// receiver's for what a co-root repairs by.
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
    public int readyDescriptor() {
        return transport.readyDescriptor();
    }

    @Override
    public void close() {
        transport.close();
    }
}
