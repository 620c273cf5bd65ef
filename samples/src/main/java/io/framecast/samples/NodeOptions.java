package io.framecast.samples;

import io.framecast.api.NodeConfig;
import io.framecast.api.error.ConfigException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Settings of the node, shared by all commands that run one.
final class NodeOptions {
    static final int PORT_MAX = 65_535;

    private static final long PATTERN_SEED = 1;

    @Option(
            names = "--loss",
            paramLabel = "P",
            description = "Drop received datagrams with this probability (0 <= P < 1), on every lane.")
    private double loss;

    @Option(
            names = "--seed",
            paramLabel = "N",
            description =
                    "Seed of the test pattern (default 1), of --loss and of back-off (default: a new one each run).")
    private @Nullable Long seed;

    @Option(
            names = "--metrics-port",
            paramLabel = "N",
            description = "Serve Prometheus metrics at http://localhost:N/metrics; 0 picks a free port.")
    private @Nullable Integer metricsPort;

    /// @throws ConfigException when an option is out of range
    NodeConfig config(final Environment environment) {
        if (metricsPort != null && (metricsPort < 0 || metricsPort > PORT_MAX)) {
            throw new ConfigException("--metrics-port: expected 0 … " + PORT_MAX + ", got " + metricsPort);
        }
        try {
            return NodeConfig.DEFAULT
                    .withFaults(new NodeConfig.Faults(loss))
                    .withSeed(seed == null ? 0 : seed)
                    .withMetricsPort(metricsPort())
                    .withNotices(environment.console()::line);
        } catch (final IllegalArgumentException e) {
            throw new ConfigException("--" + e.getMessage(), e);
        }
    }

    long patternSeed() {
        return seed == null ? PATTERN_SEED : seed;
    }

    double loss() {
        return loss;
    }

    @Nullable
    Long seed() {
        return seed;
    }

    int metricsPort() {
        return metricsPort == null ? NodeConfig.NO_METRICS : metricsPort;
    }
}
