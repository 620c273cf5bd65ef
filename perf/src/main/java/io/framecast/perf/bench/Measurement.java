package io.framecast.perf.bench;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.Links;
import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.harness.Network;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.Pool;
import io.framecast.perf.harness.Pools;
import io.framecast.perf.harness.Records;
import io.framecast.perf.rivals.ReceiverReport;
import io.framecast.perf.rivals.SourceReport;
import io.framecast.perf.rivals.StockAeronSystem;
import io.framecast.perf.rivals.StreamSpec;
import io.framecast.samples.network.FreePorts;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/// Measures systems in the cases of one group: keeps the processes of each system, has them carry streams,
/// gathers their reports.
final class Measurement implements BenchRun.Measuring, AutoCloseable {
    // Odd at its end: Aeron takes the even neighbour for its feedback.
    private static final String GROUP = "224.20.30.39";
    private static final int PORTS_PER_STREAM = 8;
    private static final double START_SECONDS = 40;
    private static final double SLOWEST = 15;
    private static final double SLOWEST_BYTES_PER_SECOND = 2e6;

    private final int socketBufferBytes;
    private final Consumer<String> console;
    private final Set<String> shown = ConcurrentHashMap.newKeySet();
    private final Networks networks = new Networks();
    private final Pools<BenchSystem> pools = new Pools<>();
    private final FreePorts ports = new FreePorts(RandomGenerator.getDefault());
    private BenchGroup group = new BenchGroup(List.of());

    /// @param socketBufferBytes the same for every system; 0 for what each gets by itself
    Measurement(final int socketBufferBytes, final Consumer<String> console) {
        this.socketBufferBytes = socketBufferBytes;
        this.console = console;
    }

    @Override
    public void begin(final BenchGroup next) {
        pools.endAll();
        group = next;
    }

    @Override
    public RoundResult run(final BenchCase setting, final BenchSystem system, final BenchTimes times)
            throws InterruptedException, MeasurementFailedException {
        if (times.areFromStart()) {
            begin(new BenchGroup(List.of(new BenchPlan.Part(setting, List.of(system)))));
        }
        final long startNs = System.nanoTime();
        final Network network = network(setting);
        final StreamSpec spec = spec(setting, system, times, network);
        final int bystanders = setting.bystander().isThere() ? 1 : 0;
        final List<StreamSpec> ofReceivers = IntStream.range(0, setting.receivers() + bystanders)
                .mapToObj(i -> spec.of(host(setting, system, network, i).address(), i))
                .toList();
        final long endNs = System.nanoTime()
                + (long) (1e9
                        * (START_SECONDS
                                + SLOWEST * (times.leadSeconds() + times.seconds())
                                + setting.frameBytes() / SLOWEST_BYTES_PER_SECOND));
        final Pool.Reports reports = pools.run(
                system, () -> start(setting, system, network), pool -> pool.run(spec, ofReceivers, bystanders, endNs));
        final SourceReport source = Records.read(SourceReport.class, reports.source());
        final List<ReceiverReport> all = reports.receivers(ReceiverReport.class);
        all.subList(setting.receivers(), all.size())
                .forEach(report ->
                        console.accept("beside: " + setting.bystander().text() + " received " + report.frames() + " of "
                                + source.frames() + " frames"));
        final boolean countsInterface = setting.net() != BenchNet.LOOPBACK && !setting.offload();
        final RoundResult result =
                RoundResult.of(source, all.subList(0, setting.receivers()), countsInterface, startNs);
        // Else this would measure a host group whose source is outside of it.
        if (system.equals(BenchSystem.LOCAL)
                && result.onHost().datagramsRead() * setting.mtuBytes() > source.bytes() / 2.0) {
            throw new MeasurementFailedException(
                    "its subscribers read frames from sockets: the publisher is in no host group on this machine",
                    MeasurementFailedException.Reason.FAILED);
        }
        return result;
    }

    private Network network(final BenchCase setting) throws MeasurementFailedException {
        try {
            final Links links = new Links(setting.net(), setting.mtuBytes(), 0);
            final Network network =
                    networks.get(new Networks.Key(links, hosts(setting, group.subscribersMax()), setting.offload()));
            network.set(
                    setting.loss(),
                    group.isLossy(),
                    hosts(setting, setting.receivers() + (setting.bystander().isThere() ? 1 : 0)));
            return network;
        } catch (final IOException e) {
            pools.requireGoing();
            throw new MeasurementFailedException(
                    String.valueOf(e.getMessage()), MeasurementFailedException.Reason.FAILED);
        }
    }

    private static int hosts(final BenchCase setting, final int receivers) {
        return setting.readers().areSumming() ? 1 : receivers;
    }

    // Readers that sum share the first receiver's host, and some systems' sources are there too.
    private static Network.Host host(
            final BenchCase setting, final BenchSystem system, final Network network, final int index) {
        final boolean isShared = setting.readers().areSumming();
        return network.host(isShared && (index != Pool.SOURCE || system.isLocal()) ? 0 : index);
    }

    private StreamSpec spec(
            final BenchCase setting, final BenchSystem system, final BenchTimes times, final Network network) {
        final boolean onLoopback = setting.net() == BenchNet.LOOPBACK;
        final String source = host(setting, system, network, Pool.SOURCE).address();
        return new StreamSpec(
                new StreamSpec.Load(
                        setting.frameBytes(),
                        setting.receivers(),
                        setting.framesPerSecond(),
                        (long) (times.leadSeconds() * 1e9),
                        (long) (times.seconds() * 1e9),
                        setting.bystander(),
                        times.areFromStart() ? (long) (StartWindows.SECONDS * 1e9) : 0,
                        setting.readers()),
                new StreamSpec.Link(
                        GROUP,
                        ports.range(PORTS_PER_STREAM),
                        source,
                        network.device(),
                        setting.mtuBytes(),
                        socketBufferBytes,
                        setting.offload() || !onLoopback,
                        onLoopback ? setting.loss() : 0),
                source,
                0);
    }

    private Pool start(final BenchCase setting, final BenchSystem system, final Network network) {
        return Pool.start(
                system.name(),
                group.subscribersMax(),
                BenchRole.class,
                List.of(system.name()),
                index -> host(setting, system, network, index),
                this::show,
                StockAeronSystem::deleteAbandoned);
    }

    // A line of several processes is shown once.
    private void show(final String line) {
        if (shown.add(line.replaceFirst(" receiver \\d+]", ""))) {
            console.accept(line);
        }
    }

    /// Ends the measurement under way. Any thread.
    void stop() {
        pools.close();
    }

    @Override
    public void close() {
        stop();
        networks.close();
    }
}
