package io.framecast.samples.demo;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/// The result of the demo: the children's reports side by side, and whether they agree.
///
/// @param publisher the publisher's report, as parsed from its JSON
/// @param subscribers each subscriber's report, likewise
/// @param frameBytes length of a full frame
/// @param hosts the subscribers of each host, from 1; empty where each is on its own
record DemoResult(long frameBytes, Map<?, ?> publisher, List<Map<?, ?>> subscribers, List<List<Integer>> hosts) {
    /// Values that must be equal at both ends.
    private static final List<String> SHARED_KEYS = List.of("frames", "bytes", "stream_crc32c");

    private static final List<String> COLUMNS =
            List.of("frames", "bytes", "crc32c", "in place", "reassembled", "repaired", "dropped", "p50 µs", "p99 µs");
    /// The key of each column in a report.
    private static final List<String> KEYS = List.of(
            "frames",
            "bytes",
            "stream_crc32c",
            "in_place_frames",
            "reassembled_bytes",
            "repaired_datagrams",
            "dropped_frames",
            "p50",
            "p99");

    /// The first difference, in one line; empty when there is none.
    String mismatch() {
        final Map<?, ?> published = side(publisher, "publisher");
        for (int i = 0; i < subscribers.size(); i++) {
            final Map<?, ?> received = subscriber(i);
            for (final String key : SHARED_KEYS) {
                if (!Objects.equals(published.get(key), received.get(key))) {
                    return "subscriber " + (i + 1) + ": " + key + " is " + received.get(key) + ", published was "
                            + published.get(key);
                }
            }
            if (number(received, "dropped_frames") != 0) {
                return "subscriber " + (i + 1) + ": dropped " + received.get("dropped_frames") + " frames";
            }
            if (Boolean.FALSE.equals(subscribers.get(i).get("verified"))) {
                return "subscriber " + (i + 1) + ": a frame's content differs from the published one";
            }
        }
        return "";
    }

    Map<String, Object> json() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("transport", text(publisher, "transport"));
        json.put("device", text(subscribers.getFirst(), "device"));
        json.put("frame_bytes", frameBytes);
        json.put("publisher", side(publisher, "publisher"));
        final List<Object> received = new ArrayList<>();
        for (int i = 0; i < subscribers.size(); i++) {
            received.add(subscriber(i));
        }
        json.put("subscribers", received);
        if (!hosts.isEmpty()) {
            json.put("hosts", hosts.stream().map(this::hostJson).toList());
        }
        json.put("goodput_MBps", goodputMBps());
        json.put("verified", mismatch().isEmpty());
        return json;
    }

    private List<Long> read(final List<Integer> host) {
        return host.stream()
                .map(index -> (long) number(subscriber(index - 1), "received_datagrams"))
                .toList();
    }

    /// Datagrams that would have been read more, had each subscriber read as many as the one that read most.
    private long saved(final List<Integer> host) {
        final List<Long> read = read(host);
        return read.size() * Collections.max(read)
                - read.stream().mapToLong(Long::longValue).sum();
    }

    private Map<String, Object> hostJson(final List<Integer> host) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("subscribers", host);
        json.put(
                "received_datagrams",
                read(host).stream().mapToLong(Long::longValue).sum());
        json.put("saved_datagrams", saved(host));
        return json;
    }

    private String hostText(final List<Integer> host) {
        final long read = read(host).stream().mapToLong(Long::longValue).sum();
        return String.format(
                Locale.ROOT,
                "host %d: %s read %,d datagrams, %,d fewer than each by itself (%.1f copies saved)",
                hosts.indexOf(host) + 1,
                host.size() + (host.size() == 1 ? " subscriber" : " subscribers"),
                read,
                saved(host),
                read == 0 ? 0.0 : (double) saved(host) / Collections.max(read(host)));
    }

    /// Of the slowest subscriber: all of them got at least this.
    private double goodputMBps() {
        return subscribers.stream()
                .mapToDouble(report -> number(report, "goodput_MBps"))
                .min()
                .orElse(0);
    }

    String text() {
        final List<String> lines = new ArrayList<>();
        lines.add(String.format(
                Locale.ROOT,
                "transport %s, device %s, frames of %,d bytes",
                text(publisher, "transport"),
                text(subscribers.getFirst(), "device"),
                frameBytes));
        final Map<?, ?> published = side(publisher, "publisher");
        lines.add(row("", COLUMNS));
        lines.add(row("publisher", published));
        for (int i = 0; i < subscribers.size(); i++) {
            final Map<Object, Object> received = new HashMap<>(subscriber(i));
            received.putAll(side(received, "latency_us"));
            lines.add(row("subscriber " + (i + 1), received));
        }
        hosts.forEach(host -> lines.add(hostText(host)));
        final String mismatch = mismatch();
        lines.add(String.format(
                Locale.ROOT,
                "goodput %.1f MB/s per subscriber; back-pressured %s times; %s",
                goodputMBps(),
                published.get("back_pressured"),
                mismatch.isEmpty() ? "verified" : "NOT VERIFIED: " + mismatch));
        return String.join(System.lineSeparator(), lines);
    }

    private static String row(final String name, final Map<?, ?> values) {
        return row(
                name,
                KEYS.stream()
                        .map(key -> values.containsKey(key) ? values.get(key) : "")
                        .toList());
    }

    private static String row(final String name, final Collection<?> cells) {
        final List<Object> all = new ArrayList<>(cells);
        all.addFirst(name);
        return String.format(Locale.ROOT, "%-14s %8s %16s  %-9s %9s %14s %9s %8s %12s %12s", all.toArray());
    }

    private Map<?, ?> subscriber(final int index) {
        if (subscribers.get(index).get("subscribers") instanceof List<?> list
                && list.size() == 1
                && list.getFirst() instanceof Map<?, ?> entry) {
            return entry;
        }
        return Map.of();
    }

    private static Map<?, ?> side(final Map<?, ?> report, final String key) {
        return report.get(key) instanceof Map<?, ?> map ? map : Map.of();
    }

    private static String text(final Map<?, ?> report, final String key) {
        return String.valueOf(report.get(key));
    }

    private static double number(final Map<?, ?> report, final String key) {
        return report.get(key) instanceof Number number ? number.doubleValue() : 0;
    }
}
