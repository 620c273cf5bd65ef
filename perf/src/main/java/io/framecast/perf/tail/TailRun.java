package io.framecast.perf.tail;

import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.harness.Network;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.Pool;
import io.framecast.perf.harness.Pools;
import io.framecast.perf.harness.Records;
import io.framecast.perf.table.Percentiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/// Times repairs, case by case: fresh processes for each, which first carry streams at full rate, to be
/// measured and to get warm, then the stream that is timed. All of these lose alike.
final class TailRun implements AutoCloseable {
    private static final int PORT = 20_100;
    private static final double LEAD_SECONDS = 1;
    private static final double FLOOD_LEAD_SECONDS = 0.3;
    private static final double FLOOD_SECONDS = 1;
    private static final int FLOODS_MIN = 3;
    private static final int FLOODS_MAX = 8;
    private static final double STEADY = 1.1;
    private static final double NS_PER_SECOND = 1e9;
    private static final long END_SECONDS = 60;

    private final Networks networks = new Networks();
    private final Pools<TailCase> pools = new Pools<>();
    private final double load;
    private final double framesPerSecond;
    private final double seconds;
    private final Consumer<String> console;
    private int streams;

    /// @param load share of the capacity that the timed stream takes
    /// @param framesPerSecond instead; 0 for the share
    TailRun(final double load, final double framesPerSecond, final double seconds, final Consumer<String> console) {
        this.load = load;
        this.framesPerSecond = framesPerSecond;
        this.seconds = seconds;
        this.console = console;
    }

    TailRow measure(final TailCase setting) throws IOException, MeasurementFailedException, InterruptedException {
        try {
            final Network network =
                    networks.get(new Networks.Key(TailSpec.LINKS, setting.subscribers(), setting.offload()));
            final double capacity = flood(network, setting);
            final double fps = framesPerSecond > 0 ? framesPerSecond : load * capacity;
            console.accept(String.format(Locale.ROOT, "%.0f frames/s are taken, %.0f offered", capacity, fps));
            final TailSpec spec = spec(network, setting, fps, LEAD_SECONDS, seconds);
            final List<TailReport> reports = run(network, setting, spec);
            final TailReport publisher = reports.removeLast();
            return new TailRow(
                    setting,
                    capacity,
                    fps,
                    Percentiles.of(publisher.pingNs()),
                    Percentiles.of(publisher.sourceRttNs()).p50Us(),
                    reports.stream()
                            .flatMap(report -> report.log().events().stream())
                            .filter(event -> event.kind() == TailLog.Kind.LOST)
                            .count(),
                    reports.stream().mapToLong(TailReport::repaired).sum(),
                    TailJoin.of(
                            spec.load(),
                            publisher.log(),
                            reports.stream().map(TailReport::log).toList()));
        } finally {
            pools.end(setting);
        }
    }

    /// Until the rate grows no more, for then the processes are warm.
    ///
    /// @return frames per second
    private double flood(final Network network, final TailCase setting)
            throws IOException, MeasurementFailedException, InterruptedException {
        double before = 0;
        for (int i = 1; ; i++) {
            final TailSpec spec = spec(network, setting, 0, FLOOD_LEAD_SECONDS, FLOOD_SECONDS);
            final double taken = run(network, setting, spec).getLast().framesPerSecond();
            if (i >= FLOODS_MIN && (taken < STEADY * before || i == FLOODS_MAX)) {
                return Math.max(taken, before);
            }
            before = Math.max(taken, before);
        }
    }

    private TailSpec spec(
            final Network network,
            final TailCase setting,
            final double fps,
            final double leadSeconds,
            final double measureSeconds)
            throws IOException {
        // Late datagrams of the stream before must not meet this one.
        final int port = PORT + streams++ % 2 * 8;
        network.divert(setting.losses(), port, TailSpec.DIVERTED_PORT);
        return new TailSpec(
                new TailSpec.Load(setting.frameBytes(), fps, (long) (leadSeconds * NS_PER_SECOND), (long)
                        (measureSeconds * NS_PER_SECOND)),
                port,
                IntStream.range(0, setting.subscribers())
                        .mapToObj(i -> network.host(i).address())
                        .toList(),
                network.host(Pool.SOURCE).address());
    }

    /// @return reports of the subscribers, then of the publisher
    private List<TailReport> run(final Network network, final TailCase setting, final TailSpec spec)
            throws MeasurementFailedException, InterruptedException {
        final long beginNs = System.nanoTime();
        final long endNs =
                beginNs + spec.load().leadNs() + spec.load().measureNs() + TimeUnit.SECONDS.toNanos(END_SECONDS);
        final Supplier<Pool> start = () ->
                Pool.start("tail", setting.subscribers(), TailRole.class, List.of(), network::host, console, _ -> {});
        final List<TailSpec> ofSubscribers =
                spec.receivers().stream().map(spec::of).toList();
        final Pool.Reports texts = pools.run(setting, start, pool -> pool.run(spec, ofSubscribers, 0, endNs));
        final List<TailReport> reports = new ArrayList<>(texts.receivers(TailReport.class));
        reports.add(Records.read(TailReport.class, texts.source()));
        for (final TailReport report : reports) {
            requireSameClock(beginNs, report.clockNs());
        }
        return reports;
    }

    // The join compares times of several processes: all must read one clock.
    private static void requireSameClock(final long beginNs, final long clockNs) throws MeasurementFailedException {
        if (clockNs - beginNs < 0 || System.nanoTime() - clockNs < 0) {
            throw new MeasurementFailedException(
                    "the clocks of two processes differ", MeasurementFailedException.Reason.FAILED);
        }
    }

    /// Any thread.
    @Override
    public void close() {
        pools.close();
        networks.close();
    }
}
