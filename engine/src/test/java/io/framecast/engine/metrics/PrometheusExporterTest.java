package io.framecast.engine.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.NodeConfig;
import io.framecast.api.error.ConfigException;
import io.framecast.reliability.count.Metric;
import java.io.IOException;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Real scrapes over HTTP.
final class PrometheusExporterTest {
    private static final List<String> OURS = List.of("framecast", "HTTP-", "idle-");
    private static final String TEXT = "text/plain";
    private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0";

    @TempDir
    private Path directory;

    private CounterTable table;

    @BeforeEach
    void makeTable() {
        table = CounterTable.create(directory.resolve("table.counters"));
    }

    @AfterEach
    void closeTable() {
        table.close();
    }

    private static NodeConfig.Metrics local(final int port) {
        return new NodeConfig.Metrics(NodeConfig.Metrics.LOOPBACK, port);
    }

    @Test
    void shouldServeOnTheAddressThatIsAskedForAndOnNoOther() throws Exception {
        try (PrometheusExporter exporter = PrometheusExporter.open(table, new NodeConfig.Metrics("127.0.0.2", 0))) {
            new Socket(InetAddress.ofLiteral("127.0.0.2"), exporter.port()).close();
            assertThrows(ConnectException.class, () -> new Socket(InetAddress.ofLiteral("127.0.0.1"), exporter.port()));
        }
        try (PrometheusExporter exporter = PrometheusExporter.open(table, local(0))) {
            new Socket(InetAddress.ofLiteral("127.0.0.1"), exporter.port()).close();
            assertThrows(ConnectException.class, () -> new Socket(InetAddress.ofLiteral("127.0.0.2"), exporter.port()));
        }
    }

    @Test
    void shouldRefuseAnAddressThatIsNotOfThisHost() {
        for (final String address : List.of("192.0.2.7", "no such host")) {
            final ConfigException failure = assertThrows(
                    ConfigException.class, () -> PrometheusExporter.open(table, new NodeConfig.Metrics(address, 0)));
            assertTrue(failure.getMessage().contains(address), failure.getMessage());
        }
    }

    @Test
    void shouldServeCurrentValuesWhenScraped() throws IOException {
        final Counter sent =
                table.allocate(EngineCounter.SENT_BYTES, Labels.of("channel", "a\"b\\c\nd", "lane", "data"));
        final Counter rtt = table.allocate(EngineCounter.ROUND_TRIP, Labels.of("channel", "x"));
        try (PrometheusExporter exporter = PrometheusExporter.open(table, local(0))) {
            sent.setOrdered(1500);
            rtt.setOrdered(2_500_000);
            final List<String> lines = scrape(exporter, TEXT);
            assertTrue(lines.contains("# TYPE framecast_sent_bytes_total counter"));
            assertTrue(lines.contains(
                    "# HELP framecast_sent_bytes_total Bytes of datagrams sent, headers included, by lane."));
            assertTrue(
                    lines.contains("framecast_sent_bytes_total{channel=\"a\\\"b\\\\c\\nd\",lane=\"data\",} 1500.0"),
                    lines::toString);
            assertTrue(lines.contains("# TYPE framecast_round_trip_seconds gauge"));
            assertTrue(lines.contains("framecast_round_trip_seconds{channel=\"x\",} 0.0025"));
            assertTrue(lines.stream().anyMatch(line -> line.startsWith("jvm_threads_current ")));
            assertTrue(lines.stream().anyMatch(line -> line.startsWith("process_start_time_seconds ")));
            sent.setOrdered(3000);
            rtt.close();
            final List<String> later = scrape(exporter, TEXT);
            assertTrue(later.stream()
                    .anyMatch(line -> line.startsWith("framecast_sent_bytes_total{") && line.endsWith(" 3000.0")));
            assertFalse(later.stream().anyMatch(line -> line.contains("framecast_round_trip")));
        }
    }

