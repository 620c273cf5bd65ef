package io.framecast.perf.tail;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.harness.Network;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.Pool;
import io.framecast.perf.harness.Pools;
import io.framecast.perf.harness.Records;
import io.framecast.perf.table.Percentiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Times repairs, case by case: fresh processes for each, which first carry streams at full rate, to be
/// measured and to get warm, then the stream that is timed. All of these lose alike.
final class TailRun implements AutoCloseable {
    private static final String GROUP = "224.20.30.41";
    private static final int PORT = 20_100;
    private static final int DIVERTED_PORT = 20_200;
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
    private final Offer offer;
    private final Consumer<String> console;
    private int streams;

    TailRun(final Offer offer, final Consumer<String> console) {
        this.offer = offer;
        this.console = console;
    }

    /// The load of the timed stream.
    ///
    /// @param load share of the capacity
    /// @param framesPerSecond instead; 0 for the share
    record Offer(double load, double framesPerSecond, double seconds) {}

    TailRow measure(final TailCase setting) throws IOException, MeasurementFailedException, InterruptedException {
        final Path folder = Files.createTempDirectory("framecast-tail");
        try {
            final Network network = networks.get(
                    new Networks.Key(BenchNet.BRIDGE, TailSpec.MTU_BYTES, setting.subscribers(), setting.offload()));
            final double capacity = flood(network, setting);
            final double fps = offer.framesPerSecond > 0 ? offer.framesPerSecond : offer.load * capacity;
            console.accept(String.format(Locale.ROOT, "%.0f frames/s are taken, %.0f offered", capacity, fps));
            final TailSpec spec = spec(network, setting, fps, LEAD_SECONDS, offer.seconds);
            final List<Map<?, ?>> reports = run(network, setting, spec, folder);
            final List<TailLog> logs = new ArrayList<>();
            for (int i = 0; i < reports.size(); i++) {
                logs.add(TailLog.read(log(folder, i)));
            }
            final List<TailLog> ofSubscribers = logs.subList(0, setting.subscribers());
            return new TailRow(
                    setting,
                    capacity,
                    fps,
                    Percentiles.of(numbers(reports.getLast(), "ping_ns")),
                    Percentiles.of(numbers(reports.getLast(), "source_rtt_ns")).p50Us(),
                    ofSubscribers.stream()
                            .flatMap(log -> log.events().stream())
                            .filter(event -> event.kind() == TailLog.Kind.LOST)
                            .count(),
                    reports.subList(0, setting.subscribers()).stream()
                            .mapToLong(report -> number(report, "repaired").longValue())
                            .sum(),
                    TailJoin.of(spec.load(), logs.getLast(), ofSubscribers));
        } finally {
            pools.end(setting);
            delete(folder);
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
            final double taken = number(run(network, setting, spec, Path.of("")).getLast(), "frames_per_s")
                    .doubleValue();
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
            final double seconds)
            throws IOException {
        final List<String> receivers = IntStream.range(0, setting.subscribers())
                .mapToObj(i -> network.receiver(i).address())
                .toList();
        // Late datagrams of the stream before must not meet this one.
        final int port = PORT + streams++ % 2 * 8;
        network.divert(setting.losses(), port, DIVERTED_PORT);
        return new TailSpec(
                new TailSpec.Load(setting.frameBytes(), fps, (long) (leadSeconds * NS_PER_SECOND), (long)
                        (seconds * NS_PER_SECOND)),
                new TailSpec.Link(GROUP, port, DIVERTED_PORT, receivers),
                network.source().address(),
                "");
    }

    /// @param folder for logs; empty for none
    /// @return reports of the subscribers, then of the publisher
    private List<Map<?, ?>> run(final Network network, final TailCase setting, final TailSpec spec, final Path folder)
            throws MeasurementFailedException, InterruptedException {
        final long beginNs = System.nanoTime();
        final boolean logs = spec.load().frames() > 0;
        final List<TailSpec> ofSubscribers = IntStream.range(0, setting.subscribers())
                .mapToObj(i -> spec.of(
                        network.receiver(i).address(), logs ? log(folder, i).toString() : ""))
                .toList();
        final TailSpec ofSource = spec.of(
                spec.localAddress(), logs ? log(folder, setting.subscribers()).toString() : "");
        final long endNs =
                beginNs + spec.load().leadNs() + spec.load().measureNs() + TimeUnit.SECONDS.toNanos(END_SECONDS);
        final Pool.Reports reports = pools.get(
                        setting,
                        () -> Pool.start(
                                "tail",
                                setting.subscribers(),
                                TailRole.class,
                                List.of(),
                                network::host,
                                console,
                                _ -> {}))
                .run(ofSource, ofSubscribers, 0, endNs);
        final List<Map<?, ?>> all = new ArrayList<>();
        reports.receivers().forEach(report -> all.add(Records.map(report)));
        all.add(Records.map(reports.source()));
        for (final Map<?, ?> report : all) {
            requireSameClock(beginNs, number(report, "clock_ns").longValue());
        }
        return all;
    }

    // The join compares times of several processes: all must read one clock.
    private static void requireSameClock(final long beginNs, final long clockNs) throws MeasurementFailedException {
        if (clockNs - beginNs < 0 || System.nanoTime() - clockNs < 0) {
            throw new MeasurementFailedException(
                    "the clocks of two processes differ", MeasurementFailedException.Reason.FAILED);
        }
    }

    private static Path log(final Path folder, final int child) {
        return folder.resolve("log" + child);
    }

    private static Number number(final Map<?, ?> report, final String name) {
        if (report.get(name) instanceof Number number) {
            return number;
        }
        throw new IllegalArgumentException("expected a number " + name + " in " + report);
    }

    private static List<Long> numbers(final Map<?, ?> report, final String name) {
        if (report.get(name) instanceof Collection<?> list) {
            return list.stream().map(value -> ((Number) value).longValue()).toList();
        }
        throw new IllegalArgumentException("expected numbers " + name + " in " + report);
    }

    private static void delete(final Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (final Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    /// Any thread.
    @Override
    public void close() {
        pools.close();
        networks.close();
    }
}
