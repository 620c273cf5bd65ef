/// Counters: [CounterTable] for the process that counts, [CounterReader] for another that looks,
/// [PrometheusExporter] for scrapers. The node and its sessions count; tools read. Nothing else names
/// Prometheus.
@NullMarked
package io.framecast.engine.metrics;

import org.jspecify.annotations.NullMarked;
