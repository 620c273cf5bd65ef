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
    // Some are lost on the way, or overrun a socket; each host that gets one to the group rejects it.
    private static final long REJECTED_SHARE = 4;

    private final ChaosPlan plan;
    private final ChaosNetwork network;
    private final Cluster cluster;
    private final long beganNs;

    FaultRun(final ChaosPlan plan, final ChaosNetwork network, final Cluster cluster, final long beganNs) {
        this.plan = plan;
        this.network = network;
        this.cluster = cluster;
        this.beganNs = beganNs;
    }

    /// A fault under way.
    ///
    /// @param victims its targets, of garbage one of many; several only where all co-roots are killed
    /// @param others the subscribers that are to go on meanwhile
    /// @param unmet takes the expectations that were not met
    private record Scene(
            DrawnFault fault,
            List<ProcessPlace> victims,
            List<ProcessPlace> others,
            long evictions,
            long failovers,
            long garbage,
            long beginNs,
            List<String> unmet) {
        FaultKind kind() {
            return fault.kind();
        }

        ProcessPlace target() {
            return victims.getFirst();
        }

        ChaosProcess process() {
            return target().process();
        }

        String name() {
            return String.join(" and ", victims.stream().map(ProcessPlace::name).toList());
        }
    }

    private static long elapsedMs(final long sinceNs) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNs);
    }

    /// The target of a fault, now or soon; empty when no process became one in time.
    private Optional<ProcessPlace> target(final DrawnFault fault) {
        final List<ProcessPlace> fit = new ArrayList<>();
        cluster.await(
                () -> {
                    fit.clear();
                    // Some must be left that go on.
                    final List<ProcessPlace> settled = cluster.settled(SETTLED_MS);
                    if (settled.size() > plan.subscribers() / 2) {
                        settled.stream()
                                .filter(place -> !fault.kind().isFatal() || place.index() != ChaosPlan.WITNESS)
                                .filter(place -> fault.kind().isOfCoRoot() == place.isCoRoot())
                                .forEach(fit::add);
                    }
                    return !fit.isEmpty();
                },
                plan.patienceMs(TARGET_MAX_MS));
        return fit.isEmpty() ? Optional.empty() : Optional.of(fit.get(fault.pick() % fit.size()));
    }

    /// Does a fault.
    ///
    /// @return the outcome; empty when there was no target
    Optional<FaultResult> run(final DrawnFault fault) throws IOException {
        final Optional<ProcessPlace> target = target(fault);
        if (target.isEmpty()) {
            return Optional.empty();
        }
        final ProcessPlace place = target.orElseThrow();
        final List<ProcessPlace> victims = new ArrayList<>(List.of(place));
        if (fault.kind() == FaultKind.KILL_CO_ROOTS) {
            cluster.settled(SETTLED_MS).stream()
                    .filter(s -> s != place && s.isCoRoot())
                    .forEach(victims::add);
        }
        final List<ProcessPlace> others =
                cluster.settled(0).stream().filter(s -> !victims.contains(s)).toList();
        final Scene scene = new Scene(
                fault,
                victims,
                others,
                cluster.publisher().counter(EngineCounter.EVICTIONS),
                cluster.publisher().counter(EngineCounter.FAILOVERS),
                cluster.garbage(),
                System.nanoTime(),
                new ArrayList<>());
        return Optional.of(fault.kind().isFatal() ? fatal(scene) : brief(scene));
    }

    private FaultResult brief(final Scene scene) throws IOException {
        final long rejectedBefore = rejected();
        begin(scene);
        cluster.pause(scene.fault.durationMs());
        end(scene);
        final long resumedNs = System.nanoTime();
        // A fault that took long to begin or to end lasted longer than was drawn.
        final long lastedMs = TimeUnit.NANOSECONDS.toMillis(resumedNs - scene.beginNs);
        final long boundMs = lastedMs + plan.marginMs();
        if (!scene.kind().isOfEverybody() && lastedMs > plan.aliveTimeoutMs()) {
            scene.unmet.add("this machine is too slow: it lasted " + lastedMs
                    + " ms, longer than alive-timeout; use a longer --alive-timeout");
        }
        final List<ProcessPlace> expected = new ArrayList<>(scene.others);
        expected.add(scene.target());
        awaitFlow(scene, expected, resumedNs);
        if (!scene.process().isAlive() || scene.process().log().over().isPresent()) {
            scene.unmet.add(scene.name() + " ended: " + scene.process().lastWords());
        }
        final boolean isGarbage = scene.kind().isOfEverybody();
        final String outcome = outcome(scene, 0)
                + (isGarbage ? ", " + garbage(scene, rejectedBefore) : ", lasted " + lastedMs + " ms");
        return result(
                scene,
                (isGarbage ? "rejected, " : "") + "none evicted, nothing lost, no stall over its length + "
                        + plan.marginMs() + " ms",
                outcome,
                stalls(expected, scene, boundMs));
    }

    // The garbage arrived, and was rejected. On a busy machine both are reported later than it ends.
    private String garbage(final Scene scene, final long rejectedBefore) {
        final long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(plan.marginMs());
        long sent;
        long rejected;
        do {
            cluster.pause(COUNTERS_MS);
            sent = cluster.garbage() - scene.garbage;
            rejected = rejected() - rejectedBefore;
        } while ((sent == 0 || rejected * REJECTED_SHARE < sent) && System.nanoTime() < untilNs);
        if (sent == 0 || rejected * REJECTED_SHARE < sent) {
            scene.unmet.add("of " + sent + " datagrams of garbage only " + rejected + " were rejected");
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

    private void attack(final Scene scene) throws IOException {
        final List<UdpPath> paths = new ArrayList<>(
                UdpPath.ofProcess(cluster.publisher().pid(), NamespaceNetwork.address(ChaosNetwork.SOURCE)));
        for (final ProcessPlace place : cluster.settled(0)) {
            paths.addAll(UdpPath.ofProcess(place.process().pid(), NamespaceNetwork.address(place.host())));
        }
        final String attacker = NamespaceNetwork.address(plan.attackerHost());
        cluster.attack(new Attacker.Order(
                scene.fault.pick(),
                scene.fault.durationMs(),
                paths.stream().map(path -> path.seenFrom(attacker)).toList()));
    }

    private FaultResult fatal(final Scene scene) throws IOException {
        final List<String> outcome = new ArrayList<>();
        final long limitMs = plan.aliveTimeoutMs() + plan.marginMs();
        scene.victims.forEach(place -> place.process().doom());
        begin(scene);
        if (scene.kind().isKill()) {
            for (final ProcessPlace place : scene.victims) {
                place.restartAt(scene.beginNs + TimeUnit.MILLISECONDS.toNanos(scene.fault.restartMs()));
            }
        }
        if (scene.kind().isOfCoRoot()) {
            expect(scene, EngineCounter.FAILOVERS, scene.failovers, "replaced", outcome);
        }
        expect(scene, EngineCounter.EVICTIONS, scene.evictions, "evicted", outcome);
        final long evictedNs = System.nanoTime();
        if (!scene.kind().isKill()) {
            cluster.pause(Math.max(0, scene.fault.durationMs() - elapsedMs(scene.beginNs)));
            final ChaosProcess process = scene.process();
            end(scene);
            if (cluster.await(() -> !process.isAlive(), plan.aliveTimeoutMs() + plan.patienceMs(END_MAX_MS))
                    && process.log().over().isPresent()) {
                outcome.add("it reported: " + process.log().over().orElseThrow().split(";", 2)[0]);
            } else {
                scene.unmet.add(scene.name() + " did not report that it lost its source");
                process.close();
            }
            scene.target().restartAt(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(scene.fault.restartMs()));
        }
        awaitFlow(scene, scene.others, evictedNs);
        outcome.add(outcome(scene, scene.victims.size()));
        return result(
                scene,
                "evicted" + (scene.kind().isOfCoRoot() ? " and replaced" : "")
                        + (scene.kind().isKill() ? "" : " and reported") + " within " + limitMs
                        + " ms; others go on, no stall over that",
                String.join("; ", outcome),
                stalls(scene.others, scene, limitMs));
    }

    private void begin(final Scene scene) throws IOException {
        switch (scene.kind().action()) {
            case KILL -> {
                for (final ProcessPlace place : scene.victims) {
                    if (plan.bug() != InjectedBug.SPARE) {
                        place.process().signal(Signal.KILL);
                    }
                }
            }
            case STOP -> scene.process().signal(Signal.STOP);
            case CUT -> network.cut(scene.target().host(), scene.fault.cut());
            case ATTACK -> attack(scene);
        }
    }

    private void end(final Scene scene) throws IOException {
        switch (scene.kind().action()) {
            case KILL -> throw new IllegalStateException("a kill has no end");
            case STOP -> scene.process().signal(Signal.CONT);
            case CUT -> {
                network.restore(scene.target().host(), scene.fault.cut());
                cluster.await(
                        () -> network.hasCarrier(
                                scene.target().host(), scene.process().pid()),
                        plan.patienceMs(END_MAX_MS));
            }
            case ATTACK -> cluster.await(() -> cluster.garbage() > scene.garbage, plan.patienceMs(END_MAX_MS));
        }
    }

    // A counter of the publisher shows the target's end in time.
    private void expect(
            final Scene scene,
            final EngineCounter counter,
            final long before,
            final String what,
            final List<String> outcome) {
        final long limitMs = plan.aliveTimeoutMs() + plan.marginMs();
        if (cluster.await(
                () -> cluster.publisher().counter(counter) >= before + scene.victims.size(),
                Math.max(0, limitMs - elapsedMs(scene.beginNs)))) {
            outcome.add(what + " after " + elapsedMs(scene.beginNs) + " ms");
        } else {
            scene.unmet.add(scene.name() + " was not " + what + " within " + limitMs + " ms");
        }
    }

    // Frames keep coming to those that are to have them.
    private void awaitFlow(final Scene scene, final List<ProcessPlace> places, final long sinceNs) {
        cluster.await(
                () -> places.stream().allMatch(place -> place.process().log().lastNs() > sinceNs),
                plan.aliveTimeoutMs() + plan.marginMs());
        for (final ProcessPlace place : places) {
            if (place.process().log().lastNs() <= sinceNs) {
                scene.unmet.add(place.name() + " got no frame any more");
            }
        }
    }

    private String outcome(final Scene scene, final long expectedEvictions) {
        final long evicted = cluster.publisher().counter(EngineCounter.EVICTIONS) - scene.evictions;
        if (evicted > expectedEvictions) {
            scene.unmet.add(evicted + " were evicted, expected " + expectedEvictions);
        }
        for (final ProcessPlace place : scene.others) {
            if (!place.process().isAlive()) {
                scene.unmet.add(place.name() + " ended too");
            }
        }
        final long failovers = cluster.publisher().counter(EngineCounter.FAILOVERS) - scene.failovers;
        return (expectedEvictions == 0 ? evicted + " evicted, " : "") + failovers + " failovers";
    }

    private Map<String, Long> stalls(final List<ProcessPlace> places, final Scene scene, final long boundMs) {
        final Map<String, Long> stalls = new LinkedHashMap<>();
        for (final ProcessPlace place : places) {
            final long stallMs =
                    TimeUnit.NANOSECONDS.toMillis(place.process().log().longestGapNs(scene.beginNs, System.nanoTime()));
            stalls.put(place.name(), stallMs);
            if (stallMs > boundMs) {
                scene.unmet.add(place.name() + " stalled for " + stallMs + " ms, expected at most " + boundMs);
            }
        }
        return stalls;
    }

    private FaultResult result(
            final Scene scene, final String expectation, final String outcome, final Map<String, Long> stalls) {

        return new FaultResult(
                TimeUnit.NANOSECONDS.toMillis(scene.beginNs - beganNs),
                scene.fault.text(),
                scene.kind().isOfEverybody()
                        ? "everybody"
                        : scene.name() + (scene.kind().isOfCoRoot() ? " (co-root)" : ""),
                expectation,
                outcome,
                scene.kind().isFatal() ? scene.victims.size() : 0,
                List.copyOf(scene.unmet),
                stalls);
    }
}
