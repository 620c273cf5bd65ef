package io.framecast.samples.subscribe;

import io.framecast.api.SourceEvent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Latencies of the frames that a subscriber took, by source: each source has a clock of its own, and a busy
/// source would hide the other ones. One thread.
final class SourceLatencies {
    // Sources that are joined later count together.
    private static final int SOURCES_MAX = 64;

    private final Map<Long, OfSource> sources = new LinkedHashMap<>();
    private final OfSource others = new OfSource("other sources");
    private OfSource newest = others;
    private long newestSession;

    /// Records a frame's latency.
    ///
    /// @param ns the time by this host's clock less the timestamp by the source's
    /// @param offsetNs the source's clock less this host's
    /// @param errorNs of the offset; `Long.MAX_VALUE` where it is not known
    void record(final long session, final long ns, final long offsetNs, final long errorNs) {
        if (sources.isEmpty() || session != newestSession) {
            newestSession = session;
            newest = of(session);
        }
        newest.record(ns, offsetNs, errorNs);
    }

    private OfSource of(final long session) {
        return sources.size() == SOURCES_MAX
                ? sources.getOrDefault(session, others)
                : sources.computeIfAbsent(session, number -> new OfSource("source " + SourceEvent.sessionText(number)));
    }

    private Collection<OfSource> all() {
        final List<OfSource> all = new ArrayList<>(sources.values());
        if (others.frames > 0) {
            all.add(others);
        }
        return all;
    }

    private Latencies together() {
        final Latencies sum = new Latencies();
        all().forEach(source -> sum.add(source.latencies));
        return sum;
    }

    /// The clock of the newest frame's source less this host's, where it is known; else 0.
    long offsetNs() {
        return newest.offsetNs;
    }

    /// Of all frames, with the clock of the newest one's source.
    Map<String, Object> json() {
        return newest.json(together());
    }

    /// Of each source; empty where there is one alone.
    List<Map<String, Object>> sourcesJson() {
        final List<Map<String, Object>> list = new ArrayList<>();
        if (all().size() > 1) {
            for (final OfSource source : all()) {
                final Map<String, Object> json = new LinkedHashMap<>();
                json.put("source", source.name.replaceFirst("^source ", ""));
                json.put("frames", source.frames);
                json.putAll(source.json(source.latencies));
                list.add(json);
            }
        }
        return list;
    }

    /// One line, and one for each source where there are several.
    List<String> lines() {
        final List<String> lines = new ArrayList<>();
        final boolean several = all().size() > 1;
        lines.add("latency publish to ready: " + percentiles(together()) + (several ? "" : newest.clock()));
        if (several) {
            for (final OfSource source : all()) {
                lines.add(String.format(
                        Locale.ROOT,
                        "latency of %s: %,d frames, %s%s",
                        source.name,
                        source.frames,
                        percentiles(source.latencies),
                        source.clock()));
            }
        }
        return lines;
    }

    private static String percentiles(final Latencies latencies) {
        return String.format(
                Locale.ROOT,
                "p50 %.1f µs, p99 %.1f µs, max %.1f µs",
                micros(latencies.percentileNs(50)),
                micros(latencies.percentileNs(99)),
                micros(latencies.percentileNs(100)));
    }

    private static double micros(final long ns) {
        return Math.round(ns / 100.0) / 10.0;
    }

    private static final class OfSource {
        private final String name;
        private final Latencies latencies = new Latencies();
        private long frames;
        private long offsetNs;
        private long errorNs = Long.MAX_VALUE;

        OfSource(final String name) {
            this.name = name;
        }

        void record(final long ns, final long newOffsetNs, final long newErrorNs) {
            frames++;
            if (newErrorNs != Long.MAX_VALUE) {
                offsetNs = newOffsetNs;
                errorNs = newErrorNs;
            }
            if (errorNs == Long.MAX_VALUE) {
                latencies.record(ns);
            } else {
                latencies.record(ns, offsetNs);
            }
        }

        Map<String, Object> json(final Latencies of) {
            final Map<String, Object> json = new LinkedHashMap<>();
            json.put("p50", micros(of.percentileNs(50)));
            json.put("p99", micros(of.percentileNs(99)));
            json.put("max", micros(of.percentileNs(100)));
            if (clocksDiffer()) {
                json.put("clocks_differ", true);
            }
            if (errorNs != Long.MAX_VALUE) {
                json.put("clock_offset", micros(offsetNs));
                json.put("clock_error", micros(errorNs));
            }
            return json;
        }

        String clock() {
            if (errorNs == Long.MAX_VALUE) {
                return latencies.hasNegative()
                        ? " (frames came before they were published: the hosts' clocks differ)"
                        : "";
            }
            final String error = String.format(Locale.ROOT, " (± %.1f µs", micros(errorNs));
            return clocksDiffer()
                    ? String.format(
                            Locale.ROOT,
                            "%s: the source's clock is %.1f µs %s)",
                            error,
                            micros(Math.abs(offsetNs)),
                            offsetNs > 0 ? "ahead" : "behind")
                    : error + ")";
        }

        // By more than the error of the measurement.
        private boolean clocksDiffer() {
            return errorNs == Long.MAX_VALUE ? latencies.hasNegative() : Math.abs(offsetNs) > errorNs;
        }
    }
}
