package io.framecast.perf.arrival;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.FramesDifferException;
import io.framecast.perf.harness.MachineInfo;
import io.framecast.perf.table.Output;
import io.framecast.samples.ToolContext;
import io.framecast.samples.options.OneOf;
import io.framecast.samples.options.Options;
import io.framecast.samples.options.Sizes;
import io.framecast.samples.options.Within;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/// `framecast bench arrival`: its options as users give them, and its course.
public final class ArrivalBench {
    @Option(
            names = "--device",
            paramLabel = "auto|cuda:N|emulated:N",
            description = "Device to measure; default auto: a GPU where there is one.")
    @OneOf(
            value = {"auto", "(cuda|emulated):\\d{1,3}"},
            expected = "auto, cuda:N or emulated:N")
    private String device = "auto";

    @Option(names = "--frame-bytes", paramLabel = "LIST", description = "Lengths of frames; default 64,100000.")
    @Within(least = 1, most = 1 << 27)
    private Sizes frameBytes = Sizes.of(64, 100_000);

    @Option(names = "--blocks", paramLabel = "N", description = "Blocks of the kernels; default 4.")
    @Within(least = 1, most = 64)
    private int blocks = 4;

    @Option(names = "--seconds", paramLabel = "S", description = "How long each measurement lasts; default 1.")
    @Within(least = 0.05, most = 600)
    private double seconds = 1;

    /// @return the tool's exit status
    public int run(final ToolContext context) {
        final Output output = new Output(context, null);
        final MachineInfo machine = MachineInfo.announced(context::line);
        final List<ArrivalRow> rows = new ArrayList<>();
        try (DeviceBackend opened = DeviceChoice.parse(device).resolved().open();
                Arena arena = Arena.ofShared()) {
            context.line(opened.name() + ": " + opened.description());
            try {
                final ArrivalMeter meter = new ArrivalMeter(opened, blocks, seconds, context::isStopped);
                for (final int bytes : frameBytes.ints()) {
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
        Options.require(!context.isStopped(), "stopped before the end: nothing is reported");
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
