package io.framecast.perf.alltoall;

import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.harness.MeasurementFailedException.Reason;
import io.framecast.perf.harness.Network;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.Pool;
import io.framecast.perf.harness.Pools;
import io.framecast.perf.harness.Records;
import io.framecast.perf.streaming.StreamingPlan;
import io.framecast.perf.table.Outcome;
import io.framecast.samples.network.FreePorts;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/// Measures the schemes, each among so many processes.
final class AllToAllRun implements AutoCloseable {
    private static final double NS_PER_SECOND = 1e9;
    private static final double STUCK_SECONDS = 90;
    private static final int LONE_ROUNDS = 7;
    private static final int FRAMES_UNLIMITED = 50;
    private static final int FRAMES_MIN = 8;
    // Of its share of the links that a source takes: headers, repairs and control have the rest.
    private static final double OF_SHARE = 0.96;
    // Untimed: code is compiled meanwhile.
    private static final int WARM_UPS = 2;

    private final StreamingPlan plan;
    private final List<Integer> processes;
    private final Consumer<String> console;
    private final Networks networks = new Networks();
    private final Pools<String> pools = new Pools<>();
    private final FreePorts ports = new FreePorts(RandomGenerator.getDefault());
    private boolean framesDiffered;

    /// @param processes how many
    AllToAllRun(final StreamingPlan plan, final List<Integer> processes, final Consumer<String> console) {
        this.plan = plan;
        this.processes = processes;
        this.console = console;
    }

    boolean haveFramesDiffered() {
        return framesDiffered;
    }

    List<AllToAllRow> measure(final List<String> schemes) throws InterruptedException {
        final List<AllToAllRow> rows = new ArrayList<>();
        for (final String scheme : schemes) {
            for (final int count : processes) {
                rows.add(new AllToAllRow(scheme, count, plan.frameBytes(), measure(scheme, count)));
            }
            // Their memory is for those that follow.
            pools.end(scheme);
        }
        return rows;
    }

    private List<Outcome<AllToAllRound>> measure(final String scheme, final int count) throws InterruptedException {
        final List<Outcome<AllToAllRound>> rounds = new ArrayList<>();
        for (int round = -WARM_UPS; round < plan.times().rounds(); round++) {
            try {
                final AllToAllRound result = AllToAllRound.of(
                        plan.links(),
                        run(scheme, count, 1),
                        run(scheme, count, count),
                        (double) frames(count) * plan.frameBytes());
                if (round >= 0) {
                    rounds.add(Outcome.of(result));
                    console.accept(String.format(
                            Locale.ROOT,
                            "round %d, %s, %d processes: one %.2f ms, all %.2f ms, %.1f MB/s at each",
                            round + 1,
                            scheme,
                            count,
                            result.singleUs() / 1e3,
                            result.severalUs() / 1e3,
                            result.goodputMBps()));
                }
            } catch (final MeasurementFailedException e) {
                framesDiffered |= scheme.equals(AllToAllSpec.MULTICAST) && e.reason() == Reason.FRAMES_DIFFER;
                rounds.add(Outcome.failed(String.valueOf(e.getMessage())));
                console.accept(scheme + ", " + count + " processes: failed: " + e.getMessage());
            }
        }
        return rounds;
    }

    // Of each source, back to back.
    private int frames(final int count) {
        final double bytes = plan.times().seconds() * plan.links().bytesPerSecond() / (count - 1);
        return bytes == 0 ? FRAMES_UNLIMITED : Math.max(FRAMES_MIN, (int) (bytes / plan.frameBytes()));
    }

    private List<AllToAllReport> run(final String scheme, final int count, final int sources)
            throws InterruptedException, MeasurementFailedException {
        // TCP shares links by itself.
        final boolean isPaced = sources > 1 && scheme.equals(AllToAllSpec.MULTICAST);
        final AllToAllSpec spec = new AllToAllSpec(
                plan,
                scheme,
                count,
                sources,
                AllToAllSpec.COORDINATOR,
                isPaced ? (long) (OF_SHARE * plan.links().bytesPerSecond() / (count - 1)) : 0,
                LONE_ROUNDS,
                frames(count),
                ports.range(AllToAllSpec.PORTS));
        final List<AllToAllSpec> ofOthers =
                IntStream.range(1, count).mapToObj(spec::of).toList();
        final long endNs =
                System.nanoTime() + (long) ((STUCK_SECONDS + 10 * plan.times().seconds()) * NS_PER_SECOND);
        final Pool.Reports reports = pools.run(scheme, () -> start(scheme), pool -> pool.run(spec, ofOthers, 0, endNs));
        final List<AllToAllReport> all = new ArrayList<>();
        all.add(Records.read(AllToAllReport.class, reports.source()));
        all.addAll(reports.receivers(AllToAllReport.class));
        return all;
    }

    private Pool start(final String scheme) {
        final int others = Collections.max(processes) - 1;
        final Network network = networks.get(plan.links(), others);
        return Pool.start(scheme, others, AllToAllRole.class, List.of(), network::host, console, _ -> {});
    }

    /// Any thread.
    @Override
    public void close() {
        pools.close();
        networks.close();
    }
}
