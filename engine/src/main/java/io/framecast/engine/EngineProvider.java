package io.framecast.engine;

import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeProvider;
import io.framecast.engine.node.FramecastNode;

/// Launches nodes; found by `ServiceLoader`.
public final class EngineProvider implements NodeProvider {
    @Override
    public Framecast launch(final NodeConfig config) {
        return new FramecastNode(config);
    }
}
