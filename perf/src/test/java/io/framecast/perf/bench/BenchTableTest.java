package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.MachineInfo;
import io.framecast.perf.table.Figure;
import io.framecast.perf.table.Fonts;
import io.framecast.perf.table.Outcome;
import io.framecast.samples.json.Json;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;

final class BenchTableTest {
    private static final double NONE = Double.NaN;
    private static final String HOSTILE = "a <b> & \"c\", d";

    private static final MachineInfo MACHINE = new MachineInfo(List.of("CPU " + HOSTILE, "2 cores"), Map.of(), 2, 0.1);
    private static final BenchPlan PLAN =
            new BenchPlan(List.of(), 3, new BenchTimes(8, 0.5, 2), 0, List.of(HOSTILE), Optional.empty());
    private static final Map<String, Double> RATIOS = Map.ofEntries(
            Map.entry("ratio_to_floor", 0.9),
            Map.entry("ratio_to_tcp", 3.0),
            Map.entry("ratio_to_clean", 0.95),
            Map.entry("cpu_ratio_to_floor", 1.1),
            Map.entry("cpu_ratio_to_aeron", 0.33),
            Map.entry("cpu_ratio_to_tcp", 0.5),
            Map.entry("goodput_ratio_to_fewest", 1.0),
            Map.entry("source_cpu_ratio_to_fewest", 1.02),
            Map.entry("source_wire_ratio_to_fewest", 0.99),
            Map.entry("ratio_to_alone", 0.97),
            Map.entry("ratio_to_healthy", 0.98));

    private final List<BenchRow> rows = rows();

    private List<?> json() {
        return (List<?>) Json.parse(Json.write(BenchTable.TABLE.json(rows)));
    }

    @Test
    void shouldHaveTheAgreedKeysInJson() {
        final Map<?, ?> row = (Map<?, ?>) json().getFirst();
        assertEquals(
                List.of("scenario", "transport", "frame_bytes"),
                List.copyOf(row.keySet()).subList(0, 3));
        for (final String key : List.of(
                "scenario",
                "transport",
                "frame_bytes",
                "receivers",
                "mtu",
                "loss",
                "offload",
                "goodput_MBps",
                "cpu_s_per_GB",
                "latency_us",
                "overhead",
                "lost_frames",
                "ratio_to_floor",
                "ratio_to_aeron",
                "ratio_to_tcp",
                "messages_per_s",
                "source_cpu_us_per_frame",
                "compiling_share",
                "source_wire_bytes_per_frame_byte",
                "wire_overhead",
                "rounds",
                "spread")) {
            assertTrue(row.containsKey(key), key);
        }
        assertEquals(List.of("p50", "p99", "p999"), List.copyOf(((Map<?, ?>) row.get("latency_us")).keySet()));
        assertEquals("latency", row.get("scenario"));
        assertEquals(200.0, row.get("goodput_MBps"));
        assertEquals(400.0, row.get("messages_per_s"));
        assertEquals(0.01, row.get("overhead"));
        assertEquals(0.03, row.get("wire_overhead"));
        assertEquals(1.03, row.get("source_wire_bytes_per_frame_byte"));
        assertEquals(25.0, row.get("source_cpu_us_per_frame"));
        assertEquals(0.95, row.get("ratio_to_clean"));
        assertEquals(0.97, row.get("ratio_to_alone"));
        assertEquals(0.98, row.get("ratio_to_healthy"));
        assertEquals("", row.get("beside"));
        assertEquals(0.33, row.get("cpu_ratio_to_aeron"));
        assertEquals(1.02, row.get("source_cpu_ratio_to_fewest"));
        assertEquals(4.5, row.get("warm_up_s"));
        assertEquals(3, ((List<?>) row.get("rounds")).size());
        assertEquals("latency_p99_us", ((Map<?, ?>) row.get("spread")).get("of"));
    }

    @Test
    void shouldSayNullInJsonForWhatIsNotKnown() {
        final Map<?, ?> failed = (Map<?, ?>) json().getLast();
        assertNull(failed.get("goodput_MBps"));
        assertNull(failed.get("ratio_to_floor"));
        assertNull(((Map<?, ?>) failed.get("latency_us")).get("p99"));
        assertNull(((Map<?, ?>) failed.get("spread")).get("min"));
        assertEquals(HOSTILE, ((Map<?, ?>) ((List<?>) failed.get("rounds")).getFirst()).get("failure"));
    }

    @Test
    void shouldHaveAsManyFieldsInEachLineOfCsv() {
        final List<String> lines = BenchTable.TABLE.csv(rows).lines().toList();
        assertEquals(rows.size() + 1, lines.size());
        final long commas = commas(lines.getFirst());
        assertTrue(lines.stream().allMatch(line -> commas(line) == commas), () -> String.join("\n", lines));
        assertTrue(
                lines.getFirst().contains("latency_us_p999") && lines.getFirst().contains("spread_q3"));
        assertTrue(lines.get(1).startsWith("latency,udp,1048576,1,loopback,1500,0.0,on,60.0,200.0,"), lines.get(1));
        assertTrue(lines.getLast().contains(",,"), lines.getLast());
    }

