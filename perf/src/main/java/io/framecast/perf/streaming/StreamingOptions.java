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
import io.framecast.perf.table.Output;
import io.framecast.samples.ToolContext;
import io.framecast.samples.options.Numbers;
import io.framecast.samples.options.OneOf;
import io.framecast.samples.options.Options;
import io.framecast.samples.options.Size;
import io.framecast.samples.options.Sizes;
import io.framecast.samples.options.Within;
import io.framecast.samples.options.Words;
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
    private static final String BROADCAST = "broadcast";
    private static final String ALL_TO_ALL = "all-to-all";
    private static final String DEVICE = "device";
    private static final int RATE_MAX = 2_000_000_000;

    @Option(
            names = "--mode",
            paramLabel = "broadcast|all-to-all",
            description =
                    "One source (default), or every process publishes to all others at once, by multicast and by a"
                            + " ring's all-gather; then --subscribers, --background and --placement mean nothing.")
    @OneOf({BROADCAST, ALL_TO_ALL})
    private String mode = BROADCAST;

    @Option(names = "--processes", paramLabel = "LIST", description = "Of --mode all-to-all; default 2,4,8.")
    // Most that a network of the benches has.
    @Within(least = 2, most = 16)
    private Sizes processes = Sizes.of(2, 4, 8);

    @Option(
            names = "--background",
            paramLabel = "LIST",
            description =
                    "Ways of the other copies, at the source and at every receiver: h2d, d2h, both, or paper (h2d at"
                            + " the source, d2h at receivers); none for the peak alone; default h2d,d2h.")
    @OneOf(
            value = {"h2d", "d2h", "both", "paper"},
            expected = "h2d, d2h, both, paper or none",
            orNone = true)
    private Words background = Words.of("h2d", "d2h");

    @Option(
            names = "--background-rate",
            paramLabel = "BYTES",
            description = "Bytes per second of each process and way; 0 for as much as is taken; default 400000000.")
    @Within(most = RATE_MAX)
    private Size backgroundRate = new Size(400_000_000);

    @Option(names = "--subscribers", paramLabel = "LIST", description = "Numbers of receivers; default 1,2,3,4.")
    @Within(least = 1, most = StreamingRun.RECEIVERS_MAX)
    private Sizes subscribers = Sizes.of(1, 2, 3, 4);

    @Option(
            names = "--placement",
            paramLabel = "LIST",
            description =
                    "How Framecast brings frames into devices: auto (default), direct, fastcopy, loopback, staged.")
    @OneOf({AUTO, "direct", "fastcopy", "loopback", Scheme.STAGED})
    private Words placements = Words.of(AUTO);

    @Option(
            names = "--device",
            paramLabel = "LIST",
            description =
                    "host, emulated[:N][?peermem] or cuda:N; receivers take several by turns, the source the first; default"
                            + " emulated:0, which is one of each process's own.")
    @OneOf(
            value = {DeviceChoice.HOST, "emulated(:\\d{1,2})?(\\?peermem)?", "cuda:\\d{1,2}"},
            expected = "host, emulated[:N][?peermem] or cuda:N")
    private Words devices = Words.of("emulated:0");

    @Option(
            names = "--link-rate",
            paramLabel = "BYTES",
            description =
                    "Bytes per second, each way, of the link between an emulated device and its host; 0 for what the"
                            + " host can copy; default 1000000000.")
    @Within(most = RATE_MAX)
    private Size linkRate = new Size(1_000_000_000);

    @Option(
            names = "--against",
            paramLabel = "LIST",
            description =
                    "ring, knomial, knomial-K, unicast, none; over TCP, or with :rc behind it by RDMA writes over verbs' reliable"
                            + " connections; default ring,knomial.")
    @OneOf(
            value = "(ring|unicast|knomial(-([2-9]|[12]\\d|3[0-2]))?)(:rc)?",
            expected = "ring, knomial, knomial-K (2 … 32), unicast, each perhaps with :rc, or none",
            orNone = true)
    private Words against = Words.of(Scheme.RING, Scheme.KNOMIAL);

    @Option(names = "--radix", paramLabel = "K", description = "Of the k-nomial tree where none is named; default 2.")
    @Within(least = 2, most = StreamingRun.RECEIVERS_MAX)
    private int radix = 2;

    @Option(names = "--source", paramLabel = "device|host", description = "Where frames come from; default device.")
    @OneOf({DEVICE, DeviceChoice.HOST})
    private String source = DEVICE;

    @Option(names = "--transport", paramLabel = "NAME", description = "Framecast's: auto (default), udp, aeron, verbs.")
    @OneOf({AUTO, "udp", "aeron", "verbs"})
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
    @Within(most = 0.2)
    private Numbers loss = new Numbers(List.of(0.0));

    @Option(
            names = "--slow",
            paramLabel = "LIST",
            description = "Deliveries of one receiver that takes frames at a quarter of its link's rate, such as"
                    + " none,reliable,latest,deadline=100ms,evict=500ms; needs --net-rate; default none.")
    private Words slow = Words.of(Words.NONE);

    @Option(names = "--frame-bytes", paramLabel = "BYTES", description = "Length of frames; default 4M.")
    // A frame is claimed whole, and the window is larger.
    @Within(least = FrameContent.BLOCK_BYTES, most = 32 << 20, multipleOf = FrameContent.BLOCK_BYTES)
    private Size frameBytes = new Size(4 << 20);

    @Option(
            names = "--in-flight",
            paramLabel = "N",
            description = "Frames that not every receiver has, at most; default 4.")
    @Within(least = 1, most = 64)
    private int inFlight = 4;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of each measurement; default 3.")
    @Within(least = 1, most = 1_000)
    private @Nullable Integer rounds;

    @Option(names = "--seconds", paramLabel = "S", description = "How long frames are counted; default 0.6.")
    @Within(least = 0.05, most = 3_600)
    private @Nullable Double seconds;

    @Option(names = "--quick", description = "One short round, to see that all works.")
    private boolean quick;

    @Option(names = "--out", paramLabel = "DIR", description = "Write streaming.json, streaming.csv and plots.")
    private @Nullable Path out;

    /// @throws ConfigException naming option, expectation and value
    public StreamingPlan plan() {
        final List<DeviceChoice> choices =
                devices.values().stream().map(DeviceChoice::parse).toList();
        choices.forEach(DeviceChoice::require);
        final Links network = links.links();
        return new StreamingPlan(
                contenders(),
                subscribers.ints(),
                background.some().stream().map(Direction::of).toList(),
                impairments(network),
                backgroundRate.value(),
                frameBytes.bytes(),
                transport,
                network,
                networkInterface,
                Math.min(frameBytes.bytes(), links.chunkBytes()),
                choices.stream().map(DeviceChoice::text).toList(),
                source.equals(DEVICE),
                choices.stream().anyMatch(DeviceChoice::isEmulated) ? linkRate.value() : 0,
                inFlight,
                new StreamingPlan.Times(
                        rounds == null ? quick ? 1 : 3 : rounds,
                        quick ? 0.5 : 8,
                        quick ? 0.1 : 0.2,
                        quick ? 0.1 : 0.3,
                        seconds == null ? quick ? 0.2 : 0.6 : seconds));
    }

    private List<Impairment> impairments(final Links network) {
        final List<String> deliveries =
                slow.values().stream().map(StreamingOptions::delivery).toList();
        Options.require(network.areOfHosts() || loss.values().equals(List.of(0.0)), "--loss: needs --net bridge");
        Options.require(network.bytesPerSecond() > 0 || deliveries.equals(List.of("")), "--slow: needs --net-rate");
        return loss.values().stream()
                .flatMap(share -> deliveries.stream().map(delivery -> new Impairment(share, delivery)))
                .toList();
    }

    // Whether a channel takes it.
    private static String delivery(final String text) {
        if (text.equals(Words.NONE)) {
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
        placements.values().forEach(placement -> all.add(Contender.framecast(placement)));
        against.some().forEach(scheme -> all.add(Contender.over(scheme, radix)));
        return all;
    }

    /// Whether every process publishes to all others.
    public boolean isAllToAll() {
        return mode.equals(ALL_TO_ALL);
    }

    /// Numbers of processes with `--mode all-to-all`.
    public List<Integer> processes() {
        return processes.ints();
    }

    /// The one device of `--mode all-to-all`.
    ///
    /// @throws ConfigException naming option, expectation and value
    public String deviceOfAll() {
        final String device = devices.toString();
        Options.require(
                device.matches("host|emulated(:\\d{1,2})?"),
                "--device: expected host or emulated[:N] with --mode all-to-all, got " + device);
        return device;
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
