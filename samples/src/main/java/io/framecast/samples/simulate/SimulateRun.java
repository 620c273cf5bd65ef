package io.framecast.samples.simulate;

import io.framecast.reliability.sim.Simulation;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimReport;
import io.framecast.reliability.sim.secure.SimulatedAuth;
import io.framecast.samples.Environment;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Runs a range of seeds on all processors. Sums and digest do not depend on which processor runs which seed.
final class SimulateRun {
    private static final int WORKERS_MAX = 64;
    private static final int VIOLATIONS_SHOWN_MAX = 5;

    /// Reported, in this order.
    private static final Set<SimCount> COUNTS = EnumSet.range(SimCount.EVENTS, SimCount.TAKEOVERS);

    /// The seeds to run, and the settings of each run.
    ///
    /// @param adversary whether streams are protected, and an attacker attacks them
    record Plan(long first, long last, Swarm swarm, boolean adversary) {
        String replay(final long seed) {
            return "framecast simulate --seeds " + seed + " --receivers " + swarm.receivers()
                    + (swarm.loss() < 0 ? "" : " --loss " + swarm.loss())
                    + (swarm.crashes() ? " --crashes" : "")
                    + (swarm.direct() ? " --direct" : swarm.oneSided() ? " --one-sided" : "")
                    + (swarm.hostGroup() == 1 ? "" : " --host-group " + swarm.hostGroup())
                    + (swarm.mixed() ? " --mixed" : "")
                    + (adversary ? " --adversary" : "")
                    + (swarm.plant() == Plant.NONE
                            ? ""
                            : " --plant " + swarm.plant().label());
        }
    }

    /// The result of all runs.
    ///
    /// @param seeds runs done: all, or up to the first that failed
    /// @param sums their counts
    /// @param repairRatioMax most repairs for each loss, of all runs
    /// @param failed the lowest failing seed's report
    record Result(
            Plan plan,
            long seeds,
            Map<SimCount, Long> sums,
            double repairRatioMax,
            long digest,
            Optional<SimReport> failed) {
        Map<String, Object> json() {
            final Map<String, Object> json = new LinkedHashMap<>();
            json.put("seeds", seeds);
            COUNTS.forEach(what -> json.put(what.label(), total(what)));
            json.put("repair_ratio_max", Math.round(repairRatioMax * 1000) / 1000.0);
            json.put("digest", String.format(Locale.ROOT, "%016x", digest));
            failed.ifPresent(report -> {
                json.put("failing_seed", report.seed());
                json.put("violations", shown(report));
                json.put("replay", plan.replay(report.seed()));
            });
            return json;
        }

        String text() {
            return String.format(
                    Locale.ROOT,
                    "%,d %s, %,d events, %,d drops, %,d repairs, %,d crashes, %,d evictions, %,d frames delivered and"
                            + " checked, %,d given up by receivers not waited for, digest %016x",
                    seeds,
                    seeds == 1 ? "seed" : "seeds",
                    total(SimCount.EVENTS),
                    total(SimCount.DROPS),
                    total(SimCount.REPAIRS),
                    total(SimCount.CRASHES),
                    total(SimCount.EVICTIONS),
                    total(SimCount.FRAMES),
                    total(SimCount.GIVEN_UP),
                    digest);
        }

        /// Why this run does not count as passed, in one line.
        Optional<String> failure() {
            if (failed.isEmpty() && total(SimCount.FRAMES) == 0) {
                return Optional.of("no frame was delivered, so nothing was checked: lower --loss");
            }
            return failed.map(report -> "seed " + report.seed() + ": " + String.join("; ", shown(report)) + "; replay: "
                    + plan.replay(report.seed()));
        }

        private long total(final SimCount what) {
            return sums.getOrDefault(what, 0L);
        }

        private static List<String> shown(final SimReport report) {
            return report.violations().stream().limit(VIOLATIONS_SHOWN_MAX).toList();
        }
    }

    private final Plan plan;
    private final Environment environment;
    private final AtomicLong nextSeed;
    private final Queue<SimReport> reports = new ConcurrentLinkedQueue<>();
    private final AtomicLong firstFailure = new AtomicLong(Long.MAX_VALUE);
    private final AtomicLong framesShown = new AtomicLong();
    private final AtomicReference<@Nullable Throwable> error = new AtomicReference<>();

    SimulateRun(final Plan plan, final Environment environment) {
        this.plan = plan;
        this.environment = environment;
        nextSeed = new AtomicLong(plan.first);
    }

    Result run() {
        final int count = Math.min(WORKERS_MAX, Runtime.getRuntime().availableProcessors());
        final Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = Thread.ofPlatform().daemon().name("simulate-" + i).start(this::work);
        }
        for (final Thread thread : threads) {
            join(thread);
        }
        final Throwable thrown = error.get();
        if (thrown != null) {
            throw new IllegalStateException("a simulation failed: " + thrown, thrown);
        }
        return sum();
    }

    private static void join(final Thread thread) {
        try {
            thread.join();
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    // Where a seed failed, only the seeds up to it count: which later ones ran is up to the scheduler.
    private Result sum() {
        final long last = Math.min(firstFailure.get(), plan.last);
        final Map<SimCount, Long> sums = new EnumMap<>(SimCount.class);
        double repairRatioMax = 0;
        long digest = 0;
        Optional<SimReport> failure = Optional.empty();
        for (final SimReport report : reports) {
            if (report.seed() > last) {
                continue;
            }
            report.counts().forEach((what, count) -> sums.merge(what, count, Long::sum));
            repairRatioMax = Math.max(repairRatioMax, report.repairRatio());
            digest += report.digest() * (2 * report.seed() + 1);
            failure = report.seed() == firstFailure.get() ? Optional.of(report) : failure;
        }
        return new Result(plan, last - plan.first + 1, sums, repairRatioMax, digest, failure);
    }

    // Threads take seeds in order, so every seed below a failing one has run or is running.
    private void work() {
        try {
            long seed = nextSeed.getAndIncrement();
            while (seed <= plan.last && seed < firstFailure.get() && error.get() == null) {
                final SimReport report =
                        Simulation.run(seed, plan.swarm, plan.adversary ? SimulatedAuth.of(seed, plan.swarm) : null);
                reports.add(report);
                if (!report.isClean()) {
                    firstFailure.accumulateAndGet(seed, Math::min);
                }
                final long frames = framesShown.addAndGet(report.of(SimCount.FRAMES));
                if (environment.console().isProgressDue()) {
                    environment.console().progress("seed " + seed + " of " + plan.last + ":", frames, 0);
                }
                seed = nextSeed.getAndIncrement();
            }
        } catch (final RuntimeException | OutOfMemoryError e) {
            error.compareAndSet(null, e);
        }
    }
}
