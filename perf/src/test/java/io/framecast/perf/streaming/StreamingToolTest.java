package io.framecast.perf.streaming;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.ToolRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `framecast bench streaming`, its processes and its reports.
final class StreamingToolTest {
    @TempDir
    private Path folder;

    @Tag("campaign")
    @Test
    void shouldReportPeakAndStreamingOfEveryScheme() throws Exception {
        final Path out = folder.resolve("report");
        final ToolRun run = run(List.of(
                "--quick",
                "--subscribers",
                "1,2",
                "--background",
                "h2d",
                "--frame-bytes",
                "512K",
                "--chunk",
                "128K",
                "--out",
                out.toString()));
        assertEquals(0, run.status(), run.err());
        final Map<?, ?> json = run.json();
        final List<?> rows = (List<?>) json.get("rows");
        assertEquals(12, rows.size(), "3 schemes, 2 numbers of subscribers, peak and streaming");
        for (final Object one : rows) {
            final Map<?, ?> row = (Map<?, ?>) one;
            final boolean peak = "peak".equals(row.get("scenario"));
            assertEquals(peak ? "none" : "h2d", row.get("direction"));
            assertEquals("emulated:0", row.get("device"));
            assertEquals(true, row.get("emulated"));
            assertEquals("staged", row.get("placement"));
            assertTrue(number(row, "broadcast_MBps") > 0, row::toString);
            assertTrue(number(row, "latency_us") > 0, row::toString);
            assertEquals(!peak, number(row, "background_MBps") > 0, row::toString);
            assertTrue(number(row, "predicted_MBps") > 0, row::toString);
            assertEquals(List.of(), row.get("failures"));
        }
        assertTrue(number((Map<?, ?>) json.get("model"), "copy_to_device_MBps") > 0, run.out());
        assertEquals(13, Files.readAllLines(out.resolve("streaming.csv")).size());
        for (final String file :
                List.of("index.html", "streaming.json", "streaming-h2d.svg", "streaming-model-goodput.svg")) {
            assertTrue(Files.size(out.resolve(file)) > 1_000, file);
        }
    }

    private static double number(final Map<?, ?> map, final String name) {
        return ((Number) map.get(name)).doubleValue();
    }

    @Test
    void shouldSayInOneLineWhatIsWrong() {
        assertRefused(
                "--against: expected ring, knomial, knomial-K (2 … 32), unicast, each perhaps with :rc, or none, got star",
                "--against",
                "star");
        assertRefused("--background: expected h2d, d2h, both, paper or none, got up", "--background", "up");
        assertRefused("--device: expected host, emulated[:N][?peermem] or cuda:N, got gpu", "--device", "gpu");
        assertRefused("--frame-bytes: expected a multiple of 1024, got 5000", "--frame-bytes", "5000");
        assertRefused("--subscribers: expected 1 … 32, got 33", "--subscribers", "33");
        assertRefused("--net-rate: needs --net bridge", "--net-rate", "50m");
        assertRefused("--loss: needs --net bridge", "--loss", "0.01");
        assertRefused("--slow: needs --net-rate", "--slow", "latest");
        assertRefused(
                "--slow: expected reliable, latest, deadline=T or evict=T",
                "--net",
                "bridge",
                "--net-rate",
                "50m",
                "--slow",
                "often");
        assertRefused("device: expected emulated below 16, got emulated:50", "--device", "emulated:50");
    }

    private static void assertRefused(final String part, final String... words) {
        run(List.of(words)).assertRefused(part);
    }

    private static ToolRun run(final List<String> words) {
        final List<String> command = new ArrayList<>(List.of("bench", "streaming", "--json", "-"));
        command.addAll(words);
        return ToolRun.of(command.toArray(String[]::new));
    }
}
