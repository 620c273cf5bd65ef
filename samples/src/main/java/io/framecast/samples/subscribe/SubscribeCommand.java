package io.framecast.samples.subscribe;

import io.framecast.api.Channel;
import io.framecast.api.Delivery;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.SourceOptions;
import io.framecast.api.Subscriber;
import io.framecast.api.error.ConfigException;
import io.framecast.engine.subscribe.PostedBuffers;
import io.framecast.samples.ChildOptions;
import io.framecast.samples.Devices;
import io.framecast.samples.Environment;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.FrameWorker;
import io.framecast.samples.FrameWorkerProvider;
import io.framecast.samples.NodeOptions;
import io.framecast.samples.Report;
import io.framecast.samples.ToolVersion;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `framecast subscribe`.
@Command(
        name = "subscribe",
        description = "Receives a channel's frames into device memory until end of stream, with --sources until"
                + " interrupted; status 130 when interrupted before.",
        mixinStandardHelpOptions = true,
        versionProvider = ToolVersion.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  URI='framecast:auto?group=224.20.30.39:24326|channel=cam1'",
            "  framecast subscribe \"$URI\" --device cuda:0 --worker motion",
            "  framecast subscribe \"$URI\" --device host --out video.raw --json -",
            "  framecast subscribe \"$URI\" --delivery latest --json -",
            "  framecast subscribe \"$URI\" --rejoin 10s --json -",
            "  framecast subscribe \"$URI\" --out - | ffplay -f rawvideo -pixel_format rgb24 -video_size 1920x1080 -"
        })
public final class SubscribeCommand implements Callable<Integer> {
    private static final String STDOUT = "-";
    // As many as a subscriber takes at a time.
    private static final int POST_MAX = PostedBuffers.POSTED_MAX;

    @Parameters(paramLabel = "URI", description = "Channel, such as framecast:auto?group=224.20.30.39:24326.")
    private String uri = "";

    @Option(
            names = "--device",
            paramLabel = "auto|cuda:N|emulated|host",
            description = "The device that frames go to; default: the URI's, else auto: the first GPU, or an emulated"
                    + " one where there is none, which the tool reports.")
    private @Nullable String device;

    @Option(
            names = "--delivery",
            paramLabel = "reliable|latest|deadline=T|evict=T",
            description = "The policy for a slow subscriber: the source waits (reliable), frames are given up (latest,"
                    + " or older than deadline=40ms), or the subscriber is evicted (evict=2s); default: the URI's,"
                    + " else reliable.")
    private @Nullable String delivery;

    @Option(
            names = "--sources",
            paramLabel = "N",
            description =
                    "Receive from up to N sources of the channel at once, also when some end, until interrupted or"
                            + " --frames are there; default: the URI's, else 1.")
    private @Nullable Integer sources;

    @Option(
            names = "--rejoin",
            paramLabel = "T",
            description = "Wait for a source that was lost, T such as 10s or 1h; status 3 when it does not come back"
                    + " in time; default: the URI's, else 1h under latest and no wait under any other"
                    + " delivery.")
    private @Nullable String rejoin;

    @Option(
            names = "--join",
            paramLabel = "frame|keyframe",
            description = "Begin at the next frame, or at the next frame that is marked as a keyframe; default: the"
                    + " URI's, else frame.")
    private @Nullable String join;

    @Option(names = "--frames", paramLabel = "N", description = "End after N frames.")
    private long frames = Long.MAX_VALUE;

    @Option(
            names = "--post",
            paramLabel = "N",
            description = "Receive into N buffers of device memory that are posted for the frames, as a program does"
                    + " with buffers of its own; each is frame-max= long. With fewer than the ring holds frames, some of"
                    + " a burst find none. Default 0: the engine's ring.")
    private int post;

    @Option(
            names = "--out",
            paramLabel = "FILE|-",
            description = "Write the frames' bytes, in order. Status 0 says that a file is on disk.")
    private @Nullable String out;

    @Option(
            names = "--no-sync",
            description = "Do not wait until the file of --out is on disk: status 0 then says that it was written.")
    private boolean noSync;

    @Option(names = "--worker", paramLabel = "NAME", description = "Compute on each frame in device memory.")
    private @Nullable String worker;

    @Option(
            names = "--wait-timeout",
            paramLabel = "S",
            description =
                    "Longest wait for a source, and for a reader of --out where that is a FIFO; 0: for ever; default"
                            + " ${DEFAULT-VALUE} s.")
    private double waitTimeout = 30;

    @Option(names = "--check-test", hidden = true, paramLabel = "SEED")
    private @Nullable Long checkSeed;

    @Mixin
    private NodeOptions nodeOptions = new NodeOptions();

