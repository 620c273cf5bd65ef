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
            .field("device", ArrivalRow::device)
            .field("device_description", ArrivalRow::description)
            .field("emulated", ArrivalRow::emulated)
            .field("mode", ArrivalRow::mode)
            .field("blocks", ArrivalRow::blocks)
            .field("ring_entries", ArrivalRow::entries)
            .field("frame_bytes", ArrivalRow::frameBytes)
            .field("round_trip_us", row -> row.roundTrip.json())
            .field("frames_per_s", ArrivalRow::framesPerSecond)
            .left(2)
            .column("device", ArrivalRow::device)
            .column("mode", ArrivalRow::mode)
            .column("bytes", row -> Integer.toString(row.frameBytes))
            .column("µs: p50 / p99 / max", row -> row.roundTrip.text())
            .column("frames/s", row -> Table.decimal(row.framesPerSecond, 0));

    private String mode() {
        return persistent ? "persistent" : "launch";
    }
}
