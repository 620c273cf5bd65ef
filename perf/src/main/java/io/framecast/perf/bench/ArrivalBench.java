package io.framecast.perf.bench;

import io.framecast.api.error.ConfigException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.samples.ToolContext;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import picocli.CommandLine.Option;

/// `framecast bench arrival`: its options as users give them, and its course.
final class ArrivalBench {
    private static final int DONE = 0;
    private static final int MISMATCH = 1;
    private static final int FRAME_BYTES_MAX = 1 << 27;
    private static final int BLOCKS_MAX = 64;
    private static final double SECONDS_MAX = 600;

    @Option(
            names = "--device",
            paramLabel = "auto|cuda:N|emulated:N",
            description = "Device to measure; default auto: a GPU where there is one.")
    private String device = "auto";

    @Option(names = "--frame-bytes", paramLabel = "LIST", description = "Lengths of frames; default 64,100000.")
    private String frameBytes = "64,100000";

    @Option(names = "--blocks", paramLabel = "N", description = "Blocks of the kernels; default 4.")
    private int blocks = 4;

    @Option(names = "--seconds", paramLabel = "S", description = "How long each measurement lasts; default 1.")
    private double seconds = 1;

    int run(final ToolContext context) {
        context.requireWritable();
        final List<Integer> lengths = PlanOptions.list(
                "--frame-bytes", frameBytes, text -> PlanOptions.bytes("--frame-bytes", text, 1, FRAME_BYTES_MAX));
        PlanOptions.within("--blocks", blocks, 1, BLOCKS_MAX);
        PlanOptions.within("--seconds", seconds, 0.05, SECONDS_MAX);
        final MachineInfo machine = MachineInfo.read();
        context.line(machine.text());
        final List<ArrivalRow> rows = new ArrayList<>();
        try (DeviceBackend opened = open();
                Arena arena = Arena.ofShared()) {
            context.line(opened.name() + ": " + opened.description());
            try {
                measure(new ArrivalMeter(opened, blocks, seconds, context::isStopped), lengths, arena, rows);
            } catch (final ArrivalMeter.FramesDiffer e) {
                // Before the device is closed, which may take its time: a kernel that stands still is on it.
                context.line("framecast: mismatch: " + e.getMessage());
                report(context, machine, rows);
                return MISMATCH;
            }
        }
        if (context.isStopped()) {
            throw new ConfigException("stopped before the end: nothing is reported");
        }
        report(context, machine, rows);
        return DONE;
    }

    private static void measure(
            final ArrivalMeter meter, final List<Integer> lengths, final Arena arena, final List<ArrivalRow> rows)
            throws ArrivalMeter.FramesDiffer {
        for (final int bytes : lengths) {
            final MemorySegment frame = frame(arena, bytes);
            rows.add(meter.persistent(frame));
            rows.add(meter.launched(frame));
        }
    }

    private static MemorySegment frame(final Arena arena, final int bytes) {
        final MemorySegment frame = arena.allocate(bytes);
        for (int i = 0; i < bytes; i++) {
            frame.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + (i >> 8)));
        }
        return frame;
    }

    private DeviceBackend open() {
        final int colon = device.indexOf(':');
        final String kind = colon < 0 ? device : device.substring(0, colon);
        if (!kind.matches("auto|cuda|emulated") || (colon >= 0 && !device.matches("(cuda|emulated):\\d{1,3}"))) {
            throw new ConfigException("--device: expected auto, cuda:N or emulated:N, got " + device);
        }
        final DeviceBackendProvider cuda = provider("cuda");
        final boolean wantsCuda = kind.equals("cuda")
                || (kind.equals("auto") && cuda.unavailable().isEmpty());
        final DeviceBackendProvider chosen = wantsCuda ? cuda : provider("emulated");
        chosen.unavailable().ifPresent(reason -> {
            throw new ConfigException(
                    "--device: " + device + " cannot be used here: " + reason + "; device auto takes what is there");
        });
        return chosen.open(colon < 0 ? 0 : Integer.parseInt(device.substring(colon + 1)));
    }

    private static DeviceBackendProvider provider(final String kind) {
        return ServiceLoader.load(DeviceBackendProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(candidate -> candidate.kind().equals(kind))
                .findFirst()
                .orElseThrow(() -> new ConfigException("--device: " + kind + " is not part of this build"));
    }

    // The tool's writer takes null for null.
    @SuppressWarnings("NullAway")
    private static void report(final ToolContext context, final MachineInfo machine, final List<ArrivalRow> rows) {
        final Map<String, Object> result = new LinkedHashMap<>();
        result.put("machine", machine.json());
        result.put("rows", rows.stream().map(ArrivalRow::json).toList());
        final String table = ArrivalRow.table(rows);
        if (context.hasJson()) {
            context.line(table);
        }
        context.result(result, table);
    }
}
