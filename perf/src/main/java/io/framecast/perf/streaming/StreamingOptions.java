package io.framecast.perf.streaming;

import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.LinkOptions;
import io.framecast.perf.harness.Links;
import io.framecast.perf.harness.MachineInfo;
import io.framecast.perf.harness.Network;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.OptionValues;
import io.framecast.perf.table.Output;
import io.framecast.samples.ToolContext;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// The options of `framecast bench streaming` as users give them, and the plan they make.
public final class StreamingOptions {
    private static final String AUTO = "auto";
    private static final String NONE = "none";
    // Most that a network of the benches has.
    private static final int PROCESSES_MAX = 16;
    private static final double LOSS_MAX = 0.2;
    private static final String BROADCAST = "broadcast";
    private static final String ALL_TO_ALL = "all-to-all";
    // A frame is claimed whole, and the window is larger.
    private static final int FRAME_BYTES_MAX = 32 << 20;
    private static final int RATE_MAX = 2_000_000_000;
    private static final List<String> PLACEMENTS = List.of(AUTO, "direct", "fastcopy", "loopback", Scheme.STAGED);
    private static final List<String> TRANSPORTS = List.of(AUTO, "udp", "aeron", "verbs");

    @Option(
            names = "--mode",
            paramLabel = "broadcast|all-to-all",
            description =
                    "One source (default), or every process publishes to all others at once, by multicast and by a"
                            + " ring's all-gather; then --subscribers, --background and --placement mean nothing.")
    private String mode = BROADCAST;

    @Option(names = "--processes", paramLabel = "LIST", description = "Of --mode all-to-all; default 2,4,8.")
    private String processes = "2,4,8";

    @Option(
            names = "--background",
            paramLabel = "LIST",
            description =
                    "Ways of the other copies, at the source and at every receiver: h2d, d2h, both, or paper (h2d at"
                            + " the source, d2h at receivers); none for the peak alone; default h2d,d2h.")
    private String background = "h2d,d2h";

    @Option(
            names = "--background-rate",
            paramLabel = "BYTES",
            description = "Bytes per second of each process and way; 0 for as much as is taken; default 400000000.")
    private String backgroundRate = "400000000";

    @Option(names = "--subscribers", paramLabel = "LIST", description = "Numbers of receivers; default 1,2,3,4.")
    private String subscribers = "1,2,3,4";

    @Option(
            names = "--placement",
            paramLabel = "LIST",
            description =
                    "How Framecast brings frames into devices: auto (default), direct, fastcopy, loopback, staged.")
    private String placements = AUTO;

    @Option(
            names = "--device",
            paramLabel = "LIST",
            description =
                    "host, emulated[:N][?peermem] or cuda:N; receivers take several by turns, the source the first; default"
                            + " emulated:0, which is one of each process's own.")
    private String devices = "emulated:0";

    @Option(
            names = "--link-rate",
            paramLabel = "BYTES",
            description =
                    "Bytes per second, each way, of the link between an emulated device and its host; 0 for what the"
                            + " host can copy; default 1000000000.")
    private String linkRate = "1000000000";

    @Option(
            names = "--against",
            paramLabel = "LIST",
            description =
                    "ring, knomial, knomial-K, unicast, none; over TCP, or with :rc behind it by RDMA writes over verbs' reliable"
                            + " connections; default ring,knomial.")
    private String against = "ring,knomial";

    @Option(names = "--radix", paramLabel = "K", description = "Of the k-nomial tree where none is named; default 2.")
    private int radix = 2;

    @Option(names = "--source", paramLabel = "device|host", description = "Where frames come from; default device.")
    private String source = "device";

    @Option(names = "--transport", paramLabel = "NAME", description = "Framecast's: auto (default), udp, aeron, verbs.")
    private String transport = AUTO;

    @Option(
            names = "--interface",
            paramLabel = "NAME|ADDRESS",
            description = "Framecast's, such as an RDMA device of this host; default 127.0.0.1.")
    private String networkInterface = Network.LOOPBACK_ADDRESS;

