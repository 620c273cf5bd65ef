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
        assertTrue(found.contains(new BenchTool.DeviceBench("streaming", true)), () -> "found " + found);
        assertTrue(found.contains(new BenchTool.DeviceBench("arrival", false)), () -> "found " + found);
        assertTrue(found.stream().noneMatch(bench -> bench.name().equals("tail")), "it takes none");
    }

    @Test
    void shouldSayWhyThereIsNoDevice() {
        assertEquals(
                "--device: expected cuda:N or emulated:N, got gpu",
                assertThrows(ConfigException.class, () -> KitDevice.find("gpu")).getMessage());
        assertTrue(assertThrows(ConfigException.class, () -> KitDevice.find("emulated:99"))
                .getMessage()
                .contains("emulated:99"));
        assertTrue(KitDevice.find("emulated:0").line().startsWith("hardware: emulated:0, "));
    }

    @Test
    void shouldTakeItsOptions() {
        final KitOptions options = KitOptions.parse(List.of("--device", "emulated:0", "--quick", "--out", "/tmp/x"));
        assertEquals("emulated:0", options.device());
        assertTrue(options.quick());
        assertEquals(Path.of("/tmp/x"), options.out());
        assertEquals("cuda:0", KitOptions.parse(List.of()).device());
        assertThrows(ConfigException.class, () -> KitOptions.parse(List.of("--devices", "all")));
        assertThrows(ConfigException.class, () -> KitOptions.parse(List.of("--device")));
    }

    @Test
    void shouldCallAStepFailedThatToldNothing() {
        assertTrue(!new KitStep("demo", 0, 1, null, "killed").isPassed());
        assertTrue(!new KitStep("demo", 3, 1, Map.of("error", "peer lost"), "").isPassed());
        assertTrue(new KitStep("demo", 3, 1, Map.of("error", "peer lost"), "")
                .line()
                .contains("FAILED"));
        assertTrue(
                new KitStep("demo", 0, 1, Map.of("verified", true), "").line().endsWith("verified"));
    }
}
