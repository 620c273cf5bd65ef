package io.framecast.perf.arrival;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.FramesDifferException;
import io.framecast.perf.harness.MachineInfo;
import io.framecast.perf.harness.OptionValues;
import io.framecast.perf.table.Output;
import io.framecast.samples.ToolContext;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/// `framecast bench arrival`: its options as users give them, and its course.
public final class ArrivalBench {
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

    /// @return the tool's exit status
    public int run(final ToolContext context) {
        final Output output = new Output(context, null);
        final List<Integer> lengths = OptionValues.bytesList("--frame-bytes", frameBytes, 1, FRAME_BYTES_MAX);
        OptionValues.within("--blocks", blocks, 1, BLOCKS_MAX);
        OptionValues.within("--seconds", seconds, 0.05, SECONDS_MAX);
        final DeviceChoice choice =
                DeviceChoice.parse(device, "auto|(cuda|emulated):\\d{1,3}", "auto, cuda:N or emulated:N");
        final MachineInfo machine = MachineInfo.announced(context::line);
        final List<ArrivalRow> rows = new ArrayList<>();
        try (DeviceBackend opened = choice.resolved().open();
                Arena arena = Arena.ofShared()) {
            context.line(opened.name() + ": " + opened.description());
            try {
                final ArrivalMeter meter = new ArrivalMeter(opened, blocks, seconds, context::isStopped);
                for (final int bytes : lengths) {
                    final MemorySegment frame = frame(arena, bytes);
                    rows.add(meter.measure(true, frame));
                    rows.add(meter.measure(false, frame));
                }
            } catch (final FramesDifferException e) {
                // Before the device is closed, which may take its time: a kernel that stands still is on it.
                context.line("framecast: mismatch: " + e.getMessage());
                report(output, machine, rows);
                return Output.MISMATCH;
            }
        }
        OptionValues.require(!context.isStopped(), "stopped before the end: nothing is reported");
        report(output, machine, rows);
        return Output.DONE;
    }

    private static void report(final Output output, final MachineInfo machine, final List<ArrivalRow> rows) {
        output.write("arrival", Map.of("machine", machine.json()), ArrivalRow.TABLE, rows, warning(rows), List.of());
    }

    static String warning(final List<ArrivalRow> rows) {
        return rows.stream().anyMatch(ArrivalRow::emulated)
                ? "An emulated device is threads of this CPU: its figures prove the plumbing and say nothing about"
                        + " GPUs.\n"
                : "";
    }

    private static MemorySegment frame(final Arena arena, final int bytes) {
        final MemorySegment frame = arena.allocate(bytes);
        for (int i = 0; i < bytes; i++) {
            frame.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + (i >> 8)));
        }
        return frame;
    }
}