    @Mixin
    private ChildOptions childOptions = new ChildOptions();

    private final Environment environment;
    private final Report report;

    public SubscribeCommand(final Environment environment, final Report report) {
        this.environment = environment;
        this.report = report;
    }

    @Override
    public Integer call() {
        childOptions.apply(environment);
        if (childOptions.isChild()) {
            environment.stop().defer();
        }
        if (STDOUT.equals(out) && report.ownsStdout()) {
            throw new ConfigException("--out - and --json -: only one of them can have stdout");
        }
        if (out != null && out.isEmpty()) {
            throw new ConfigException("--out: expected FILE or -, got nothing");
        }
        if (out != null && !out.equals(STDOUT)) {
            report.requireOther("--out", Path.of(out));
        }
        report.requireWritable();
        if (frames < 1) {
            throw new ConfigException("--frames: expected at least 1, got " + frames);
        }
        if (post < 0 || post > POST_MAX) {
            throw new ConfigException("--post: expected 0 to " + POST_MAX + ", got " + post);
        }
        final Duration waitMax = NodeOptions.seconds("--wait-timeout", waitTimeout);
        final Channel channel = channel();
        Devices.require(channel);
        final NodeConfig config = nodeOptions.config(environment);
        final FrameWorkerProvider workers = worker == null ? null : worker(worker);
        final SubscribeRun run;
        final Map<String, Object> json;
        final String text;
        try (FrameOutput output = output(waitMax);
                Framecast node = environment.nodes().apply(config);
                Subscriber subscriber = node.subscribe(channel);
                FrameWorker frameWorker = workers == null ? null : workers.open(subscriber.device())) {
            final FrameCheck check = checkSeed == null
                    ? null
                    : new FrameCheck(checkSeed, channel.stream().delivery() instanceof Delivery.Reliable);
            run = new SubscribeRun(
                            subscriber,
                            new UserBuffers(subscriber, post),
                            frames,
                            waitMax,
                            environment,
                            nodeOptions.verbose())
                    .giveTo(frameWorker, check, output);
            run(run, output);
            json = run.json();
            text = run.text();
        }
        report.result(json, text, STDOUT.equals(out));
        return status(run);
    }

    private void run(final SubscribeRun run, final @Nullable FrameOutput output) {
        try {
            run.run();
            if (output != null) {
                output.flush();
            }
        } catch (final RuntimeException e) {
            report.keep(run.json());
            throw e;
        }
    }

    private int status(final SubscribeRun run) {
        if (!run.mismatch().isEmpty()) {
            environment.console().complain("mismatch: " + run.mismatch());
            return ExitStatus.MISMATCH;
        }
        if (run.isInterrupted()) {
            environment
                    .console()
                    .complain("interrupted after " + run.frames() + " frames, before the end of the stream");
            return ExitStatus.INTERRUPTED;
        }
        return ExitStatus.DONE;
    }

    private Channel channel() {
        final Channel channel = Channel.parse(uri);
        final String wanted = delivery;
        final Channel delivered = wanted == null
                ? channel
                : NodeOptions.checked(() -> channel.withStream(channel.stream().withDelivery(Delivery.parse(wanted))));
        final Channel full = delivered.withStream(delivered.stream()
                .withSources(
                        NodeOptions.checked(() -> sources(delivered.stream().sources()))));
        return Devices.orEmulated(device == null ? full : Devices.withDevice(full, device));
    }

    private SourceOptions sources(final SourceOptions ofUri) {
        SourceOptions options = sources == null ? ofUri : ofUri.withCount(sources);
        options = rejoin == null ? options : options.withRejoinMs(SourceOptions.rejoinMs(rejoin));
        return join == null ? options : options.withJoinAt(at(join));
    }

    private static SourceOptions.JoinAt at(final String text) {
        return switch (text) {
            case "frame" -> SourceOptions.JoinAt.FRAME;
            case "keyframe" -> SourceOptions.JoinAt.KEYFRAME;
            default -> throw new IllegalArgumentException("join: expected frame or keyframe, got " + text);
        };
    }

    private @Nullable FrameOutput output(final Duration waitMax) {
        if (out == null) {
            return null;
        }
        return out.equals(STDOUT)
                ? FrameOutput.ofStream(environment.out())
                : FrameOutput.open(Path.of(out), !noSync, waitMax, environment.console(), environment.stop());
    }

    private FrameWorkerProvider worker(final String name) {
        final List<FrameWorkerProvider> known = environment.workers().get();
        return known.stream()
                .filter(provider -> provider.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigException("--worker: unknown worker " + name + "; known are "
                        + known.stream().map(FrameWorkerProvider::name).toList()));
    }
}
