package io.framecast.perf.streaming;

import io.framecast.perf.rivals.StreamSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Measures all contenders in all cases: first each until it is warm, then what the models are fed with, then
/// round by round, contenders side by side, so that what else the machine does hits all of them alike.
final class StreamingRun implements AutoCloseable {
    private static final String GROUP = "224.20.30.45";
    private static final String ADDRESS = "127.0.0.1";
    private static final int MTU_BYTES = 1500;
    private static final double NS_PER_SECOND = 1e9;
    private static final double WARM_UP_ROUND_SECONDS = 0.8;
    private static final int WARM_UP_ROUNDS_MIN = 3;
    private static final double STEADY = 0.1;
    private static final double STUCK_SECONDS = 60;
    // Each that stands still costs that long.
    private static final int STUCK_MAX = 2;

    private final StreamingPlan plan;
    private final Consumer<String> console;
    private final StreamingPorts ports =
            new StreamingPorts(RandomGenerator.getDefault().nextInt(Integer.MAX_VALUE));
    private final Map<Contender, StreamingPool> pools = new HashMap<>();
    private final Set<Contender> warm = new HashSet<>();
    private final Map<Contender, Integer> stuck = new HashMap<>();
    private boolean framesDiffered;
    private boolean stopped;

    StreamingRun(final StreamingPlan plan, final Consumer<String> console) {
        this.plan = plan;
        this.console = console;
    }

    /// How one stream differs from the plan.
    ///
    /// @param device instead of the plan's; empty for those
    record Variant(int frameBytes, String device, StreamingPlan.Times times) {}

    private Variant planned() {
        return new Variant(plan.frameBytes(), "", plan.times());
    }

    /// @return what each case did, in the order of the plan
    Map<StreamingCase, List<StreamingResult>> measure() throws InterruptedException {
        final Map<StreamingCase, List<StreamingResult>> results = new LinkedHashMap<>();
        for (int round = 0; round < plan.times().rounds(); round++) {
            for (final List<StreamingCase> side : plan.cases()) {
                for (int i = 0; i < side.size(); i++) {
                    // Each comes first in some round: whatever the one before leaves behind.
                    final StreamingCase setting = side.get((i + round) % side.size());
                    final StreamingResult result = attempt(setting);
                    results.computeIfAbsent(setting, _ -> new ArrayList<>()).add(result);
                    console.accept(line(round, setting, result));
                }
            }
        }
        return results;
    }

    private StreamingResult attempt(final StreamingCase setting) throws InterruptedException {
        try {
            warmUp(setting.contender());
            return run(setting, planned());
        } catch (final StreamingPool.FailedException e) {
            if (isStopped()) {
                throw new IllegalStateException("stopped", e);
            }
            framesDiffered |= setting.contender().isFramecast() && e.framesDiffer();
            return StreamingResult.failed(String.valueOf(e.getMessage()));
        }
    }

    /// Has a contender's processes run until two rounds are alike, or long enough.
    void warmUp(final Contender contender) throws InterruptedException, StreamingPool.FailedException {
        if (!warm.contains(contender)) {
            warmUp(contender, "");
            warm.add(contender);
        }
    }

    /// The same on a device of its own: its code is another.
    ///
    /// @param device instead of the plan's; empty for those
    void warmUp(final Contender contender, final String device)
            throws InterruptedException, StreamingPool.FailedException {
        final long endNs = System.nanoTime() + (long) (plan.times().warmUpMaxSeconds() * NS_PER_SECOND);
        final StreamingPlan.Times times = new StreamingPlan.Times(1, 0, 0.2, 0.2, WARM_UP_ROUND_SECONDS);
        final List<Double> goodputs = new ArrayList<>();
        double compiling = 0;
        do {
            final StreamingResult result = run(
                    new StreamingCase(contender, plan.subscribersMax(), Direction.NONE),
                    new Variant(plan.frameBytes(), device, times));
            goodputs.add(result.broadcastMBps());
            compiling = result.compilingShare();
        } while (!isSteady(goodputs) && System.nanoTime() - endNs < 0);
        console.accept(String.format(
                Locale.ROOT,
                "warm-up, %s%s: %s MB/s, at last %.0f %% of the time compiled",
                contender.text(),
                device.isEmpty() ? "" : " on " + device,
                goodputs.stream()
                        .map(value -> String.format(Locale.ROOT, "%.0f", value))
                        .toList(),
                100 * compiling));
    }

