package io.framecast.perf.bench;

import io.framecast.api.LinkConfig;
import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.rivals.Bystander;
import io.framecast.perf.rivals.Protection;
import io.framecast.perf.rivals.StreamSpec;
import io.framecast.samples.options.OneOf;
import io.framecast.samples.options.Options;
import io.framecast.samples.options.Sizes;
import io.framecast.samples.options.Within;
import io.framecast.samples.options.Words;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of the benches that measure Framecast beside its rivals, and the cases that they make. The scenario
/// decides where the user gives none.
abstract class CaseOptions extends TimedOptions {
    static final String ON = "on";
    private static final String AUTO = "auto";
    private static final int VETH_MTU_MAX = 65_535;

    @Option(
            names = "--against",
            paramLabel = "LIST",
            description = "Rivals: floor (raw GSO/GRO multicast), aeron (stock, tuned), tcp (fan-out), none;"
                    + " default: those that the scenario compares with, of start floor.")
    @OneOf(
            value = {"floor", "aeron", "tcp"},
            orNone = true)
    @Nullable
    Words against;

    @Option(names = "--transport", paramLabel = "LIST", description = "Framecast's: auto (default), udp, aeron.")
    @OneOf({AUTO, "udp", "aeron"})
    private Words transports = Words.of(AUTO);

    @Option(
            names = "--frame-bytes",
            paramLabel = "LIST",
            description = "Lengths of frames, such as 1M,6220800; of start by default 1M.")
    @Within(least = StreamSpec.FRAME_BYTES_MIN, most = 1 << 30)
    @Nullable
    Sizes frameBytes;

    @Option(
            names = "--receivers",
            paramLabel = "LIST",
            description = "Numbers of receiver processes, such as 1,3; of start by default 3.")
    @Within(least = 1, most = 64)
    @Nullable
    Sizes receivers;

    @Option(
            names = "--mtu",
            paramLabel = "LIST",
            description = "Largest IP packets, such as 1500,9000; default ${DEFAULT-VALUE}.")
    Sizes mtus = Sizes.of(1500);

    @Option(
            names = "--net",
            paramLabel = "loopback|veth|bridge",
            description = "Network; veth and bridge are made of network namespaces and need root. Default: loopback,"
                    + " for loss veth, for scaling bridge, where they can be made; of start bridge.")
    @OneOf(
            value = {"loopback", "veth", "bridge"},
            expected = "loopback, veth or bridge")
    @Nullable
    String net;

    @Option(
            names = "--offload",
            paramLabel = "on|off|LIST",
            description = "Whether the source's interface takes many datagrams at once; on loopback it is the floor's"
                    + " loop alone that goes without. Default on, for loss both.")
    @OneOf({ON, "off"})
    @Nullable
    Words offloads;

    @Option(names = "--rate", paramLabel = "FPS", description = "Frames per second, 0 for as many as are taken.")
    @Within(most = 10_000_000)
    private @Nullable Double rate;

    final BenchNet wantedNet(final BenchScenario scenario) {
        return net == null ? scenario.usual().net() : BenchNet.of(net);
    }

    /// Every combination of what the options list, each with its systems.
    ///
    /// @param skips takes what is not measured, with the reason
    final List<BenchPlan.Part> parts(final BenchScenario scenario, final BenchNet network, final List<String> skips) {
        final List<BenchPlan.Part> parts = new ArrayList<>();
        for (final int mtu : mtus(network)) {
            for (final boolean offload : offloads(scenario, network)) {
                for (final double loss : losses(scenario)) {
                    for (final int bytes : frameBytes(scenario)) {
                        for (final int count : receivers(scenario, network)) {
                            final double fps = rate == null ? scenario.framesPerSecond(bytes) : rate;
                            final BenchCase alone =
                                    new BenchCase(scenario, network, bytes, count, mtu, loss, offload, fps);
                            for (final Bystander bystander : scenario.bystanders()) {
                                final BenchCase setting = alone.withBystander(bystander);
                                parts.add(new BenchPlan.Part(setting, systems(setting, skips)));
                            }
                        }
                    }
                }
            }
        }
        return parts;
    }

    // On loopback all but the floor would do the same twice.
    private List<Boolean> offloads(final BenchScenario scenario, final BenchNet network) {
        if (offloads != null) {
            return offloads.values().stream().map(ON::equals).toList();
        }
        return network == BenchNet.LOOPBACK ? List.of(true) : scenario.offloads();
    }

    private List<Integer> mtus(final BenchNet network) {
        final int most = network == BenchNet.LOOPBACK ? LinkConfig.MTU_BYTES_MAX : VETH_MTU_MAX;
        mtus.values().forEach(mtu -> Options.within("--mtu", mtu, LinkConfig.MTU_BYTES_MIN, most));
        return mtus.ints();
    }

    List<Double> losses(final BenchScenario scenario) {
        return scenario.losses();
    }

    List<Integer> frameBytes(final BenchScenario scenario) {
        return frameBytes == null ? scenario.usual().frameBytes() : frameBytes.ints();
    }

    private List<Integer> receivers(final BenchScenario scenario, final BenchNet network) {
        final List<Integer> counts = receivers == null ? scenario.receivers() : receivers.ints();
        if (network == BenchNet.VETH && counts.stream().anyMatch(count -> count > 1)) {
            throw new ConfigException("--net veth joins one receiver: choose --net bridge for " + counts);
        }
        return counts;
    }

    List<Protection> protections() {
        return List.of(Protection.PLAIN);
    }

    private List<BenchSystem> systems(final BenchCase setting, final List<String> skips) {
        final Set<BenchSystem> systems = new LinkedHashSet<>();
        for (final String transport : transports.values()) {
            protections().forEach(protection -> systems.add(BenchSystem.framecast(transport, protection)));
        }
        final Words rivals = against == null ? setting.scenario().usual().rivals() : against;
        for (final String rival : rivals.some()) {
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
