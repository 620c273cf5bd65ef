package io.framecast.samples.demo;

import io.framecast.api.Channel;
import io.framecast.api.NodeConfig;
import io.framecast.api.error.ConfigException;
import io.framecast.api.provider.ProviderLookup;
import io.framecast.samples.Devices;
import io.framecast.samples.Environment;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.InputOptions;
import io.framecast.samples.NodeOptions;
import io.framecast.samples.Report;
import io.framecast.samples.ToolVersion;
import io.framecast.samples.input.FrameInput;
import io.framecast.samples.input.FrameShape;
import io.framecast.samples.input.InputSpec;
import io.framecast.samples.network.FreePorts;
import io.framecast.samples.publish.PublishPlan;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `framecast demo`.
@Command(
        name = "demo",
        description = "One publisher and several subscriber processes on this machine: every frame is carried into"
                + " device memory, read back and checked.",
        mixinStandardHelpOptions = true,
        versionProvider = ToolVersion.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  framecast demo",
            "  framecast demo --transport udp --loss 0.02 --seed 7",
            "  framecast demo --hosts 2 --subscribers 4",
            "  framecast demo --frame-bytes 128M --rate 0 --subscribers 1 --device host",
            "  framecast demo --input 'ffmpeg:-i clip.mp4' --video 1280x720xrgb24 --json result.json"
        })
public final class DemoCommand implements Callable<Integer> {
    private static final String GROUP = "224.20.30.39";
    private static final String UDP = "udp";
    private static final int LANES = 3;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "How long to publish; default ${DEFAULT-VALUE}. Less when the input ends.")
    private double seconds = 10;

    @Option(names = "--subscribers", paramLabel = "N", description = "Subscriber processes; default ${DEFAULT-VALUE}.")
    private int subscribers = 3;

    @Option(
            names = "--hosts",
            paramLabel = "N",
            description =
                    "Spread the subscribers over N hosts (network namespaces as root, else names on the loopback);"
                            + " the subscribers of a host receive the stream once. Over udp.")
    private @Nullable Integer hosts;

    @Option(
            names = "--input",
            paramLabel = "test|FILE|-|ffmpeg:ARGS",
            description = "Generated pattern (default), file, stdin, or the output of ffmpeg with ARGS.")
    private String input = "test";

    @Mixin
    private InputOptions inputOptions = new InputOptions();

    @Option(
            names = "--transport",
            paramLabel = "auto|aeron|udp|verbs",
            description = "The transport; default ${DEFAULT-VALUE}.")
    private String transport = "auto";

    @Option(
            names = "--device",
            paramLabel = "auto|cuda:N|emulated|host",
            description =
                    "Where frames land; default ${DEFAULT-VALUE}: the first GPU, or an emulated one where there is"
                            + " none, which the tool reports.")
    private String device = "auto";

    @Option(
            names = "--interface",
            paramLabel = "NAME|ADDRESS",
            description = "Network interface, its address, or RDMA device; default ${DEFAULT-VALUE}, this host's own,"
                    + " for which verbs takes any device.")
    private String networkInterface = "127.0.0.1";

    @Mixin
    private NodeOptions nodeOptions = new NodeOptions();

    private final Environment environment;
    private final Report report;

    public DemoCommand(final Environment environment, final Report report) {
        this.environment = environment;
        this.report = report;
    }

    @Override
    public Integer call() {
        final InputSpec spec = InputSpec.parse(input);
        if (spec instanceof InputSpec.File file) {
            report.requireOther("--input", file.path());
        }
        report.requireWritable();
        final Integer wanted = hosts;
        if (wanted != null) {
            DemoHosts.check(wanted, subscribers);
            requireUdp();
        }
        final DemoPlan plan = plan(spec);
        final DemoResult result;
        try (DemoHosts made =
                wanted == null ? DemoHosts.NONE : DemoHosts.make(wanted, subscribers, environment.console()::line)) {
            final DemoPlan placed = plan.withInterface(made.networkInterface(networkInterface));
            result = new DemoRun(placed, made, environment).run();
        }
        report.result(result.json(), result.text());
        if (result.mismatch().isEmpty()) {
            return ExitStatus.DONE;
        }
        environment.console().complain("mismatch: " + result.mismatch());
        return ExitStatus.MISMATCH;
    }

    // Host groups exist over no other transport.
    private void requireUdp() {
        if (!transport.equals(ProviderLookup.AUTO) && !transport.equals(UDP)) {
            throw new ConfigException("--hosts: expected --transport udp, got " + transport);
        }
        transport = UDP;
    }

    /// Checks everything that can be checked before processes are started, so that complaints come at once
    /// and once.
    private DemoPlan plan(final InputSpec spec) {
        final FrameShape shape = inputOptions.shape(spec);
        final double rate = inputOptions.framesPerSecond(spec);
        requireNodeOptions();
        requireInput(spec, shape);
        new PublishPlan(
                rate,
                1,
                PublishPlan.Keyframes.ALL,
                NodeOptions.FOREVER,
                1,
                NodeOptions.FOREVER,
                NodeOptions.FOREVER,
                Duration.ZERO,
                true);
        final List<String> inputArguments = new ArrayList<>(List.of("--input", input));
        inputArguments.addAll(inputOptions.arguments());
        final boolean test = spec instanceof InputSpec.Test;
        return new DemoPlan(channel(shape), shape.bytes(), subscribers, seconds, test, inputArguments, nodeOptions);
    }

    private void requireNodeOptions() {
        nodeOptions.config(environment);
        final int lastPort = nodeOptions.metricsPort() + subscribers;
        if (nodeOptions.metricsPort() != NodeConfig.NO_METRICS && lastPort > NodeOptions.PORT_MAX) {
            throw new ConfigException("--metrics-port: expected room for one port per process, got "
                    + nodeOptions.metricsPort() + " with " + subscribers + " subscribers");
        }
    }

    private void requireInput(final InputSpec spec, final FrameShape shape) {
        // Opening stdin here would take it from the publisher.
        if (spec instanceof InputSpec.Stdin) {
            InputSpec.requireOpen(environment.in());
        } else {
            final FrameInput opened = spec.open(shape, 0, InputStream.nullInputStream());
            opened.close();
        }
    }

    // As no URI was given, the complaint must not be about one.
    private void requireTransport() {
        if (!transport.equals(ProviderLookup.AUTO)) {
            NodeOptions.checked(() -> ProviderLookup.transport(ProviderLookup.transports(), transport));
        }
    }

    private void requireInterface() {
        if (networkInterface.isEmpty() || networkInterface.contains("|")) {
            throw new ConfigException("--interface: expected a name or an address, got " + networkInterface);
        }
    }

    private Channel channel(final FrameShape shape) {
        requireTransport();
        requireInterface();
        final int port = new FreePorts(RandomGenerator.getDefault()).range(LANES);
        final Channel channel = Channel.parse(String.format(
                Locale.ROOT,
                "framecast:%s?group=%s:%d|channel=demo|interface=%s|frame-max=%d",
                transport,
                GROUP,
                port,
                networkInterface,
                shape.bytes()));
        return Devices.orEmulated(Devices.withDevice(channel, device));
    }
}
