package io.framecast.perf.bench;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.Networks;
import io.framecast.samples.options.Sizes;
import io.framecast.samples.options.Words;
import java.util.ArrayList;
import java.util.List;

/// The options of `framecast bench start` as users give them, and the plan they make: full rate from the start of
/// fresh processes on.
public final class StartOptions extends CaseOptions {
    private static final int ROUNDS_MAX = 100;
    private static final double SECONDS_MAX = 600;

    public StartOptions() {
        against = Words.of(BenchSystem.FLOOR.name());
        frameBytes = Sizes.of(1 << 20);
        receivers = Sizes.of(3);
        mtus = Sizes.of(9000);
        net = BenchNet.BRIDGE.label();
        offloads = Words.of(ON);
    }

    @Override
    public BenchPlan untried() {
        final BenchNet network = wantedNet(BenchScenario.THROUGHPUT);
        final List<String> skips = new ArrayList<>();
        return new BenchPlan(
                parts(BenchScenario.THROUGHPUT, network, skips),
                rounds(5, ROUNDS_MAX),
                BenchTimes.fromStart(seconds(16, 1, SECONDS_MAX)),
                0,
                skips,
                out());
    }

    @Override
    public BenchPlan plan() {
        final BenchPlan untried = untried();
        final BenchNet network = wantedNet(BenchScenario.THROUGHPUT);
        if (network != BenchNet.LOOPBACK) {
            Networks.require("--net " + network.label() + ": ");
        }
        return untried;
    }
}
