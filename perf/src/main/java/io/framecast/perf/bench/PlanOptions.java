package io.framecast.perf.bench;

import io.framecast.api.LinkConfig;
import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.OptionValues;
import io.framecast.perf.rivals.Protection;
import io.framecast.perf.rivals.StreamSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// The options of `framecast bench` as users give them, and the plan they make.
public final class PlanOptions {
    private static final int FRAME_BYTES_MAX = 1 << 30;
    private static final int RECEIVERS_MAX = 64;
    private static final int ROUNDS_MAX = 1_000;
    private static final double SECONDS_MAX = 3_600;
    private static final int VETH_MTU_MAX = 65_535;
    private static final double LOSS_MAX = 0.5;
    private static final double WARM_UP_MAX_SECONDS = 15;
    private static final double QUICK_WARM_UP_MAX_SECONDS = 1;
    private static final double LEAD_SECONDS = 0.4;
    private static final double QUICK_LEAD_SECONDS = 0.2;
    private static final double QUICK_SECONDS = 0.5;
    private static final int QUICK_ROUNDS = 2;
    private static final int QUICK_VALUES = 3;
    private static final String UNTRIED = "not tried";
    private static final List<String> RIVALS = List.of("floor", "aeron", "tcp");
    private static final List<String> TRANSPORTS = List.of("auto", "udp", "aeron");
    private static final List<String> PROTECTIONS =
            Arrays.stream(Protection.values()).map(Protection::label).toList();

    @Parameters(
            arity = "0..*",
            paramLabel = "SCENARIO",
            description = "latency, throughput, scaling, loss, sizes or isolation; several are run together.")
    private List<String> scenarios = List.of();

    @Option(
            names = "--against",
            paramLabel = "LIST",
            description = "Rivals: floor (raw GSO/GRO multicast), aeron (stock, tuned), tcp (fan-out), none;"
                    + " default: what the scenario compares with.")
    private @Nullable String against;

    @Option(names = "--transport", paramLabel = "LIST", description = "Framecast's: auto (default), udp, aeron.")
    private String transports = "auto";

    @Option(
            names = "--security",
            paramLabel = "LIST",
            description = "Framecast's: plain (default), auth (by a pre-shared key); several are compared with plain.")
    private String protections = Protection.PLAIN.label();

    @Option(names = "--frame-bytes", paramLabel = "LIST", description = "Lengths of frames, such as 1M,6220800.")
    private @Nullable String frameBytes;

    @Option(names = "--receivers", paramLabel = "LIST", description = "Numbers of receiver processes, such as 1,3.")
    private @Nullable String receivers;

    @Option(names = "--mtu", paramLabel = "LIST", description = "Largest IP packets, such as 1500,9000; default 1500.")
    private String mtus = "1500";

    @Option(
            names = "--net",
            paramLabel = "loopback|veth|bridge",
            description = "Network; veth and bridge are made of network namespaces and need root. Default: loopback,"
                    + " for loss veth, for scaling bridge, where they can be made.")
    private @Nullable String net;

    @Option(
            names = "--offload",
            paramLabel = "on|off|LIST",
            description = "Whether the source's interface takes many datagrams at once; on loopback it is the floor's"
                    + " loop alone that goes without. Default on, for loss both.")
    private @Nullable String offloads;

    @Option(
            names = "--loss",
            paramLabel = "LIST",
            description = "Shares of packets that the network drops at the input of each end, such as 0,0.01; on"
                    + " loopback Framecast alone drops its own.")
    private @Nullable String losses;

    @Option(names = "--rate", paramLabel = "FPS", description = "Frames per second, 0 for as many as are taken.")
    private @Nullable Double rate;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds, of which the median counts; default 5.")
    private @Nullable Integer rounds;

    @Option(names = "--seconds", paramLabel = "S", description = "How long each measurement lasts; default 2.")
    private @Nullable Double seconds;

