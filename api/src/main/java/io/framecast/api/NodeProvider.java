package io.framecast.api;

/// Makes nodes. The engine implements it; [Framecast#launch] finds it with `ServiceLoader`.
public interface NodeProvider {
    Framecast launch(NodeConfig config);
}
