package io.framecast.samples.subscribe;

import io.framecast.api.PlacementReport;
import java.util.LinkedHashMap;
import java.util.Map;

/// A placement as JSON.
final class PlacementJson {
    private PlacementJson() {}

    static Map<String, Object> of(final PlacementReport report) {
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
}