    @Option(
            names = "--warm-up",
            paramLabel = "S",
            description =
                    "Most that a system's processes run untimed until their goodput is steady; default 15, a quarter"
                            + " more for each further receiver.")
    private @Nullable Double warmUp;

    @Option(
            names = "--socket-buffer",
            paramLabel = "BYTES",
            description = "The same socket buffers for every system; default: what each gets by itself.")
    private String socketBuffer = "0";

    @Option(names = "--quick", description = "Two short rounds of few cases: shows that all works, not how fast.")
    private boolean quick;

    @Option(names = "--out", paramLabel = "DIR", description = "Write bench.json, bench.csv, plots and index.html.")
    private @Nullable Path out;

    /// The plan before namespaces are tried: scenarios of no named network are on the loopback.
    ///
    /// @throws ConfigException naming option, expectation and value
    BenchPlan untried() {
        return plan(UNTRIED);
    }

    /// @throws ConfigException naming option, expectation and value
    BenchPlan plan() {
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
            for (final BenchCase setting : cases(scenario, why, skips)) {
                parts.add(new BenchPlan.Part(setting, systems(setting, skips)));
            }
        }
        final List<BenchScenario> asked =
                parts.stream().map(part -> part.setting().scenario()).toList();
        final int defaultRounds = asked.stream()
                .mapToInt(scenario -> scenario.usual().rounds())
                .min()
                .orElse(1);
        return new BenchPlan(
                List.copyOf(parts),
                (int) OptionValues.within(
                        "--rounds", rounds == null ? quick ? QUICK_ROUNDS : defaultRounds : rounds, 1, ROUNDS_MAX),
                times(asked.stream()
                        .mapToDouble(scenario -> scenario.usual().seconds())
                        .max()
                        .orElse(1)),
                OptionValues.bytes("--socket-buffer", socketBuffer, 0, Integer.MAX_VALUE / 2),
                skips.stream().distinct().toList(),
                Optional.ofNullable(out));
    }

    private BenchTimes times(final double defaultSeconds) {
        final double warmUpMax = quick ? QUICK_WARM_UP_MAX_SECONDS : WARM_UP_MAX_SECONDS;
        return new BenchTimes(
                OptionValues.within("--warm-up", warmUp == null ? warmUpMax : warmUp, 0.1, SECONDS_MAX),
                quick ? QUICK_LEAD_SECONDS : LEAD_SECONDS,
                OptionValues.within(
                        "--seconds",
                        seconds == null ? quick ? QUICK_SECONDS : defaultSeconds : seconds,
                        0.1,
                        SECONDS_MAX));
    }

    private static BenchScenario scenario(final String name) {
        return Arrays.stream(BenchScenario.values())
                .filter(scenario -> scenario.label().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigException(
                        "SCENARIO: expected one of " + String.join(", ", BenchScenario.labels()) + ", got " + name));
    }

    private List<BenchCase> cases(final BenchScenario scenario, final String why, final List<String> skips) {
        final BenchNet network = network(scenario, why, skips);
        final List<BenchCase> cases = new ArrayList<>();
        for (final int mtu : mtus(network)) {
            for (final boolean offload : offloads(scenario, network)) {
                for (final double loss : losses(scenario)) {
                    for (final int bytes : frameBytes(scenario)) {
                        for (final int count : receivers(scenario, network)) {
                            final BenchCase alone = new BenchCase(
                                    scenario, network, bytes, count, mtu, loss, offload, rate(scenario, bytes));
                            scenario.bystanders().forEach(who -> cases.add(alone.withBystander(who)));
                        }
                    }
                }
            }
        }
        return cases;
    }

    private BenchNet wantedNet(final BenchScenario scenario) {
        return net == null ? scenario.usual().net() : BenchNet.of("--net", net);
    }

    private BenchNet network(final BenchScenario scenario, final String why, final List<String> skips) {
        final BenchNet wanted = wantedNet(scenario);
        if (wanted == BenchNet.LOOPBACK || why.isEmpty() || net != null) {
            return wanted;
        }
        skips.add(scenario.label() + " on loopback, because no network namespaces can be made here: " + why);
        return BenchNet.LOOPBACK;
    }

    // On loopback all but the floor would do the same twice.
    private List<Boolean> offloads(final BenchScenario scenario, final BenchNet network) {
        if (offloads != null) {
            return OptionValues.list("--offload", offloads, text -> OptionValues.onOrOff("--offload", text));
        }
        return network == BenchNet.LOOPBACK ? List.of(true) : scenario.offloads();
    }

    private List<Integer> mtus(final BenchNet network) {
        final int most = network == BenchNet.LOOPBACK ? LinkConfig.MTU_BYTES_MAX : VETH_MTU_MAX;
        return OptionValues.bytesList("--mtu", mtus, LinkConfig.MTU_BYTES_MIN, most);
    }

    private List<Double> losses(final BenchScenario scenario) {
        return losses == null
                ? scenario.losses()
                : OptionValues.list(
                        "--loss",
                        losses,
                        text -> OptionValues.within("--loss", OptionValues.number("--loss", text), 0, LOSS_MAX));
    }

    private List<Integer> frameBytes(final BenchScenario scenario) {
        if (frameBytes == null) {
            final List<Integer> all = scenario.usual().frameBytes();
            final int step = quick ? Math.ceilDiv(all.size(), QUICK_VALUES) : 1;
            return all.stream().filter(bytes -> all.indexOf(bytes) % step == 0).toList();
        }
        return OptionValues.bytesList("--frame-bytes", frameBytes, StreamSpec.FRAME_BYTES_MIN, FRAME_BYTES_MAX);
    }

    private List<Integer> receivers(final BenchScenario scenario, final BenchNet network) {
        final List<Integer> counts = receivers == null
                ? scenario.receivers()
                : OptionValues.bytesList("--receivers", receivers, 1, RECEIVERS_MAX);
        if (network == BenchNet.VETH && counts.stream().anyMatch(count -> count > 1)) {
            throw new ConfigException("--net veth joins one receiver: choose --net bridge for " + counts);
        }
        return counts;
    }

    private double rate(final BenchScenario scenario, final int bytes) {
        return rate == null ? scenario.framesPerSecond(bytes) : OptionValues.within("--rate", rate, 0, 1e7);
    }

    private List<BenchSystem> systems(final BenchCase setting, final List<String> skips) {
        final Set<BenchSystem> systems = new LinkedHashSet<>();
        for (final String transport : OptionValues.words("--transport", transports, TRANSPORTS)) {
            for (final String protection : OptionValues.words("--security", protections, PROTECTIONS)) {
                systems.add(BenchSystem.framecast(transport, Protection.of(protection)));
            }
        }
        final String rivals = against == null ? setting.scenario().usual().rivals() : against;
        if (rivals.equals("none")) {
            return List.copyOf(systems);
        }
        for (final String rival : OptionValues.words("--against", rivals, RIVALS)) {
            final BenchSystem system = new BenchSystem(rival);
            final String why = whyNot(setting, system);
            if (why.isEmpty()) {
                systems.add(system);
            } else {
                skips.add(rival + " with " + setting.lossText() + ": " + why);
            }
        }
        return List.copyOf(systems);
    }

    private static String whyNot(final BenchCase setting, final BenchSystem system) {
        if (setting.loss() == 0) {
            return "";
        }
        if (!system.isReliable() && !countsWhatArrives(setting)) {
            return "it repairs nothing, so large frames never arrive whole";
        }
        return setting.net() == BenchNet.LOOPBACK
                ? "on loopback only Framecast can drop its own datagrams; choose --net veth or bridge"
                : "";
    }

    // With batches a loss takes a sixteenth of a frame of 1 MiB, so that most frames arrive; they are worth
    // knowing as the latency without repair.
    private static boolean countsWhatArrives(final BenchCase setting) {
        return setting.scenario().comparesLatency() && setting.net() != BenchNet.LOOPBACK && setting.offload();
    }
}
