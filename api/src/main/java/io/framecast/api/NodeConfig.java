package io.framecast.api;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;

/// Settings of a node; those of a stream are in its [Channel].
///
/// @param threading which threads run the agents
/// @param countersFile the memory-mapped counters file, readable by other processes; empty: a file of its own in
///     the temporary directory
/// @param metrics where Prometheus' scrapes are served at `/metrics`
/// @param faults losses to inject on the receive side, for tests and demonstrations
/// @param seed seed of everything random that is not a secret (back-off, injected loss); 0 takes one from the
///     system
/// @param notices takes one-line notices: which transport and device were chosen, warnings, state changes. Called
///     from agents: must be quick and must not throw. Unless set, the [System.Logger] `io.framecast` at level INFO
public record NodeConfig(
        Threading threading,
        Optional<Path> countersFile,
        Metrics metrics,
        Faults faults,
        long seed,
        Consumer<String> notices) {
    public static final int NO_METRICS = -1;

    public static final NodeConfig DEFAULT =
            new NodeConfig(Threading.SHARED, Optional.empty(), Metrics.NONE, Faults.NONE, 0, NodeConfig::log);

    private static void log(final String notice) {
        System.getLogger("io.framecast").log(System.Logger.Level.INFO, notice);
    }

    /// How agents get their time.
    public enum Threading {
        /// One thread for sender, receiver and conductor.
        SHARED,
        /// A thread for each.
        DEDICATED,
        /// None: the caller runs [Framecast#doWork].
        INVOKER
    }

    /// Where metrics are served.
    ///
    /// @param address of a local interface, or a name for it; `0.0.0.0` for all. What listens there is neither
    ///     encrypted nor authenticated
    /// @param port 0 picks a free one, −1 serves none
    public record Metrics(String address, int port) {
        /// The loopback interface, which other hosts and network namespaces do not reach.
        public static final String LOOPBACK = "localhost";

        public static final Metrics NONE = new Metrics(LOOPBACK, NO_METRICS);

        public Metrics {
            if (port < NO_METRICS || port > 65_535) {
                throw new IllegalArgumentException("metrics-port: expected -1 … 65535, got " + port);
            }
            if (address.isEmpty()) {
                throw new IllegalArgumentException("metrics-address: expected an address or a name, got nothing");
            }
        }
    }

    /// Injected faults.
    ///
    /// @param lossProbability chance of each received datagram, on every lane, to be dropped; 0 ≤ p < 1
    public record Faults(double lossProbability) {
        public static final Faults NONE = new Faults(0);

        public Faults {
            if (!(lossProbability >= 0 && lossProbability < 1)) {
                throw new IllegalArgumentException("loss: expected 0 <= P < 1, got " + lossProbability);
            }
        }
    }

    public NodeConfig withThreading(final Threading value) {
        return new NodeConfig(value, countersFile, metrics, faults, seed, notices);
    }

    public NodeConfig withCountersFile(final Path value) {
        return new NodeConfig(threading, Optional.of(value), metrics, faults, seed, notices);
    }

    /// On the loopback interface, unless the address was set.
    public NodeConfig withMetricsPort(final int value) {
        return withMetrics(new Metrics(metrics.address, value));
    }

    public NodeConfig withMetrics(final Metrics value) {
        return new NodeConfig(threading, countersFile, value, faults, seed, notices);
    }

    public NodeConfig withFaults(final Faults value) {
        return new NodeConfig(threading, countersFile, metrics, value, seed, notices);
    }

    public NodeConfig withSeed(final long value) {
        return new NodeConfig(threading, countersFile, metrics, faults, value, notices);
    }

    public NodeConfig withNotices(final Consumer<String> value) {
        return new NodeConfig(threading, countersFile, metrics, faults, seed, value);
    }
}
