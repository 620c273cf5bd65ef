package io.framecast.perf.harness;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of the links between a bench's processes, and of what hops pass on over them.
public final class LinkOptions {
    private static final int BRIDGE_MTU_BYTES = 1500;
    private static final int RATE_MAX = 2_000_000_000;

    @Option(
            names = "--net",
            paramLabel = "loopback|bridge",
            description = "Network: one machine's loopback, or a network namespace for each process, which needs root;"
                    + " default ${DEFAULT-VALUE}.")
    private String net;

    @Option(
            names = "--net-rate",
            paramLabel = "BYTES",
            description =
                    "Bytes per second, each way, of every process's link to the bridge, such as 50m; 0 for as much"
                            + " as the machine carries, which is the default; of models: 50m.")
    private @Nullable String netRate;

    @Option(
            names = "--mtu",
            paramLabel = "BYTES",
            description =
                    "Longest IP packet; default the network's own: 1500 on a bridge, 65536 on the loopback, where TCP's"
                            + " packets are as long.")
    private @Nullable Integer mtu;

    @Option(
            names = "--chunk",
            paramLabel = "BYTES",
            description = "What a hop of ring or tree passes on at a time; as long as a frame: not pipelined; default"
                    + " ${DEFAULT-VALUE}.")
    private String chunk = "524288";

    private final int usualRate;

    /// @param usualNet where the user names none
    /// @param usualRate on a bridge, where the user names none
    public LinkOptions(final String usualNet, final int usualRate) {
        net = usualNet;
        this.usualRate = usualRate;
    }

    /// @throws io.framecast.api.error.ConfigException naming option, expectation and value
    public Links links() {
        final BenchNet network = BenchNet.of("--net", net);
        OptionValues.require(network != BenchNet.VETH, "--net: expected loopback or bridge, got veth");
        final boolean bridge = network == BenchNet.BRIDGE;
        final int usual = bridge ? usualRate : 0;
        final int limit = netRate == null ? usual : OptionValues.bytes("--net-rate", netRate, 0, RATE_MAX);
        OptionValues.require(limit == 0 || bridge, "--net-rate: needs --net bridge");
        final int longest = bridge ? BRIDGE_MTU_BYTES : 0;
        return new Links(
                network,
                mtu == null ? longest : (int) OptionValues.within("--mtu", mtu, BRIDGE_MTU_BYTES, 9000),
                limit);
    }

    /// @throws io.framecast.api.error.ConfigException naming option, expectation and value
    public int chunkBytes(final int most) {
        return FrameContent.requireBlocks(
                "--chunk", OptionValues.bytes("--chunk", chunk, FrameContent.BLOCK_BYTES, most));
    }
}
