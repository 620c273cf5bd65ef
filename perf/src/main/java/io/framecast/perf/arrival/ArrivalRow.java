package io.framecast.perf.arrival;

import io.framecast.perf.table.Percentiles;
import io.framecast.perf.table.Table;

/// How fast a kernel is notified of frames in one mode.
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
        Percentiles roundTrip,
        double framesPerSecond) {

    boolean emulated() {
        return device.startsWith("emulated");
    }

    static final Table<ArrivalRow> TABLE = new Table<ArrivalRow>()
            .field("scenario", _ -> "arrival")
            .left(2)
            .both("device", "device", ArrivalRow::device)
            .field("device_description", ArrivalRow::description)
            .field("emulated", ArrivalRow::emulated)
            .both("mode", "mode", ArrivalRow::mode)
            .field("blocks", ArrivalRow::blocks)
            .field("ring_entries", ArrivalRow::entries)
            .both("frame_bytes", "bytes", ArrivalRow::frameBytes)
            .field("round_trip_us", row -> row.roundTrip.json())
            .column("µs: p50 / p99 / max", row -> row.roundTrip.text())
            .both("frames_per_s", "frames/s", 0, ArrivalRow::framesPerSecond);

    private String mode() {
        return persistent ? "persistent" : "launch";
    }
}
