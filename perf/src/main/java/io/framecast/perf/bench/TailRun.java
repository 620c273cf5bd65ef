package io.framecast.perf.bench;

import io.framecast.samples.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// Times repairs, case by case: new processes for each, which first carry streams at full rate, to learn
/// what they carry and to be warm, then the one that is measured. All lose alike.
final class TailRun implements AutoCloseable {
    private static final String GROUP = "224.20.30.41";
    private static final int PORT = 20_100;
    private static final int DIVERTED_PORT = 20_200;
    private static final double LEAD_SECONDS = 1;
    private static final BenchTimes FLOOD = new BenchTimes(0, 0.3, 1);
    private static final int FLOODS_MIN = 3;
    private static final int FLOODS_MAX = 8;
    private static final double STEADY = 1.1;
    private static final double NS_PER_SECOND = 1e9;
    private static final long END_SECONDS = 60;

    private final Namespaces namespaces = new Namespaces();
    private final List<ChildProcess> children = new ArrayList<>();
    private final BlockingQueue<ChildProcess.Answer> answers = new LinkedBlockingQueue<>();
    private final Offer offer;
    private final Consumer<String> console;
    private int streams;
    private boolean stopped;

    TailRun(final Offer offer, final Consumer<String> console) {
        this.offer = offer;
        this.console = console;
    }

    /// What is offered.
    ///
    /// @param load share of what is taken at most
    /// @param framesPerSecond instead; 0 for the share
    record Offer(double load, double framesPerSecond, double seconds) {}

    TailRow measure(final TailCase setting) throws IOException, MeasurementFailedException, InterruptedException {
        final Path folder = Files.createTempDirectory("framecast-tail");
        try {
            final BenchNetwork network = namespaces.network(
                    new Namespaces.Key(BenchNet.BRIDGE, TailSpec.MTU_BYTES, setting.subscribers(), setting.offload()));
            start(network, setting.subscribers());
            final double capacity = flood(network, setting);
            final double fps = offer.framesPerSecond > 0 ? offer.framesPerSecond : offer.load * capacity;
            console.accept(String.format(Locale.ROOT, "%.0f frames/s are taken, %.0f offered", capacity, fps));
            final TailSpec spec = spec(network, setting, fps, new BenchTimes(0, LEAD_SECONDS, offer.seconds));
            return row(setting, new TailRow.Rates(capacity, fps), spec.load(), run(network, spec, folder), folder);
        } finally {
            endChildren();
            delete(folder);
        }
    }

    private synchronized void start(final BenchNetwork network, final int subscribers)
            throws MeasurementFailedException {
        if (stopped) {
            throw new MeasurementFailedException("stopped", false);
        }
        answers.clear();
        for (int i = 0; i < subscribers; i++) {
            children.add(start("subscriber " + i, TailChild.SUBSCRIBE, network.receiver(i)));
        }
        children.add(start("publisher", TailChild.PUBLISH, network.source()));
    }

    private ChildProcess start(final String name, final String role, final BenchNetwork.Host host) {
        final ChildProcess.Program program = new ChildProcess.Program(
                TailChild.class,
                List.of(role, Long.toString(ProcessHandle.current().pid())));
        return new ChildProcess(name, program.start(host.prefix()), console, answers::add);
    }

    /// Until what is taken grows no more, for then the processes are warm.
    ///
    /// @return frames per second
    private double flood(final BenchNetwork network, final TailCase setting)
            throws IOException, MeasurementFailedException, InterruptedException {
        double before = 0;
        for (int i = 1; ; i++) {
            final List<Map<?, ?>> reports = run(network, spec(network, setting, 0, FLOOD), Path.of(""));
            final double taken = number(reports.getLast(), "frames_per_s").doubleValue();
            if (i >= FLOODS_MIN && (taken < STEADY * before || i == FLOODS_MAX)) {
                return Math.max(taken, before);
            }
            before = Math.max(taken, before);
        }
    }

