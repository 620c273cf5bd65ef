package io.framecast.api.spi;

import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;

/// Makes nodes: implemented by the engine, found with `ServiceLoader`, used by [Framecast#launch].
public interface NodeProvider {
    Framecast launch(NodeConfig config);
}