    private static boolean isSteady(final List<Double> goodputs) {
        if (goodputs.size() < WARM_UP_ROUNDS_MIN) {
            return false;
        }
        final double last = goodputs.getLast();
        final double before = goodputs.get(goodputs.size() - 2);
        return Math.abs(last - before) <= STEADY * Math.max(last, before);
    }

    /// Has one stream carried.
    ///
    /// @throws StreamingPool.FailedException when a process failed; its contender's are fresh then
    StreamingResult run(final StreamingCase setting, final Variant variant)
            throws InterruptedException, StreamingPool.FailedException {
        if (stuck.getOrDefault(setting.contender(), 0) >= STUCK_MAX) {
            throw new StreamingPool.FailedException("not tried: it stood still " + STUCK_MAX + " times before", false);
        }
        final StreamingSpec spec = spec(setting, variant);
        final StreamingPlan.Times times = variant.times;
        final long endNs = System.nanoTime()
                + (long) (NS_PER_SECOND
                        * (STUCK_SECONDS + 10 * (times.leadSeconds() + times.loneSeconds() + times.seconds())));
        try {
            final StreamingPool.Reports reports = pool(setting.contender()).run(spec, endNs);
            return StreamingResult.of(setting.direction(), reports.source(), reports.receivers());
        } catch (final StreamingPool.FailedException e) {
            if (e instanceof StreamingPool.StuckException) {
                stuck.merge(setting.contender(), 1, Integer::sum);
            }
            endPool(setting.contender());
            throw e;
        }
    }

    private StreamingSpec spec(final StreamingCase setting, final Variant variant) {
        final StreamingSpec.Way way = plan.way();
        final StreamingSpec.Devices devices = variant.device.isEmpty()
                ? plan.devices()
                : new StreamingSpec.Devices(List.of(variant.device), false, 0);
        return new StreamingSpec(
                new StreamSpec(
                        new StreamSpec.Load(
                                variant.frameBytes,
                                setting.subscribers(),
                                0,
                                ns(variant.times.leadSeconds()),
                                ns(variant.times.seconds())),
                        new StreamSpec.Link(GROUP, ports.next(), ADDRESS, ADDRESS, "", MTU_BYTES, 0, true, 0),
                        0),
                new StreamingSpec.Way(
                        setting.contender().scheme(),
                        way.transport(),
                        variant.device.isEmpty() ? setting.contender().placement() : way.placement(),
                        way.radix(),
                        way.chunkBytes()),
                devices,
                new StreamingSpec.Flow(
                        plan.inFlight(),
                        ns(variant.times.loneSeconds()),
                        setting.direction(),
                        plan.backgroundBytesPerSecond()));
    }

    private static long ns(final double seconds) {
        return (long) (seconds * NS_PER_SECOND);
    }

    private static String line(final int round, final StreamingCase setting, final StreamingResult result) {
        final String head = "round " + (round + 1) + ", " + setting.text() + ": ";
        return head
                + (result.hasFailed()
                        ? "failed: " + result.failure()
                        : String.format(
                                Locale.ROOT,
                                "%.0f MB/s, background %.0f MB/s, alone %.2f ms",
                                result.broadcastMBps(),
                                result.backgroundMBps(),
                                result.latencyUs() / 1e3));
    }

    private synchronized StreamingPool pool(final Contender contender) throws StreamingPool.FailedException {
        if (stopped) {
            throw new StreamingPool.FailedException("stopped", false);
        }
        final @Nullable StreamingPool known = pools.get(contender);
        if (known != null) {
            return known;
        }
        final StreamingPool fresh = new StreamingPool(contender.text(), plan.subscribersMax(), console);
        pools.put(contender, fresh);
        return fresh;
    }

    private synchronized void endPool(final Contender contender) {
        warm.remove(contender);
        final StreamingPool pool = pools.remove(contender);
        if (pool != null) {
            pool.close();
        }
    }

    /// Whether Framecast delivered frames that are not what was sent.
    boolean haveFramesDiffered() {
        return framesDiffered;
    }

    synchronized boolean isStopped() {
        return stopped;
    }

    /// Any thread.
    @Override
    public synchronized void close() {
        stopped = true;
        pools.values().forEach(StreamingPool::close);
        pools.clear();
    }
}
