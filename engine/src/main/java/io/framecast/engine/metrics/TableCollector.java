package io.framecast.engine.metrics;

import io.prometheus.client.Collector;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// A [CounterTable] as simpleclient sees it: a family per kind, a sample per counter.
final class TableCollector extends Collector {
    private final CounterTable table;

    TableCollector(final CounterTable table) {
        this.table = table;
    }

    @Override
    public List<MetricFamilySamples> collect() {
        final Map<EngineCounter, List<MetricFamilySamples.Sample>> families = new EnumMap<>(EngineCounter.class);
        table.forEach((kind, labels, value) ->
                families.computeIfAbsent(kind, _ -> new ArrayList<>()).add(sample(kind, labels, value)));
        final List<MetricFamilySamples> result = new ArrayList<>();
        families.forEach((kind, samples) -> result.add(new MetricFamilySamples(
                kind.familyName(),
                kind.unit().exported(),
                kind.kind() == EngineCounter.Kind.COUNTER ? Type.COUNTER : Type.GAUGE,
                kind.help(),
                samples)));
        return result;
    }

    private static MetricFamilySamples.Sample sample(final EngineCounter kind, final String text, final long value) {
        final List<Labels.Label> labels = Labels.parse(text);
        return new MetricFamilySamples.Sample(
                kind.exportedName(),
                labels.stream().map(Labels.Label::name).toList(),
                labels.stream().map(Labels.Label::value).toList(),
                kind.unit().export(value));
    }
}
