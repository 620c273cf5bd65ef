package io.framecast.engine.metrics;

import java.util.Map;

/// A counter as a reader found it.
///
/// @param name with `_total` on a value that only grows
/// @param labels `channel="cam1",lane="data"`, or empty
/// @param value in `unit`
/// @param unit `bytes`, `nanoseconds`, `frames`, `datagrams`, `events`, `members`
/// @param kind whether it only grows
public record CounterSample(String name, String labels, long value, String unit, EngineCounter.Kind kind) {
    /// The values of the labels by name, without escapes.
    public Map<String, String> labelMap() {
        return Labels.parse(labels);
    }
}
