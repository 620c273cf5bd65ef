package io.framecast.engine.metrics;

import io.prometheus.client.Collector;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// Shows simpleclient a [CounterTable]: a family per kind, a sample per counter.
final class TableCollector extends Collector {
    private final CounterTable table;

    TableCollector(final CounterTable table) {
        this.table = table;
    }

    @Override
    public List<MetricFamilySamples> collect() {
        final Map<EngineCounter, List<MetricFamilySamples.Sample>> families = new EnumMap<>(EngineCounter.class);
        table.forEach(counter ->
                families.computeIfAbsent(counter.kind(), _ -> new ArrayList<>()).add(sample(counter)));
        final List<MetricFamilySamples> result = new ArrayList<>();
        families.forEach((kind, samples) -> result.add(new MetricFamilySamples(
                kind.familyName(),
                kind.unit().exported(),
                kind.kind() == EngineCounter.Kind.COUNTER ? Type.COUNTER : Type.GAUGE,
                kind.help(),
                samples)));
        return result;
    }

    private static MetricFamilySamples.Sample sample(final Counter counter) {
        final Map<String, String> labels = Labels.parse(counter.labels());
        return new MetricFamilySamples.Sample(
                counter.kind().exportedName(),
                List.copyOf(labels.keySet()),
                List.copyOf(labels.values()),
                counter.kind().unit().export(counter.get()));
    }
}