    @Test
    void shouldWriteOneWellFormedPageThatNeedsNothingElse() throws Exception {
        final String page = BenchTable.page(MACHINE, PLAN, "2026-01-01T00:00:00Z", rows);
        final Document document = parse(page.replace("<!DOCTYPE html>", ""));
        assertEquals("html", document.getDocumentElement().getTagName());
        // A table per scenario.
        assertEquals(3, document.getElementsByTagName("table").getLength());
        // A system without fonts has a page without pictures.
        assertEquals(
                Fonts.arePresent() ? 5 : 0, document.getElementsByTagName("img").getLength());
        assertTrue(page.contains("prefers-color-scheme:dark"));
        assertTrue(page.contains("a &lt;b&gt; &amp; &quot;c&quot;, d"));
        // Pictures lie in the page itself.
        final String withoutNames = page.replace("src=\"data:image/svg+xml;base64,", "");
        for (final String outside :
                List.of("http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link")) {
            assertFalse(withoutNames.contains(outside), outside);
        }
        assertFalse(page.contains("NaN"));
    }

    @Test
    void shouldDrawTheFiguresOfEachScenario() {
        final List<Figure> figures = BenchTable.figures(rows);
        assertEquals(
                List.of("latency", "throughput-goodput", "throughput-cpu", "sizes-goodput", "sizes-cpu"),
                figures.stream().map(Figure::id).toList());
        assertTrue(figures.get(3).lines() && figures.get(3).isLogarithmic());
        assertEquals(List.of("64 B", "1 MiB"), figures.get(3).categories());
    }

    @Test
    void shouldShowEveryCaseAndSystemInText() {
        final String text = BenchTable.TABLE.text(rows);
        assertTrue(text.contains("latency, 1 MiB, 1 receiver, MTU 1500, 60/s"), text);
        assertTrue(text.contains("/ clean") && text.contains("CPU / aeron") && text.contains("1.030"), text);
        // A column that says nothing is left out.
        assertFalse(text.contains("/ aeron  ") && !text.contains("CPU / aeron"), text);
        assertTrue(text.contains("stock-aeron") && text.contains("3 failed") && !text.contains("NaN"), text);
    }

    private static long commas(final String line) {
        return line.chars().filter(c -> c == ',').count();
    }

    private static Document parse(final String text) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static List<BenchRow> rows() {
        final List<BenchRow> rows = new ArrayList<>();
        rows.add(row(BenchScenario.LATENCY, 1 << 20, "udp", 200));
        rows.add(row(BenchScenario.LATENCY, 1 << 20, "floor", 210));
        rows.add(row(BenchScenario.THROUGHPUT, 6_220_800, "udp", 4_000));
        rows.add(row(BenchScenario.THROUGHPUT, 6_220_800, "tcp", 1_000));
        rows.add(row(BenchScenario.SIZES, 64, "udp", 3));
        rows.add(row(BenchScenario.SIZES, 1 << 20, "udp", 3_000));
        rows.add(new BenchRow(
                setting(BenchScenario.THROUGHPUT, 6_220_800),
                BenchSystem.AERON,
                List.of(failed(), failed(), failed()),
                NONE,
                Map.of()));
        return rows;
    }

    private static BenchCase setting(final BenchScenario scenario, final int frameBytes) {
        final double rate = scenario == BenchScenario.LATENCY ? 60 : 0;
        return new BenchCase(scenario, BenchNet.LOOPBACK, frameBytes, 1, 1500, 0, true, rate);
    }

    private static BenchRow row(
            final BenchScenario scenario, final int frameBytes, final String transport, final double goodputMBps) {
        final List<Outcome<RoundResult>> rounds = Stream.of(1.0, 0.9, 1.2)
                .map(share -> Outcome.of(round(transport, goodputMBps * share)))
                .toList();
        final BenchSystem system =
                transport.equals("udp") ? BenchSystem.framecast(transport) : new BenchSystem(transport);
        return new BenchRow(setting(scenario, frameBytes), system, rounds, 4.5, RATIOS);
    }

    private static RoundResult round(final String transport, final double goodputMBps) {
        return new RoundResult(
                transport,
                goodputMBps,
                goodputMBps * 2,
                0,
                0.4,
                0.2,
                25,
                0.03,
                100,
                200,
                300,
                0.01,
                0.03,
                new RoundResult.OnHost("", Double.NaN, Double.NaN, Double.NaN, Double.NaN),
                new StartWindows(Double.NaN, List.of()));
    }

    private static Outcome<RoundResult> failed() {
        return Outcome.failed(HOSTILE);
    }
}
