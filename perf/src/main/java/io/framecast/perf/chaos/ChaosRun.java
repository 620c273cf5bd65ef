package io.framecast.perf.chaos;

import io.framecast.engine.metrics.EngineCounter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// One run: starts everything, does faults, ends the stream, checks what everybody has. The run's thread;
/// [#stop] may be called from any.
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
    private volatile Optional<Cast> running = Optional.empty();
    private long frames;
    private long evictions;
    private long failovers;
    private long dropped;
    private long lives;
    private RepairTotals repairs = new RepairTotals(0, 0, 0, 0, 0);

    ChaosRun(final ChaosPlan plan, final Consumer<String> lines) {
        this.plan = plan;
        this.lines = lines;
    }

    /// Ends the run early, with everything that it has started.
    void stop() {
        stopped = true;
        running.ifPresent(Cast::stop);
    }

    boolean isStopped() {
        return stopped;
    }

    /// Runs.
    ///
    /// @throws IOException when something of the system fails that has nothing to do with what is tested
    ChaosReport run(final ChaosNetwork network) throws IOException {
        try (Cast cast = new Cast(plan, network, lines)) {
            running = Optional.of(cast);
            if (stopped) {
                cast.stop();
            }
            perform(cast, network);
            unmet.addAll(cast.complaints());
            cast.endAll();
            for (final ChaosProcess process : cast.all()) {
                if (ProcessHandle.of(process.pid()).isPresent()) {
                    unmet.add("process " + process.pid() + " (" + process.name() + ") is left over");
                }
            }
        }
        network.close();
        network.leftovers().forEach(name -> unmet.add(name + " is left over"));
        return new ChaosReport(plan, List.copyOf(faults), List.copyOf(memory), List.copyOf(unmet), totals());
    }

    private ChaosReport.Totals totals() {
        return new ChaosReport.Totals(frames, lives, evictions, failovers, dropped, repairs);
    }

    private void perform(final Cast cast, final ChaosNetwork network) throws IOException {
        if (!cast.await(() -> cast.settled(0).size() == plan.subscribers(), joinMaxMs())) {
            unmet.add("only " + cast.settled(0).size() + " of " + plan.subscribers() + " joined within "
                    + joinMaxMs() / 1_000 + " s");
            cast.all()
                    .forEach(process ->
                            process.said().forEach(line -> lines.accept("  [" + process.name() + "] " + line)));
            return;
        }
        cast.pause(LEAD_MS);
        cast.publisher().tell(ChildLines.TELL_MEMORY);
        doFaults(cast, network);
        if (faults.isEmpty()
                && !cast.isStopped()
                && TimeUnit.SECONDS.toMillis(plan.seconds()) > FaultDraw.PAUSE_MAX_MS) {
            unmet.add("no fault was done within " + plan.seconds() + " s");
        }
        dropped = network.dropped();
        if (!cast.await(() -> cast.settled(0).size() == plan.subscribers(), joinMaxMs())) {
            unmet.add("at the end only " + cast.settled(0).size() + " of " + plan.subscribers() + " have joined");
        }
        compareMemory(cast);
        end(cast);
    }

    private long joinMaxMs() {
        return plan.patienceMs(JOIN_MAX_MS);
    }

    private void doFaults(final Cast cast, final ChaosNetwork network) throws IOException {
        final FaultDraw draw = new FaultDraw(plan);
        final long beganNs = System.nanoTime();
        final long endNs = beganNs + TimeUnit.SECONDS.toNanos(plan.seconds());
        final FaultRun run = new FaultRun(plan, network, cast, beganNs);
        long faultNs = beganNs;
        while (!cast.isStopped()) {
            final DrawnFault fault = draw.next();
            final long dueNs = faultNs + TimeUnit.MILLISECONDS.toNanos(fault.pauseMs());
            if (Math.max(dueNs, System.nanoTime()) >= endNs) {
                return;
            }
            cast.pause(TimeUnit.NANOSECONDS.toMillis(Math.max(0, dueNs - System.nanoTime())));
            faultNs = System.nanoTime();
            final Optional<FaultResult> result = run.run(fault);
            if (cast.isStopped()) {
                return;
            }
            result.ifPresentOrElse(
                    this::keep,
                    () -> unmet.add(fault.text() + ": nobody became its target, "
                            + (fault.kind().isOfCoRoot() ? "no co-root was there" : "too few had joined")));
        }
    }

    private void keep(final FaultResult result) {
        faults.add(result);
        lines.accept(ChaosReport.line(result));
        result.unmet().forEach(text -> unmet.add(result.fault() + " of " + result.target() + ": " + text));
    }

    private void compareMemory(final Cast cast) throws IOException {
        final List<ChaosProcess> measured = new ArrayList<>(List.of(cast.publisher()));
        cast.seats().forEach(seat -> measured.add(seat.process()));
        measured.removeIf(process -> process.log().memory().isEmpty());
        measured.forEach(process -> process.tell(ChildLines.TELL_MEMORY));
        cast.await(
                () -> measured.stream()
                        .allMatch(process -> process.log().memory().size() > 1),
                plan.patienceMs(MEMORY_MAX_MS));
        for (final ChaosProcess process : measured) {
            final List<StreamLog.Memory> told = process.log().memory();
            if (told.size() < 2) {
                unmet.add(process.name() + " did not tell its memory");
                continue;
            }
            final boolean begunToServe =
                    cast.seats().stream().anyMatch(seat -> seat.process() == process && seat.hasBegunToServe());
            final MemoryRow row = new MemoryRow(process.name(), told.getFirst(), told.getLast(), begunToServe);
            memory.add(row);
            unmet.addAll(row.complaints());
        }
    }

    // Every process is judged, also those that were killed: what they said until then.
    private void end(final Cast cast) throws IOException {
        final ChaosProcess publisher = cast.publisher();
        evictions = publisher.counter(EngineCounter.EVICTIONS);
        failovers = publisher.counter(EngineCounter.FAILOVERS);
        repairs = RepairTotals.of(cast.all());
        cast.seats().forEach(seat -> seat.process().doom());
        publisher.doom();
        publisher.tell(ChildLines.END_STREAM);
        cast.await(
                () -> !publisher.isAlive()
                        && cast.seats().stream()
                                .noneMatch(seat -> seat.process().isAlive()),
                plan.patienceMs(END_MAX_MS));
        final StreamLog source = publisher.log();
        frames = source.frames();
        if (!source.isEnded()) {
            unmet.add("the publisher did not end its stream: " + source.over().orElse("it said nothing"));
        }
        for (final Seat seat : cast.seats()) {
            final StreamLog log = seat.process().log();
            if (!log.isEnded()) {
                unmet.add(seat.name() + " saw no end of stream: " + log.over().orElse("it said nothing"));
            } else if (log.lastId() != source.lastId() || log.frames() != log.lastId() - log.firstId() + 1) {
                unmet.add(seat.name() + " has " + log.frames() + " frames from " + log.firstId() + " to " + log.lastId()
                        + ", the last published is " + source.lastId());
            }
        }
        lives = (long) cast.all().size() - cast.others();
        for (final ChaosProcess process : cast.all()) {
            process.log().wrong().forEach(text -> unmet.add(process.name() + ": " + text));
        }
        final long expected = faults.stream().mapToLong(FaultResult::deaths).sum();
        if (evictions != expected) {
            unmet.add(evictions + " were evicted in all, expected " + expected);
        }
    }
}
