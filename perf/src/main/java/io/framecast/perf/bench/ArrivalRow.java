package io.framecast.perf.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// How fast a kernel hears of frames in one way.
///
/// @param device what ran: `emulated:0`, `cuda:0`
/// @param persistent one launch for all frames, or one for each
/// @param roundTrip from the host's decision to the kernel's result in the host's hands, one frame at a time
/// @param framesPerSecond with as many frames on their way as the ring holds
record ArrivalRow(
        String device,
        String description,
        boolean persistent,
        int blocks,
        int entries,
        int frameBytes,
        TailStats roundTrip,
        double framesPerSecond) {

    boolean emulated() {
        return device.startsWith("emulated");
    }

    Map<String, @Nullable Object> json() {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("scenario", "arrival");
        json.put("device", device);
        json.put("device_description", description);
        json.put("emulated", emulated());
        json.put("mode", persistent ? "persistent" : "launch");
        json.put("blocks", blocks);
        json.put("ring_entries", entries);
        json.put("frame_bytes", frameBytes);
        json.put("round_trip_us", roundTrip.json());
        json.put("frames_per_s", TailStats.number(framesPerSecond));
        return json;
    }

    static String table(final List<ArrivalRow> rows) {
        final StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "%-12s %-11s %10s %26s %14s",
                "device",
                "mode",
                "bytes",
                "µs: p50 / p99 / max",
                "frames/s"));
        for (final ArrivalRow row : rows) {
            text.append(String.format(
                    Locale.ROOT,
                    "%n%-12s %-11s %10d %26s %14.0f",
                    row.device,
                    row.persistent ? "persistent" : "launch",
                    row.frameBytes,
                    row.roundTrip.text(),
                    row.framesPerSecond));
        }
        if (rows.stream().anyMatch(ArrivalRow::emulated)) {
            text.append(String.format(
                    Locale.ROOT,
                    "%nAn emulated device is threads of this CPU: its figures prove the plumbing and say nothing about"
                            + " GPUs."));
        }
        return text.toString();
    }
}
