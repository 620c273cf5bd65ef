package io.framecast.samples.simulate;

import io.framecast.reliability.sim.Plant;
import io.framecast.reliability.sim.SimReport;
import io.framecast.reliability.sim.Simulation;
import io.framecast.reliability.sim.Swarm;
import io.framecast.samples.Environment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Runs a range of seeds on all processors. Sums and digest do not depend on which processor runs which seed.
final class SimulateRun {
    private static final int WORKERS_MAX = 64;
    private static final int VIOLATIONS_SHOWN_MAX = 5;

    /// What to run.
    record Plan(long first, long last, Swarm swarm) {
        String replay(final long seed) {
            return "framecast simulate --seeds " + seed + " --receivers " + swarm.receivers()
                    + (swarm.loss() < 0 ? "" : " --loss " + swarm.loss())
                    + (swarm.crashes() ? " --crashes" : "")
                    + (swarm.oneSided() ? " --one-sided" : "")
                    + (swarm.plant() == Plant.NONE
                            ? ""
                            : " --plant " + swarm.plant().label());
        }
    }

    /// What came out.
    ///
    /// @param seeds runs done: all, or up to the first that failed
    /// @param sums what JSON tells of them, by name, in order
    /// @param repairRatioMax most repairs for each loss, of all runs
    /// @param failed the lowest failing seed's report
    record Result(
            Plan plan,
            long seeds,
            Map<String, Long> sums,
            double repairRatioMax,
            long digest,
            Optional<SimReport> failed) {
        Map<String, Object> json() {
            final Map<String, Object> json = new LinkedHashMap<>();
            json.put("seeds", seeds);
            json.putAll(sums);
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
                            + " checked, %,d given up by those not waited for, digest %016x",
                    seeds,
                    seeds == 1 ? "seed" : "seeds",
                    total("events"),
                    total("drops"),
                    total("repairs"),
                    total("crashes"),
                    total("evictions"),
                    total("frames"),
                    total("given_up"),
                    digest);
        }

        /// Why this run does not count as passed, in one line.
        Optional<String> failure() {
            if (failed.isEmpty() && total("frames") == 0) {
                return Optional.of("no frame was delivered, so nothing was checked: lower --loss");
            }
            return failed.map(report -> "seed " + report.seed() + ": " + String.join("; ", shown(report)) + "; replay: "
                    + plan.replay(report.seed()));
        }

        private long total(final String name) {
            return sums.getOrDefault(name, 0L);
        }

        private static List<String> shown(final SimReport report) {
            return report.violations().stream().limit(VIOLATIONS_SHOWN_MAX).toList();
        }
    }

    private final Plan plan;
    private final Environment environment;
    private final AtomicLong nextSeed;
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
        final Worker[] workers = new Worker[count];
        final Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            workers[i] = new Worker();
            threads[i] = Thread.ofPlatform().daemon().name("simulate-" + i).start(workers[i]);
        }
        for (final Thread thread : threads) {
            join(thread);
        }
        final Throwable thrown = error.get();
        if (thrown != null) {
            throw new IllegalStateException("a simulation failed: " + thrown, thrown);
        }
        return sum(workers);
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
    private Result sum(final Worker[] workers) {
        final long failed = firstFailure.get();
        final Totals totals = new Totals();
        Optional<SimReport> failure = Optional.empty();
        for (final Worker worker : workers) {
            for (final SimReport report : worker.reports) {
                if (report.seed() <= failed) {
                    totals.add(report);
                }
                if (report.seed() == failed) {
                    failure = Optional.of(report);
                }
            }
        }
        return totals.result(plan, Math.min(failed, plan.last) - plan.first + 1, failure);
    }

    /// Sums whose order does not matter.
    private static final class Totals {
        private static final List<String> NAMES = List.of(
                "events",
                "drops",
                "losses",
                "repairs",
                "evictions",
                "frames",
                "given_up",
                "crashes",
                "restarts",
                "pauses",
                "rejoins",
                "partitions",
                "clogs",
                "stalls",
                "failovers");

        private final long[] sums = new long[NAMES.size()];
        private double repairRatioMax;
        private long digest;

        void add(final SimReport report) {
            final SimReport.Traffic traffic = report.traffic();
            final SimReport.Troubles troubles = report.troubles();
            final long[] values = {
                report.events(),
                traffic.drops(),
                traffic.losses(),
                traffic.repairs(),
                troubles.evictions(),
                report.frames(),
                report.givenUp(),
                troubles.crashes(),
                troubles.restarts(),
                troubles.pauses(),
                troubles.rejoins(),
                troubles.weather().partitions(),
                troubles.weather().clogs(),
                troubles.weather().stalls(),
                troubles.failovers()
            };
            Arrays.setAll(sums, i -> sums[i] + values[i]);
            repairRatioMax = Math.max(repairRatioMax, traffic.repairRatio());
            digest += report.digest() * (2 * report.seed() + 1);
        }

        Result result(final Plan plan, final long seeds, final Optional<SimReport> failed) {
            final Map<String, Long> named = new LinkedHashMap<>();
            for (int i = 0; i < sums.length; i++) {
                named.put(NAMES.get(i), sums[i]);
            }
            return new Result(plan, seeds, named, repairRatioMax, digest, failed);
        }
    }

    private final class Worker implements Runnable {
        private final List<SimReport> reports = new ArrayList<>();

        @Override
        public void run() {
            try {
                work();
            } catch (final RuntimeException | OutOfMemoryError e) {
                error.compareAndSet(null, e);
            }
        }

        // Seeds are taken in order, so every seed below a failing one has been or is being run.
        private void work() {
            long seed = nextSeed.getAndIncrement();
            while (seed <= plan.last && seed < firstFailure.get() && error.get() == null) {
                final SimReport report = Simulation.run(seed, plan.swarm);
                reports.add(report);
                if (!report.isClean()) {
                    firstFailure.accumulateAndGet(seed, Math::min);
                }
                final long frames = framesShown.addAndGet(report.frames());
                if (environment.console().isProgressDue()) {
                    environment.console().progress("seed " + seed + " of " + plan.last + ":", frames, 0);
                }
                seed = nextSeed.getAndIncrement();
            }
        }
    }
}
