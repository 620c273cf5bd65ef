package io.framecast.samples.doctor;

import io.framecast.rdma.RdmaSurvey;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.ToolContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/// `framecast doctor`.
@Command(
        name = "doctor",
        description = "Says what this machine has for the transport verbs and for frames in device memory, and how to"
                + " fix what is missing.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  framecast doctor", "  framecast doctor --json -"})
public final class DoctorCommand implements Callable<Integer> {
    private final ToolContext context;
    private final Supplier<List<RdmaSurvey.Finding>> rdma;
    private final Supplier<List<RdmaSurvey.Finding>> devices;

    public DoctorCommand(final ToolContext context) {
        this(context, RdmaSurvey::look, DeviceSurvey::look);
    }

    DoctorCommand(
            final ToolContext context,
            final Supplier<List<RdmaSurvey.Finding>> rdma,
            final Supplier<List<RdmaSurvey.Finding>> devices) {
        this.context = context;
        this.rdma = rdma;
        this.devices = devices;
    }

    @Override
    public Integer call() {
        context.requireWritable();
        final Map<String, Object> json = new LinkedHashMap<>();
        final List<String> lines = new ArrayList<>();
        add(json, lines, "rdma", rdma.get());
        add(json, lines, "devices", devices.get());
        context.result(json, String.join("\n", lines));
        return ExitStatus.DONE;
    }

    // A missing part of one transport or device is no failure of the tool: others work without it.
    private static void add(
            final Map<String, Object> json,
            final List<String> lines,
            final String part,
            final List<RdmaSurvey.Finding> findings) {
        json.put(part, findings.stream().map(DoctorCommand::json).toList());
        findings.forEach(finding -> lines.add((finding.isGood() ? "ok      " : "missing ") + part + ": " + finding));
    }

    private static Map<String, Object> json(final RdmaSurvey.Finding finding) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("ok", finding.isGood());
        json.put("what", finding.what());
        json.put("fix", finding.fix());
        return json;
    }
}
