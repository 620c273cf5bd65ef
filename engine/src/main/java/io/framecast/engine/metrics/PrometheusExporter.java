package io.framecast.engine.metrics;

import io.framecast.api.NodeConfig;
import io.framecast.api.error.ConfigException;
import io.prometheus.client.Collector;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.HTTPServer;
import io.prometheus.client.hotspot.BufferPoolsExports;
import io.prometheus.client.hotspot.ClassLoadingExports;
import io.prometheus.client.hotspot.GarbageCollectorExports;
import io.prometheus.client.hotspot.MemoryAllocationExports;
import io.prometheus.client.hotspot.MemoryPoolsExports;
import io.prometheus.client.hotspot.StandardExports;
import io.prometheus.client.hotspot.ThreadExports;
import io.prometheus.client.hotspot.VersionInfoExports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/// Serves a [CounterTable] and the JVM's own figures at `/metrics`, in Prometheus' text format or OpenMetrics,
/// as the scraper asks. A scrape reads the table; between scrapes no code runs.
///
/// Threading: any thread. Close it before the table; a scrape that comes later finds no counters.
public final class PrometheusExporter implements AutoCloseable {
    private static final int THREADS = 2;
    private static final int CONNECTIONS_WAITING_MAX = 64;
    private static final long CLOSE_TIMEOUT_S = 5;

    private final HTTPServer server;
    private final ThreadPoolExecutor workers;

    private PrometheusExporter(final HTTPServer server, final ThreadPoolExecutor workers) {
        this.server = server;
        this.workers = workers;
    }

    /// @param metrics with port 0 for any free one, which [#port] returns
    /// @throws ConfigException when the address is not of this host, or the port is in use
    public static PrometheusExporter open(final CounterTable table, final NodeConfig.Metrics metrics) {
        final InetSocketAddress address = metrics.address().equals(NodeConfig.Metrics.LOOPBACK)
                ? new InetSocketAddress(InetAddress.getLoopbackAddress(), metrics.port())
                : new InetSocketAddress(metrics.address(), metrics.port());
        if (address.isUnresolved()) {
            throw new ConfigException("metrics address: expected an address of this host, got " + metrics.address());
        }
        final CollectorRegistry registry = new CollectorRegistry(true);
        registry.register(new TableCollector(table));
        JvmExports.ALL.forEach(registry::register);
        final ThreadPoolExecutor workers = new ThreadPoolExecutor(
                THREADS,
                THREADS,
                0,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(CONNECTIONS_WAITING_MAX),
                Thread.ofPlatform().name("framecast-metrics-", 0).daemon().factory());
        try {
            final HTTPServer server = new HTTPServer.Builder()
                    .withInetSocketAddress(address)
                    .withRegistry(registry)
                    .withExecutorService(workers)
                    .withDaemonThreads(true)
                    .build();
            return new PrometheusExporter(server, workers);
        } catch (final IOException e) {
            workers.shutdownNow();
            throw new ConfigException(
                    "metrics port " + metrics.port() + " on " + metrics.address() + " cannot be opened ("
                            + e.getMessage() + "): choose another, or 0 for any free one",
                    e);
        }
    }

    public int port() {
        return server.getPort();
    }

    /// Stops serving and waits for its threads. Idempotent.
    @Override
    public void close() {
        server.close();
        workers.shutdownNow();
        try {
            workers.awaitTermination(CLOSE_TIMEOUT_S, TimeUnit.SECONDS);
        } catch (final InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /// The collectors of simpleclient's DefaultExports, made once: one of them listens to the garbage
    /// collectors for the rest of the process, so a set per exporter would add up.
    private static final class JvmExports {
        static final List<Collector> ALL = List.of(
                new StandardExports(),
                new MemoryPoolsExports(),
                new MemoryAllocationExports(),
                new BufferPoolsExports(),
                new GarbageCollectorExports(),
                new ThreadExports(),
                new ClassLoadingExports(),
                new VersionInfoExports());
    }
}