    @Mixin
    private final LinkOptions links = new LinkOptions("loopback", 0);

    @Option(
            names = "--loss",
            paramLabel = "LIST",
            description = "Shares of packets that each host loses at its input, such as 0,0.01; needs --net bridge;"
                    + " default 0.")
    private String loss = "0";

    @Option(
            names = "--slow",
            paramLabel = "LIST",
            description = "Deliveries of one receiver that takes frames at a quarter of its link's rate, such as"
                    + " none,reliable,latest,deadline=100ms,evict=500ms; needs --net-rate; default none.")
    private String slow = NONE;

    @Option(names = "--frame-bytes", paramLabel = "BYTES", description = "Length of frames; default 4M.")
    private String frameBytes = "4M";

    @Option(
            names = "--in-flight",
            paramLabel = "N",
            description = "Frames that not every receiver has, at most; default 4.")
    private int inFlight = 4;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of each measurement; default 3.")
    private @Nullable Integer rounds;

    @Option(names = "--seconds", paramLabel = "S", description = "How long frames are counted; default 0.6.")
    private @Nullable Double seconds;

    @Option(names = "--quick", description = "One short round, to see that all works.")
    private boolean quick;

    @Option(names = "--out", paramLabel = "DIR", description = "Write streaming.json, streaming.csv and plots.")
    private @Nullable Path out;

    /// @throws ConfigException naming option, expectation and value
    public StreamingPlan plan() {
        final List<DeviceChoice> choices = OptionValues.list("--device", devices, StreamingPlan::device);
        choices.forEach(DeviceChoice::require);
        final int bytes = FrameContent.requireBlocks(
                "--frame-bytes",
                OptionValues.bytes("--frame-bytes", frameBytes, FrameContent.BLOCK_BYTES, FRAME_BYTES_MAX));
        final long rate = OptionValues.bytes("--link-rate", linkRate, 0, RATE_MAX);
        final boolean emulated = choices.stream().anyMatch(DeviceChoice::isEmulated);
        final Links network = links.links();
        return new StreamingPlan(
                contenders(),
                OptionValues.bytesList("--subscribers", subscribers, 1, StreamingRun.RECEIVERS_MAX),
                background.equals(NONE)
                        ? List.of()
                        : OptionValues.list("--background", background, text -> Direction.parse("--background", text)),
                impairments(network),
                OptionValues.bytes("--background-rate", backgroundRate, 0, RATE_MAX),
                bytes,
                OptionValues.word("--transport", transport, TRANSPORTS),
                network,
                networkInterface,
                Math.min(bytes, links.chunkBytes(FRAME_BYTES_MAX)),
                choices.stream().map(DeviceChoice::text).toList(),
                OptionValues.word("--source", source, List.of("device", "host")).equals("device"),
                emulated ? rate : 0,
                (int) OptionValues.within("--in-flight", inFlight, 1, 64),
                new StreamingPlan.Times(
                        (int) OptionValues.within("--rounds", rounds == null ? quick ? 1 : 3 : rounds, 1, 1_000),
                        quick ? 0.5 : 8,
                        quick ? 0.1 : 0.2,
                        quick ? 0.1 : 0.3,
                        OptionValues.within("--seconds", seconds == null ? quick ? 0.2 : 0.6 : seconds, 0.05, 3_600)));
    }

    private List<Impairment> impairments(final Links network) {
        final List<Double> losses = OptionValues.list(
                "--loss",
                loss,
                text -> OptionValues.within("--loss", OptionValues.number("--loss", text), 0, LOSS_MAX));
        final List<String> deliveries = OptionValues.list("--slow", slow, StreamingOptions::delivery);
        OptionValues.require(network.areOfHosts() || losses.equals(List.of(0.0)), "--loss: needs --net bridge");
        OptionValues.require(
                network.bytesPerSecond() > 0 || deliveries.equals(List.of("")), "--slow: needs --net-rate");
        return losses.stream()
                .flatMap(share -> deliveries.stream().map(delivery -> new Impairment(share, delivery)))
                .toList();
    }

