package io.framecast.engine.testing;

import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.api.spi.FifoTransport;
import io.framecast.api.spi.Transport;
import java.util.Optional;

/// All transports of one network with BY_ARRIVAL placement, as the provider that channels name `verbs`.
///
/// @param network the network that the transports share
/// @param postedMax receives that a lane holds posted at most
public record FifoProvider(FifoNetwork network, int postedMax) implements TransportProvider {
    public FifoProvider(final FifoNetwork network) {
        this(network, FifoTransport.POSTED_MAX);
    }

    @Override
    public String name() {
        return "verbs";
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    @Override
    public int rank() {
        return 0;
    }

    @Override
    public Transport open(final TransportConfig config) {
        return new FifoTransport(network, postedMax);
    }
}
