package io.framecast.samples.serve;

import io.framecast.api.Channel;
import io.framecast.api.Framecast;
import io.framecast.api.error.ConfigException;
import io.framecast.samples.Environment;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.NodeOptions;
import io.framecast.samples.Report;
import io.framecast.samples.ToolVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `framecast serve`.
@Command(
        name = "serve",
        description =
                "Joins streams for clients of this host, in C, Python or GStreamer, which read frames in its"
                        + " memory, or in a GPU's with device=cuda:N; and publishes what they write, with --publish. Ends when it is interrupted.",
        mixinStandardHelpOptions = true,
        versionProvider = ToolVersion.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  framecast serve 'framecast:udp?group=224.20.30.39:24326|channel=cam1'",
            "  framecast serve --publish 'framecast:udp?group=224.20.30.39:24336|channel=scores|frame-max=1M'"
        })
public final class ServeCommand implements Callable<Integer> {
    @Parameters(paramLabel = "URI", arity = "0..*", description = "Channels to join.")
    private List<String> joined = new ArrayList<>();

    @Option(
            names = "--publish",
            paramLabel = "URI",
            description = "A channel that a client of this host may publish on, one client at a time; may be repeated."
                    + " Frames are at most frame-max= long, unless the client says another length.")
    private List<String> published = new ArrayList<>();

    @Option(names = "--seconds", paramLabel = "S", description = "End after S seconds.")
    private @Nullable Double seconds;

    @Mixin
    private NodeOptions nodeOptions = new NodeOptions();

    private final Environment environment;
    private final Report report;

    public ServeCommand(final Environment environment, final Report report) {
        this.environment = environment;
        this.report = report;
    }

    @Override
    public Integer call() {
        if (joined.isEmpty() && published.isEmpty()) {
            throw new ConfigException("serve: expected a channel to join, or --publish with one");
        }
        report.requireWritable();
        final List<Channel> join = ServeRun.channels(joined);
        final List<Channel> publish = ServeRun.channels(published);
        final Duration duration = seconds == null ? NodeOptions.FOREVER : NodeOptions.seconds("--seconds", seconds);
        final Map<String, Object> json;
        final String text;
        try (Framecast node = environment.nodes().apply(nodeOptions.config(environment));
                ServeRun run = new ServeRun(node, join, publish, environment)) {
            run.run(duration);
            json = run.json();
            text = run.text();
        }
        report.result(json, text);
        return ExitStatus.DONE;
    }
}
