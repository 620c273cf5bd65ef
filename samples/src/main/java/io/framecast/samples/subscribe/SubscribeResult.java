package io.framecast.samples.subscribe;

import io.framecast.api.LossReason;
import io.framecast.api.PlacementReport;
import io.framecast.api.SubscriberStats;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/// What `subscribe` reports.
///
/// @param frameBytesMax longest frame
/// @param latencyNs publish to ready
/// @param spanNs first publish to last ready
/// @param worker the worker's summary, if there was a worker
record SubscribeResult(
        Route route,
        long frameBytesMax,
        FrameTally tally,
        SubscriberStats stats,
        Histogram latencyNs,
        long spanNs,
        Check check,
        @Nullable Map<String, Object> worker) {

    /// What carried the frames, and where to.
    ///
    /// @param placement the way into the device's memory; null for frames in host memory
    record Route(String transport, String device, @Nullable PlacementReport placement) {
        @Override
        public String toString() {
            return transport + " into " + device + (placement == null ? "" : ", " + placement);
        }
    }

    /// Frames handled and the checksum over them.
    ///
    /// @param sources sources joined, one that was joined again counted again
    /// @param interrupted whether the user stopped it before the stream's end: more may have followed
    record FrameTally(long frames, long bytes, String streamCrc32c, long sources, boolean interrupted) {}

    /// Whether contents were compared, and what was wrong first; empty when nothing was.
    record Check(boolean done, String mismatch) {}

    /// Payload, in units of 10^6 bytes per second, rounded to a kilobyte.
    double goodputMBps() {
        return spanNs <= 0 ? 0 : Math.round(tally.bytes() * 1e6 / spanNs) / 1e3;
    }

    Map<String, Object> subscriberJson() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("frames", tally.frames());
        json.put("bytes", tally.bytes());
        json.put("stream_crc32c", tally.streamCrc32c());
        json.put("in_place_frames", stats.inPlaceFrames());
        json.put("reassembled_bytes", stats.reassembledBytes());
        json.put("repaired_datagrams", stats.repairedDatagrams());
        json.put("dropped_frames", stats.droppedFrames());
        final Map<String, Object> lost = new LinkedHashMap<>();
        for (final LossReason reason : LossReason.values()) {
            lost.put(LossLines.name(reason), stats.lost().of(reason));
        }
        json.put("lost_frames", lost);
        json.put("sources", tally.sources());
        json.put("rejoins", stats.rejoins());
        final Map<String, Object> latency = new LinkedHashMap<>();
        latency.put("p50", micros(latencyNs.getValueAtPercentile(50)));
        latency.put("p99", micros(latencyNs.getValueAtPercentile(99)));
        latency.put("max", micros(latencyNs.getMaxValue()));
        json.put("latency_us", latency);
        return json;
    }

    Map<String, Object> json() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("transport", route.transport());
        json.put("device", route.device());
        if (route.placement() != null) {
            json.put("placement", placementJson(route.placement()));
        }
        json.put("frame_bytes", frameBytesMax);
        json.put("subscribers", List.of(subscriberJson()));
        json.put("goodput_MBps", goodputMBps());
        if (check.done()) {
            json.put("verified", check.mismatch().isEmpty());
        }
        if (worker != null) {
            json.put("worker", worker);
        }
        if (tally.interrupted()) {
            json.put("interrupted", true);
        }
        return json;
    }

    private static Map<String, Object> placementJson(final PlacementReport report) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("way", report.kind().word());
        if (report.fastcopyMaxBytes() > 0) {
            json.put("fastcopy_max_bytes", report.fastcopyMaxBytes());
        }
        final Map<String, Object> refused = new LinkedHashMap<>();
        report.refused().forEach(refusal -> refused.put(refusal.kind().word(), refusal.reason()));
        json.put("refused", refused);
        return json;
    }

    String text() {
        final StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "received %,d frames, %,d bytes by %s (%.1f MB/s), crc32c %s%n",
                tally.frames(),
                tally.bytes(),
                route,
                goodputMBps(),
                tally.streamCrc32c()));
        text.append(String.format(
                Locale.ROOT,
                "in place %,d frames, reassembled %,d bytes, repaired %,d datagrams, dropped %,d frames%n",
                stats.inPlaceFrames(),
                stats.reassembledBytes(),
                stats.repairedDatagrams(),
                stats.droppedFrames()));
        if (tally.sources() > 1) {
            text.append(String.format(
                    Locale.ROOT, "sources joined %,d, of these %,d after a loss%n", tally.sources(), stats.rejoins()));
        }
        text.append(String.format(
                Locale.ROOT,
                "latency publish to ready: p50 %.1f µs, p99 %.1f µs, max %.1f µs",
                micros(latencyNs.getValueAtPercentile(50)),
                micros(latencyNs.getValueAtPercentile(99)),
                micros(latencyNs.getMaxValue())));
        if (check.done()) {
            text.append(System.lineSeparator())
                    .append(check.mismatch().isEmpty() ? "verified" : "MISMATCH: " + check.mismatch());
        }
        if (worker != null) {
            worker.forEach((key, value) -> text.append(System.lineSeparator())
                    .append(key.replace('_', ' '))
                    .append(": ")
                    .append(value));
        }
        return text.toString();
    }

    private static double micros(final long ns) {
        return Math.round(ns / 100.0) / 10.0;
    }
}
