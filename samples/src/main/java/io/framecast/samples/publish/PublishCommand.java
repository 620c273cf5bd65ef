package io.framecast.samples.publish;

import io.framecast.api.Channel;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.SourceOptions;
import io.framecast.api.StreamConfig;
import io.framecast.api.error.ConfigException;
import io.framecast.api.format.FrameFormat;
import io.framecast.samples.ChildOptions;
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
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `framecast publish`.
@Command(
        name = "publish",
        description =
                "Publishes frames on a channel until the input ends. Interrupted, a live input ends in order; a file"
                        + " does not, and its subscribers report the source lost.",
        mixinStandardHelpOptions = true,
        versionProvider = ToolVersion.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  URI='framecast:auto?group=224.20.30.39:24326|channel=cam1'",
            "  framecast publish \"$URI\" --input video.raw --video 1280x720xnv12 --rate 30",
            "  framecast publish \"$URI\" --input 'ffmpeg:-f v4l2 -i /dev/video0' --video 1280x720xrgb24",
            "  tar c results | framecast publish \"$URI\" --input - --frame-bytes 4M --wait-subscribers 3"
        })
public final class PublishCommand implements Callable<Integer> {
    @Parameters(paramLabel = "URI", description = "Channel, such as framecast:auto?group=224.20.30.39:24326.")
    private String uri = "";

    @Option(
            names = "--input",
            required = true,
            paramLabel = "test|FILE|-|ffmpeg:ARGS",
            description = "Generated pattern, file, stdin, or the output of ffmpeg with ARGS.")
    private String input = "";

    @Mixin
    private InputOptions inputOptions = new InputOptions();

    @Option(
            names = "--device",
            paramLabel = "D",
            description = "Copy each frame to the memory of emulated[:N] or cuda:N first, and publish it from there;"
                    + " default host.")
    private String device = "host";

    @Option(
            names = "--keyframe-every",
            paramLabel = "N",
            description = "Mark every Nth frame as one that a subscriber may begin with; default ${DEFAULT-VALUE}: raw"
                    + " frames stand alone.")
    private long keyframeEvery = 1;

    @Option(
            names = "--metadata",
            paramLabel = "TEXT",
            description = "Send TEXT, at most 1024 bytes of UTF-8, with every keyframe.")
    private String metadata = "";

    @Option(names = "--frames", paramLabel = "N", description = "End after N frames.")
    private long frames = Long.MAX_VALUE;

    @Option(names = "--seconds", paramLabel = "S", description = "Begin no frame later than S seconds after the first.")
    private @Nullable Double seconds;

    @Option(
            names = "--wait-subscribers",
            paramLabel = "N",
            description = "Publish when N subscribers are ready; default ${DEFAULT-VALUE}.")
    private int waitSubscribers = 1;

    @Option(
            names = "--wait-timeout",
            paramLabel = "S",
            description = "Longest wait for subscribers, and for another one when the last has left a live input, or"
                    + " was evicted; 0: for ever; default ${DEFAULT-VALUE} s.")
    private double waitTimeout = 30;

    @Option(
            names = "--linger",
            paramLabel = "S",
            description = "Longest wait for the last acknowledgements; default ${DEFAULT-VALUE} s.")
    private double linger = 10;

    @Option(
            names = "--rejoin",
            paramLabel = "T",
            description =
                    "When no subscriber is left, wait T, such as 10s, for one to join (again), whatever the input;"
                            + " and take no eviction for a failure. For subscribers with --rejoin. Default: not.")
    private String rejoin = "0s";

    @Mixin
    private NodeOptions nodeOptions = new NodeOptions();

    @Mixin
    private ChildOptions childOptions = new ChildOptions();

    private final Environment environment;
    private final Report report;

    public PublishCommand(final Environment environment, final Report report) {
        this.environment = environment;
        this.report = report;
    }

