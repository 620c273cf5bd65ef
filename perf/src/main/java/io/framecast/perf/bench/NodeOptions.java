package io.framecast.perf.bench;

import io.framecast.api.LinkConfig;
import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.rivals.Bystander;
import io.framecast.perf.rivals.StreamSpec;
import io.framecast.samples.options.OneOf;
import io.framecast.samples.options.Size;
import io.framecast.samples.options.Sizes;
import io.framecast.samples.options.Within;
import io.framecast.samples.options.Words;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options of `framecast bench node` as users give them, and the plan they make.
public final class NodeOptions extends TimedOptions {
    static final String INDEPENDENT = "independent";

    private static final int RATE_MAX = 2_000_000_000;
    private static final double SECONDS_MAX = 3_600;
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
    @OneOf({INDEPENDENT, "host-group", "shmem", "local", "copy"})
    private Words schemes = Words.of(INDEPENDENT, "host-group", "shmem", "local", "copy");

    @Option(names = "--subscribers", paramLabel = "LIST", description = "Numbers of subscribers; default 1,2,3,4.")
    @Within(least = 1, most = 16)
    private Sizes subscribers = Sizes.of(1, 2, 3, 4);

    @Option(
            names = "--device",
            paramLabel = "LIST",
            description =
                    "Where frames are wanted: host, emulated[:N], cuda:N; default host. Readers copy them back from"
                            + " a device to sum them.")
    @OneOf(
            value = {DeviceChoice.HOST, "emulated(:\\d{1,2})?", "cuda:\\d{1,2}"},
            expected = "host, emulated[:N] or cuda:N")
    private Words devices = Words.of(DeviceChoice.HOST);

    @Option(
            names = "--link-rate",
            paramLabel = "BYTES",
            description = "Bytes per second, each way, of the link between an emulated device and its host; default 0:"
                    + " what the host can copy.")
    @Within(most = RATE_MAX)
    private Size linkRate = new Size(0);

    @Option(
            names = "--background-rate",
            paramLabel = "LIST",
            description = "Bytes per second that each subscriber copies from its device to the host meanwhile; default"
                    + " 0.")
    @Within(most = RATE_MAX)
    private Sizes backgroundRates = Sizes.of(0);

    @Option(
            names = "--frame-bytes",
            paramLabel = "LIST",
            description = "Lengths of frames, multiples of 8; default 1M,64: the first for goodput, the second for"
                    + " latency.")
    @Within(least = StreamSpec.FRAME_BYTES_MIN, most = 32 << 20, multipleOf = Long.BYTES)
    private Sizes frameBytes = Sizes.of(1 << 20, 64);

    @Option(
            names = "--rate",
            paramLabel = "FPS",
            description = "Frames per second, 0 for as many as are taken; default 0, and 1000 for frames below 64 KiB.")
    @Within(most = 1_000_000)
    private @Nullable Double rate;

    @Option(
            names = "--net",
            paramLabel = "LIST",
            description = "bridge (the source is on another host, a network namespace: needs root), loopback (all on"
                    + " one); default bridge where it can be made.")
    @OneOf({"bridge", "loopback"})
    private @Nullable Words nets;

    @Option(names = "--mtu", paramLabel = "BYTES", description = "Largest IP packet; default 1500.")
    @Within(least = LinkConfig.MTU_BYTES_MIN, most = LinkConfig.MTU_BYTES_MAX)
    private Size mtu = new Size(1500);

    @Option(
            names = "--warm-up",
            paramLabel = "S",
            description = "Most that a scheme's processes run untimed until their goodput is steady; default 15.")
    @Within(least = 0.1, most = SECONDS_MAX)
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
        final List<BenchSystem> systems =
                schemes.values().stream().map(NodeOptions::system).toList();
        return new BenchPlan(
                cases(networks).stream()
                        .map(setting -> new BenchPlan.Part(setting, systems))
                        .toList(),
                rounds(quick ? 1 : 5, 1_000),
                new BenchTimes(
                        warmUp == null ? quick ? 0.5 : 15 : warmUp,
                        quick ? LEAD_SECONDS / 2 : LEAD_SECONDS,
                        seconds(quick ? 0.3 : 2, 0.1, SECONDS_MAX)),
                0,
                skips,
                out());
    }

    private static BenchSystem system(final String scheme) {
        return scheme.equals(INDEPENDENT) ? BenchSystem.framecast("udp") : new BenchSystem(scheme);
    }

    private List<BenchCase> cases(final List<BenchNet> networks) {
        final List<BenchCase> cases = new ArrayList<>();
        final List<DeviceChoice> choices =
                devices.values().stream().map(DeviceChoice::parse).toList();
        choices.forEach(DeviceChoice::require);
        for (final BenchNet net : networks) {
            for (final DeviceChoice device : choices) {
                for (final int bytes : frameBytes.ints()) {
                    for (final long background : device.isHost() ? List.of(0L) : backgroundRates.values()) {
                        final StreamSpec.Readers readers = new StreamSpec.Readers(
                                device.text(), device.isEmulated() ? linkRate.value() : 0, background);
                        subscribers
                                .ints()
                                .forEach(count -> cases.add(new BenchCase(
                                        BenchScenario.THROUGHPUT,
                                        net,
                                        bytes,
                                        count,
                                        mtu.bytes(),
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

    private double rate(final int bytes) {
        return rate == null ? bytes < SMALL_FRAME_BYTES ? SMALL_FPS : 0 : rate;
    }

    private List<BenchNet> wantedNets() {
        return nets == null
                ? List.of(BenchNet.BRIDGE)
                : nets.values().stream().map(BenchNet::of).toList();
    }
}
