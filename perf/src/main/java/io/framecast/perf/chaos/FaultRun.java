package io.framecast.perf.chaos;

import io.framecast.engine.metrics.EngineCounter;
import io.framecast.perf.harness.Signal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// Does one fault and checks its outcome. The run's thread.
final class FaultRun {
    private static final long SETTLED_MS = 1_000;
    private static final long TARGET_MAX_MS = 10_000;
    private static final long END_MAX_MS = 10_000;
    private static final long COUNTERS_MS = 20;
    // Longer than the ring has room, so that the others wait too.
    private static final long HOLD_MS = 2_500;
    private static final long SLOW_STOPPED_MS = 80;
    private static final long SLOW_RUNNING_MS = 20;
    // As docs/host-segment.md has it: after that a leader stands still.
    private static final long STILL_MS = 1_250;
    // Some are lost on the way, or overrun a socket; each host that gets one to the group rejects it.
    private static final long REJECTED_SHARE = 4;

    private final ChaosPlan plan;
    private final ChaosNetwork network;
    private final Cluster cluster;
    private final DrawnFault fault;
    // Its targets, of garbage one of many; several only where all co-roots are killed.
    private final List<ProcessPlace> victims = new ArrayList<>();
    // The subscribers that are to go on meanwhile.
    private final List<ProcessPlace> others = new ArrayList<>();
    // The expectations that were not met.
    private final List<String> unmet = new ArrayList<>();
    private final long beganNs;
    // When it began, and the counts of then.
    private long beginNs;
    private long evictions;
    private long failovers;
    private long garbage;
    private long lost;

    /// @param beganNs when the faults of the run began
    FaultRun(
            final ChaosPlan plan,
            final ChaosNetwork network,
            final Cluster cluster,
            final DrawnFault fault,
            final long beganNs) {
        this.plan = plan;
        this.network = network;
        this.cluster = cluster;
        this.fault = fault;
        this.beganNs = beganNs;
    }

    private ProcessPlace target() {
        return victims.getFirst();
    }

    private ChaosProcess process() {
        return target().process();
    }

    private String name() {
        return String.join(" and ", victims.stream().map(ProcessPlace::name).toList());
    }

