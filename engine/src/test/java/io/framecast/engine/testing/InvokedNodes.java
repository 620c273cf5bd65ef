package io.framecast.engine.testing;

import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.provider.TransportProvider;
import io.framecast.engine.node.TestNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Nodes whose agents all run on the test's thread, which decides which node runs and which is silent.
public final class InvokedNodes implements AutoCloseable {
    private static final long WAIT_NS = 60_000_000_000L;

    private final List<Framecast> running = new ArrayList<>();
    private final List<Framecast> all = new ArrayList<>();
    private final List<String> notices = new ArrayList<>();
    private final NodeConfig config =
            NodeConfig.DEFAULT.withThreading(Threading.INVOKER).withSeed(21).withNotices(notices::add);

    public Framecast launch() {
        return add(Framecast.launch(config));
    }

    /// A node that loses datagrams.
    public Framecast launchLossy(final double lossProbability) {
        return add(Framecast.launch(config.withFaults(new NodeConfig.Faults(lossProbability))));
    }

    /// A node that writes its counters to this file.
    public Framecast launch(final Path counters) {
        return add(Framecast.launch(config.withCountersFile(counters)));
    }

    /// A node with one transport only, and host memory.
    public Framecast launch(final TransportProvider transport) {
        return add(TestNode.launch(config, transport));
    }

    private Framecast add(final Framecast node) {
        all.add(node);
        running.add(node);
        return node;
    }

    /// From now on the node does nothing.
    public void silence(final Framecast node) {
        running.remove(node);
    }

    /// Ends the silence of a node.
    public void resume(final Framecast node) {
        running.add(node);
    }

    /// The notices of all nodes.
    public List<String> notices() {
        return notices;
    }

    public void cycle() {
        int work = 0;
        for (final Framecast node : running) {
            work += node.doWork();
        }
        if (work == 0) {
            LockSupport.parkNanos(20_000);
        }
    }

    public void until(final BooleanSupplier condition, final String what) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > WAIT_NS) {
                throw new AssertionError("waited in vain for: " + what + "; " + notices);
            }
            cycle();
        }
    }

    @Override
    public void close() {
        all.forEach(Framecast::close);
    }
}
