package io.framecast.samples.doctor;

import io.framecast.api.Channel;
import io.framecast.rdma.RdmaSurvey;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.ToolContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// `framecast doctor`.
@Command(
        name = "doctor",
        description = "Checks this machine for streams, RDMA and frames in device memory, and prints how to fix each"
                + " fault. Prints which GPUs, interfaces and NUMA nodes are near to each other, and the places that a"
                + " subscriber of the channel would take. With a channel also whether its multicast works here. Status 1"
                + " when something is missing.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  framecast doctor",
            "  framecast doctor 'framecast:udp?group=224.20.30.39:24326|channel=cam1'",
            "  framecast doctor 'framecast:udp?group=224.20.30.39:24326|host-group=auto|leaders=nic'",
            "  framecast doctor --json -"
        })
public final class DoctorCommand implements Callable<Integer> {
    private static final String MISSING = "missing ";

    private final ToolContext context;
    private final Supplier<List<RdmaSurvey.Finding>> host;
    private final Function<Channel, List<RdmaSurvey.Finding>> network;
    private final Supplier<List<RdmaSurvey.Finding>> rdma;
    private final Supplier<List<RdmaSurvey.Finding>> devices;
    private final Function<Channel, TopologyMap> topology;

    @Parameters(
            arity = "0..1",
            paramLabel = "URI",
            description = "The channel to look at; default: ${DEFAULT-VALUE}.",
            defaultValue = "framecast:udp?group=224.20.30.39:24326")
    private String uri = "";

    public DoctorCommand(final ToolContext context) {
        this(context, HostSurvey::look, NetworkSurvey::look, RdmaSurvey::look, DeviceSurvey::look, TopologyMap::ofHost);
    }

    DoctorCommand(
            final ToolContext context,
            final Supplier<List<RdmaSurvey.Finding>> host,
            final Function<Channel, List<RdmaSurvey.Finding>> network,
            final Supplier<List<RdmaSurvey.Finding>> rdma,
            final Supplier<List<RdmaSurvey.Finding>> devices,
            final Function<Channel, TopologyMap> topology) {
        this.context = context;
        this.host = host;
        this.network = network;
        this.rdma = rdma;
        this.devices = devices;
        this.topology = topology;
    }

    @Override
    public Integer call() {
        final Channel channel = Channel.parse(uri);
        context.requireWritable();
        final Map<String, Object> json = new LinkedHashMap<>();
        final List<String> lines = new ArrayList<>();
        add(json, lines, "host", host.get());
        add(json, lines, "network", network.apply(channel));
        add(json, lines, "rdma", rdma.get());
        add(json, lines, "devices", devices.get());
        final TopologyMap map = topology.apply(channel);
        json.put("topology", map.json());
        map.lines().forEach(line -> lines.add("        topology: " + line));
        final long missing =
                lines.stream().filter(line -> line.startsWith(MISSING)).count();
        json.put("missing", missing);
        context.result(json, String.join("\n", lines));
        // Other transports and devices work without a missing part: the script chooses the parts that it needs.
        return missing == 0 ? ExitStatus.DONE : ExitStatus.MISMATCH;
    }

    private static void add(
            final Map<String, Object> json,
            final List<String> lines,
            final String part,
            final List<RdmaSurvey.Finding> findings) {
        json.put(part, findings.stream().map(DoctorCommand::json).toList());
        findings.forEach(finding -> lines.add((finding.isGood() ? "ok      " : MISSING) + part + ": " + finding));
    }

    private static Map<String, Object> json(final RdmaSurvey.Finding finding) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("ok", finding.isGood());
        json.put("what", finding.what());
        json.put("fix", finding.fix());
        return json;
    }
}
