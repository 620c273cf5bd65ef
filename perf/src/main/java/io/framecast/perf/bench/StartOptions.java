package io.framecast.perf.bench;

import io.framecast.api.LinkConfig;
import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.MachineInfo;
import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.OptionValues;
import io.framecast.perf.harness.Rounds;
import io.framecast.perf.rivals.StreamSpec;
import io.framecast.perf.table.Output;
import io.framecast.samples.ToolContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// `framecast bench start`: its options as users give them, and its course.
public final class StartOptions {
    private static final int FRAME_BYTES_MAX = 1 << 27;
    private static final int RECEIVERS_MAX = 16;
    private static final int ROUNDS_MAX = 100;
    private static final double SECONDS_MIN = 1;
    private static final double SECONDS_MAX = 600;
    private static final double FPS_MAX = 1e6;
    private static final double NS_PER_SECOND = 1e9;
    private static final List<String> RIVALS = List.of("floor", "aeron", "tcp", "none");
    private static final List<String> TRANSPORTS = List.of("auto", "udp", "aeron");

    @Option(
            names = "--against",
            paramLabel = "LIST",
            description = "Rivals: floor (raw GSO/GRO multicast), aeron, tcp, none; default floor.")
    private String against = "floor";

    @Option(names = "--transport", paramLabel = "LIST", description = "Framecast's: auto (default), udp, aeron.")
    private String transports = "auto";

    @Option(names = "--frame-bytes", paramLabel = "LIST", description = "Lengths of frames; default 1M.")
    private String frameBytes = "1M";

    @Option(names = "--receivers", paramLabel = "LIST", description = "Numbers of receiver processes; default 3.")
    private String receivers = "3";

    @Option(names = "--mtu", paramLabel = "LIST", description = "Largest IP packets; default 9000.")
    private String mtus = "9000";

    @Option(names = "--net", paramLabel = "loopback|veth|bridge", description = "Network; default bridge.")
    private String net = "bridge";

    @Option(
            names = "--offload",
            paramLabel = "on|off|LIST",
            description = "Whether the source's interface takes many datagrams at once; default on.")
    private String offloads = "on";

    @Option(names = "--rate", paramLabel = "FPS", description = "Frames per second; default 0: as many as are taken.")
    private double rate;

    @Option(names = "--rounds", paramLabel = "N", description = "Starts of each system; default 5.")
    private int rounds = 5;

    @Option(names = "--seconds", paramLabel = "S", description = "How long each stream lasts; default 16.")
    private double seconds = 16;

    @Option(names = "--out", paramLabel = "DIR", description = "Write start.json, start.csv and plots.")
    private @Nullable Path out;

    private List<BenchCase> cases() {
        final BenchNet network = BenchNet.of("--net", net);
        final List<BenchCase> cases = new ArrayList<>();
        for (final int mtu :
                OptionValues.bytesList("--mtu", mtus, LinkConfig.MTU_BYTES_MIN, LinkConfig.MTU_BYTES_MAX)) {
            for (final String offload : OptionValues.words("--offload", offloads, List.of("on", "off"))) {
                for (final int bytes : OptionValues.bytesList(
                        "--frame-bytes", frameBytes, StreamSpec.FRAME_BYTES_MIN, FRAME_BYTES_MAX)) {
                    for (final int count : OptionValues.bytesList("--receivers", receivers, 1, RECEIVERS_MAX)) {
                        OptionValues.require(
                                network != BenchNet.VETH || count == 1,
                                "--net veth joins one receiver: choose --net bridge for " + count);
                        cases.add(new BenchCase(
                                BenchScenario.THROUGHPUT,
                                network,
                                bytes,
                                count,
                                mtu,
                                0,
                                offload.equals("on"),
                                OptionValues.within("--rate", rate, 0, FPS_MAX)));
                    }
                }
            }
        }
        return cases;
    }

    private List<BenchSystem> systems() {
        final List<BenchSystem> systems = new ArrayList<>();
        OptionValues.words("--transport", transports, TRANSPORTS)
                .forEach(transport -> systems.add(BenchSystem.framecast(transport)));
        OptionValues.words("--against", against, RIVALS).stream()
                .filter(rival -> !rival.equals("none"))
                .forEach(rival -> systems.add(new BenchSystem(rival)));
        return systems;
    }

    /// @return the tool's exit status
    /// @throws ConfigException naming option, expectation and value
    public int run(final ToolContext context) throws InterruptedException {
        final Map<BenchCase, List<BenchSystem>> cases = new LinkedHashMap<>();
        cases().forEach(setting -> cases.put(setting, systems()));
        OptionValues.within("--rounds", rounds, 1, ROUNDS_MAX);
        OptionValues.within("--seconds", seconds, SECONDS_MIN, SECONDS_MAX);
        final Output output = new Output(context, out);
        if (!net.equals(BenchNet.LOOPBACK.label())) {
            Networks.require("--net " + net + ": ");
        }
        final MachineInfo machine = MachineInfo.read();
        machine.announce(context::line);
        final List<StartRow> rows = new ArrayList<>();
        try (Measurement measurement = new Measurement(0, context::line)) {
            context.onStop(measurement::stop);
            final Starts starts = new Starts(measurement, seconds, context::line);
            new Rounds<>(starts).run(rounds, cases).forEach((setting, systems) -> {
                final double floorMBps = new StartRow(
                                setting, BenchSystem.FLOOR, systems.getOrDefault(BenchSystem.FLOOR, List.of()), 0)
                        .median(StartRound::steadyMBps);
                systems.forEach((system, results) -> rows.add(new StartRow(setting, system, results, floorMBps)));
            });
        }
        output.write("start", Map.of("machine", machine.json()), StartRow.TABLE, rows, "", StartRow.figures(rows));
        return output.status(
                false,
                rows.stream()
                        .filter(row -> row.system().isFramecast())
                        .flatMap(row -> row.failures().stream())
                        .toList());
    }

    /// Each measurement starts the processes anew.
    ///
    /// @param seconds how long each stream lasts
    private record Starts(Measurement measurement, double seconds, Consumer<String> console)
            implements Rounds.Measuring<BenchCase, BenchSystem, StartRound> {
        @Override
        public void warmUp(final BenchSystem contender) {
            // It is the warm-up that is measured.
        }

        @Override
        public StartRound measure(final BenchCase setting, final BenchSystem system)
                throws InterruptedException, MeasurementFailedException {
            measurement.begin(new BenchGroup(List.of(new BenchPlan.Part(setting, List.of(system)))));
            final long startNs = System.nanoTime();
            final Measurement.Reports reports = measurement.carry(
                    setting, system, new BenchTimes(0, 0, seconds), (long) (StartRound.WINDOW_SECONDS * NS_PER_SECOND));
            return StartRound.of(reports, startNs);
        }

        @Override
        public StartRound failed(
                final BenchCase setting, final BenchSystem system, final MeasurementFailedException why) {
            return StartRound.failed(system.transport(), String.valueOf(why.getMessage()));
        }

        @Override
        public void onResult(
                final int round, final BenchCase setting, final BenchSystem system, final StartRound result) {
            console.accept(
                    "round " + (round + 1) + ", " + setting.text() + ", " + system.label(result.transport()) + ": "
                            + (result.hasFailed()
                                    ? "failed: " + result.failure()
                                    : String.format(
                                            Locale.ROOT,
                                            "first frame after %.2f s; %.0f MB/s after 2 s, %.0f after 4 s, %.0f at the end",
                                            result.firstFrameSeconds(),
                                            result.goodputAfter(2),
                                            result.goodputAfter(4),
                                            result.steadyMBps())));
        }
    }
}
