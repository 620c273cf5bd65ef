package io.framecast.perf.bench;

import io.framecast.perf.alltoall.AllToAllBench;
import io.framecast.perf.arrival.ArrivalBench;
import io.framecast.perf.control.ControlBench;
import io.framecast.perf.modelbench.ModelOptions;
import io.framecast.perf.streaming.StreamingOptions;
import io.framecast.perf.tail.TailOptions;
import io.framecast.samples.ToolContext;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `framecast bench`.
@Command(
        name = "bench",
        description =
                "Measures Framecast against the kernel's floor, stock Aeron and TCP, all in the same run: processes"
                        + " of their own, rounds interleaved, medians and spread.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  framecast bench throughput",
            "  framecast bench throughput --mtu 1500,9000 --frame-bytes 1M,6220800 --net veth --out report",
            "  framecast bench latency --frame-bytes 64 --rate 1000 --against aeron",
            "  framecast bench scaling --net bridge --json -",
            "  framecast bench loss --loss 0,0.01 --offload on,off",
            "  framecast bench streaming --background h2d,d2h --subscribers 1,2,3,4",
            "  framecast bench node --subscribers 1,3",
            "",
            "MB = 10^6 bytes. Goodput: from the first publish to the last frame in place, at the slowest receiver."
        })
final class BenchCommand implements Callable<Integer> {
    @Mixin
    private PlanOptions options = new PlanOptions();

    private final ToolContext context;

    BenchCommand(final ToolContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws InterruptedException {
        return SystemsBench.SCENARIOS.run(context, options);
    }

    /// How soon a stream is fast: a question of its own with options of its own.
    @Command(
            name = "start",
            description = "Starts fresh processes for each measurement and follows the stream from its first frame on,"
                    + " in windows of 250 ms: goodput of the slowest receiver, its 99th percentile of latency, how long"
                    + " the JVMs' compilers worked; and how long it took from the start of the processes to the first"
                    + " frame at every receiver.",
            mixinStandardHelpOptions = true,
            footerHeading = "%nExamples:%n",
            footer = {
                "  framecast bench start",
                "  framecast bench start --mtu 1500 --offload off --against floor,tcp --rounds 7 --out report",
                "  framecast bench start --net loopback --receivers 1 --json -"
            })
    int start(@Mixin final StartOptions startOptions) throws InterruptedException {
        return SystemsBench.START.run(context, startOptions);
    }

    /// The cost of several subscribers on one host: a bench with options of its own.
    @Command(
            name = "node",
            description =
                    "Carries a stream to several subscribers on one host, which sum every byte, and counts what it"
                            + " costs the host: CPU time of the subscribers' processes, datagrams that they read, memory."
                            + " Each by itself, as a host group, by a copy in shared memory (Chu et al. 2019), from a"
                            + " publisher on the host, and without a protocol.",
            mixinStandardHelpOptions = true,
            footerHeading = "%nExamples:%n",
            footer = {
                "  framecast bench node",
                "  framecast bench node --net loopback --scheme independent,local,copy --subscribers 3",
                "  framecast bench node --device emulated:0 --frame-bytes 64,64K,1M,4M --rate 20 --subscribers 4",
                "  framecast bench node --device emulated:0 --link-rate 1G --background-rate 0,400M --out report"
            })
    int node(@Mixin final NodeOptions nodeOptions) throws InterruptedException {
        return SystemsBench.NODE.run(context, nodeOptions);
    }

    /// How late repairs come, a question of its own with options of its own.
    @Command(
            name = "tail",
            description = "Times repairs over a bridge of network namespaces that loses datagrams: a frame that was"
                    + " repaired at one subscriber against another that did not lose it, and the repair against the"
                    + " datagram that was lost. Which those are is known, because what is lost comes to another port.",
            mixinStandardHelpOptions = true,
            footerHeading = "%nExamples:%n",
            footer = {
                "  framecast bench tail",
                "  framecast bench tail --frame-bytes 1408 --offload off --seconds 20 --losing one --json -"
            })
    int tail(@Mixin final TailOptions tailOptions) throws InterruptedException {
        return tailOptions.run(context);
    }

    /// The cost of a group at its source: the protocol's own figure, so it is simulated.
    @Command(
            name = "control",
            description =
                    "Counts the control datagrams (ACKs, NACKs, heartbeats, ...) that a source takes and sends for"
                            + " each data datagram, without and with co-roots, for growing numbers of simulated"
                            + " receivers.",
            mixinStandardHelpOptions = true,
            footerHeading = "%nExamples:%n",
            footer = {
                "  framecast bench control",
                "  framecast bench control --receivers 512,1024 --co-roots none,root,16 --json -",
                "  framecast bench control --receivers 16,32 --rate 20m --batch 46 --frame-bytes 1M --window 16M"
            })
    int control(@Mixin final ControlBench controlBench) {
        return controlBench.run(context);
    }

    /// How a kernel is notified of frames, without a network.
    @Command(
            name = "arrival",
            description = "Times how a kernel that already runs hears of frames, against one launch per frame: round"
                    + " trips from the host's decision to the kernel's result, and frames per second. Frames lie in"
                    + " device memory already.",
            mixinStandardHelpOptions = true,
            footerHeading = "%nExamples:%n",
            footer = {
                "  framecast bench arrival",
                "  framecast bench arrival --device cuda:0 --frame-bytes 64,6220800 --blocks 16 --json -"
            })
    int arrival(@Mixin final ArrivalBench arrivalBench) {
        return arrivalBench.run(context);
    }

    /// Frames into devices whose links carry other copies, too: a question of its own with options of its
    /// own.
    @Command(
            name = "streaming",
            description = "Broadcasts frames into devices, alone (peak) and beside other copies between host and device"
                    + " (streaming), against a ring and a k-nomial tree over unicast, and against what cost models"
                    + " predict. Every row says what device it ran on: figures of an emulated one are of its modelled"
                    + " link and of this machine's processors.",
            mixinStandardHelpOptions = true,
            footerHeading = "%nExamples:%n",
            footer = {
                "  framecast bench streaming",
                "  framecast bench streaming --background paper --background-rate 0 --subscribers 1,4 --out report",
                "  framecast bench streaming --net bridge --net-rate 50m --device host --background none --subscribers 1,16",
                "  framecast bench streaming --mode all-to-all --net bridge --net-rate 50m --device host",
                "  framecast bench streaming --device cuda:0 --placement direct,staged --frame-bytes 8M --json -"
            })
    int streaming(@Mixin final StreamingOptions streamingOptions) throws InterruptedException {
        return streamingOptions.isAllToAll()
                ? AllToAllBench.run(context, streamingOptions)
                : streamingOptions.run(context);
    }

    @Command(
            name = "models",
            description =
                    "Measures one broadcast at a time by each scheme, beside what the cost models of Chu et al. (2019)"
                            + " predict from parameters measured in the same run, and predicts groups of up to 1024 processes.",
            mixinStandardHelpOptions = true,
            footerHeading = "%nExamples:%n",
            footer = {
                "  framecast bench models --out report",
                "  framecast bench models --sizes 1M --receivers 1,2,3,4 --rounds 1 --json -"
            })
    int models(@Mixin final ModelOptions modelOptions) throws InterruptedException {
        return modelOptions.run(context);
    }
}
