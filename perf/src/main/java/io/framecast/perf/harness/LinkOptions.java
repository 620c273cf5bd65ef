package io.framecast.perf.harness;

import io.framecast.samples.options.OneOf;
import io.framecast.samples.options.Options;
import io.framecast.samples.options.Size;
import io.framecast.samples.options.Within;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of the links between a bench's processes, and of what hops pass on over them.
public final class LinkOptions {
    private static final int BRIDGE_MTU_BYTES = 1500;

    @Option(
            names = "--net",
            paramLabel = "loopback|bridge",
            description = "Network: one machine's loopback, or a network namespace for each process, which needs root;"
                    + " default ${DEFAULT-VALUE}.")
    @OneOf(
            value = {"loopback", "bridge"},
            expected = "loopback or bridge")
    private String net;

    @Option(
            names = "--net-rate",
            paramLabel = "BYTES",
            description =
                    "Bytes per second, each way, of every process's link to the bridge, such as 50m; 0 for as much"
                            + " as the machine carries, which is the default; of models: 50m.")
    @Within(most = 2_000_000_000)
    private @Nullable Size netRate;

    @Option(
            names = "--mtu",
            paramLabel = "BYTES",
            description =
                    "Longest IP packet; default the network's own: 1500 on a bridge, 65536 on the loopback, where TCP's"
                            + " packets are as long.")
    @Within(least = BRIDGE_MTU_BYTES, most = 9_000)
    private @Nullable Integer mtu;

    @Option(
            names = "--chunk",
            paramLabel = "BYTES",
            description = "What a hop of ring or tree passes on at a time; as long as a frame: not pipelined; default"
                    + " ${DEFAULT-VALUE}.")
    @Within(least = FrameContent.BLOCK_BYTES, most = 64 << 20, multipleOf = FrameContent.BLOCK_BYTES)
    private Size chunk = new Size(524_288);

    private final int usualRate;

    /// @param usualNet where the user names none
    /// @param usualRate on a bridge, where the user names none
    public LinkOptions(final String usualNet, final int usualRate) {
        net = usualNet;
        this.usualRate = usualRate;
    }

    /// @throws io.framecast.api.error.ConfigException naming option, expectation and value
    public Links links() {
        final BenchNet network = BenchNet.of(net);
        final boolean bridge = network == BenchNet.BRIDGE;
        final int usual = bridge ? usualRate : 0;
        final int limit = netRate == null ? usual : netRate.bytes();
        Options.require(limit == 0 || bridge, "--net-rate: needs --net bridge");
        final int longest = bridge ? BRIDGE_MTU_BYTES : 0;
        return new Links(network, mtu == null ? longest : mtu, limit);
    }

    public int chunkBytes() {
        return chunk.bytes();
    }
}
