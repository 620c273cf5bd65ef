package io.framecast.perf.bench;

import io.framecast.perf.rivals.ReceiverReport;
import io.framecast.perf.rivals.SourceReport;
import io.framecast.perf.rivals.StreamSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/// Measures systems in the cases of one group after the other: keeps the processes of each system, has them
/// carry streams, gathers what they report.
final class Measurement implements BenchRun.Measuring, AutoCloseable {
    // Odd at its end: Aeron takes the even neighbour for its feedback.
    private static final String GROUP = "224.20.30.39";
    private static final int PORT_FIRST = 20_000;
    private static final int PORTS_PER_STREAM = 8;
    private static final int STREAMS = 1_000;
    private static final double START_SECONDS = 40;
    private static final double SLOWEST = 15;
    private static final double SLOWEST_BYTES_PER_SECOND = 2e6;

    private final int socketBufferBytes;
    private final Consumer<String> console;
    private final Set<String> told = ConcurrentHashMap.newKeySet();
    private final Namespaces namespaces = new Namespaces();
    private final Map<BenchSystem, SystemPool> pools = new HashMap<>();
    private BenchGroup group = new BenchGroup(List.of());
    private int stream = RandomGenerator.getDefault().nextInt(STREAMS);
    private boolean stopped;

    Measurement(final BenchPlan plan, final Consumer<String> console) {
        socketBufferBytes = plan.socketBufferBytes();
        this.console = console;
    }

    @Override
    public synchronized void begin(final BenchGroup next) {
        endPools();
        group = next;
    }

    @Override
    public RoundResult run(final BenchCase setting, final BenchSystem system, final BenchTimes times)
            throws InterruptedException, MeasurementFailedException {
        final BenchNetwork network = network(setting);
        final StreamSpec spec = spec(setting, times, network);
        final List<StreamSpec> ofReceivers = new ArrayList<>();
        final int bystanders = setting.bystander().isThere() ? 1 : 0;
        for (int i = 0; i < setting.receivers() + bystanders; i++) {
            ofReceivers.add(spec.of(network.receiver(i).address(), i));
        }
        final long endNs = System.nanoTime()
                + (long) (1e9
                        * (START_SECONDS
                                + SLOWEST * (times.leadSeconds() + times.seconds())
                                + setting.frameBytes() / SLOWEST_BYTES_PER_SECOND));
        try {
            final SystemPool.Reports reports = pool(system, network).run(spec, ofReceivers, endNs);
            final boolean countsInterface = setting.net() != BenchNet.LOOPBACK && !setting.offload();
            final SourceReport source = SourceReport.parse(reports.source());
            final List<ReceiverReport> all =
                    reports.receivers().stream().map(ReceiverReport::parse).toList();
            all.subList(setting.receivers(), all.size())
                    .forEach(report ->
                            console.accept("beside: " + setting.bystander().text() + " received " + report.frames()
                                    + " of " + source.frames() + " frames"));
            return RoundResult.of(source, all.subList(0, setting.receivers()), countsInterface);
        } catch (final MeasurementFailedException e) {
            requireGoing();
            endPool(system);
            throw e;
        }
    }

    // What is stopped fails, but that is not its failure.
    private synchronized void requireGoing() {
        if (stopped) {
            throw new StoppedException();
        }
    }

    private BenchNetwork network(final BenchCase setting) throws MeasurementFailedException {
        if (setting.net() == BenchNet.LOOPBACK) {
            return BenchNetwork.LOOPBACK;
        }
        try {
            final BenchNetwork network = namespaces.network(
                    new Namespaces.Key(setting.net(), setting.mtuBytes(), group.subscribersMax(), setting.offload()));
            network.set(
                    setting.loss(),
                    group.isLossy(),
                    setting.receivers() + (setting.bystander().isThere() ? 1 : 0));
            return network;
        } catch (final IOException e) {
            requireGoing();
            throw new MeasurementFailedException(String.valueOf(e.getMessage()), false);
        }
    }

    private StreamSpec spec(final BenchCase setting, final BenchTimes times, final BenchNetwork network) {
        // Ports of the streams before may still hear what was under way.
        stream = (stream + 1) % STREAMS;
        final boolean onLoopback = setting.net() == BenchNet.LOOPBACK;
        final String source = network.source().address();
        return new StreamSpec(
                new StreamSpec.Load(
                        setting.frameBytes(),
                        setting.receivers(),
                        setting.framesPerSecond(),
                        (long) (times.leadSeconds() * 1e9),
                        (long) (times.seconds() * 1e9),
                        setting.bystander()),
                new StreamSpec.Link(
                        GROUP,
                        PORT_FIRST + stream * PORTS_PER_STREAM,
                        source,
                        source,
                        network.device(),
                        setting.mtuBytes(),
                        socketBufferBytes,
                        setting.offload() || !onLoopback,
                        onLoopback ? setting.loss() : 0),
                0);
    }

    private synchronized SystemPool pool(final BenchSystem system, final BenchNetwork network) {
        requireGoing();
        return pools.computeIfAbsent(
                system, _ -> new SystemPool(new Starting(system, network), group.subscribersMax()));
    }

    /// Starts a system's processes where they belong.
    private final class Starting implements SystemPool.Starting {
        private final BenchSystem system;
        private final BenchNetwork network;

        Starting(final BenchSystem system, final BenchNetwork network) {
            this.system = system;
            this.network = network;
        }

        @Override
        public ChildProcess source(final Consumer<ChildProcess.Answer> answers) {
            return start(BenchChild.PUBLISH, network.source(), answers);
        }

        @Override
        public ChildProcess receiver(final int index, final Consumer<ChildProcess.Answer> answers) {
            return start(BenchChild.SUBSCRIBE, network.receiver(index), answers);
        }

        private ChildProcess start(
                final String role, final BenchNetwork.Host host, final Consumer<ChildProcess.Answer> answers) {
            return ChildProcess.start(
                    new ChildProcess.Role(role, system, host.prefix()), Measurement.this::tell, answers);
        }
    }

    // What each process has to say is shown once.
    private void tell(final String line) {
        if (!line.isBlank() && told.add(line)) {
            console.accept(line);
        }
    }

    private synchronized void endPool(final BenchSystem system) {
        final SystemPool pool = pools.remove(system);
        if (pool != null) {
            pool.close();
        }
    }

    private synchronized void endPools() {
        pools.values().forEach(SystemPool::close);
        pools.clear();
    }

    /// Ends what is being measured. Any thread.
    synchronized void stop() {
        stopped = true;
        endPools();
    }

    @Override
    public void close() {
        stop();
        namespaces.close();
    }
}
