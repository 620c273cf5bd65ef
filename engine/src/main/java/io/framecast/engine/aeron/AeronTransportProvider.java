package io.framecast.engine.aeron;

import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.Transport;
import java.util.Optional;
import org.agrona.concurrent.UnsafeBuffer;

/// Offers `aeron`: multicast, unicast fan-out and shared memory. The last choice of `transport=auto`, because it
/// copies each payload more often than `udp` and `verbs` do.
public final class AeronTransportProvider implements TransportProvider {
    private static final int RANK = 10;
    private static final String INTERNALS = "jdk.internal.misc";

    @Override
    public String name() {
        return AeronTransport.NAME;
    }

    @Override
    public Optional<String> unavailable() {
        final Module javaBase = Object.class.getModule();
        if (javaBase.isOpen(INTERNALS, UnsafeBuffer.class.getModule())) {
            return Optional.empty();
        }
        return Optional.of("aeron needs the JVM option --add-opens java.base/" + INTERNALS + "=ALL-UNNAMED");
    }

    @Override
    public boolean carries(final Channel channel) {
        return true;
    }

    @Override
    public int rank() {
        return RANK;
    }

    @Override
    public Transport open(final TransportConfig config) {
        return AeronTransport.open(config);
    }
}
