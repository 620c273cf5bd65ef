package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.ToolRun;
import io.framecast.perf.table.Fonts;
import io.framecast.samples.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `framecast bench`, its processes and its reports.
final class BenchToolTest {
    @TempDir
    private Path folder;

    @Test
    void shouldWriteEveryKindOfReport() throws Exception {
        final Path out = folder.resolve("report");
        final ToolRun run = run(
                "bench",
                "throughput",
                "--quick",
                "--rounds",
                "1",
                "--seconds",
                "0.2",
                "--frame-bytes",
                "100000",
                "--against",
                "tcp",
                "--out",
                out.toString(),
                "--json",
                "-");
        assertEquals(0, run.status(), run.err());
        final Map<?, ?> json = (Map<?, ?>) Json.parse(run.out().strip());
        assertEquals(1, run.out().lines().count());
        final List<?> rows = (List<?>) json.get("rows");
        assertEquals(2, rows.size());
        assertTrue(json.get("machine") instanceof Map<?, ?> machine && machine.get("cores") instanceof Long);
        assertEquals(
                run.out().strip(), Files.readString(out.resolve("bench.json")).strip());
        assertTrue(run.err().contains("round 1 of 1, throughput"), run.err());
        for (final String file : List.of("bench.csv", "index.html")) {
            assertTrue(Files.exists(out.resolve(file)), () -> file + " is missing: " + run.err());
        }
        if (Fonts.arePresent()) {
            assertTrue(Files.size(out.resolve("throughput-goodput.svg")) > 1_000);
            assertTrue(Files.size(out.resolve("throughput-goodput.png")) > 1_000);
        } else {
            assertTrue(run.err().contains("skipped: plots, install fontconfig"), run.err());
        }
    }

    @Test
    void shouldSayInOneLineWhatIsWrong() {
        assertRefused("--against: expected floor, aeron, tcp, got ghost", "bench", "sizes", "--against", "ghost");
        assertRefused("--rounds", "bench", "sizes", "--rounds", "many");
        assertRefused("SCENARIO", "bench");
        assertRefused("--co-roots: expected whole numbers, got few", "bench", "control", "--co-roots", "few");
        assertRefused("--receivers: expected 1", "bench", "control", "--receivers", "0");
        assertRefused("--window: expected at least a frame", "bench", "control", "--frame-bytes", "8M");
        assertRefused("--rate: expected", "bench", "control", "--rate", "20");
        assertRefused("--out: cannot make", "bench", "sizes", "--out", "/proc/none");
    }

    @Test
    void shouldShowTheHelpOfACommandWithinAnother() {
        final ToolRun help = run("help", "bench", "streaming");
        assertEquals(0, help.status(), help.err());
        assertTrue(help.out().startsWith("Usage: framecast bench streaming "), help.out());
        assertEquals(run("bench", "streaming", "--help").out(), help.out());
    }

    /// Subramoni: "Hot spot is created at root due to large number of ACK's that reach it."
    @Tag("campaign")
    @Test
    void shouldCountControlDatagramsWithAndWithoutCoRoots() {
        final ToolRun run = run(
                "bench",
                "control",
                "--receivers",
                "4,32",
                "--frames",
                "60",
                "--co-roots",
                "none,root,6",
                "--json",
                "-");
        assertEquals(0, run.status(), run.err());
        final List<?> rows = (List<?>) ((Map<?, ?>) Json.parse(run.out().strip())).get("rows");
        assertEquals(6, rows.size());
        assertEquals(
                List.of(0L, 2L, 6L, 0L, 6L, 6L),
                rows.stream().map(row -> ((Map<?, ?>) row).get("co_roots")).toList());
        assertTrue(perDatagram(rows, 3) > 3 * perDatagram(rows, 0), run.out());
        assertTrue(perDatagram(rows, 4) < perDatagram(rows, 3) / 3, run.out());
        assertEquals(perDatagram(rows, 4), perDatagram(rows, 5), "the same run");
        assertTrue(((Number) ((Map<?, ?>) rows.get(4)).get("goodput_MBps")).doubleValue() > 100, run.out());
    }

    /// On a slow link more of what is sent by the clock falls upon each datagram, and bursts are asked for at once.
    @Tag("campaign")
    @Test
    void shouldCountControlDatagramsOnASlowLink() {
        final double[] counted = new double[2];
        for (int i = 0; i < 2; i++) {
            final ToolRun run = run(
                    ("bench control --receivers 8 --co-roots none --loss 0.01 --frames 40 --rate 20m --window 1M --batch "
                                    + (i == 0 ? 1 : 46) + " --json -")
                            .split(" "));
            assertEquals(0, run.status(), run.err());
            final Map<?, ?> report = (Map<?, ?>) Json.parse(run.out().strip());
            assertEquals(20L << 20, report.get("rate"));
            final List<?> rows = (List<?>) report.get("rows");
            final double goodput = ((Number) ((Map<?, ?>) rows.getFirst()).get("goodput_MBps")).doubleValue();
            assertTrue(goodput > 15 && goodput <= 21, run.out());
            counted[i] = perDatagram(rows, 0);
        }
        assertTrue(counted[1] < counted[0], counted[0] + " and " + counted[1]);
    }

    private static double perDatagram(final List<?> rows, final int row) {
        return ((Number) ((Map<?, ?>) rows.get(row)).get("control_per_datagram")).doubleValue();
    }

    private static void assertRefused(final String part, final String... words) {
        final List<String> all = new ArrayList<>(List.of(words));
        all.addAll(List.of("--json", "-"));
        run(all.toArray(String[]::new)).assertRefused(part);
    }

    private static ToolRun run(final String... words) {
        return ToolRun.of(words);
    }
}
