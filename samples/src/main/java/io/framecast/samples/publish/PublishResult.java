package io.framecast.samples.publish;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/// What `publish` reports.
///
/// @param route what carried the frames, and whose memory they lay in
/// @param frameBytes length of a full frame
/// @param backPressured how often a frame had to wait for credit
/// @param evicted subscribers evicted on the way; 0 unless they may come back
/// @param elapsedNs first to last frame
/// @param interrupted whether the user stopped it before the input's end
public record PublishResult(
        Route route,
        long frameBytes,
        long frames,
        long bytes,
        String streamCrc32c,
        long backPressured,
        long evicted,
        long elapsedNs,
        boolean interrupted) {

    record Route(String transport, String device) {}

    Map<String, Object> publisherJson() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("frames", frames);
        json.put("bytes", bytes);
        json.put("stream_crc32c", streamCrc32c);
        json.put("back_pressured", backPressured);
        if (evicted > 0) {
            json.put("evicted_subscribers", evicted);
        }
        return json;
    }

    Map<String, Object> json() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("transport", route.transport());
        if (!route.device().equals("host")) {
            json.put("device", route.device());
        }
        json.put("frame_bytes", frameBytes);
        json.put("publisher", publisherJson());
        if (interrupted) {
            json.put("interrupted", true);
        }
        return json;
    }

    String text() {
        final double rateMBps = elapsedNs == 0 ? 0 : bytes * 1e3 / elapsedNs;
        return String.format(
                Locale.ROOT,
                "published %,d frames, %,d bytes by %s in %.1f s (%.1f MB/s), crc32c %s, back-pressured %,d times",
                frames,
                bytes,
                route.transport() + (route.device().equals("host") ? "" : " from " + route.device()),
                elapsedNs / 1e9,
                rateMBps,
                streamCrc32c,
                backPressured);
    }
}
