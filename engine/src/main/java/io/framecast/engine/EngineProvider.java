package io.framecast.engine;

import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeProvider;
import io.framecast.api.error.ConfigException;
import io.framecast.engine.node.FramecastNode;

/// Launches nodes; found by `ServiceLoader`.
public final class EngineProvider implements NodeProvider {
    // Agrona reads and writes through it.
    private static final String NEEDED_PACKAGE = "jdk.internal.misc";

    /// @throws ConfigException when the JVM was started without the flags of framecast.args
    @Override
    public Framecast launch(final NodeConfig config) {
        if (!Object.class.getModule().isOpen(NEEDED_PACKAGE, EngineProvider.class.getModule())) {
            throw new ConfigException("JVM: the flag --add-opens java.base/" + NEEDED_PACKAGE
                    + "=ALL-UNNAMED is missing: start it by java @framecast.args …, a file beside Framecast's README");
        }
        return new FramecastNode(config);
    }
}
