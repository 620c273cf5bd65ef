package io.framecast.engine.metrics;

import java.util.LinkedHashMap;
import java.util.Map;

/// A counter as a reader found it.
///
/// @param name with `_total` on what only grows
/// @param labels `channel="cam1",lane="data"`, or empty
/// @param value in `unit`
/// @param unit `bytes`, `nanoseconds`, `frames`, `datagrams`, `events`, `members`
/// @param kind whether it only grows
public record CounterSample(String name, String labels, long value, String unit, EngineCounter.Kind kind) {
    /// The labels, by name, with their values as they were given.
    public Map<String, String> labelMap() {
        final Map<String, String> map = new LinkedHashMap<>();
        Labels.parse(labels).forEach(label -> map.put(label.name(), label.value()));
        return map;
    }
}
