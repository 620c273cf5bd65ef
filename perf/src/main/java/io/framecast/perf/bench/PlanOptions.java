package io.framecast.perf.bench;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.rivals.Protection;
import io.framecast.samples.options.Numbers;
import io.framecast.samples.options.OneOf;
import io.framecast.samples.options.Size;
import io.framecast.samples.options.Within;
import io.framecast.samples.options.Words;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// The options of `framecast bench` as users give them, and the plan they make.
public final class PlanOptions extends CaseOptions {
    private static final int ROUNDS_MAX = 1_000;
    private static final double SECONDS_MAX = 3_600;
    private static final double WARM_UP_MAX_SECONDS = 15;
    private static final double QUICK_WARM_UP_MAX_SECONDS = 1;
    private static final double LEAD_SECONDS = 0.4;
    private static final double QUICK_LEAD_SECONDS = 0.2;
    private static final double QUICK_SECONDS = 0.5;
    private static final int QUICK_ROUNDS = 2;
    private static final int QUICK_VALUES = 3;
    private static final String UNTRIED = "not tried";
    private static final String PLAIN = "plain";

    @Parameters(
            arity = "0..*",
            paramLabel = "SCENARIO",
            description = "latency, throughput, scaling, loss, sizes or isolation; several are run together.")
    private List<String> scenarios = List.of();

    @Option(
            names = "--security",
            paramLabel = "LIST",
            description = "Framecast's: plain (default), auth (by a pre-shared key); several are compared with plain.")
    @OneOf({PLAIN, "auth", "aes-gcm", "chacha20-poly1305"})
    private Words protections = Words.of(PLAIN);

    @Option(
            names = "--loss",
            paramLabel = "LIST",
            description = "Shares of packets that the network drops at the input of each end, such as 0,0.01; on"
                    + " loopback Framecast alone drops its own.")
    @Within(most = 0.5)
    private @Nullable Numbers losses;

    @Option(
            names = "--warm-up",
            paramLabel = "S",
            description =
                    "Most that a system's processes run untimed until their goodput is steady; default 15, a quarter"
                            + " more for each further receiver.")
    @Within(least = 0.1, most = SECONDS_MAX)
    private @Nullable Double warmUp;

    @Option(
            names = "--socket-buffer",
            paramLabel = "BYTES",
            description = "The same socket buffers for every system; default: what each gets by itself.")
    @Within(most = Integer.MAX_VALUE / 2)
    private Size socketBuffer = new Size(0);

    @Option(names = "--quick", description = "Two short rounds of few cases: shows that all works, not how fast.")
    private boolean quick;

    /// Scenarios of no named network are on the loopback.
    @Override
    public BenchPlan untried() {
        return plan(UNTRIED);
    }

    @Override
    public BenchPlan plan() {
        // A refused option needs no namespaces.
        final BenchPlan untried = untried();
        final boolean isOnLoopback =
                scenarios.stream().allMatch(name -> wantedNet(scenario(name)) == BenchNet.LOOPBACK);
        if (isOnLoopback) {
            return untried;
        }
        final String why = Networks.unavailable();
        if (!why.isEmpty() && net != null) {
            throw Networks.unmakeable("--net " + net + ": ", why);
        }
        return plan(why);
    }

    /// @param why namespaces cannot be made; empty when they can
    private BenchPlan plan(final String why) {
        if (scenarios.isEmpty()) {
            throw new ConfigException("SCENARIO: expected some of " + String.join(", ", BenchScenario.labels())
                    + ", or the command tail, got nothing");
        }
        final List<String> skips = new ArrayList<>();
        final Set<BenchPlan.Part> parts = new LinkedHashSet<>();
        for (final String name : new LinkedHashSet<>(scenarios)) {
            final BenchScenario scenario = scenario(name);
            parts.addAll(parts(scenario, network(scenario, why, skips), skips));
        }
        final List<BenchScenario.Usual> usual =
                parts.stream().map(part -> part.setting().scenario().usual()).toList();
        final int rounds =
                usual.stream().mapToInt(BenchScenario.Usual::rounds).min().orElse(1);
        final double seconds =
                usual.stream().mapToDouble(BenchScenario.Usual::seconds).max().orElse(1);
        final double warmUpMax = quick ? QUICK_WARM_UP_MAX_SECONDS : WARM_UP_MAX_SECONDS;
        return new BenchPlan(
                List.copyOf(parts),
                rounds(quick ? QUICK_ROUNDS : rounds, ROUNDS_MAX),
                new BenchTimes(
                        warmUp == null ? warmUpMax : warmUp,
                        quick ? QUICK_LEAD_SECONDS : LEAD_SECONDS,
                        seconds(quick ? QUICK_SECONDS : seconds, 0.1, SECONDS_MAX)),
                socketBuffer.bytes(),
                skips.stream().distinct().toList(),
                out());
    }

    private static BenchScenario scenario(final String name) {
        return Arrays.stream(BenchScenario.values())
                .filter(scenario -> scenario.label().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigException(
                        "SCENARIO: expected one of " + String.join(", ", BenchScenario.labels()) + ", got " + name));
    }

    private BenchNet network(final BenchScenario scenario, final String why, final List<String> skips) {
        final BenchNet wanted = wantedNet(scenario);
        if (wanted == BenchNet.LOOPBACK || why.isEmpty() || net != null) {
            return wanted;
        }
        skips.add(scenario.label() + " on loopback, because no network namespaces can be made here: " + why);
        return BenchNet.LOOPBACK;
    }

    @Override
    List<Double> losses(final BenchScenario scenario) {
        return losses == null ? super.losses(scenario) : losses.values();
    }

    @Override
    List<Integer> frameBytes(final BenchScenario scenario) {
        final List<Integer> all = super.frameBytes(scenario);
        final int step = quick && frameBytes == null ? Math.ceilDiv(all.size(), QUICK_VALUES) : 1;
        return all.stream().filter(bytes -> all.indexOf(bytes) % step == 0).toList();
    }

    @Override
    List<Protection> protections() {
        return protections.values().stream().map(Protection::of).toList();
    }
}