    @Override
    public Integer call() {
        childOptions.apply(environment);
        final InputSpec spec = InputSpec.parse(input);
        if (spec instanceof InputSpec.File file) {
            report.requireOther("--input", file.path());
        }
        report.requireWritable();
        final FrameShape shape = inputOptions.shape(spec);
        final FrameFormat format = inputOptions.format(shape);
        final Channel channel = channel(shape);
        final PublishPlan plan = plan(spec);
        final NodeConfig config = nodeOptions.config(environment);
        final PublishRun run;
        final boolean whole;
        final Map<String, Object> json;
        final String text;
        try (FrameInput frameInput = spec.open(shape, nodeOptions.patternSeed(), environment.in());
                Framecast node = environment.nodes().apply(config);
                Publisher publisher = node.publish(channel)) {
            describe(publisher, format);
            run = new PublishRun(publisher, frameInput, plan, shape.bytes(), environment);
            if (!device.equals("host")) {
                run.from(new DeviceInput(publisher, shape.bytes()));
            }
            whole = run(run);
            json = run.json(whole);
            text = run.text();
        }
        report.result(json, text);
        if (whole) {
            return ExitStatus.DONE;
        }
        environment
                .console()
                .complain("interrupted after " + run.frames()
                        + " frames, before the input's end: subscribers report the source lost");
        return ExitStatus.INTERRUPTED;
    }

    private static void describe(final Publisher publisher, final FrameFormat format) {
        try {
            publisher.format(format);
        } catch (final IllegalArgumentException e) {
            throw new ConfigException("--" + e.getMessage(), e);
        }
    }

    private boolean run(final PublishRun run) {
        try {
            return run.run();
        } catch (final RuntimeException e) {
            report.keep(run.json(true));
            throw e;
        }
    }

    private PublishPlan plan(final InputSpec spec) {
        final FrameOptions keyframe = NodeOptions.checked(
                () -> FrameOptions.KEYFRAME.withMetadata(metadata.getBytes(StandardCharsets.UTF_8)));
        final Duration duration = seconds == null ? NodeOptions.FOREVER : NodeOptions.seconds("--seconds", seconds);
        return new PublishPlan(
                inputOptions.framesPerSecond(spec),
                frames,
                new PublishPlan.Keyframes(keyframeEvery, keyframe),
                duration,
                waitSubscribers,
                NodeOptions.seconds("--wait-timeout", waitTimeout),
                NodeOptions.seconds("--linger", linger),
                NodeOptions.checked(() -> Duration.ofMillis(SourceOptions.rejoinMs(rejoin))),
                childOptions.isChild());
    }

    /// A channel without a frame-max takes the frames' own length: subscribers learn it when they join, and
    /// make their rings no larger than needed.
    private Channel channel(final FrameShape shape) {
        // A publisher ignores the URI's device=: it is for subscribers, which often get the same URI.
        final Channel channel = Devices.withDevice(Channel.parse(uri), device);
        requireRing(channel.stream(), shape);
        if (!uri.contains("frame-max=")) {
            return channel.withStream(channel.stream().withFrameMaxBytes(shape.bytes()));
        }
        if (channel.stream().frameMaxBytes() < shape.bytes()) {
            throw new ConfigException("frame-max: frames of " + shape.bytes() + " bytes need frame-max="
                    + shape.bytes() + " or more in the channel, got "
                    + channel.stream().frameMaxBytes());
        }
        return channel;
    }

    /// ring= is for subscribers, which often get the same URI: all their joins would be refused.
    private static void requireRing(final StreamConfig stream, final FrameShape shape) {
        final long least = (stream.framesHeld() + 1) * shape.bytes() + stream.windowBytes();
        if (stream.ringBytes() > 0 && stream.ringBytes() < least) {
            throw new ConfigException("ring: expected at least " + least + " bytes for frames of " + shape.bytes()
                    + ", got " + stream.ringBytes() + "; enlarge ring= or leave it out");
        }
    }
}