    private static long elapsedMs(final long sinceNs) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNs);
    }

    /// Does the fault.
    ///
    /// @return the outcome; empty when no process became its target in time
    Optional<FaultResult> run() throws IOException {
        if (!cluster.await(this::hasTarget, plan.patienceMs(TARGET_MAX_MS))) {
            return Optional.empty();
        }
        cluster.settled(0).stream().filter(place -> !victims.contains(place)).forEach(others::add);
        evictions = cluster.publisher().counter(EngineCounter.EVICTIONS);
        failovers = cluster.publisher().counter(EngineCounter.FAILOVERS);
        garbage = cluster.garbage();
        lost = lost();
        beginNs = System.nanoTime();
        return Optional.of(fault.kind().isFatal() ? fatal() : brief());
    }

    private boolean hasTarget() {
        final List<ProcessPlace> settled = cluster.settled(SETTLED_MS);
        if (fault.kind().isOfGroup()) {
            return hasTargetOfGroup(settled);
        }
        final List<ProcessPlace> fit = settled.stream()
                .filter(place -> !fault.kind().isFatal() || place.index() != ChaosPlan.WITNESS)
                .filter(place -> fault.kind().isOfCoRoot() == place.process().isCoRoot())
                .toList();
        // Some must be left that go on.
        if (fit.isEmpty() || settled.size() <= plan.subscribers() / 2) {
            return false;
        }
        victims.addAll(fault.kind() == FaultKind.KILL_CO_ROOTS ? fit : List.of(fit.get(fault.pick() % fit.size())));
        return true;
    }

    // A leader, or a follower, or all of a host. What is long, or ends them, spares the witness.
    private boolean hasTargetOfGroup(final List<ProcessPlace> settled) {
        final FaultKind.Target wanted = fault.kind().target();
        final boolean isHost = wanted == FaultKind.Target.HOST;
        final List<ProcessPlace> fit = settled.stream()
                .filter(place ->
                        (wanted == FaultKind.Target.FOLLOWER) != place.process().leads())
                .filter(place -> !fault.kind().isLong() || place.index() != ChaosPlan.WITNESS)
                .filter(place -> !isHost || place.host() != plan.hostOf(ChaosPlan.WITNESS))
                .toList();
        if (fit.isEmpty() || settled.size() < plan.subscribers()) {
            return false;
        }
        final ProcessPlace target = fit.get(fault.pick() % fit.size());
        victims.add(target);
        settled.stream()
                .filter(place -> isHost && place.host() == target.host() && place != target)
                .forEach(victims::add);
        return true;
    }

    private FaultResult brief() throws IOException {
        final long rejectedBefore = rejected();
        begin();
        if (fault.kind().action() == FaultKind.Action.SLOW) {
            slow();
        } else {
            cluster.pause(fault.durationMs());
        }
        end();
        final long resumedNs = System.nanoTime();
        // A fault that took long to begin or to end lasted longer than was drawn.
        final long lastedMs = TimeUnit.NANOSECONDS.toMillis(resumedNs - beginNs);
        final long boundMs = lastedMs + plan.marginMs();
        if (!fault.kind().isOfEverybody() && !fault.kind().isOfGroup() && lastedMs > plan.aliveTimeoutMs()) {
            unmet.add("this machine is too slow: it lasted " + lastedMs
                    + " ms, longer than alive-timeout; use a longer --alive-timeout");
        }
        final List<ProcessPlace> expected = new ArrayList<>(others);
        expected.add(target());
        awaitFlow(expected, resumedNs);
        if (!process().isAlive() || process().log().over().isPresent()) {
            unmet.add(name() + " ended: " + process().lastWords());
        }
        final Map<String, Long> stalls = stalls(List.of(target()), boundMs);
        // The group of a leader that is stopped goes on before that.
        final long othersMs = fault.kind().isOfGroup() ? Math.min(lastedMs, STILL_MS) + plan.marginMs() : boundMs;
        stalls.putAll(stalls(others, othersMs));
        final boolean isGarbage = fault.kind().isOfEverybody();
        final String outcome =
                outcome(0) + (isGarbage ? ", " + garbage(rejectedBefore) : ", lasted " + lastedMs + " ms");
        return result(
                (isGarbage ? "rejected, " : "") + "none evicted, nothing lost, no stall over its length + "
                        + plan.marginMs() + " ms"
                        + (fault.kind().isLong() ? "; others go on before, it reports what it missed" : ""),
                outcome,
                stalls);
    }

    // It runs for a fifth of the time.
    private void slow() throws IOException {
        while (elapsedMs(beginNs) < fault.durationMs() && !cluster.isStopped()) {
            process().signal(Signal.STOP);
            cluster.pause(SLOW_STOPPED_MS);
            process().signal(Signal.CONT);
            cluster.pause(SLOW_RUNNING_MS);
        }
    }

    // The garbage arrived, and was rejected. On a busy machine both are reported later than it ends.
    private String garbage(final long rejectedBefore) {
        final long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(plan.marginMs());
        long sent;
        long rejected;
        do {
            cluster.pause(COUNTERS_MS);
            sent = cluster.garbage() - garbage;
            rejected = rejected() - rejectedBefore;
        } while ((sent == 0 || rejected * REJECTED_SHARE < sent) && System.nanoTime() < untilNs);
        if (sent == 0 || rejected * REJECTED_SHARE < sent) {
            unmet.add("of " + sent + " datagrams of garbage only " + rejected + " were rejected");
        }
        return sent + " sent, " + rejected + " rejected";
    }

    private long rejected() {
        long sum = 0;
        final List<ChaosProcess> processes = new ArrayList<>(List.of(cluster.publisher()));
        cluster.places().forEach(place -> processes.add(place.process()));
        for (final ChaosProcess process : processes) {
            sum += Math.max(0, process.counter(EngineCounter.REJECTED))
                    + Math.max(0, process.counter(EngineCounter.RECEIVE_MALFORMED));
        }
        return sum;
    }

    private void attack() throws IOException {
        final List<UdpPath> paths = new ArrayList<>(
                UdpPath.ofProcess(cluster.publisher().pid(), NamespaceNetwork.address(ChaosNetwork.SOURCE)));
        for (final ProcessPlace place : cluster.settled(0)) {
            paths.addAll(UdpPath.ofProcess(place.process().pid(), NamespaceNetwork.address(place.host())));
        }
        final String attacker = NamespaceNetwork.address(plan.attackerHost());
        cluster.attack(new Attacker.Order(
                fault.pick(),
                fault.durationMs(),
                paths.stream().map(path -> path.seenFrom(attacker)).toList()));
    }

    private FaultResult fatal() throws IOException {
        final List<String> outcome = new ArrayList<>();
        final long limitMs = plan.aliveTimeoutMs() + plan.marginMs();
        victims.forEach(place -> place.process().doom());
        begin();
        if (fault.kind().isKill()) {
            for (final ProcessPlace place : victims) {
                place.restartAt(beginNs + TimeUnit.MILLISECONDS.toNanos(fault.restartMs()));
            }
        }
        if (fault.kind().isOfCoRoot()) {
            expect(EngineCounter.FAILOVERS, failovers, victims.size(), "replaced", outcome);
        }
        final int evicted = fault.kind().evictions(victims.size());
        if (evicted > 0) {
            expect(EngineCounter.EVICTIONS, evictions, evicted, "evicted", outcome);
        }
        final long evictedNs = System.nanoTime();
        if (!fault.kind().isKill()) {
            cluster.pause(Math.max(0, fault.durationMs() - elapsedMs(beginNs)));
            final ChaosProcess process = process();
            end();
            if (cluster.await(() -> !process.isAlive(), plan.aliveTimeoutMs() + plan.patienceMs(END_MAX_MS))
                    && process.log().over().isPresent()) {
                outcome.add("it reported: " + process.log().over().orElseThrow().split(";", 2)[0]);
            } else {
                unmet.add(name() + " did not report that it lost its source");
                process.close();
            }
            target().restartAt(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(fault.restartMs()));
        }
        awaitFlow(others, evictedNs);
        outcome.add(outcome(evicted));
        // The source waits for no member of a group that goes on.
        final boolean isHeld = fault.kind().target() == FaultKind.Target.FOLLOWER;
        final long boundMs = evicted > 0 ? limitMs : (isHeld ? HOLD_MS : STILL_MS) + plan.marginMs();
        return result(
                (evicted == 0
                                ? "nobody evicted, nothing lost; "
                                : "evicted" + (fault.kind().isOfCoRoot() ? " and replaced" : "")
                                        + (fault.kind().isKill() ? "" : " and reported") + " within " + limitMs
                                        + " ms; ")
                        + "others go on, no stall over " + boundMs + " ms",
                String.join("; ", outcome),
                stalls(others, boundMs));
    }

    private void begin() throws IOException {
        switch (fault.kind().action()) {
            case KILL -> {
                if (fault.kind().target() == FaultKind.Target.FOLLOWER) {
                    process().order(ChaosRole.HOLD);
                    cluster.pause(HOLD_MS);
                }
                for (final ProcessPlace place : victims) {
                    if (plan.bug() != InjectedBug.SPARE) {
                        place.process().signal(Signal.KILL);
                    }
                }
            }
            case STOP -> process().signal(Signal.STOP);
            case SLOW -> {
                // By and by.
            }
            case CUT -> network.cut(target().host(), fault.cut(), true);
            case ATTACK -> attack();
        }
    }

    private void end() throws IOException {
        switch (fault.kind().action()) {
            case KILL -> throw new IllegalStateException("a kill has no end");
            case STOP, SLOW -> process().signal(Signal.CONT);
            case CUT -> {
                network.cut(target().host(), fault.cut(), false);
                cluster.await(
                        () -> network.hasCarrier(target().host(), process().pid()), plan.patienceMs(END_MAX_MS));
            }
            case ATTACK -> cluster.await(() -> cluster.garbage() > garbage, plan.patienceMs(END_MAX_MS));
        }
    }

    // A counter of the publisher shows the target's end in time.
    private void expect(
            final EngineCounter counter,
            final long before,
            final int more,
            final String what,
            final List<String> outcome) {
        final long limitMs = plan.aliveTimeoutMs() + plan.marginMs();
        if (cluster.await(
                () -> cluster.publisher().counter(counter) >= before + more,
                Math.max(0, limitMs - elapsedMs(beginNs)))) {
            outcome.add(what + " after " + elapsedMs(beginNs) + " ms");
        } else {
            unmet.add(name() + " was not " + what + " within " + limitMs + " ms");
        }
    }

    // Frames keep coming to those that are to have them.
    private void awaitFlow(final List<ProcessPlace> places, final long sinceNs) {
        cluster.await(
                () -> places.stream().allMatch(place -> place.process().log().lastNs() > sinceNs),
                plan.aliveTimeoutMs() + plan.marginMs());
        for (final ProcessPlace place : places) {
            if (place.process().log().lastNs() <= sinceNs) {
                unmet.add(place.name() + " got no frame any more");
            }
        }
    }

    private String outcome(final long expectedEvictions) {
        final long evicted = cluster.publisher().counter(EngineCounter.EVICTIONS) - evictions;
        if (evicted > expectedEvictions) {
            unmet.add(evicted + " were evicted, expected " + expectedEvictions);
        }
        for (final ProcessPlace place : others) {
            if (!place.process().isAlive()) {
                unmet.add(place.name() + " ended too");
            }
        }
        final long missed = lost() - lost;
        if (missed > 0) {
            unmet.add("the others reported " + missed + " frames lost");
        }
        final long replaced = cluster.publisher().counter(EngineCounter.FAILOVERS) - failovers;
        return (expectedEvictions == 0 ? evicted + " evicted, " : "")
                + (plan.areGroups() ? missed + " frames lost" : replaced + " failovers");
    }

    /// Frames that those beside the target reported lost.
    private long lost() {
        return others.stream().mapToLong(place -> place.process().log().lost()).sum();
    }

    private Map<String, Long> stalls(final List<ProcessPlace> places, final long boundMs) {
        final Map<String, Long> stalls = new LinkedHashMap<>();
        for (final ProcessPlace place : places) {
            final long stallMs =
                    TimeUnit.NANOSECONDS.toMillis(place.process().log().longestGapNs(beginNs, System.nanoTime()));
            stalls.put(place.name(), stallMs);
            if (stallMs > boundMs) {
                unmet.add(place.name() + " stalled for " + stallMs + " ms, expected at most " + boundMs);
            }
        }
        return stalls;
    }

    private FaultResult result(final String expectation, final String outcome, final Map<String, Long> stalls) {

        return new FaultResult(
                TimeUnit.NANOSECONDS.toMillis(beginNs - beganNs),
                fault.text(),
                fault.kind().isOfEverybody()
                        ? "everybody"
                        : name()
                                + (fault.kind().isOfCoRoot()
                                        ? " (co-root)"
                                        : fault.kind().target() == FaultKind.Target.LEADER ? " (leader)" : ""),
                expectation,
                outcome,
                fault.kind().evictions(victims.size()),
                List.copyOf(unmet),
                stalls);
    }
}
