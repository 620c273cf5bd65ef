package io.framecast.perf.chaos;

import io.framecast.engine.metrics.EngineCounter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// Does one fault and sees what comes of it. The run's thread.
final class FaultRun {
    private static final long SETTLED_MS = 1_000;
    private static final long TARGET_MAX_MS = 10_000;
    private static final long END_MAX_MS = 10_000;
    private static final long COUNTERS_MS = 20;
    // Some are lost on the way, or overrun a socket; one to the group is rejected by each who gets it.
    private static final long REJECTED_SHARE = 4;

    private final ChaosPlan plan;
    private final ChaosNetwork network;
    private final Cast cast;
    private final long beganNs;

    FaultRun(final ChaosPlan plan, final ChaosNetwork network, final Cast cast, final long beganNs) {
        this.plan = plan;
        this.network = network;
        this.cast = cast;
        this.beganNs = beganNs;
    }

    /// A fault under way.
    ///
    /// @param victims whom it is done to, of garbage one of many; several only where all co-roots are killed
    /// @param others who is to go on meanwhile
    private record Scene(
            DrawnFault fault,
            List<Seat> victims,
            List<Seat> others,
            long evictions,
            long failovers,
            long shouted,
            long beginNs) {
        Seat target() {
            return victims.getFirst();
        }

        ChaosProcess process() {
            return target().process();
        }

        String name() {
            return String.join(" and ", victims.stream().map(Seat::name).toList());
        }
    }

