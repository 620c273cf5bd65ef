package io.framecast.perf.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What came of one case.
///
/// @param rates frames per second
/// @param ping round trips of a small datagram during the stream
/// @param sourceTripUs median of the source's smoothed round trip, which is what it paces repairs by
/// @param datagrams what was lost and repaired
record TailRow(
        TailCase setting, Rates rates, TailStats ping, double sourceTripUs, Datagrams datagrams, TailJoin.Result late) {
    private static final double TRIPS = 2;
    private static final double MARGIN_US = 100;

    /// @param capacity frames that were taken in a second when as many were published as were taken
    record Rates(double capacity, double offered) {}

    /// Of the whole stream, all subscribers together.
    ///
    /// @param lost diverted at a door
    /// @param repaired arrived by the repair lane and were needed, as subscribers count them
    record Datagrams(long lost, long repaired) {}

    /// What 99 of 100 repairs should not exceed: two round trips, as a ping takes them, and 100 µs.
    double boundUs() {
        return TRIPS * ping.p50Us() + MARGIN_US;
    }

    Map<String, @Nullable Object> json() {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("scenario", "tail");
        json.put("transport", "udp");
        json.put("net", BenchNet.BRIDGE.label());
        json.put("mtu", TailSpec.MTU_BYTES);
        json.put("frame_bytes", setting.frameBytes());
        json.put("receivers", setting.subscribers());
        json.put("loss", setting.loss());
        json.put("losing", setting.everyLink() ? "each" : "one");
        json.put("offload", setting.offload() ? "on" : "off");
        json.put("capacity_fps", TailStats.number(rates.capacity));
        json.put("offered_fps", TailStats.number(rates.offered));
        json.put("ping_us", ping.json());
        json.put("source_rtt_us", TailStats.number(sourceTripUs));
        json.put("bound_us", TailStats.number(boundUs()));
        json.put("lost_datagrams", datagrams.lost);
        json.put("repaired_datagrams", datagrams.repaired);
        json.put("frame_gaps_us", late.frames().gaps().json());
        json.put("frame_tails_us", late.frames().tails().json());
        json.put("datagram_gaps_us", late.datagrams().gaps().json());
        json.put("datagram_tails_us", late.datagrams().tails().json());
        json.put("unrepaired_us", late.unrepaired().json());
        json.put("frames_behind", late.counts().behind());
        json.put("frames_lost_everywhere", late.counts().everywhere());
        json.put("unmatched", late.counts().unmatched());
        return json;
    }

    /// As CSV: a line of names, then a line per row.
    static String csv(final List<TailRow> rows) {
        final StringBuilder text = new StringBuilder();
        for (int i = 0; i < rows.size(); i++) {
            final Map<String, @Nullable Object> flat = new LinkedHashMap<>();
            rows.get(i).json().forEach((name, value) -> {
                if (value instanceof Map<?, ?> parts) {
                    parts.forEach((part, inner) -> flat.put(name + "_" + part, inner));
                } else {
                    flat.put(name, value);
                }
            });
            if (i == 0) {
                text.append(String.join(",", flat.keySet())).append("\r\n");
            }
            // No value holds a comma or a quote.
            text.append(String.join(
                            ",",
                            flat.values().stream()
                                    .map(value -> value == null ? "" : value.toString())
                                    .toList()))
                    .append("\r\n");
        }
        return text.toString();
    }
}
