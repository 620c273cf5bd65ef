package io.framecast.perf.bench;

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

/// `framecast bench` as users start it.
final class BenchToolTest {
    @TempDir
    private Path folder;

    private record Run(int status, String out, String err) {}

    @Test
    void shouldWriteEveryKindOfReport() throws Exception {
        final Path out = folder.resolve("report");
        final Run run = run(
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
        assertEquals(0, run.status, run.err);
        final Map<?, ?> json = (Map<?, ?>) Json.parse(run.out.strip());
        assertEquals(1, run.out.lines().count());
        final List<?> rows = (List<?>) json.get("rows");
        assertEquals(2, rows.size());
        assertTrue(json.get("machine") instanceof Map<?, ?> machine && machine.get("cores") instanceof Long);
        assertEquals(
                run.out.strip(), Files.readString(out.resolve("bench.json")).strip());
        assertTrue(run.err.contains("round 1 of 1, throughput"), run.err);
        for (final String file : List.of("bench.csv", "index.html", "throughput-goodput.svg")) {
            assertTrue(Files.exists(out.resolve(file)), () -> file + " is missing: " + run.err);
        }
        if (Files.exists(out.resolve("throughput-goodput.png"))) {
            assertTrue(Files.size(out.resolve("throughput-goodput.png")) > 1_000);
        } else {
            assertTrue(run.err.contains("skipped: plots"), run.err);
        }
    }

    @Test
    void shouldSayInOneLineWhatIsWrong() throws Exception {
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
    void shouldShowTheHelpOfACommandWithinAnother() throws Exception {
        final Run help = run("help", "bench", "streaming");
        assertEquals(0, help.status, help.err);
        assertTrue(help.out.startsWith("Usage: framecast bench streaming "), help.out);
        assertEquals(run("bench", "streaming", "--help").out, help.out);
    }

    /// Subramoni: "Hot spot is created at root due to large number of ACK's that reach it."
    @Tag("campaign")
    @Test
    void shouldCountControlDatagramsWithAndWithoutCoRoots() throws Exception {
        final Run run = run(
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
        assertEquals(0, run.status, run.err);
        final List<?> rows = (List<?>) ((Map<?, ?>) Json.parse(run.out.strip())).get("rows");
        assertEquals(6, rows.size());
        assertEquals(
                List.of(0L, 2L, 6L, 0L, 6L, 6L),
                rows.stream().map(row -> ((Map<?, ?>) row).get("co_roots")).toList());
        assertTrue(perDatagram(rows, 3) > 3 * perDatagram(rows, 0), run.out);
        assertTrue(perDatagram(rows, 4) < perDatagram(rows, 3) / 3, run.out);
        assertEquals(perDatagram(rows, 4), perDatagram(rows, 5), "the same run");
        assertTrue(((Number) ((Map<?, ?>) rows.get(4)).get("goodput_MBps")).doubleValue() > 100, run.out);
    }

    /// On a slow link more of what is sent by the clock falls upon each datagram, and bursts are asked for at once.
    @Tag("campaign")
    @Test
    void shouldCountControlDatagramsOnASlowLink() throws Exception {
        final double[] counted = new double[2];
        for (int i = 0; i < 2; i++) {
            final Run run = run(
                    ("bench control --receivers 8 --co-roots none --loss 0.01 --frames 40 --rate 20m --window 1M --batch "
                                    + (i == 0 ? 1 : 46) + " --json -")
                            .split(" "));
            assertEquals(0, run.status, run.err);
            final Map<?, ?> report = (Map<?, ?>) Json.parse(run.out.strip());
            assertEquals(20L << 20, report.get("rate"));
            final List<?> rows = (List<?>) report.get("rows");
            final double goodput = ((Number) ((Map<?, ?>) rows.getFirst()).get("goodput_MBps")).doubleValue();
            assertTrue(goodput > 15 && goodput <= 21, run.out);
            counted[i] = perDatagram(rows, 0);
        }
        assertTrue(counted[1] < counted[0], counted[0] + " and " + counted[1]);
    }

    private static double perDatagram(final List<?> rows, final int row) {
        return ((Number) ((Map<?, ?>) rows.get(row)).get("control_per_datagram")).doubleValue();
    }

    private static void assertRefused(final String part, final String... words) throws Exception {
        final List<String> all = new ArrayList<>(List.of(words));
        all.addAll(List.of("--json", "-"));
        final Run run = run(all.toArray(String[]::new));
        assertEquals(2, run.status, run.err);
        final Map<?, ?> json = (Map<?, ?>) Json.parse(run.out.strip());
        assertEquals(List.of("error", "exit"), List.copyOf(json.keySet()));
        final List<String> said = run.err.strip().lines().toList();
        assertEquals(1, said.size(), run.err);
        assertTrue(said.getFirst().startsWith("framecast: ") && said.getFirst().contains(part), run.err);
        assertEquals("framecast: " + json.get("error"), said.getFirst());
    }

    private static Run run(final String... words) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-XX:+UseSerialGC",
                "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        command.addAll(List.of(words));
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
