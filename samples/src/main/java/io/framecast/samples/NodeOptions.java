package io.framecast.samples;

import io.framecast.api.NodeConfig;
import io.framecast.api.error.ConfigException;
import io.framecast.samples.options.Within;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of the commands that run a node.
public final class NodeOptions {
    public static final int PORT_MAX = 65_535;
    /// Longer than any run.
    public static final Duration FOREVER = Duration.ofDays(3_650);

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
            names = {"-v", "--verbose"},
            description = "Also say which placements of payloads were not taken, and why.")
    private boolean verbose;

    @Option(
            names = "--metrics-port",
            paramLabel = "N",
            description = "Serve Prometheus metrics at http://localhost:N/metrics; 0 picks a free port.")
    @Within(most = PORT_MAX)
    private @Nullable Integer metricsPort;

    @Option(
            names = "--metrics-address",
            paramLabel = "A",
            description = "Serve them on this address of the host, 0.0.0.0 for all, unencrypted; default localhost.")
    private String metricsAddress = NodeConfig.Metrics.LOOPBACK;

    /// @throws ConfigException when an option is out of range
    public NodeConfig config(final Environment environment) {
        return checked(() -> NodeConfig.DEFAULT
                .withFaults(new NodeConfig.Faults(loss))
                .withSeed(seed == null ? 0 : seed)
                .withMetrics(new NodeConfig.Metrics(metricsAddress, metricsPort()))
                .withNotices(environment.console()::line));
    }

    /// Makes a value of an option. The API's messages begin with a key, which is the option's name too.
    ///
    /// @throws ConfigException naming the option, when the value is out of range
    public static <T> T checked(final Supplier<T> value) {
        try {
            return value.get();
        } catch (final IllegalArgumentException | ConfigException e) {
            throw new ConfigException("--" + e.getMessage(), e);
        }
    }

    /// Seconds as written on the command line.
    public static Duration seconds(final String option, final double seconds) {
        if (!(seconds >= 0 && seconds <= FOREVER.toSeconds())) {
            throw new ConfigException(option + ": expected seconds >= 0, got " + seconds);
        }
        return Duration.ofNanos(Math.round(seconds * 1e9));
    }

    public long patternSeed() {
        return seed == null ? PATTERN_SEED : seed;
    }

    public double loss() {
        return loss;
    }

    @Nullable
    public Long seed() {
        return seed;
    }

    public boolean verbose() {
        return verbose;
    }

    public String metricsAddress() {
        return metricsAddress;
    }

    public int metricsPort() {
        return metricsPort == null ? NodeConfig.NO_METRICS : metricsPort;
    }
}