    // Whether a channel takes it.
    private static String delivery(final String text) {
        if (text.equals(NONE)) {
            return "";
        }
        try {
            Channel.parse("framecast:udp?group=224.20.30.45:20000|delivery=" + text);
        } catch (final ConfigException e) {
            final String why = String.valueOf(e.getMessage());
            throw new ConfigException("--slow: " + why.substring(why.lastIndexOf(": ") + 2), e);
        }
        return text;
    }

    private List<Contender> contenders() {
        final List<Contender> all = new ArrayList<>();
        OptionValues.words("--placement", placements, PLACEMENTS)
                .forEach(placement -> all.add(Contender.framecast(placement)));
        if (!against.equals(NONE)) {
            final int usual = (int) OptionValues.within("--radix", radix, 2, StreamingRun.RECEIVERS_MAX);
            OptionValues.list("--against", against, StreamingOptions::scheme)
                    .forEach(scheme -> all.add(Contender.over(scheme, usual)));
        }
        return all;
    }

    private static String scheme(final String text) {
        OptionValues.require(
                text.matches("(ring|unicast|knomial(-([2-9]|[12]\\d|3[0-2]))?)(:rc)?"),
                "--against: expected ring, knomial, knomial-K (2 … 32), unicast, each perhaps with :rc, or none, got "
                        + text);
        return text;
    }

    /// Whether every process publishes to all others.
    ///
    /// @throws ConfigException naming option, expectation and value
    public boolean isAllToAll() {
        return OptionValues.word("--mode", mode, List.of(BROADCAST, ALL_TO_ALL)).equals(ALL_TO_ALL);
    }

    /// Numbers of processes with `--mode all-to-all`.
    ///
    /// @throws ConfigException naming option, expectation and value
    public List<Integer> processes() {
        return OptionValues.bytesList("--processes", processes, 2, PROCESSES_MAX);
    }

    /// The one device of `--mode all-to-all`.
    ///
    /// @throws ConfigException naming option, expectation and value
    public String deviceOfAll() {
        OptionValues.require(
                devices.matches("host|emulated(:\\d{1,2})?"),
                "--device: expected host or emulated[:N] with --mode all-to-all, got " + devices);
        return devices;
    }

    /// @throws ConfigException when results cannot be written, or the plan's namespaces cannot be made
    public Output output(final ToolContext context, final StreamingPlan plan) {
        final Output output = new Output(context, out);
        // Last: a refused option needs no namespaces.
        if (plan.links().areOfHosts()) {
            Networks.require("--net bridge: ");
        }
        return output;
    }

    /// @return the tool's exit status
    public int run(final ToolContext context) throws InterruptedException {
        final StreamingPlan plan = plan();
        final Output output = output(context, plan);
        final MachineInfo machine = MachineInfo.announced(context::line);
        context.line(
                String.format(Locale.ROOT, "%d measurements, about %.0f s", plan.measurements(), plan.aboutSeconds()));
        final Map<String, @Nullable Object> head = new LinkedHashMap<>();
        head.put("bench", "streaming");
        final String started = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        head.put("started", started);
        head.put("machine", machine.json());
        head.put("frame_bytes", plan.frameBytes());
        head.put("chunk_bytes", plan.chunkBytes());
        plan.links().describe(head);
        head.put("in_flight", plan.inFlight());
        final long link = plan.linkBytesPerSecond();
        head.put("emulated_link_MBps", link == 0 ? null : link / 1e6);
        try (StreamingRun run = new StreamingRun(plan, context::line)) {
            context.onStop(run::close);
            final List<StreamingRow> rows =
                    run.run(parameters -> head.put("model", ModelParameters.TABLE.json(parameters)));
            output.file("index.html", () -> StreamingTable.page(machine, plan, started, rows));
            output.write(
                    "streaming",
                    head,
                    StreamingTable.TABLE,
                    rows,
                    StreamingTable.head(plan),
                    StreamingTable.figures(plan, rows));
            return output.statusOf(run.haveFramesDiffered(), rows);
        }
    }
}
