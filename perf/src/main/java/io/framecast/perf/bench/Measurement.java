package io.framecast.perf.bench;

import io.framecast.perf.rivals.ReceiverReport;
import io.framecast.perf.rivals.SourceReport;
import io.framecast.perf.rivals.StreamSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/// Measures one system in one case, once: starts its processes, waits for their reports.
final class Measurement implements AutoCloseable {
    // Odd at its end: Aeron takes the even neighbour for its feedback.
    private static final String GROUP = "224.20.30.39";
    private static final int PORT_FIRST = 20_000;
    private static final int PORTS_PER_STREAM = 8;
    private static final int STREAMS = 1_000;
    private static final double START_SECONDS = 40;
    private static final double SLOWEST = 15;
    private static final double SLOWEST_BYTES_PER_SECOND = 2e6;

    private final BenchPlan plan;
    private final Consumer<String> console;
    private final Set<String> told = ConcurrentHashMap.newKeySet();
    private final Namespaces namespaces = new Namespaces();
    private final List<ChildProcess> children = new ArrayList<>();
    private int stream = RandomGenerator.getDefault().nextInt(STREAMS);
    private boolean stopped;

    Measurement(final BenchPlan plan, final Consumer<String> console) {
        this.plan = plan;
        this.console = console;
    }

    RoundResult run(final BenchCase setting, final BenchSystem system)
            throws InterruptedException, MeasurementFailedException {
        final BenchNetwork network = network(setting);
        final StreamSpec spec = spec(setting, network);
        try {
            final List<ChildProcess> receivers = new ArrayList<>();
            for (int i = 0; i < setting.receivers(); i++) {
                final BenchNetwork.Host host = network.receiver(i);
                receivers.add(start(
                        new ChildProcess.Role(BenchChild.SUBSCRIBE, system, host.prefix()),
                        spec.of(host.address(), i)));
            }
            final ChildProcess source = start(
                    new ChildProcess.Role(
                            BenchChild.PUBLISH, system, network.source().prefix()),
                    spec);
            return gather(setting, source, receivers);
        } catch (final MeasurementFailedException e) {
            requireGoing();
            throw e;
        } finally {
            endChildren();
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
            return namespaces.network(new Namespaces.Key(
                    setting.net(), setting.mtuBytes(), setting.receivers(), setting.offload(), setting.loss()));
        } catch (final IOException e) {
            throw new MeasurementFailedException(String.valueOf(e.getMessage()), false);
        }
    }

    private StreamSpec spec(final BenchCase setting, final BenchNetwork network) {
        // Ports of the streams before may still hear what was under way.
        stream = (stream + 1) % STREAMS;
        final boolean onLoopback = setting.net() == BenchNet.LOOPBACK;
        final String source = network.source().address();
        return new StreamSpec(
                new StreamSpec.Load(
                        setting.frameBytes(),
                        setting.receivers(),
                        setting.framesPerSecond(),
                        (long) (plan.warmUpSeconds() * 1e9),
                        (long) (plan.seconds() * 1e9)),
                new StreamSpec.Link(
                        GROUP,
                        PORT_FIRST + stream * PORTS_PER_STREAM,
                        source,
                        source,
                        network.device(),
                        setting.mtuBytes(),
                        plan.socketBufferBytes(),
                        setting.offload() || !onLoopback,
                        onLoopback ? setting.loss() : 0),
                0);
    }

    private RoundResult gather(final BenchCase setting, final ChildProcess source, final List<ChildProcess> receivers)
            throws InterruptedException, MeasurementFailedException {
        final double publishing = plan.warmUpSeconds() + plan.seconds();
        final long endNs = System.nanoTime()
                + (long) (1e9
                        * (START_SECONDS + SLOWEST * publishing + setting.frameBytes() / SLOWEST_BYTES_PER_SECOND));
        final List<ReceiverReport> reports = new ArrayList<>();
        for (final ChildProcess receiver : receivers) {
            await(receiver, source, endNs);
            reports.add(ReceiverReport.parse(receiver.report()));
        }
        source.closeInput();
        await(source, source, System.nanoTime() + TimeUnit.SECONDS.toNanos((long) START_SECONDS));
        final boolean countsInterface = setting.net() != BenchNet.LOOPBACK && !setting.offload();
        return RoundResult.of(SourceReport.parse(source.report()), reports, countsInterface);
    }

    // When one end has failed the other waits for it in vain; its complaint is the reason of both.
    private static void await(final ChildProcess child, final ChildProcess source, final long endNs)
            throws InterruptedException, MeasurementFailedException {
        while (!child.hasEnded()) {
            if (source.hasFailed()) {
                throw source.failed();
            }
            if (System.nanoTime() > endNs) {
                throw child.failed();
            }
        }
    }

    private synchronized ChildProcess start(final ChildProcess.Role role, final StreamSpec spec) {
        requireGoing();
        final ChildProcess child = ChildProcess.start(role, spec, this::tell);
        children.add(child);
        return child;
    }

    // What each process has to say is shown once.
    private void tell(final String line) {
        if (!line.isBlank() && told.add(line)) {
            console.accept(line);
        }
    }

    private synchronized void endChildren() {
        children.forEach(ChildProcess::close);
        children.clear();
    }

    /// Ends what is being measured. Any thread.
    synchronized void stop() {
        stopped = true;
        endChildren();
    }

    @Override
    public void close() {
        stop();
        namespaces.close();
    }
}