    private TailSpec spec(final BenchNetwork network, final TailCase setting, final double fps, final BenchTimes times)
            throws IOException {
        final List<String> receivers = new ArrayList<>();
        for (int i = 0; i < setting.subscribers(); i++) {
            receivers.add(network.receiver(i).address());
        }
        // What is still under way from the stream before must not meet this one.
        final int port = PORT + streams++ % 2 * 8;
        network.divert(setting.losses(), port, DIVERTED_PORT);
        return new TailSpec(
                new TailSpec.Load(setting.frameBytes(), fps, (long) (times.leadSeconds() * NS_PER_SECOND), (long)
                        (times.seconds() * NS_PER_SECOND)),
                new TailSpec.Link(GROUP, port, DIVERTED_PORT, receivers),
                network.source().address(),
                "");
    }

    /// @param folder for logs; empty for none
    /// @return reports of the subscribers, then of the publisher
    private List<Map<?, ?>> run(final BenchNetwork network, final TailSpec spec, final Path folder)
            throws MeasurementFailedException, InterruptedException {
        final long beginNs = System.nanoTime();
        final List<ChildProcess> all = children();
        final int subscribers = spec.link().receivers().size();
        for (int i = 0; i < all.size(); i++) {
            final BenchNetwork.Host host = i < subscribers ? network.receiver(i) : network.source();
            final String file = spec.load().frames() == 0 ? "" : log(folder, i).toString();
            all.get(i).begin(spec.of(host.address(), file));
        }
        final Map<ChildProcess, Map<?, ?>> reports = new HashMap<>();
        final long endNs =
                beginNs + spec.load().leadNs() + spec.load().measureNs() + TimeUnit.SECONDS.toNanos(END_SECONDS);
        while (reports.size() < all.size()) {
            final ChildProcess.Answer answer =
                    answers.poll(Math.max(0, endNs - System.nanoTime()), TimeUnit.NANOSECONDS);
            if (answer == null) {
                throw new MeasurementFailedException("a process did not end in time", false);
            }
            if (answer.kind() != ChildProcess.Kind.REPORT) {
                throw new MeasurementFailedException(answer.text(), false);
            }
            final Map<?, ?> report = report(answer.text());
            requireSameClock(beginNs, number(report, "clock_ns").longValue());
            reports.put(answer.child(), report);
        }
        final List<Map<?, ?>> inOrder = new ArrayList<>();
        all.forEach(child -> inOrder.add(reports.getOrDefault(child, Map.of())));
        return inOrder;
    }

    private synchronized List<ChildProcess> children() throws MeasurementFailedException {
        if (stopped) {
            throw new MeasurementFailedException("stopped", false);
        }
        return List.copyOf(children);
    }

    private static Map<?, ?> report(final String text) {
        if (Json.parse(text) instanceof Map<?, ?> map) {
            return map;
        }
        throw new IllegalArgumentException("expected a report, got " + text);
    }

    // Times of several processes are compared: all must read one clock.
    private static void requireSameClock(final long beginNs, final long clockNs) throws MeasurementFailedException {
        if (clockNs - beginNs < 0 || System.nanoTime() - clockNs < 0) {
            throw new MeasurementFailedException("the clocks of two processes differ", false);
        }
    }

    private static Path log(final Path folder, final int child) {
        return folder.resolve("log" + child);
    }

    private static TailRow row(
            final TailCase setting,
            final TailRow.Rates rates,
            final TailSpec.Load load,
            final List<Map<?, ?>> reports,
            final Path folder)
            throws IOException {
        final List<TailLog> logs = new ArrayList<>();
        long lost = 0;
        long repaired = 0;
        for (int i = 0; i < reports.size(); i++) {
            logs.add(TailLog.read(log(folder, i)));
            if (i < setting.subscribers()) {
                repaired += number(reports.get(i), "repaired").longValue();
                lost += logs.get(i).events().stream()
                        .filter(event -> event.kind() == TailLog.Kind.LOST)
                        .count();
            }
        }
        final Map<?, ?> source = reports.getLast();
        return new TailRow(
                setting,
                rates,
                TailStats.of(numbers(source, "ping_ns")),
                TailStats.of(numbers(source, "source_rtt_ns")).p50Us(),
                new TailRow.Datagrams(lost, repaired),
                TailJoin.of(load, logs.getLast(), logs.subList(0, setting.subscribers())));
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
        try (var files = Files.list(folder)) {
            for (final Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    private synchronized void endChildren() {
        children.forEach(ChildProcess::close);
        children.clear();
    }

    /// Any thread.
    @Override
    public synchronized void close() {
        stopped = true;
        endChildren();
        namespaces.close();
    }
}
