package io.framecast.engine.spi;

import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.api.spi.FifoTransport;
import io.framecast.api.spi.Transport;
import java.util.Optional;

/// A transport that no module of Framecast knows: queues within this process, under the name `queue-test`.
public final class QueueTestProvider implements TransportProvider {
    private static final FifoNetwork NETWORK = FifoNetwork.lossless();

    @Override
    public String name() {
        return "queue-test";
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    /// Behind all others: `auto` never takes it on a machine with another.
    @Override
    public int rank() {
        return Integer.MIN_VALUE;
    }

    @Override
    public Transport open(final TransportConfig config) {
        return new FifoTransport(NETWORK);
    }
}
