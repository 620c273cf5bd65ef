package io.framecast.samples.stat;

import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.metrics.EngineCounter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The counters of one process at one time.
///
/// @param pid the process
/// @param file its counters file
/// @param ageS seconds since the file was made
/// @param timeNs when it was read, by `System.nanoTime()`
/// @param samples in order of their names
record ProcessCounters(long pid, Path file, double ageS, long timeNs, List<CounterSample> samples) {
    private static final double NS_PER_S = 1e9;
    private static final double MS_PER_S = 1e3;
    private static final String NANOSECONDS = "nanoseconds";

    /// @throws io.framecast.api.error.ConfigException when there is no such file, or it is damaged
    static ProcessCounters of(final Path file) {
        try (CounterReader reader = CounterReader.open(file)) {
            final long nowNs = System.nanoTime();
            final List<CounterSample> samples = new ArrayList<>(reader.samples());
            samples.sort(java.util.Comparator.comparing(CounterSample::labels).thenComparing(CounterSample::name));
            final double ageS = Math.max(0, System.currentTimeMillis() - reader.madeMs()) / MS_PER_S;
            return new ProcessCounters(reader.pid(), file, ageS, nowNs, samples);
        }
    }

    /// @param before an earlier look at the same process; null: rates are left out
    Map<String, Object> json(final @Nullable ProcessCounters before, final boolean all) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("pid", pid);
        json.put("file", file.toString());
        json.put("age_s", ageS);
        final List<Map<String, Object>> counters = new ArrayList<>();
        for (final CounterSample sample : shown(all)) {
            final Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", sample.name());
            one.put("labels", sample.labelMap());
            one.put("value", sample.value());
            one.put("unit", sample.unit());
            final Double rate = rate(sample, before);
            if (rate != null) {
                one.put("per_second", rate);
            }
            counters.add(one);
        }
        json.put("counters", counters);
        return json;
    }

    /// A table for people: labels once, and their counters below them.
    String text(final @Nullable ProcessCounters before, final boolean all) {
        final StringBuilder text = new StringBuilder();
        text.append(String.format(Locale.ROOT, "process %d, %.0f s, %s", pid, ageS, file));
        String labels = null;
        for (final CounterSample sample : shown(all)) {
            if (!sample.labels().equals(labels)) {
                labels = sample.labels();
                text.append(String.format(Locale.ROOT, "%n  %s", labels.isEmpty() ? "(all of it)" : labels));
            }
            text.append(
                    String.format(Locale.ROOT, "%n    %-52s %,20d %s", sample.name(), sample.value(), sample.unit()));
            final Double rate = rate(sample, before);
            if (rate != null) {
                text.append(String.format(Locale.ROOT, "  %,.1f/s", rate));
            }
        }
        return text.toString();
    }

    private List<CounterSample> shown(final boolean all) {
        return samples.stream().filter(sample -> all || sample.value() != 0).toList();
    }

    // Rates exist for values that only grow, and are no times.
    private @Nullable Double rate(final CounterSample sample, final @Nullable ProcessCounters before) {
        if (before == null
                || sample.kind() != EngineCounter.Kind.COUNTER
                || sample.unit().equals(NANOSECONDS)) {
            return null;
        }
        for (final CounterSample earlier : before.samples) {
            if (earlier.name().equals(sample.name()) && earlier.labels().equals(sample.labels())) {
                return (sample.value() - earlier.value()) / ((timeNs - before.timeNs) / NS_PER_S);
            }
        }
        return null;
    }
}