    private static long elapsedMs(final long sinceNs) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNs);
    }

    /// Whom a fault may be done to, now or soon; empty when nobody came to be that in time.
    private Optional<Seat> target(final DrawnFault fault) throws IOException {
        final List<Seat> fit = new ArrayList<>();
        cast.await(
                () -> {
                    fit.clear();
                    // Somebody must be left who goes on.
                    final List<Seat> settled = cast.settled(SETTLED_MS);
                    if (settled.size() > plan.subscribers() / 2) {
                        settled.stream()
                                .filter(seat -> !fault.kind().isFatal() || seat.index() != ChaosPlan.WITNESS)
                                .filter(seat -> fault.kind().isOfCoRoot() == seat.isCoRoot())
                                .forEach(fit::add);
                    }
                    return !fit.isEmpty();
                },
                plan.patienceMs(TARGET_MAX_MS));
        return fit.isEmpty() ? Optional.empty() : Optional.of(fit.get(fault.pick() % fit.size()));
    }

    /// Does a fault.
    ///
    /// @return what came of it; empty when nobody was there to do it to
    Optional<FaultResult> run(final DrawnFault fault) throws IOException {
        final Optional<Seat> target = target(fault);
        if (target.isEmpty()) {
            return Optional.empty();
        }
        final Seat seat = target.orElseThrow();
        final List<Seat> victims = new ArrayList<>(List.of(seat));
        if (fault.kind().isOfAllCoRoots()) {
            cast.settled(SETTLED_MS).stream()
                    .filter(s -> s != seat && s.isCoRoot())
                    .forEach(victims::add);
        }
        final List<Seat> others =
                cast.settled(0).stream().filter(s -> !victims.contains(s)).toList();
        final Scene scene = new Scene(
                fault,
                victims,
                others,
                cast.publisher().counter(EngineCounter.EVICTIONS),
                cast.publisher().counter(EngineCounter.FAILOVERS),
                cast.shouted(),
                System.nanoTime());
        return Optional.of(fault.kind().isFatal() ? fatal(scene) : brief(scene));
    }

    private FaultResult brief(final Scene scene) throws IOException {
        final List<String> unmet = new ArrayList<>();
        final long rejectedBefore = rejected();
        begin(scene);
        cast.pause(scene.fault.durationMs());
        end(scene);
        final long resumedNs = System.nanoTime();
        // What took long to begin or to end lasted longer than was drawn.
        final long lastedMs = TimeUnit.NANOSECONDS.toMillis(resumedNs - scene.beginNs);
        final long boundMs = lastedMs + plan.marginMs();
        if (!scene.fault.kind().isOfEverybody() && lastedMs > plan.aliveTimeoutMs()) {
            unmet.add("this machine is too slow: it lasted " + lastedMs + " ms, longer than alive-timeout; use a longer"
                    + " --alive-timeout");
        }
        final List<Seat> expected = new ArrayList<>(scene.others);
        expected.add(scene.target());
        awaitFlow(expected, resumedNs, unmet);
        if (!scene.process().isAlive() || scene.process().log().over().isPresent()) {
            unmet.add(scene.name() + " ended: " + scene.process().log().over().orElse("it said nothing"));
        }
        final boolean isGarbage = scene.fault.kind().isOfEverybody();
        final String outcome = outcome(scene, 0, unmet)
                + (isGarbage ? ", " + garbage(scene, rejectedBefore, unmet) : ", lasted " + lastedMs + " ms");
        return result(
                scene,
                (isGarbage ? "rejected, " : "") + "nobody evicted, nothing lost, no stall over its length + "
                        + plan.marginMs() + " ms",
                outcome,
                unmet,
                stalls(expected, scene, boundMs, unmet));
    }

    // That it arrived, and was known for what it is. On a busy machine both are told later than it ends.
    private String garbage(final Scene scene, final long rejectedBefore, final List<String> unmet) throws IOException {
        final long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(plan.marginMs());
        long sent;
        long rejected;
        do {
            cast.pause(COUNTERS_MS);
            sent = cast.shouted() - scene.shouted;
            rejected = rejected() - rejectedBefore;
        } while ((sent == 0 || rejected * REJECTED_SHARE < sent) && System.nanoTime() < untilNs);
        if (sent == 0 || rejected * REJECTED_SHARE < sent) {
            unmet.add("of " + sent + " datagrams of garbage only " + rejected + " were rejected");
        }
        return sent + " sent, " + rejected + " rejected";
    }

    private long rejected() {
        long sum = 0;
        final List<ChaosProcess> processes = new ArrayList<>(List.of(cast.publisher()));
        cast.seats().forEach(seat -> processes.add(seat.process()));
        for (final ChaosProcess process : processes) {
            sum += Math.max(0, process.counter(EngineCounter.REJECTED))
                    + Math.max(0, process.counter(EngineCounter.RECEIVE_MALFORMED));
        }
        return sum;
    }

    private void shout(final Scene scene) throws IOException {
        final StringBuilder order = new StringBuilder(ChildLines.SHOUT)
                .append(' ')
                .append(scene.fault.pick())
                .append(' ')
                .append(scene.fault.durationMs());
        final List<UdpPath> paths = new ArrayList<>(
                UdpPath.ofProcess(cast.publisher().pid(), NamespaceNetwork.address(ChaosNetwork.SOURCE)));
        for (final Seat seat : cast.settled(0)) {
            paths.addAll(UdpPath.ofProcess(seat.process().pid(), NamespaceNetwork.address(seat.host())));
        }
        final String stranger = NamespaceNetwork.address(plan.strangerHost());
        paths.forEach(path -> order.append(' ').append(path.seenFrom(stranger).word()));
        cast.shout(order.toString());
    }

    private FaultResult fatal(final Scene scene) throws IOException {
        final List<String> unmet = new ArrayList<>();
        final StringBuilder outcome = new StringBuilder();
        final long limitMs = plan.aliveTimeoutMs() + plan.marginMs();
        scene.victims.forEach(seat -> seat.process().doom());
        begin(scene);
        if (scene.fault.kind().isKill()) {
            for (final Seat seat : scene.victims) {
                seat.restartAt(scene.beginNs + TimeUnit.MILLISECONDS.toNanos(scene.fault.restartMs()));
            }
        }
        expect(scene, EngineCounter.FAILOVERS, outcome, unmet);
        expect(scene, EngineCounter.EVICTIONS, outcome, unmet);
        final long evictedNs = System.nanoTime();
        if (!scene.fault.kind().isKill()) {
            cast.pause(Math.max(0, scene.fault.durationMs() - elapsedMs(scene.beginNs)));
            final ChaosProcess process = scene.process();
            end(scene);
            if (cast.await(() -> !process.isAlive(), plan.aliveTimeoutMs() + plan.patienceMs(END_MAX_MS))
                    && process.log().over().isPresent()) {
                outcome.append("; told: ")
                        .append(firstWords(process.log().over().orElseThrow()));
            } else {
                unmet.add(scene.name() + " did not report that it lost its source");
                process.close();
            }
            scene.target().restartAt(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(scene.fault.restartMs()));
        }
        awaitFlow(scene.others, evictedNs, unmet);
        outcome.append(outcome.isEmpty() ? "" : "; ").append(outcome(scene, scene.victims.size(), unmet));
        return result(
                scene,
                "evicted" + (scene.fault.kind().isOfCoRoot() ? " and replaced" : "")
                        + (scene.fault.kind().isKill() ? "" : " and told") + " within " + limitMs
                        + " ms; others go on, no stall over that",
                outcome.toString(),
                unmet,
                stalls(scene.others, scene, limitMs, unmet));
    }

    private static String firstWords(final String text) {
        final int end = text.indexOf(';');
        return end < 0 ? text : text.substring(0, end);
    }

    private void begin(final Scene scene) throws IOException {
        final FaultKind kind = scene.fault.kind();
        if (kind.isKill()) {
            if (plan.plant() != Plant.SPARE) {
                for (final Seat seat : scene.victims) {
                    seat.process().signal(Signal.KILL);
                }
            }
        } else if (kind.isStop()) {
            scene.process().signal(Signal.STOP);
        } else if (kind.isOfEverybody()) {
            shout(scene);
        } else {
            network.cut(scene.target().host(), scene.fault.cut());
        }
    }

    private void end(final Scene scene) throws IOException {
        if (scene.fault.kind().isStop()) {
            scene.process().signal(Signal.CONT);
        } else if (scene.fault.kind().isOfEverybody()) {
            cast.await(() -> cast.shouted() > scene.shouted, plan.patienceMs(END_MAX_MS));
        } else {
            network.mend(scene.target().host(), scene.fault.cut());
            cast.await(
                    () -> network.hasCarrier(
                            scene.target().host(), scene.process().pid()),
                    plan.patienceMs(END_MAX_MS));
        }
    }

    // That a counter of the publisher's tells of the target's end in time.
    private void expect(
            final Scene scene, final EngineCounter counter, final StringBuilder outcome, final List<String> unmet)
            throws IOException {
        final boolean isFailover = counter == EngineCounter.FAILOVERS;
        if (isFailover && !scene.fault.kind().isOfCoRoot()) {
            return;
        }
        final long before = isFailover ? scene.failovers : scene.evictions;
        final long limitMs = plan.aliveTimeoutMs() + plan.marginMs();
        final String what = isFailover ? "replaced" : "evicted";
        if (cast.await(
                () -> cast.publisher().counter(counter) >= before + scene.victims.size(),
                Math.max(0, limitMs - elapsedMs(scene.beginNs)))) {
            outcome.append(outcome.isEmpty() ? "" : ", ")
                    .append(what)
                    .append(" after ")
                    .append(elapsedMs(scene.beginNs))
                    .append(" ms");
        } else {
            unmet.add(scene.name() + " was not " + what + " within " + limitMs + " ms");
        }
    }

    // Frames keep coming to those who are to have them.
    private void awaitFlow(final List<Seat> seats, final long sinceNs, final List<String> unmet) throws IOException {
        cast.await(
                () -> seats.stream().allMatch(seat -> seat.process().log().lastNs() > sinceNs),
                plan.aliveTimeoutMs() + plan.marginMs());
        for (final Seat seat : seats) {
            if (seat.process().log().lastNs() <= sinceNs) {
                unmet.add(seat.name() + " got no frame any more");
            }
        }
    }

    private String outcome(final Scene scene, final long expectedEvictions, final List<String> unmet) {
        final long evicted = cast.publisher().counter(EngineCounter.EVICTIONS) - scene.evictions;
        if (evicted > expectedEvictions) {
            unmet.add(evicted + " were evicted, expected " + expectedEvictions);
        }
        for (final Seat seat : scene.others) {
            if (!seat.process().isAlive()) {
                unmet.add(seat.name() + " ended too");
            }
        }
        final long failovers = cast.publisher().counter(EngineCounter.FAILOVERS) - scene.failovers;
        return (expectedEvictions == 0 ? evicted + " evicted, " : "") + failovers + " failovers";
    }

    private Map<String, Long> stalls(
            final List<Seat> seats, final Scene scene, final long boundMs, final List<String> unmet) {
        final Map<String, Long> stalls = new LinkedHashMap<>();
        for (final Seat seat : seats) {
            final long stallMs =
                    TimeUnit.NANOSECONDS.toMillis(seat.process().log().longestGapNs(scene.beginNs, System.nanoTime()));
            stalls.put(seat.name(), stallMs);
            if (stallMs > boundMs) {
                unmet.add(seat.name() + " stalled for " + stallMs + " ms, expected at most " + boundMs);
            }
        }
        return stalls;
    }

    private FaultResult result(
            final Scene scene,
            final String expectation,
            final String outcome,
            final List<String> unmet,
            final Map<String, Long> stalls) {
        return new FaultResult(
                TimeUnit.NANOSECONDS.toMillis(scene.beginNs - beganNs),
                scene.fault.text(),
                scene.fault.kind().isOfEverybody()
                        ? "everybody"
                        : scene.name() + (scene.fault.kind().isOfCoRoot() ? " (co-root)" : ""),
                expectation,
                outcome,
                scene.fault.kind().isFatal() ? scene.victims.size() : 0,
                List.copyOf(unmet),
                stalls);
    }
}
