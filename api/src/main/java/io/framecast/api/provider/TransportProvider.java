package io.framecast.api.provider;

import io.framecast.api.Channel;
import io.framecast.api.spi.Transport;
import java.util.Optional;

/// Found with `ServiceLoader`; one per transport name. The name belongs to the provider: a channel may use any
/// name that a provider on the class path has.
public interface TransportProvider {
    /// The scheme in a channel URI, such as `udp`: 1 … 32 of `a-z`, `0-9` and `-`, a letter first, and not
    /// `auto`.
    String name();

    /// Why this transport cannot run on this machine; empty when it can. Called once per `auto` choice; must
    /// not throw.
    Optional<String> unavailable();

    /// Like [#unavailable()], for one channel that this transport carries: its interface may have no device,
    /// its family of addresses no port.
    default Optional<String> unavailable(final Channel channel) {
        return unavailable();
    }

    /// Whether this transport carries such an address, on any machine. Every transport carries multicast
    /// groups; unicast fan-out ([Channel.Fanout]) and shared memory ([Channel.Ipc]) are capabilities that a
    /// transport declares here.
    default boolean carries(final Channel channel) {
        return channel instanceof Channel.Multicast;
    }

    /// `transport=auto` takes the available provider with the highest rank among those that carry the channel.
    int rank();

    /// Opens the transport for one channel.
    ///
    /// @throws io.framecast.api.error.FramecastException with one line that says how to fix it
    Transport open(TransportConfig config);
}
