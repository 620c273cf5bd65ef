package io.framecast.perf.alltoall;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.harness.MeasurementFailedException.Reason;
import io.framecast.perf.harness.Network;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.Pool;
import io.framecast.perf.harness.Pools;
import io.framecast.perf.harness.Records;
import io.framecast.samples.network.FreePorts;
import java.io.IOException;
import java.util.ArrayList;
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

    private final AllToAllBench.Plan plan;
    private final Consumer<String> console;
    private final Networks networks = new Networks();
    private final Pools<String> pools = new Pools<>();
    private final FreePorts ports = new FreePorts(RandomGenerator.getDefault());
    private boolean framesDiffered;

    AllToAllRun(final AllToAllBench.Plan plan, final Consumer<String> console) {
        this.plan = plan;
        this.console = console;
    }

    boolean haveFramesDiffered() {
        return framesDiffered;
    }

    List<AllToAllRow> measure() throws InterruptedException {
        final List<AllToAllRow> rows = new ArrayList<>();
        for (final String scheme : plan.schemes()) {
            for (final int processes : plan.processes()) {
                rows.add(measure(scheme, processes));
            }
            // Their memory is for those that follow.
            pools.end(scheme);
        }
        return rows;
    }

    private AllToAllRow measure(final String scheme, final int processes) throws InterruptedException {
        final AllToAllRow row = new AllToAllRow(
                scheme,
                processes,
                plan.frameBytes(),
                new ArrayList<>(),
                new ArrayList<>(),
                new ArrayList<>(),
                new ArrayList<>(),
                new ArrayList<>(),
                new ArrayList<>(),
                new ArrayList<>());
        for (int round = -WARM_UPS; round < plan.rounds(); round++) {
            try {
                final List<AllToAllReport> single = run(scheme, processes, 1);
                final List<AllToAllReport> several = run(scheme, processes, processes);
                if (round >= 0) {
                    add(row, single, several);
                    console.accept(String.format(
                            Locale.ROOT,
                            "round %d, %s, %d processes: one %.2f ms, all %.2f ms, %.1f MB/s at each",
                            round + 1,
                            scheme,
                            processes,
                            row.singleUs().getLast() / 1e3,
                            row.severalUs().getLast() / 1e3,
                            row.goodputMBps().getLast()));
                }
            } catch (final MeasurementFailedException e) {
                framesDiffered |= scheme.equals(AllToAllSpec.MULTICAST) && e.reason() == Reason.FRAMES_DIFFER;
                row.failures().add(String.valueOf(e.getMessage()));
                console.accept(scheme + ", " + processes + " processes: failed: " + e.getMessage());
            }
        }
        return row;
    }

    private void add(final AllToAllRow row, final List<AllToAllReport> single, final List<AllToAllReport> several) {
        row.singleUs().add(AllToAllRow.median(single.getFirst().roundsUs()));
        row.severalUs().add(AllToAllRow.median(several.getFirst().roundsUs()));
        final double bytes = (double) frames(row.processes()) * plan.frameBytes();
        final double seconds = several.getFirst().seconds();
        row.goodputMBps().add(bytes * (row.processes() - 1) / seconds / 1e6);
        if (several.getFirst().link().sentBytes() < 0) {
            return;
        }
        row.sentPerByte()
                .add(several.stream()
                        .mapToDouble(one -> one.link().sentBytes() / bytes)
                        .max()
                        .orElse(Double.NaN));
        row.busyShare().add(several.getFirst().link().busyShare());
        if (plan.netBytesPerSecond() > 0) {
            row.linkShare()
                    .add(several.stream()
                            .mapToDouble(one ->
                                    one.link().receivedBytes() / one.link().seconds() / plan.netBytesPerSecond())
                            .min()
                            .orElse(Double.NaN));
        }
    }

    // Of each source, back to back.
    private int frames(final int processes) {
        return plan.netBytesPerSecond() == 0
                ? FRAMES_UNLIMITED
                : Math.max(FRAMES_MIN, (int)
                        (plan.seconds() * plan.netBytesPerSecond() / plan.frameBytes() / (processes - 1)));
    }

    private List<AllToAllReport> run(final String scheme, final int processes, final int sources)
            throws InterruptedException, MeasurementFailedException {
        // TCP shares links by itself.
        final boolean isPaced = sources > 1 && scheme.equals(AllToAllSpec.MULTICAST);
        final AllToAllSpec spec = new AllToAllSpec(
                scheme,
                processes,
                sources,
                AllToAllSpec.COORDINATOR,
                plan.frameBytes(),
                plan.chunkBytes(),
                plan.device(),
                plan.net(),
                plan.mtuBytes(),
                isPaced ? (long) (OF_SHARE * plan.netBytesPerSecond() / (processes - 1)) : 0,
                LONE_ROUNDS,
                frames(processes),
                ports.range(AllToAllSpec.PORTS));
        final List<AllToAllSpec> ofOthers =
                IntStream.range(1, processes).mapToObj(spec::of).toList();
        final long endNs = System.nanoTime() + (long) ((STUCK_SECONDS + 10 * plan.seconds()) * NS_PER_SECOND);
        final Pool.Reports reports = pools.run(scheme, () -> start(scheme), pool -> pool.run(spec, ofOthers, 0, endNs));
        final List<AllToAllReport> all = new ArrayList<>();
        all.add(Records.read(AllToAllReport.class, reports.source()));
        all.addAll(reports.receivers(AllToAllReport.class));
        return all;
    }

    private Pool start(final String scheme) {
        final Network network = network();
        return Pool.start(
                scheme, plan.processesMax() - 1, AllToAllRole.class, List.of(), network::host, console, _ -> {});
    }

    private Network network() {
        if (plan.net() == BenchNet.LOOPBACK) {
            return Network.LOOPBACK;
        }
        try {
            return networks.get(new Networks.Key(
                    plan.net(), plan.mtuBytes(), plan.processesMax() - 1, true, plan.netBytesPerSecond()));
        } catch (final IOException e) {
            throw new ConfigException("--net: " + e.getMessage(), e);
        }
    }

    /// Any thread.
    @Override
    public void close() {
        pools.close();
        networks.close();
    }
}
