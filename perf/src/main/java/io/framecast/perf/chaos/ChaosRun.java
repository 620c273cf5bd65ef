package io.framecast.perf.chaos;

import io.framecast.engine.metrics.EngineCounter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// One run: starts everything, does faults, ends the stream, checks every process. The run's thread; [#stop]
/// may be called from any.
final class ChaosRun {
    private static final long JOIN_MAX_MS = 60_000;
    private static final long END_MAX_MS = 40_000;
    private static final long LEAD_MS = 5_000;
    private static final long MEMORY_MAX_MS = 10_000;

    private final ChaosPlan plan;
    private final Consumer<String> lines;
    private final List<FaultResult> faults = new ArrayList<>();
    private final List<String> unmet = new ArrayList<>();
    private final List<MemoryRow> memory = new ArrayList<>();
    private volatile boolean stopped;
    private volatile Optional<Cluster> running = Optional.empty();
    private long frames;
    private long evictions;
    private long failovers;
    private long dropped;
    private long lives;
    private List<Long> repairs = List.of();

    ChaosRun(final ChaosPlan plan, final Consumer<String> lines) {
        this.plan = plan;
        this.lines = lines;
    }

    /// Ends the run early, with everything that it has started.
    void stop() {
        stopped = true;
        running.ifPresent(Cluster::stop);
    }

    boolean isStopped() {
        return stopped;
    }

    /// @throws IOException when something of the system fails that has nothing to do with the test
    ChaosReport run(final ChaosNetwork network) throws IOException {
        try (Cluster cluster = new Cluster(plan, network, lines)) {
            running = Optional.of(cluster);
            if (stopped) {
                cluster.stop();
            }
            perform(cluster, network);
            unmet.addAll(cluster.complaints());
            cluster.endAll();
            cluster.sockets().forEach(name -> unmet.add("socket " + name + " is left over"));
            for (final ChaosProcess process : cluster.all()) {
                if (ProcessHandle.of(process.pid()).isPresent()) {
                    unmet.add("process " + process.pid() + " (" + process.name() + ") is left over");
                }
            }
        }
        network.close();
        network.leftovers().forEach(name -> unmet.add(name + " is left over"));
        return new ChaosReport(
                plan,
                List.copyOf(faults),
                List.copyOf(memory),
                List.copyOf(unmet),
                frames,
                lives,
                evictions,
                failovers,
                dropped,
                repairs.isEmpty() ? ChaosReport.repairs(List.of()) : repairs);
    }

    private void perform(final Cluster cluster, final ChaosNetwork network) throws IOException {
        if (!haveAllJoined(cluster)) {
            unmet.add("only " + cluster.settled(0).size() + " of " + plan.subscribers() + " joined within "
                    + plan.patienceMs(JOIN_MAX_MS) / 1_000 + " s");
            cluster.all().forEach(cluster::show);
            return;
        }
        cluster.pause(LEAD_MS);
        cluster.publisher().order(ChaosRole.MEMORY);
        doFaults(cluster, network);
        if (faults.isEmpty()
                && !cluster.isStopped()
                && TimeUnit.SECONDS.toMillis(plan.seconds()) > FaultDraw.PAUSE_MAX_MS) {
            unmet.add("no fault was done within " + plan.seconds() + " s");
        }
        dropped = network.dropped();
        if (!haveAllJoined(cluster)) {
            unmet.add("at the end only " + cluster.settled(0).size() + " of " + plan.subscribers() + " have joined");
        }
        compareMemory(cluster);
        end(cluster);
    }

    private boolean haveAllJoined(final Cluster cluster) {
        return cluster.await(() -> cluster.settled(0).size() == plan.subscribers(), plan.patienceMs(JOIN_MAX_MS));
    }

