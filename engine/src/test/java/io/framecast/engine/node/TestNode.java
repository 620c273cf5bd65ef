package io.framecast.engine.node;

import io.framecast.api.NodeConfig;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.provider.TransportProvider;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.subscribe.ReceiverAgent;
import java.util.List;

/// Nodes with the providers of a test in place of those on the class path.
public final class TestNode {
    private TestNode() {}

    public static FramecastNode launch(
            final NodeConfig config,
            final List<TransportProvider> transports,
            final List<DeviceBackendProvider> devices) {
        return new FramecastNode(config, new Providers(config.notices(), transports, devices));
    }

    /// A node with one transport and host memory.
    public static FramecastNode launch(final NodeConfig config, final TransportProvider transport) {
        return launch(config, List.of(transport), List.of(new HostProvider()));
    }

    /// The agent of a node's subscriptions.
    public static ReceiverAgent receiver(final FramecastNode node) {
        return node.receiver();
    }
}
