package io.framecast.perf.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.ToolRun;
import io.framecast.samples.json.Json;
import io.framecast.samples.tool.Main;
import io.framecast.testing.TestJvm;
import io.framecast.testing.TestPorts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The JSON of every command and bench has the fields and types of its file below `src/test/resources/golden`. Users'
/// scripts read them: a change belongs into the changelog.
///
/// `-Dframecast.golden=write` adds to the files what a run shows.
final class GoldenJsonTest {
    private static final Path FOLDER = Path.of("src/test/resources/golden");
    private static final boolean WRITES = "write".equals(System.getProperty("framecast.golden"));
    private static final String LOOPBACK = "|interface=127.0.0.1";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "simulate | simulate --seeds 1..2 --receivers 4 --crashes",
                "simulate | simulate --seeds 1..2 --receivers 4 --host-group 2 --crashes --loss 0.01",
                "simulate | simulate --seeds 1..2 --adversary",
                "simulate | simulate --seeds 1..2 --one-sided",
                "bench-control | bench control --receivers 2 --co-roots none,root --frames 20",
            })
    void shouldKeepFieldsAndTypes(final String name, final String command) throws IOException {
        check(name, run(command));
    }

    @Test
    void shouldKeepFieldsAndTypesOfDoctor() throws IOException {
        // Its status says what is missing here.
        check("doctor", ToolRun.of("doctor", "--json", "-").json());
    }

    @Tag("campaign")
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bench | bench throughput --quick --rounds 1 --seconds 0.2 --frame-bytes 100000 --against tcp --net loopback",
                "bench | bench latency --quick --rounds 1 --seconds 0.2 --frame-bytes 64 --against aeron --net loopback",
                "bench-start | bench start --net loopback --receivers 1 --rounds 1 --seconds 1 --against floor",
                "bench-node | bench node --quick --net loopback --scheme independent,local,copy --subscribers 1 --rounds 1",
                "bench-arrival | bench arrival --frame-bytes 64",
                "bench-streaming | bench streaming --quick --subscribers 1 --background h2d --frame-bytes 64K --against ring",
                "bench-all-to-all | bench streaming --quick --mode all-to-all --processes 2 --device host --frame-bytes 64K",
                "bench-models | bench models --sizes 64K --receivers 1,2,3,4 --rounds 1 --net loopback --net-rate 0 --warm-up 0",
            })
    void shouldKeepFieldsAndTypesOfBenches(final String name, final String command) throws IOException {
        check(name, run(command));
    }

    @Tag("campaign")
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bench-tail | bench tail --frame-bytes 1408 --offload off --losing one --seconds 0.5 --rate 2000 --loss 0.02",
                "chaos | chaos --seconds 6 --seed 3",
            })
    void shouldKeepFieldsAndTypesBetweenNamespaces(final String name, final String command) throws IOException {
        final String why = Networks.unavailable();
        Assumptions.assumeTrue(why.isEmpty(), why);
        check(name, run(command));
    }

    @Tag("campaign")
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"demo | demo --seconds 1 --frame-bytes 3000", "litmus | litmus --rounds 300"})
    void shouldKeepFieldsAndTypesOfProcesses(final String name, final String command) throws Exception {
        check(name, json(start(command)));
    }

    @Test
    void shouldKeepFieldsAndTypesOfAStream() throws Exception {
        final String uri = "framecast:udp?group=224.20.30.49:" + TestPorts.triple() + LOOPBACK;
        final Process served = start("serve " + uri + " --seconds 6");
        final Process subscriber = start("subscribe " + uri + " --device emulated:0");
        final Process publisher =
                start("publish " + uri + "|host-group=golden --input test --format uint8[30x1000] --seconds 3");
        try {
            Map<?, ?> counted = Map.of();
            final long startNs = System.nanoTime();
            while (!String.valueOf(counted).contains("subscribe")) {
                assertTrue(System.nanoTime() - startNs < 60_000_000_000L, () -> "stat shows no subscriber");
                final ToolRun stat = ToolRun.of("stat", "--json", "-");
                counted = stat.status() == 0 ? stat.json() : Map.of();
            }
            check("stat", counted);
            check("publish", json(publisher));
            check("subscribe", json(subscriber));
            check("serve", json(served));
        } finally {
            List.of(served, subscriber, publisher).forEach(Process::destroyForcibly);
        }
    }

    @Test
    void shouldKeepFieldsAndTypesOfAFailure() throws IOException {
        check(
                "failure",
                ToolRun.of("publish", "framecast:udp?group=none", "--json", "-").json());
    }

    private static Map<?, ?> run(final String command) {
        final ToolRun run = ToolRun.of((command + " --json -").split(" "));
        assertEquals(0, run.status(), run.err());
        return run.json();
    }

    private static Process start(final String command) throws IOException {
        return new ProcessBuilder(TestJvm.command(Main.class, (command + " --json -").split(" ")))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static Map<?, ?> json(final Process process) throws IOException, InterruptedException {
        final String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), out);
        return (Map<?, ?>) Json.parse(out.strip());
    }

    private static void check(final String name, final Map<?, ?> json) throws IOException {
        final Path file = FOLDER.resolve(name + ".txt");
        final JsonShape golden = JsonShape.parse(Files.exists(file) ? Files.readAllLines(file) : List.of());
        final JsonShape seen = golden.of(json);
        if (WRITES) {
            golden.merge(seen);
            Files.write(file, golden.lines());
            return;
        }
        final List<String> differences = new ArrayList<>(golden.differences(seen));
        if (!differences.isEmpty()) {
            fail(file + " differs:\n" + String.join("\n", differences));
        }
    }
}
