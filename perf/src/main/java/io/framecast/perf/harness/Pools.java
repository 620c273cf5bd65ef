package io.framecast.perf.harness;

import io.framecast.api.error.ConfigException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/// The pools of a run, by contender, until the run is stopped. Any thread.
public final class Pools<K> implements AutoCloseable {
    private final Map<K, Pool> pools = new HashMap<>();
    private boolean stopped;

    /// A round of one contender's processes.
    public interface Round {
        Pool.Reports run(Pool pool) throws InterruptedException, MeasurementFailedException;
    }

    /// Runs a round. After a failure the next one gets fresh processes.
    ///
    /// @param start makes a pool where there is none
    /// @throws ConfigException when the run was stopped: what fails then is no failure of a contender
    public Pool.Reports run(final K contender, final Supplier<Pool> start, final Round round)
            throws InterruptedException, MeasurementFailedException {
        try {
            return round.run(get(contender, start));
        } catch (final MeasurementFailedException e) {
            requireGoing();
            end(contender);
            throw e;
        }
    }

    private synchronized Pool get(final K contender, final Supplier<Pool> start) {
        requireGoing();
        return pools.computeIfAbsent(contender, _ -> start.get());
    }

    /// @throws ConfigException when the run was stopped: what fails then is no failure of a contender
    public synchronized void requireGoing() {
        if (stopped) {
            throw new ConfigException("stopped before the end: nothing is reported");
        }
    }

    /// Ends the processes of one contender; its next round gets fresh ones.
    public synchronized void end(final K contender) {
        final Pool pool = pools.remove(contender);
        if (pool != null) {
            pool.close();
        }
    }

    public synchronized void endAll() {
        pools.values().forEach(Pool::close);
        pools.clear();
    }

    /// Stops the run.
    @Override
    public synchronized void close() {
        stopped = true;
        endAll();
    }
}
