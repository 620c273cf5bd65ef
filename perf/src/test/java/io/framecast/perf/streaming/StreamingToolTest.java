package io.framecast.perf.streaming;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.samples.json.Json;
import io.framecast.samples.tool.Main;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `framecast bench streaming` as users start it.
final class StreamingToolTest {
    @TempDir
    private Path folder;

    private record Run(int status, String out, String err) {}

    @Tag("campaign")
    @Test
    void shouldReportPeakAndStreamingOfEveryScheme() throws Exception {
        final Path out = folder.resolve("report");
        final Run run = run(List.of(
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
        assertEquals(0, run.status, run.err);
        assertEquals(1, run.out.lines().count());
        final Map<?, ?> json = (Map<?, ?>) Json.parse(run.out.strip());
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
        assertTrue(number((Map<?, ?>) json.get("model"), "copy_to_device_MBps") > 0, run.out);
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
    void shouldSayInOneLineWhatIsWrong() throws Exception {
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

    private static void assertRefused(final String part, final String... words) throws Exception {
        final Run run = run(List.of(words));
        assertEquals(2, run.status, run.err);
        assertTrue(run.err.contains(part), run.err);
        assertEquals(1, run.err.strip().lines().count(), run.err);
    }

    private static Run run(final List<String> words) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-XX:+UseSerialGC",
                "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "bench",
                "streaming",
                "--json",
                "-"));
        command.addAll(words);
        final Path err = Files.createTempFile("bench", ".err");
        try {
            final Process process =
                    new ProcessBuilder(command).redirectError(err.toFile()).start();
            final String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Run(process.waitFor(), out, Files.readString(err));
        } finally {
            Files.delete(err);
        }
    }
}
