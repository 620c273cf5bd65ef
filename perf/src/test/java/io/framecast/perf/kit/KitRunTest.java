package io.framecast.perf.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.litmus.StubDriver;
import io.framecast.samples.json.Json;
import io.framecast.testing.TestJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/// The kit with real processes, on the emulated device and on the stub libcuda.
@Execution(ExecutionMode.CONCURRENT)
final class KitRunTest {
    private static final int HANG_SECONDS = 15;

    @TempDir
    Path folder;

    private Path out() {
        return folder.resolve("out");
    }

    private Map<?, ?> results() throws IOException {
        return (Map<?, ?>) Json.parse(Files.readString(out().resolve("verify.json")));
    }

    private List<Map<?, ?>> steps() throws IOException {
        final List<Map<?, ?>> steps = new ArrayList<>();
        ((List<?>) results().get("steps")).forEach(step -> steps.add((Map<?, ?>) step));
        return steps;
    }

    private List<String> words(final String... more) {
        final List<String> words = new ArrayList<>(List.of("--out", out().toString(), "--tests", folder + "/tests"));
        words.addAll(List.of(more));
        return words;
    }

    private static ProcessBuilder kit(final List<String> words) {
        return new ProcessBuilder(TestJvm.command(KitMain.class, words.toArray(String[]::new)));
    }

    @Test
    void shouldKeepWhatWasDoneWhenItIsKilled() throws IOException, InterruptedException {
        final Process process = kit(words("--device", "emulated:0", "--quick", "--only", "doctor,bench-arrival"))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("said").toFile())
                .start();
        final Path file = out().resolve("verify.json");
        while (process.isAlive()
                && !(Files.exists(file) && "bench arrival".equals(results().get("running")))) {
            process.waitFor(20, TimeUnit.MILLISECONDS);
        }
        assertTrue(process.isAlive(), () -> "it ended before the second step");
        process.destroyForcibly().waitFor();
        final Map<?, ?> results = results();
        assertEquals(false, results.get("complete"));
        assertEquals(false, results.get("passed"));
        assertEquals("bench arrival", results.get("running"));
        assertEquals(1, steps().size());
        assertEquals("doctor", steps().getFirst().get("name"));
        assertEquals(true, steps().getFirst().get("passed"));
    }

    @Tag("campaign")
    @Test
    void shouldEndAStepThatTakesTooLongAndGoOn() throws IOException, InterruptedException {
        final int status = KitMain.run(words("--device", "emulated:0", "--only", "doctor,demo", "--step-seconds", "6"));
        assertEquals(KitMain.FAILED, status);
        assertEquals(2, steps().size(), "only what was named");
        assertEquals(true, results().get("complete"));
        final String detail = String.valueOf(steps().getLast().get("detail"));
        assertTrue(detail.contains("not done within 6 s; last line: "), detail);
        assertFalse(Files.exists(out().resolve("tmp")));
    }

    @Tag("campaign")
    @Test
    void shouldNameTheTestThatHangsAndRunTheOthers() throws Exception {
        final Path classes = Path.of(HangingDevice.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Files.createSymbolicLink(Files.createDirectory(folder.resolve("tests")).resolve("perf"), classes);
        final KitOptions options = KitOptions.parse(words("--device", "emulated:0"));
        final Path temporary = Files.createDirectories(out().resolve("tmp"));
        final KitDevice device = KitDevice.find("emulated:0");
        final KitResults results = new KitResults(options, device.line(), device);
        new KitPlan(options, device, results, new KitCommand.Place(out(), temporary, 120))
                .tests("planted", HANG_SECONDS);
        final String name = HangingDevice.class.getName();
        assertEquals("tests HangingDevice", steps().getFirst().get("name"));
        final Map<?, ?> first = (Map<?, ?>) steps().getFirst().get("result");
        assertEquals(name + ".shouldWaitForAKernelThatStandsStill()", first.get("hung"));
        assertEquals(false, steps().getFirst().get("passed"));
        final Map<?, ?> second = (Map<?, ?>) steps().getLast().get("result");
        long passed = 0;
        long failed = 0;
        for (final Map<?, ?> step : steps()) {
            final Map<?, ?> result = (Map<?, ?>) step.get("result");
            passed += (Long) result.get("passed");
            failed += (Long) result.get("failed");
        }
        assertEquals(2, passed, () -> String.valueOf(second));
        assertEquals(1, failed);
        assertEquals(null, second.get("hung"));
        assertFalse(results.isPassed());
        final String log = Files.readString(out().resolve("tests-HangingDevice.log"));
        assertTrue(log.contains("begins: " + name + ".shouldWaitForAKernelThatStandsStill()"), log);
        assertTrue(log.contains("    at io.framecast.gpu.emulated/") || log.contains("EmulatedStream"), log);
    }

    @Test
    void shouldCallADeviceThatDoesNotOpenAFailure() throws IOException, InterruptedException {
        assertEquals(KitMain.FAILED, KitMain.run(words("--device", "emulated:99")));
        assertEquals(1, steps().size());
        assertEquals("device", steps().getFirst().get("name"));
        assertTrue(String.valueOf(steps().getFirst().get("detail")).contains("emulated:99"));
        assertEquals(true, results().get("complete"));
    }

    @Tag("campaign")
    @Test
    void shouldSkipOnlyWhereThereIsNothingToLookAt() throws IOException, InterruptedException {
        final StubDriver stub = new StubDriver(Files.createDirectory(folder.resolve("stub")));
        final String missing = stub.build().orElse("");
        Assumptions.assumeTrue(missing.isEmpty(), missing);
        assertEquals(
                "skipped: cuda:0 cannot be used here: no CUDA device; run this kit on a machine with an NVIDIA GPU and"
                        + " its driver",
                onStub(stub, "100", KitMain.SKIPPED, "cuda:0"));
        assertFalse(Files.exists(out()));
        onStub(stub, "34", KitMain.SKIPPED, "cuda:0");
        for (final String code : List.of("802", "803", "46", "999", "2")) {
            onStub(stub, code, KitMain.FAILED, "cuda:0");
            final String detail = String.valueOf(steps().getFirst().get("detail"));
            assertTrue(
                    detail.startsWith("cuda:0 cannot be used here: CUDA driver does not start: CUDA_ERROR_")
                            && detail.contains("(" + code + "), "),
                    detail);
        }
        onStub(stub, "0", KitMain.FAILED, "cuda:7");
        assertEquals(
                "cuda:7 does not open: cuda:7: there is no such GPU; expected cuda:0 to cuda:0",
                steps().getFirst().get("detail"));
    }

    private String onStub(final StubDriver stub, final String init, final int expected, final String device)
            throws IOException, InterruptedException {
        final Path said = folder.resolve("said");
        final ProcessBuilder builder = kit(words("--device", device));
        builder.environment().put("LD_LIBRARY_PATH", stub.folder().toString());
        if (!init.equals("0")) {
            builder.environment().put("FRAMECAST_STUB_INIT", init);
        }
        final Process process =
                builder.redirectErrorStream(true).redirectOutput(said.toFile()).start();
        final String text = process.waitFor() == expected ? Files.readString(said) : "";
        assertEquals(expected, process.exitValue(), () -> text);
        return text.strip();
    }
}