    private void doFaults(final Cluster cluster, final ChaosNetwork network) throws IOException {
        final FaultDraw draw = new FaultDraw(plan);
        final long beganNs = System.nanoTime();
        final long endNs = beganNs + TimeUnit.SECONDS.toNanos(plan.seconds());
        long faultNs = beganNs;
        while (!cluster.isStopped()) {
            final DrawnFault fault = draw.next();
            final long dueNs = faultNs + TimeUnit.MILLISECONDS.toNanos(fault.pauseMs());
            if (Math.max(dueNs, System.nanoTime()) >= endNs) {
                return;
            }
            cluster.pause(TimeUnit.NANOSECONDS.toMillis(Math.max(0, dueNs - System.nanoTime())));
            faultNs = System.nanoTime();
            final Optional<FaultResult> result = new FaultRun(plan, network, cluster, fault, beganNs).run();
            if (cluster.isStopped()) {
                return;
            }
            result.ifPresentOrElse(
                    this::keep,
                    () -> unmet.add(fault.text() + ": no process became its target, "
                            + (fault.kind().isOfCoRoot() ? "no co-root was there" : "too few had joined")));
        }
    }

    private void keep(final FaultResult result) {
        faults.add(result);
        lines.accept(ChaosReport.line(result));
        result.unmet().forEach(text -> unmet.add(result.fault() + " of " + result.target() + ": " + text));
    }

    private void compareMemory(final Cluster cluster) {
        final List<ChaosProcess> measured = new ArrayList<>(List.of(cluster.publisher()));
        cluster.places().forEach(place -> measured.add(place.process()));
        measured.removeIf(process -> process.log().memory().isEmpty());
        measured.forEach(process -> process.order(ChaosRole.MEMORY));
        cluster.await(
                () -> measured.stream()
                        .allMatch(process -> process.log().memory().size() > 1),
                plan.patienceMs(MEMORY_MAX_MS));
        for (final ChaosProcess process : measured) {
            final List<StreamLog.Memory> reports = process.log().memory();
            if (reports.size() < 2) {
                unmet.add(process.name() + " did not report its memory");
            } else if (!process.hasBegunToLead()) {
                final MemoryRow row = new MemoryRow(
                        process.name(),
                        reports.getFirst(),
                        reports.getLast(),
                        process.hasBegunToServe(),
                        plan.perHost() > 1 && process != cluster.publisher(),
                        process.leads() ? plan.perHost() - 1 : 0);
                memory.add(row);
                unmet.addAll(row.complaints());
            }
        }
    }

    // Every process is judged, also the killed ones: by their reports until then.
    private void end(final Cluster cluster) {
        final ChaosProcess publisher = cluster.publisher();
        evictions = publisher.counter(EngineCounter.EVICTIONS);
        failovers = publisher.counter(EngineCounter.FAILOVERS);
        repairs = ChaosReport.repairs(cluster.all());
        cluster.places().forEach(place -> place.process().doom());
        publisher.doom();
        publisher.order(ChaosRole.END_STREAM);
        cluster.await(
                () -> !publisher.isAlive()
                        && cluster.places().stream()
                                .noneMatch(place -> place.process().isAlive()),
                plan.patienceMs(END_MAX_MS));
        final StreamLog source = publisher.log();
        frames = source.frames();
        if (!source.isEnded()) {
            unmet.add("the publisher did not end its stream: " + publisher.lastWords());
        }
        for (final ProcessPlace place : cluster.places()) {
            final StreamLog log = place.process().log();
            if (!log.isEnded()) {
                unmet.add(place.name() + " saw no end of stream: "
                        + place.process().lastWords());
            } else if (log.lastId() != source.lastId()
                    || log.frames() + log.lost() != log.lastId() - log.firstId() + 1) {
                unmet.add(place.name() + " has " + log.frames() + " frames and " + log.lost() + " reported lost from "
                        + log.firstId() + " to " + log.lastId() + ", the last published is " + source.lastId());
            }
        }
        lives = cluster.lives();
        for (final ChaosProcess process : cluster.all()) {
            process.log().wrong().forEach(text -> unmet.add(process.name() + ": " + text));
        }
        final long expected = faults.stream().mapToLong(FaultResult::deaths).sum();
        if (evictions != expected) {
            unmet.add(evictions + " were evicted in all, expected " + expected);
        }
    }
}
