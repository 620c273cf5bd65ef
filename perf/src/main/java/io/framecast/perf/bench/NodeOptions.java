package io.framecast.perf.bench;

import io.framecast.api.LinkConfig;
import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.OptionValues;
import io.framecast.perf.rivals.Bystander;
import io.framecast.perf.rivals.StreamSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options of `framecast bench node` as users give them, and the plan they make.
public final class NodeOptions extends TimedOptions {
    static final String INDEPENDENT = "independent";

    private static final List<String> SCHEMES = List.of(INDEPENDENT, "host-group", "shmem", "local", "copy");
    private static final int FRAME_BYTES_MAX = 32 << 20;
    private static final int SUBSCRIBERS_MAX = 16;
    private static final int RATE_MAX = 2_000_000_000;
    private static final double LEAD_SECONDS = 0.4;
    // Frames shorter than this are for latency, and go at a modest rate.
    private static final int SMALL_FRAME_BYTES = 1 << 16;
    private static final double SMALL_FPS = 1_000;

    @Option(
            names = "--scheme",
            paramLabel = "LIST",
            description = "independent (each receives by itself), host-group (Framecast's, one receives), shmem (one"
                    + " receives and copies each frame once more into shared memory, all wait for all), local (a"
                    + " publisher on the host, in the group), copy (memory, without a protocol); default all.")
    private String schemes = String.join(",", SCHEMES);

    @Option(names = "--subscribers", paramLabel = "LIST", description = "Numbers of subscribers; default 1,2,3,4.")
    private String subscribers = "1,2,3,4";

    @Option(
            names = "--device",
            paramLabel = "LIST",
            description =
                    "Where frames are wanted: host, emulated[:N], cuda:N; default host. Readers copy them back from"
                            + " a device to sum them.")
    private String devices = DeviceChoice.HOST;

    @Option(
            names = "--link-rate",
            paramLabel = "BYTES",
            description = "Bytes per second, each way, of the link between an emulated device and its host; default 0:"
                    + " what the host can copy.")
    private String linkRate = "0";

    @Option(
            names = "--background-rate",
            paramLabel = "LIST",
            description = "Bytes per second that each subscriber copies from its device to the host meanwhile; default"
                    + " 0.")
    private String backgroundRates = "0";

    @Option(
            names = "--frame-bytes",
            paramLabel = "LIST",
            description = "Lengths of frames, multiples of 8; default 1M,64: the first for goodput, the second for"
                    + " latency.")
    private String frameBytes = "1M,64";

    @Option(
            names = "--rate",
            paramLabel = "FPS",
            description = "Frames per second, 0 for as many as are taken; default 0, and 1000 for frames below 64 KiB.")
    private @Nullable Double rate;

    @Option(
            names = "--net",
            paramLabel = "LIST",
            description = "bridge (the source is on another host, a network namespace: needs root), loopback (all on"
                    + " one); default bridge where it can be made.")
    private @Nullable String nets;

    @Option(names = "--mtu", paramLabel = "BYTES", description = "Largest IP packet; default 1500.")
    private String mtu = "1500";

    @Option(
            names = "--warm-up",
            paramLabel = "S",
            description = "Most that a scheme's processes run untimed until their goodput is steady; default 15.")
    private @Nullable Double warmUp;

    @Option(names = "--quick", description = "One short round, to see that all works.")
    private boolean quick;

    @Override
    public BenchPlan plan() {
        // A refused option needs no namespaces.
        final BenchPlan untried = untried();
        if (nets != null) {
            if (wantedNets().contains(BenchNet.BRIDGE)) {
                Networks.require("--net bridge: ");
            }
            return untried;
        }
        final String why = Networks.unavailable();
        return why.isEmpty()
                ? untried
                : plan(
                        List.of(BenchNet.LOOPBACK),
                        List.of("a source on another host, because no network namespaces can be made here: " + why
                                + "; all are on loopback"));
    }

    @Override
    public BenchPlan untried() {
        return plan(wantedNets(), List.of());
    }

    private BenchPlan plan(final List<BenchNet> networks, final List<String> skips) {
        final List<BenchSystem> systems = OptionValues.words("--scheme", schemes, SCHEMES).stream()
                .map(NodeOptions::system)
                .toList();
        final List<BenchPlan.Part> parts = new ArrayList<>();
        for (final BenchCase setting : cases(networks)) {
            parts.add(new BenchPlan.Part(setting, systems));
        }
        final double longest = 3_600;
        return new BenchPlan(
                parts,
                rounds(quick ? 1 : 5, 1_000),
                new BenchTimes(
                        OptionValues.within("--warm-up", warmUp == null ? quick ? 0.5 : 15 : warmUp, 0.1, longest),
                        quick ? LEAD_SECONDS / 2 : LEAD_SECONDS,
                        seconds(quick ? 0.3 : 2, 0.1, longest)),
                0,
                skips,
                out());
    }

    private static BenchSystem system(final String scheme) {
        return scheme.equals(INDEPENDENT) ? BenchSystem.framecast("udp") : new BenchSystem(scheme);
    }

    private List<BenchCase> cases(final List<BenchNet> networks) {
        final List<BenchCase> cases = new ArrayList<>();
        final List<Integer> backgrounds = OptionValues.bytesList("--background-rate", backgroundRates, 0, RATE_MAX);
        final List<DeviceChoice> choices = OptionValues.list("--device", devices, NodeOptions::device);
        choices.forEach(DeviceChoice::require);
        final int link = OptionValues.bytes("--link-rate", linkRate, 0, RATE_MAX);
        final int packet = OptionValues.bytes("--mtu", mtu, LinkConfig.MTU_BYTES_MIN, LinkConfig.MTU_BYTES_MAX);
        for (final BenchNet net : networks) {
            for (final DeviceChoice device : choices) {
                for (final int bytes : frameBytes()) {
                    for (final int background : device.isHost() ? List.of(0) : backgrounds) {
                        final StreamSpec.Readers readers =
                                new StreamSpec.Readers(device.text(), device.isEmulated() ? link : 0, background);
                        OptionValues.bytesList("--subscribers", subscribers, 1, SUBSCRIBERS_MAX)
                                .forEach(count -> cases.add(new BenchCase(
                                        BenchScenario.THROUGHPUT,
                                        net,
                                        bytes,
                                        count,
                                        packet,
                                        0,
                                        true,
                                        rate(bytes),
                                        Bystander.NONE,
                                        readers)));
                    }
                }
            }
        }
        return cases;
    }

    private static DeviceChoice device(final String name) {
        return DeviceChoice.parse(name, "host|emulated(:\\d{1,2})?|cuda:\\d{1,2}", "host, emulated[:N] or cuda:N");
    }

    private List<Integer> frameBytes() {
        final List<Integer> all =
                OptionValues.bytesList("--frame-bytes", frameBytes, StreamSpec.FRAME_BYTES_MIN, FRAME_BYTES_MAX);
        all.forEach(bytes ->
                OptionValues.require(bytes % Long.BYTES == 0, "--frame-bytes: expected multiples of 8, got " + bytes));
        return all;
    }

    private double rate(final int bytes) {
        return rate == null ? bytes < SMALL_FRAME_BYTES ? SMALL_FPS : 0 : OptionValues.within("--rate", rate, 0, 1e6);
    }

    private List<BenchNet> wantedNets() {
        return nets == null
                ? List.of(BenchNet.BRIDGE)
                : OptionValues.words("--net", nets, List.of("bridge", "loopback")).stream()
                        .map(net -> BenchNet.of("--net", net))
                        .toList();
    }
}
