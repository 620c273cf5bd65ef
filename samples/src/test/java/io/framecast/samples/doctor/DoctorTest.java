package io.framecast.samples.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.rdma.RdmaSurvey;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.ToolContext;
import io.framecast.samples.tool.ToolFixture;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

final class DoctorTest {
    /// Keeps the result.
    private static final class Kept implements ToolContext {
        private final List<Object> results = new ArrayList<>();

        @Override
        public void line(final String text) {}

        @Override
        public void requireWritable() {}

        @Override
        public boolean hasJson() {
            return false;
        }

        @Override
        public void result(final Map<String, Object> json, final String text) {
            results.add(json);
            results.add(text);
        }

        @Override
        public void onStop(final Runnable action) {}

        @Override
        public boolean isStopped() {
            return false;
        }
    }

    @Test
    void shouldTellEachFindingWithItsFix() {
        final Kept kept = new Kept();
        final List<RdmaSurvey.Finding> findings = List.of(
                new RdmaSurvey.Finding(true, "device mlx5_0", ""),
                new RdmaSurvey.Finding(false, "locked memory: 8388608 bytes", "raise it"));
        final List<RdmaSurvey.Finding> devices = List.of(new RdmaSurvey.Finding(true, "emulated:0", ""));
        final DoctorCommand doctor = new DoctorCommand(
                kept,
                List::of,
                channel -> List.of(new RdmaSurvey.Finding(true, channel.name(), "")),
                () -> findings,
                () -> devices,
                channel -> new TopologyMap(List.of("one", "two"), Map.of("nodes", List.of())));
        assertEquals(
                ExitStatus.MISMATCH,
                new CommandLine(doctor).execute("framecast:udp?group=224.20.30.39:24326|channel=cam7"));
        assertEquals(
                List.of(
                        Map.of(
                                "host",
                                List.of(),
                                "network",
                                List.of(Map.of("ok", true, "what", "cam7", "fix", "")),
                                "rdma",
                                List.of(
                                        Map.of("ok", true, "what", "device mlx5_0", "fix", ""),
                                        Map.of("ok", false, "what", "locked memory: 8388608 bytes", "fix", "raise it")),
                                "devices",
                                List.of(Map.of("ok", true, "what", "emulated:0", "fix", "")),
                                "topology",
                                Map.of("nodes", List.of()),
                                "missing",
                                1L),
                        "ok      network: cam7\nok      rdma: device mlx5_0\n"
                                + "missing rdma: locked memory: 8388608 bytes: raise it\nok      devices: emulated:0"
                                + "\n        topology: one\n        topology: two"),
                kept.results);
    }

    @Test
    void shouldEndWithZeroWhenNothingIsMissing() {
        final Kept kept = new Kept();
        final DoctorCommand doctor = new DoctorCommand(
                kept,
                List::of,
                channel -> List.of(new RdmaSurvey.Finding(true, channel.name(), "")),
                List::of,
                List::of,
                _ -> new TopologyMap(List.of(), Map.of()));
        assertEquals(ExitStatus.DONE, new CommandLine(doctor).execute("framecast:udp?group=224.20.30.39:24326"));
        assertEquals(0L, ((Map<?, ?>) kept.results.getFirst()).get("missing"));
    }

    @Test
    void shouldRunOnAnyMachine() {
        final ToolFixture.Run run = new ToolFixture().run("doctor", "--json", "-");
        final Map<?, ?> json = run.json();
        assertEquals((long) json.get("missing") == 0 ? ExitStatus.DONE : ExitStatus.MISMATCH, run.status());
        assertFalse(((List<?>) json.get("rdma")).isEmpty());
        assertFalse(((List<?>) json.get("devices")).isEmpty());
        final Map<?, ?> topology = (Map<?, ?>) json.get("topology");
        assertFalse(((List<?>) ((Map<?, ?>) topology.get("choice")).get("why")).isEmpty());
    }

    // The kernel returns these numbers to one read alone: a reader that takes a byte first never sees the rest.
    @ParameterizedTest
    @ValueSource(strings = {"net.core.rmem_max", "net.core.wmem_max"})
    void shouldPrintTheLimitOfThisHost(final String name) throws IOException {
        final Path file = Path.of("/proc/sys/" + name.replace('.', '/'));
        Assumptions.assumeTrue(Files.exists(file), "this network namespace has no " + name);
        final Process cat = new ProcessBuilder("/bin/cat", file.toString()).start();
        final String limit = new String(cat.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
        final String host = String.valueOf(
                new ToolFixture().run("doctor", "--json", "-").json().get("host"));
        assertTrue(host.contains(": " + name + " is " + limit + " bytes"), () -> name + " is " + limit + ": " + host);
    }
}
