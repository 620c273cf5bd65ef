package io.framecast.engine.metrics;

import io.framecast.reliability.count.Metric;
import io.prometheus.client.Collector;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Shows simpleclient a [CounterTable]: a family per metric, in the order of [EngineCounter], a sample per
/// counter.
final class TableCollector extends Collector {
    private final CounterTable table;

    TableCollector(final CounterTable table) {
        this.table = table;
    }

    @Override
    public List<MetricFamilySamples> collect() {
        final Map<Metric, List<MetricFamilySamples.Sample>> families = new LinkedHashMap<>();
        table.forEach(counter -> families.computeIfAbsent(counter.metric(), _ -> new ArrayList<>())
                .add(sample(counter)));
        return families.entrySet().stream()
                .sorted(Comparator.comparingInt(
                        family -> EngineCounter.metrics().indexOf(family.getKey())))
                .map(family -> family(family.getKey(), family.getValue()))
                .toList();
    }

    private static MetricFamilySamples family(final Metric metric, final List<MetricFamilySamples.Sample> samples) {
        return new MetricFamilySamples(
                metric.familyName(),
                metric.unit().exported(),
                metric.onlyGrows() ? Type.COUNTER : Type.GAUGE,
                metric.help(),
                samples);
    }

    private static MetricFamilySamples.Sample sample(final Counter counter) {
        final Map<String, String> labels = Labels.parse(counter.labels());
        return new MetricFamilySamples.Sample(
                counter.metric().exportedName(),
                List.copyOf(labels.keySet()),
                List.copyOf(labels.values()),
                counter.metric().unit().export(counter.get()));
    }
}
