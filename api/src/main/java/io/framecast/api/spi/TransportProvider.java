package io.framecast.api.spi;

import io.framecast.api.Channel;
import java.util.Optional;

/// Found with `ServiceLoader`; one per transport name.
public interface TransportProvider {
    /// The scheme in a channel URI: `udp`, `aeron`, `verbs`.
    String name();

    /// Why this transport cannot run on this machine; empty when it can. Called once per `auto` choice; must
    /// not throw.
    Optional<String> unavailable();

    /// Like [#unavailable()], for one channel: its interface may have no device, its family of addresses no
    /// port.
    default Optional<String> unavailable(final Channel channel) {
        return unavailable();
    }

    /// `transport=auto` takes the available provider with the highest rank.
    int rank();

    /// Opens the transport for one channel.
    ///
    /// @throws io.framecast.api.error.FramecastException with one line that names the mend
    Transport open(TransportConfig config);
}
