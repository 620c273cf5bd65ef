package io.framecast.perf.tail;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.MachineInfo;
import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.OptionValues;
import io.framecast.perf.table.Output;
import io.framecast.samples.PeerLostException;
import io.framecast.samples.ToolContext;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// `framecast bench tail`: its options as users give them, and its course.
public final class TailOptions {
    // Shorter ones share datagrams.
    private static final int FRAME_BYTES_MIN = 1_024;
    private static final int FRAME_BYTES_MAX = 1 << 27;
    private static final int RECEIVERS_MAX = 16;
    private static final double SECONDS_MAX = 600;
    private static final double LOSS_MIN = 0.00001;
    private static final double LOSS_MAX = 0.2;
    private static final double FPS_MAX = 200_000;

    @Option(names = "--frame-bytes", paramLabel = "LIST", description = "Lengths of frames; default 1408,1000000.")
    private String frameBytes = "1408,1000000";

    @Option(names = "--receivers", paramLabel = "N", description = "Subscribers, two at least; default 2.")
    private int receivers = 2;

    @Option(
            names = "--loss",
            paramLabel = "SHARE",
            description = "Share of packets that a link loses, each way; default 0.001.")
    private double loss = 0.001;

    @Option(
            names = "--losing",
            paramLabel = "each|one|LIST",
            description = "Whether each subscriber's link loses, or one alone; default each.")
    private String losing = "each";

    @Option(
            names = "--offload",
            paramLabel = "on|off|LIST",
            description = "Whether the source's interface takes many datagrams at once, which then are lost together;"
                    + " default off,on.")
    private String offloads = "off,on";

    @Option(
            names = "--load",
            paramLabel = "SHARE",
            description =
                    "Frames per second as a share of what is taken at most, which is measured first; default 0.3.")
    private double load = 0.3;

    @Option(names = "--rate", paramLabel = "FPS", description = "Frames per second, instead of --load.")
    private @Nullable Double rate;

    @Option(names = "--seconds", paramLabel = "S", description = "How long each stream lasts; default 5.")
    private double seconds = 5;

    @Option(names = "--out", paramLabel = "DIR", description = "Write tail.json and tail.csv.")
    private @Nullable Path out;

    /// @throws ConfigException naming option, expectation and value
    List<TailCase> cases() {
        OptionValues.within("--receivers", receivers, 2, RECEIVERS_MAX);
        OptionValues.within("--loss", loss, LOSS_MIN, LOSS_MAX);
        final List<TailCase> cases = new ArrayList<>();
        for (final int bytes : OptionValues.bytesList("--frame-bytes", frameBytes, FRAME_BYTES_MIN, FRAME_BYTES_MAX)) {
            for (final String offload : OptionValues.words("--offload", offloads, List.of("on", "off"))) {
                for (final String losers : OptionValues.words("--losing", losing, List.of("each", "one"))) {
                    cases.add(new TailCase(bytes, receivers, loss, losers.equals("each"), offload.equals("on")));
                }
            }
        }
        return cases;
    }

    /// @throws ConfigException naming option, expectation and value
    TailRun open(final Consumer<String> console) {
        return new TailRun(
                OptionValues.within("--load", load, 0.01, 1),
                rate == null ? 0 : OptionValues.within("--rate", rate, 1, FPS_MAX),
                OptionValues.within("--seconds", seconds, 0.5, SECONDS_MAX),
                console);
    }

    /// @return the tool's exit status
    public int run(final ToolContext context) throws InterruptedException {
        final List<TailCase> cases = cases();
        final TailRun run = open(context::line);
        final Output output = new Output(context, out);
        Networks.require("bench tail: ");
        final MachineInfo machine = MachineInfo.announced(context::line);
        final List<TailRow> rows = new ArrayList<>();
        try (run) {
            context.onStop(run::close);
            for (final TailCase setting : cases) {
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
