package io.framecast.perf.litmus;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedProvider;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.table.Output;
import io.framecast.samples.PeerLostException;
import io.framecast.samples.ToolContext;
import io.framecast.samples.network.FreePorts;
import io.framecast.samples.options.OneOf;
import io.framecast.samples.options.Options;
import io.framecast.samples.options.Within;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `framecast litmus`.
@Command(
        name = "litmus",
        description = "Tries the visibility contract of frames in device memory: kernels that check each frame the"
                + " moment they may, memory used again the moment it may be; then the same with a wait left out and"
                + " with memory given back too early, which must be seen. An emulated device runs its streams late.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  framecast litmus",
            "  framecast litmus --device cuda:0 --rounds 10000 --json -",
            "",
            "Exit status: 0 kept, and what was planted was seen; 1 not; 2 usage or environment."
        })
final class LitmusCommand implements Callable<Integer> {
    private static final int DONE = 0;
    private static final int UNMET = 1;
    // On real hardware.
    private static final long LATE_NS = 50_000;
    private static final long EMULATED_FRAME_BYTES = 24 << 10;
    private static final long GPU_FRAME_BYTES = 4 << 20;
    private static final int LANES = 3;

    @Option(names = "--device", paramLabel = "D", description = "emulated[:N] or cuda:N; default ${DEFAULT-VALUE}.")
    @OneOf(
            value = {"emulated(:\\d{1,3})?", "cuda:\\d{1,3}"},
            expected = "emulated[:N] or cuda:N")
    private String device = "emulated:0";

    @Option(names = "--rounds", paramLabel = "N", description = "Frames of each test; default ${DEFAULT-VALUE}.")
    @Within(least = 1, most = 10_000_000)
    private long rounds = 2000;

    @Option(
            names = "--frame-bytes",
            paramLabel = "N",
            description = "A multiple of 8; default 24 KiB emulated, else 4 MiB.")
    private long frameBytes;

    @Option(names = "--seed", paramLabel = "N", description = "Of the delays of an emulated device; 1 if not given.")
    private long seed = 1;

    @Option(
            names = "--placement",
            split = ",",
            paramLabel = "P",
            description = "Ways into the device; default ${DEFAULT-VALUE}.")
    private List<String> placements = new ArrayList<>(List.of("staged", "fastcopy"));

    private final FreePorts ports = new FreePorts(RandomGenerator.getDefault());
    private final ToolContext context;

    LitmusCommand(final ToolContext context) {
        this.context = context;
    }

    @Override
    public Integer call() {
        final Output output = new Output(context, null);
        Options.require(
                frameBytes >= 0 && frameBytes % Long.BYTES == 0,
                "--frame-bytes: expected a multiple of 8, got " + frameBytes);
        try {
            return run(output, DeviceChoice.parse(device).isEmulated());
        } finally {
            EmulatedProvider.configure(EmulatedConfig.DEFAULT);
        }
    }

    private int run(final Output output, final boolean emulated) {
        final String description;
        // Opened once, to show what runs before anything does.
        try (DeviceBackend backend = DeviceChoice.parse(device).open()) {
            description = backend.name() + ": " + backend.description();
        }
        context.line(description);
        final List<LitmusRow> rows = new ArrayList<>();
        for (final String placement : placements) {
            toDevice(placement, emulated, rows);
        }
        for (final LitmusWay way : LitmusWay.values()) {
            if (way != LitmusWay.FRAME_STREAM && way != LitmusWay.AWAIT_READY) {
                add(rows, new ToHostLitmus(plan("", way, emulated)).run(), emulated);
            }
        }
        final boolean met = rows.stream().allMatch(row -> row.isMet(emulated));
        final Map<String, @Nullable Object> head = new LinkedHashMap<>();
        head.put("device", description);
        head.put("ok", met);
        output.write("litmus", head, LitmusRow.table(emulated), rows, "", List.of());
        if (!met) {
            context.line("framecast: the visibility contract was not kept, or a planted fault was not seen");
        }
        return met ? DONE : UNMET;
    }

    private void toDevice(final String placement, final boolean emulated, final List<LitmusRow> rows) {
        for (final LitmusWay way : LitmusWay.values()) {
            // The bytes that the CPU stored are there before the frame is: nothing to wait for, and nothing
            // to miss.
            if (way == LitmusWay.MISSING_WAIT && !placement.equals("staged")) {
                continue;
            }
            try {
                add(rows, new ToDeviceLitmus(plan("|placement=" + placement, way, emulated)).run(), emulated);
            } catch (final PeerLostException e) {
                if (!String.valueOf(e.getMessage()).contains("cannot be used here")) {
                    throw e;
                }
                context.line("skipped: " + e.getMessage());
                return;
            }
        }
    }

    private void add(final List<LitmusRow> rows, final LitmusRow row, final boolean emulated) {
        rows.add(row);
        context.line(row.text(emulated));
    }

    private LitmusPlan plan(final String settings, final LitmusWay way, final boolean emulated) {
        if (emulated) {
            EmulatedProvider.configure(EmulatedConfig.DEFAULT.withDisorder(way.disorder(seed)));
        }
        final long bytes = frameBytes > 0 ? frameBytes : emulated ? EMULATED_FRAME_BYTES : GPU_FRAME_BYTES;
        return new LitmusPlan(
                "framecast:udp?group=224.20.30.47:" + ports.range(LANES) + "|interface=127.0.0.1|mtu=1500",
                device,
                settings,
                way,
                way.rounds(rounds, emulated),
                bytes,
                LATE_NS);
    }
}
