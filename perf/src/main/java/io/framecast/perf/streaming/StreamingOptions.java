package io.framecast.perf.streaming;

import io.framecast.api.ChannelKey;
import io.framecast.api.error.ConfigException;
import io.framecast.perf.bench.PlanOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options of `framecast bench streaming` as users give them, and the plan they make.
public final class StreamingOptions {
    private static final String AUTO = "auto";
    // A frame is claimed whole, and the window is larger.
    private static final int FRAME_BYTES_MAX = 32 << 20;
    private static final int RATE_MAX = 2_000_000_000;
    private static final List<String> PLACEMENTS = List.of(AUTO, "direct", "fastcopy", "loopback", Scheme.STAGED);
    private static final List<String> TRANSPORTS = List.of(AUTO, "udp", "aeron", "verbs");

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
            description = "host, emulated[:N] or cuda:N; receivers take several by turns, the source the first; default"
                    + " emulated:0, which is one of each process's own.")
    private String devices = "emulated:0";

    @Option(
            names = "--link-rate",
            paramLabel = "BYTES",
            description =
                    "Bytes per second, each way, of the link between an emulated device and its host; 0 for what the"
                            + " host can copy; default 1000000000.")
    private String linkRate = "1000000000";

    @Option(names = "--against", paramLabel = "LIST", description = "ring, knomial, none; default ring,knomial.")
    private String against = "ring,knomial";

    @Option(names = "--radix", paramLabel = "K", description = "Of the k-nomial tree; default 2.")
    private int radix = 2;

    @Option(
            names = "--chunk",
            paramLabel = "BYTES",
            description = "What a hop of ring or tree passes on at a time; as long as a frame: not pipelined; default"
                    + " 524288.")
    private String chunk = "524288";

    @Option(names = "--source", paramLabel = "device|host", description = "Where frames come from; default device.")
    private String source = "device";

    @Option(names = "--transport", paramLabel = "NAME", description = "Framecast's: auto (default), udp, aeron, verbs.")
    private String transport = AUTO;

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
    StreamingPlan plan() {
        final List<DeviceChoice> choices = PlanOptions.list("--device", devices, DeviceChoice::parse);
        choices.forEach(DeviceChoice::require);
        final int bytes = multiple("--frame-bytes", frameBytes, FRAME_BYTES_MAX);
        final long rate = PlanOptions.bytes("--link-rate", linkRate, 0, RATE_MAX);
        final boolean emulated = choices.stream().anyMatch(DeviceChoice::isEmulated);
        return new StreamingPlan(
                contenders(),
                PlanOptions.list(
                        "--subscribers",
                        subscribers,
                        text -> PlanOptions.bytes("--subscribers", text, 1, StreamingPorts.RECEIVERS_MAX)),
                directions(),
                PlanOptions.bytes("--background-rate", backgroundRate, 0, RATE_MAX),
                bytes,
                new StreamingSpec.Way(
                        Scheme.FRAMECAST,
                        PlanOptions.word("--transport", transport, TRANSPORTS),
                        AUTO,
                        (int) PlanOptions.within("--radix", radix, 2, StreamingPorts.RECEIVERS_MAX),
                        Math.min(bytes, multiple("--chunk", chunk, FRAME_BYTES_MAX))),
                new StreamingSpec.Devices(
                        choices.stream().map(DeviceChoice::text).toList(),
                        PlanOptions.word("--source", source, List.of("device", "host"))
                                .equals("device"),
                        emulated ? rate : 0),
                (int) PlanOptions.within("--in-flight", inFlight, 1, 64),
                times(),
                Optional.ofNullable(out));
    }

    private StreamingPlan.Times times() {
        return new StreamingPlan.Times(
                (int) PlanOptions.within("--rounds", rounds == null ? quick ? 1 : 3 : rounds, 1, 1_000),
                quick ? 0.5 : 8,
                quick ? 0.1 : 0.2,
                quick ? 0.1 : 0.3,
                PlanOptions.within("--seconds", seconds == null ? quick ? 0.2 : 0.6 : seconds, 0.05, 3_600));
    }

    private static int multiple(final String option, final String text, final int most) {
        final int bytes = PlanOptions.bytes(option, text, FrameContent.BYTES_MIN, most);
        if (bytes % FrameContent.BLOCK_BYTES != 0) {
            throw new ConfigException(
                    option + ": expected a multiple of " + FrameContent.BLOCK_BYTES + ", got " + bytes);
        }
        return bytes;
    }

    private List<Direction> directions() {
        return background.equals("none")
                ? List.of()
                : PlanOptions.list("--background", background, text -> Direction.parse("--background", text));
    }

    private List<Contender> contenders() {
        final Set<Contender> all = new LinkedHashSet<>();
        for (final String placement : PlanOptions.list(
                "--placement", placements, text -> PlanOptions.word("--placement", text, PLACEMENTS))) {
            all.add(new Contender(Scheme.FRAMECAST, known(placement)));
        }
        if (!against.equals("none")) {
            PlanOptions.list(
                            "--against",
                            against,
                            text -> PlanOptions.word("--against", text, List.of(Scheme.RING, Scheme.KNOMIAL)))
                    .forEach(scheme -> all.add(new Contender(scheme, Scheme.STAGED)));
        }
        return new ArrayList<>(all);
    }

    // A build without the key places frames in the one way it has.
    private static String known(final String placement) {
        final boolean choosable =
                Arrays.stream(ChannelKey.values()).anyMatch(key -> key.key().equals("placement"));
        if (choosable || placement.equals(AUTO)) {
            return placement;
        }
        if (!placement.equals(Scheme.STAGED)) {
            throw new ConfigException("--placement: this build knows staged only, got " + placement);
        }
        return AUTO;
    }
}
