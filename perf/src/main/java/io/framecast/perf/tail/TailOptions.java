package io.framecast.perf.tail;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.MachineInfo;
import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.table.Output;
import io.framecast.samples.PeerLostException;
import io.framecast.samples.ToolContext;
import io.framecast.samples.options.OneOf;
import io.framecast.samples.options.Sizes;
import io.framecast.samples.options.Within;
import io.framecast.samples.options.Words;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// `framecast bench tail`: its options as users give them, and its course.
public final class TailOptions {
    private static final String ON = "on";
    private static final String OFF = "off";
    private static final String EACH = "each";
    private static final String ONE = "one";

    @Option(names = "--frame-bytes", paramLabel = "LIST", description = "Lengths of frames; default 1408,1000000.")
    // Shorter ones share datagrams.
    @Within(least = 1_024, most = 1 << 27)
    private Sizes frameBytes = Sizes.of(1_408, 1_000_000);

    @Option(names = "--receivers", paramLabel = "N", description = "Subscribers, two at least; default 2.")
    @Within(least = 2, most = 16)
    private int receivers = 2;

    @Option(
            names = "--loss",
            paramLabel = "SHARE",
            description = "Share of packets that a link loses, each way; default 0.001.")
    @Within(least = 0.00001, most = 0.2)
    private double loss = 0.001;

    @Option(
            names = "--losing",
            paramLabel = "each|one|LIST",
            description = "Whether each subscriber's link loses, or one alone; default each.")
    @OneOf({EACH, ONE})
    private Words losing = Words.of(EACH);

    @Option(
            names = "--offload",
            paramLabel = "on|off|LIST",
            description = "Whether the source's interface takes many datagrams at once, which then are lost together;"
                    + " default off,on.")
    @OneOf({ON, OFF})
    private Words offloads = Words.of(OFF, ON);

    @Option(
            names = "--load",
            paramLabel = "SHARE",
            description =
                    "Frames per second as a share of what is taken at most, which is measured first; default 0.3.")
    @Within(least = 0.01, most = 1)
    private double load = 0.3;

    @Option(names = "--rate", paramLabel = "FPS", description = "Frames per second, instead of --load.")
    @Within(least = 1, most = 200_000)
    private @Nullable Double rate;

    @Option(names = "--seconds", paramLabel = "S", description = "How long each stream lasts; default 5.")
    @Within(least = 0.5, most = 600)
    private double seconds = 5;

    @Option(names = "--out", paramLabel = "DIR", description = "Write tail.json and tail.csv.")
    private @Nullable Path out;

    List<TailCase> cases() {
        final List<TailCase> cases = new ArrayList<>();
        for (final int bytes : frameBytes.ints()) {
            for (final String offload : offloads.values()) {
                for (final String losers : losing.values()) {
                    cases.add(new TailCase(bytes, receivers, loss, losers.equals(EACH), offload.equals(ON)));
                }
            }
        }
        return cases;
    }

    /// @return the tool's exit status
    public int run(final ToolContext context) throws InterruptedException {
        final Output output = new Output(context, out);
        Networks.require("bench tail: ");
        final MachineInfo machine = MachineInfo.announced(context::line);
        final List<TailRow> rows = new ArrayList<>();
        try (TailRun run = new TailRun(load, rate == null ? 0 : rate, seconds, context::line)) {
            context.onStop(run::close);
            for (final TailCase setting : cases()) {
                context.line(setting.text());
                rows.add(run.measure(setting));
            }
        } catch (final MeasurementFailedException | IOException e) {
            if (context.isStopped()) {
                throw new ConfigException("stopped before the end: nothing is reported", e);
            }
            throw new PeerLostException(String.valueOf(e.getMessage()));
        }
        output.write("tail", Map.of("machine", machine.json()), TailRow.TABLE, rows, TailRow.text(rows), List.of());
        return Output.DONE;
    }
}
