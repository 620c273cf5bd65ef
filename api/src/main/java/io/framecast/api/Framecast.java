package io.framecast.api;

import io.framecast.api.error.ConfigException;
import io.framecast.api.spi.NodeProvider;
import java.util.ServiceLoader;

/// A node: the publishers and subscribers of one process, with the agents that serve them.
///
/// Threading: [#publish], [#subscribe], [#codec] and [#close] may be called from any thread. A [Publisher] or
/// [Subscriber] is then used by one thread at a time. With [NodeConfig.Threading#INVOKER] no thread is started and the
/// caller runs [#doWork] in a loop of its own.
public interface Framecast extends AutoCloseable {
    /// Starts a node.
    ///
    /// @throws ConfigException when the engine is not on the class path, or a setting cannot work
    static Framecast launch(final NodeConfig config) {
        return ServiceLoader.load(NodeProvider.class)
                .findFirst()
                .orElseThrow(() -> new ConfigException("no engine found: put framecast-engine on the class path"))
                .launch(config);
    }

    /// Starts a node with [NodeConfig#DEFAULT].
    static Framecast launch() {
        return launch(NodeConfig.DEFAULT);
    }

    /// Becomes a source on a channel: a new session begins.
    ///
    /// @throws io.framecast.api.error.FramecastException when the channel cannot be opened; the line names the mend
    Publisher publish(Channel channel);

    /// Listens on a channel. Returns at once; the subscriber joins the channel's source when one is heard.
    ///
    /// @throws io.framecast.api.error.FramecastException when the channel or the device cannot be opened
    Subscriber subscribe(Channel channel);

    /// A codec for typed metadata that knows exactly these records. Both ends must register the same records in
    /// the same order.
    Codec codec(java.util.List<Class<? extends Record>> records);

    /// One duty cycle of all agents, for [NodeConfig.Threading#INVOKER].
    ///
    /// @return how much work was done; 0 means the caller may idle
    /// @throws IllegalStateException in any other threading mode
    int doWork();

    /// Closes publishers (without linger), subscribers and agents. Idempotent.
    ///
    /// @throws io.framecast.api.error.DeviceException when work on a subscriber's device, a kernel on a
    ///     frame's stream perhaps, has not ended some seconds later: all else is closed, what it may touch is
    ///     not freed; calling again, when it has ended, frees that
    @Override
    void close();
}
