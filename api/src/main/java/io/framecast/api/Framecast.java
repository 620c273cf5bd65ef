package io.framecast.api;

import io.framecast.api.error.ConfigException;
import java.util.ServiceLoader;

/// A node: the publishers and subscribers of one process, with the agents that serve them.
///
/// Threading: every method may be called from any thread. A [Publisher] or [Subscriber] is then used by one
/// thread at a time; the second of two that use one at the same time gets an [IllegalStateException]. With
/// [NodeConfig.Threading#INVOKER] no thread is started: the agents run on the threads that call [#doWork], and
/// on those that wait in [Subscriber#awaitFrame], [Publisher#awaitRoom] or a close. One of these threads runs
/// the agents at a time; the others sleep, or return.
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
    /// @throws io.framecast.api.error.FramecastException when the channel cannot be opened; the line says how
    ///     to fix it
    Publisher publish(Channel channel);

    /// Listens on a channel. Returns at once; the subscriber joins the channel's source when one is heard.
    ///
    /// @throws io.framecast.api.error.FramecastException when the channel or the device cannot be opened
    Subscriber subscribe(Channel channel);

    /// A codec for typed metadata that knows exactly these records. Both ends must register the same records in
    /// the same order.
    Codec codec(java.util.List<Class<? extends Record>> records);

    /// One duty cycle of all agents, for [NodeConfig.Threading#INVOKER]. Any thread may call this, also while
    /// others publish, subscribe or wait: where another thread is running the agents, nothing is done.
    ///
    /// @return how much work was done; 0 means the caller may idle: there was nothing to do, another thread
    ///     runs the agents, or the node is closed
    /// @throws IllegalStateException in any other threading mode, and where an agent's handler calls this
    int doWork();

    /// Closes publishers (without linger), subscribers and agents. Idempotent; from any thread, also while
    /// others are in [#doWork] or wait: these then return.
    ///
    /// @throws io.framecast.api.error.DeviceException when work on a subscriber's device, a kernel on a
    ///     frame's stream perhaps, has not ended some seconds later: all else is closed, what it may touch is
    ///     not freed; calling again, when it has ended, frees that
    @Override
    void close();
}
