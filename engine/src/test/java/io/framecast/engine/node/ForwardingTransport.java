package io.framecast.engine.node;

import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;

/// A transport that forwards its calls to another, but has no one-sided operations. A test overrides the calls that it
/// changes.
class ForwardingTransport implements Transport {
    final Transport inner;

    ForwardingTransport(final Transport inner) {
        this.inner = inner;
    }

    @Override
    public TransportCapabilities capabilities() {
        return inner.capabilities();
    }

    @Override
    public boolean isOneHost(final LaneAddress first, final LaneAddress second) {
        return inner.isOneHost(first, second);
    }

    @Override
    public Lane open(final LaneConfig config) {
        return inner.open(config);
    }

    @Override
    public void close() {
        inner.close();
    }
}
