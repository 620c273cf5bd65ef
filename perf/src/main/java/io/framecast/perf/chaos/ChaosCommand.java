package io.framecast.perf.chaos;

import io.framecast.api.error.ConfigException;
import io.framecast.samples.ToolContext;
import io.framecast.samples.options.OneOf;
import io.framecast.samples.options.Options;
import io.framecast.samples.options.Within;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `framecast chaos`.
@Command(
        name = "chaos",
        description = "Kills, stops, cuts off and attacks real processes on a lossy network of their own (network"
                + " namespaces: needs root), and checks that each fault has the outcome stated for it.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  framecast chaos",
            "  framecast chaos --seconds 20 --seed 7 --json -",
            "  framecast chaos --subscribers 6 --per-host 3",
            "",
            "Exit status: 0 every expectation met, 1 some not, 2 usage or environment."
        })
final class ChaosCommand implements Callable<Integer> {
    private static final int DONE = 0;
    private static final int UNMET = 1;
    private static final long SEED_BOUND = 1L << 40;

    @Option(names = "--seconds", paramLabel = "N", description = "How long faults are done (default ${DEFAULT-VALUE}).")
    @Within(least = 1, most = 86_400)
    private int seconds = 60;

    @Nullable
    @Option(names = "--seed", paramLabel = "N", description = "Faults and frames follow from it; drawn if not given.")
    private Long seed;

    @Option(names = "--subscribers", paramLabel = "N", description = "3 … 32 (default ${DEFAULT-VALUE}).")
    @Within(least = 3, most = 32)
    private int subscribers = 6;

    @Option(
            names = "--per-host",
            paramLabel = "N",
            description = "Subscribers on each host; several are a host group, without co-roots, and faults are of"
                    + " leaders, followers and whole hosts (default ${DEFAULT-VALUE}).")
    private int perHost = 1;

    @Option(names = "--co-roots", paramLabel = "K", description = "Co-roots (default ${DEFAULT-VALUE}).")
    private int coRoots = 2;

    @Option(
            names = "--loss",
            paramLabel = "P",
            description = "Share of datagrams dropped by each host, both ways (default ${DEFAULT-VALUE}).")
    @Within(most = 0.2)
    private double loss = 0.01;

    @Option(names = "--alive-timeout", paramLabel = "MS", description = "Of the stream (default ${DEFAULT-VALUE}).")
    @Within(least = 500, most = 60_000)
    private long aliveTimeoutMs = 2_000;

    @Option(
            names = "--margin",
            paramLabel = "MS",
            description = "How late an outcome may be on this machine (default ${DEFAULT-VALUE}).")
    @Within(least = 100, most = 60_000)
    private long marginMs = ChaosPlan.MARGIN_DEFAULT_MS;

    @Option(names = "--rate", paramLabel = "F", description = "Frames a second (default ${DEFAULT-VALUE}).")
    @Within(least = 1, most = 10_000)
    private double rate = 60;

    @Option(names = "--frame-bytes", paramLabel = "N", description = "Longest frame (default ${DEFAULT-VALUE}).")
    @Within(least = ChaosFrames.BYTES_MIN, most = ChaosPlan.WINDOW_BYTES / 4)
    private int frameBytes = 200_000;

    @Option(
            names = "--transport",
            paramLabel = "NAME",
            description = "udp, on network namespaces, or verbs, on Soft-RoCE devices that are there (default"
                    + " ${DEFAULT-VALUE}).")
    @OneOf({ChaosPlan.UDP, ChaosPlan.VERBS})
    private String transport = ChaosPlan.UDP;

    @Option(
            names = "--plant",
            paramLabel = "BUG",
            description = "Breaks something on purpose, to see it found: SKIP, TWICE, FLIP, SPARE.")
    private InjectedBug bug = InjectedBug.NONE;

    private final ToolContext context;

    ChaosCommand(final ToolContext context) {
        this.context = context;
    }

    @Override
    public Integer call() {
        final ChaosPlan plan = plan();
        context.requireWritable();
        final ChaosReport report = report(plan);
        if (context.hasJson()) {
            context.line(report.text());
        }
        context.result(report.json(), report.text());
        if (report.isMet()) {
            return DONE;
        }
        context.line("framecast: " + report.unmet().size() + " expectations not met with --seed " + plan.seed() + ": "
                + report.unmet().getFirst());
        return UNMET;
    }

    private ChaosReport report(final ChaosPlan plan) {
        try (ChaosNetwork network = network(plan)) {
            context.line("seed " + plan.seed());
            final ChaosRun run = new ChaosRun(plan, context::line);
            context.onStop(run::stop);
            final ChaosReport report = run.run(network);
            if (run.isStopped()) {
                throw new ConfigException("stopped before the end: nothing is reported");
            }
            return report;
        } catch (final IOException | UncheckedIOException e) {
            throw new ConfigException("chaos: the system fails: " + e.getMessage(), e);
        }
    }

    private static ChaosNetwork network(final ChaosPlan plan) {
        final boolean verbs = plan.transport().equals(ChaosPlan.VERBS);
        try {
            return verbs
                    ? RdmaNetwork.make(plan.hosts(), plan.loss())
                    : NamespaceNetwork.make(plan.hosts(), plan.loss());
        } catch (final IOException e) {
            throw new ConfigException(
                    verbs
                            ? "chaos over verbs needs Soft-RoCE devices on a bridge, one for the publisher and each"
                                    + " subscriber (" + e.getMessage() + "): rdma-transport/lab/run.sh -d "
                                    + plan.hosts() + " -- makes them, in a guest"
                            : "chaos needs network namespaces and nftables, which cannot be had here: "
                                    + e.getMessage(),
                    e);
        }
    }

    private ChaosPlan plan() {
        final int hosts = subscribers / 2;
        final int groups = (subscribers - 1) / 2;
        Options.within("--per-host", perHost, 1, hosts);
        Options.within("--co-roots", coRoots, 0, groups);
        Options.require(
                perHost == 1 || transport.equals(ChaosPlan.UDP),
                "--per-host: expected 1 with --transport verbs, where each device is a host, got " + perHost);
        return new ChaosPlan(
                transport,
                seed == null ? ThreadLocalRandom.current().nextLong(SEED_BOUND) : seed,
                seconds,
                subscribers,
                perHost,
                perHost > 1 ? 0 : coRoots,
                loss,
                aliveTimeoutMs,
                marginMs,
                rate,
                frameBytes,
                bug);
    }
}