    @Test
    void shouldSpeakOpenMetricsWhenAsked() throws IOException {
        for (final EngineCounter kind : EngineCounter.values()) {
            if (kind != EngineCounter.TABLE_OVERFLOWS) {
                table.allocate(kind, Labels.of("lane", "data")).setOrdered(1 + kind.ordinal());
                table.allocate(kind, Labels.of("lane", "data")).setOrdered(1);
            }
        }
        try (PrometheusExporter exporter = PrometheusExporter.open(table, local(0))) {
            final List<String> lines = scrape(exporter, OPEN_METRICS);
            assertEquals("# EOF", lines.getLast());
            assertTrue(lines.contains("# TYPE framecast_sent_bytes counter"));
            assertTrue(lines.contains("# UNIT framecast_sent_bytes bytes"));
            assertTrue(lines.contains(
                    "framecast_sent_bytes_total{lane=\"data\"} " + (1.0 + EngineCounter.SENT_BYTES.ordinal())));
            assertTrue(lines.contains("framecast_sent_bytes_total{lane=\"data\",series=\"2\"} 1.0"));
            for (final EngineCounter kind : EngineCounter.values()) {
                final Metric metric = kind.metric();
                assertTrue(lines.contains("# HELP " + metric.familyName() + " " + metric.help()), kind.name());
            }
            final Set<String> series = new HashSet<>();
            lines.stream()
                    .filter(line -> !line.startsWith("#"))
                    .forEach(line -> assertTrue(series.add(line.substring(0, line.lastIndexOf(' '))), line));
        }
    }

    @Test
    void shouldKeepTheOrderOfFamiliesWhateverWasAllocatedFirst() throws IOException {
        EngineCounter.metrics().reversed().forEach(metric -> table.allocate(metric, Labels.of("lane", "data")));
        try (PrometheusExporter exporter = PrometheusExporter.open(table, local(0))) {
            assertEquals(
                    EngineCounter.metrics().stream()
                            .map(metric -> "# HELP " + metric.familyName() + " " + metric.help())
                            .toList(),
                    scrape(exporter, OPEN_METRICS).stream()
                            .filter(line -> line.startsWith("# HELP framecast_"))
                            .toList());
        }
    }

    @Test
    void shouldSayInOneLineWhenPortIsInUse() {
        try (PrometheusExporter exporter = PrometheusExporter.open(table, local(0))) {
            final ConfigException refused =
                    assertThrows(ConfigException.class, () -> PrometheusExporter.open(table, local(exporter.port())));
            assertTrue(refused.getMessage().contains("metrics port " + exporter.port()), refused.getMessage());
            assertTrue(refused.getMessage().contains("choose another"), refused.getMessage());
            assertFalse(refused.getMessage().contains("\n"));
        }
    }

    @Test
    void shouldStopThreadsAndFreePortWhenClosed() throws IOException, InterruptedException {
        final Set<Thread> before = Thread.getAllStackTraces().keySet();
        final PrometheusExporter exporter = PrometheusExporter.open(table, local(0));
        scrape(exporter, TEXT);
        final List<Thread> started = newThreads(before);
        assertTrue(started.stream().anyMatch(thread -> thread.getName().startsWith("framecast-metrics-")));
        exporter.close();
        exporter.close();
        // A pool that has ended may have a thread that is just leaving.
        for (final Thread thread : started) {
            assertTrue(thread.join(Duration.ofSeconds(60)), thread.getName());
        }
        assertThrows(ConnectException.class, () -> scrape(exporter, TEXT));
        PrometheusExporter.open(table, local(exporter.port())).close();
    }

    @Test
    void shouldServeJvmOnlyWhenTableIsClosed() throws IOException {
        try (PrometheusExporter exporter = PrometheusExporter.open(table, local(0))) {
            table.close();
            final List<String> lines = scrape(exporter, TEXT);
            assertFalse(lines.stream().anyMatch(line -> line.contains("framecast_")));
            assertTrue(lines.stream().anyMatch(line -> line.startsWith("jvm_info")));
        }
    }

    /// Threads of the exporter and of the server; the client keeps one of its own for idle connections.
    private static List<Thread> newThreads(final Set<Thread> before) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !before.contains(thread) && thread.isAlive())
                .filter(thread -> OURS.stream().anyMatch(thread.getName()::startsWith))
                .toList();
    }

    private static List<String> scrape(final PrometheusExporter exporter, final String accept) throws IOException {
        final URI uri = URI.create("http://127.0.0.1:" + exporter.port() + "/metrics");
        final HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
        connection.setRequestProperty("Accept", accept);
        // A connection that is kept for the next request would close in the middle of a later test, which counts
        // sockets.
        connection.setRequestProperty("Connection", "close");
        assertEquals(200, connection.getResponseCode());
        assertTrue(connection.getContentType().startsWith(accept.substring(0, accept.indexOf('/'))));
        try (var body = connection.getInputStream()) {
            return new String(body.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        }
    }
}
