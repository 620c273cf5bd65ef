package io.framecast.engine.subscribe;

import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.Transport;
import io.framecast.engine.port.ForwardingTransport;
import java.util.concurrent.locks.ReentrantLock;

/// A transport whose lanes the conductor opens and the receiver's thread closes, one thread at a time.
final class SharedTransport extends ForwardingTransport {
    private final ReentrantLock lock = new ReentrantLock();

    SharedTransport(final Transport transport) {
        super(transport);
    }

    @Override
    public Lane open(final LaneConfig config) {
        lock.lock();
        try {
            return super.open(config);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            super.close();
        } finally {
            lock.unlock();
        }
    }
}
