package io.framecast.engine.node;

import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.Transport;
import io.framecast.engine.port.ForwardingTransport;
import org.jspecify.annotations.Nullable;

/// A transport without one-sided operations (`one-sided=off`): it accesses no peer's memory, and no peer accesses
/// memory of this process.
final class OneSidedDisabled extends ForwardingTransport {
    OneSidedDisabled(final Transport transport) {
        super(transport);
    }

    @Override
    public @Nullable OneSided oneSided() {
        return null;
    }
}
