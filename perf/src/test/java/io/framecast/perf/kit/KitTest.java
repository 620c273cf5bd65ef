package io.framecast.perf.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.bench.BenchTool;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class KitTest {
    @Test
    void shouldRunEveryBenchThatTakesADevice() {
        final List<BenchTool.DeviceBench> found = BenchTool.onDevices();
        assertTrue(
                found.contains(new BenchTool.DeviceBench("streaming", List.of("--quick", "--subscribers", "1,3"))),
                () -> "found " + found);
        assertTrue(found.contains(new BenchTool.DeviceBench("arrival", List.of())), () -> "found " + found);
        assertTrue(found.stream().noneMatch(bench -> bench.name().equals("tail")), "it takes none");
    }

    @Test
    void shouldTellADeviceThatFailsFromNone() throws KitDevice.UnusableException {
        assertTrue(KitDevice.find("emulated:0").line().startsWith("hardware: emulated:0, "));
        final var failing = assertThrows(KitDevice.UnusableException.class, () -> KitDevice.find("emulated:99"));
        assertTrue(!failing.isAbsent() && failing.getMessage().contains("emulated:99"), failing.getMessage());
        final KitStep crashed = new KitStep("device", 134, 1, null, "SIGSEGV");
        final var silent = assertThrows(KitDevice.UnusableException.class, () -> KitDevice.of("cuda:0", crashed));
        assertEquals("cuda:0 cannot be used here: status 134: SIGSEGV", silent.getMessage());
        assertTrue(!silent.isAbsent());
        final KitStep none = new KitStep("device", 0, 1, Map.of("error", "no", "absent", true), "");
        assertTrue(assertThrows(KitDevice.UnusableException.class, () -> KitDevice.of("cuda:0", none))
                .isAbsent());
    }

    @Test
    void shouldTakeItsOptions() {
        final KitOptions options = KitOptions.parse(List.of("--device", "emulated:0", "--quick", "--out", "/tmp/x"));
        assertEquals("emulated:0", options.device());
        assertTrue(options.quick());
        assertEquals(Path.of("/tmp/x"), options.out());
        assertEquals("cuda:0", KitOptions.parse(List.of()).device());
        assertEquals(300, KitOptions.parse(List.of()).stepSeconds());
        assertEquals(20, KitOptions.parse(List.of("--step-seconds", "20")).stepSeconds());
        assertThrows(ConfigException.class, () -> KitOptions.parse(List.of("--devices", "all")));
        assertThrows(ConfigException.class, () -> KitOptions.parse(List.of("--device")));
        assertThrows(ConfigException.class, () -> KitOptions.parse(List.of("--step-seconds", "0")));
        assertEquals(
                "--device: expected cuda:N or emulated:N, got gpu",
                assertThrows(ConfigException.class, () -> KitOptions.parse(List.of("--device", "gpu")))
                        .getMessage());
    }

    @Test
    void shouldRunOnlyWhatIsNamed() {
        final KitOptions all = KitOptions.parse(List.of());
        assertTrue(all.isWanted("bench arrival") && all.isWanted("demo"));
        final KitOptions some = KitOptions.parse(List.of("--only", "bench-arrival,litmus,tests"));
        assertTrue(some.isWanted("bench arrival") && some.isWanted("litmus"));
        assertTrue(some.isWanted("tests CudaArrivalTest again 1"));
        assertTrue(!some.isWanted("bench streaming") && !some.isWanted("demo"));
        final var unknown =
                assertThrows(ConfigException.class, () -> KitOptions.parse(List.of("--only", "litmus,bensh")));
        assertTrue(unknown.getMessage().endsWith("; got bensh"), unknown.getMessage());
    }

    @Test
    void shouldCallAStepFailedThatToldNothing() {
        assertTrue(new KitStep("demo", 0, 1, null, "killed").isFailed());
        assertTrue(new KitStep("demo", 3, 1, Map.of("error", "peer lost"), "").isFailed());
        assertTrue(new KitStep("demo", 3, 1, Map.of("error", "peer lost"), "")
                .line()
                .contains("FAILED"));
        assertTrue(
                new KitStep("demo", 0, 1, Map.of("verified", true), "").line().endsWith("verified"));
        final KitStep skipped = KitStep.skipped("calls", "no driver");
        assertTrue(!skipped.isFailed() && !skipped.isPassed());
        assertTrue(skipped.line().endsWith("calls: skipped in 0.0 s, no driver"), skipped.line());
    }
}
