package io.framecast.perf.arrival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedDevice;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ArrivalBenchTest {
    @Test
    void shouldMeasureBothWaysOnTheEmulatedDevice() {
        try (EmulatedDevice device = new EmulatedDevice(0, EmulatedConfig.DEFAULT);
                Arena arena = Arena.ofShared()) {
            final ArrivalMeter meter = new ArrivalMeter(device, 2, 0.05, () -> false);
            final ArrivalRow persistent = meter.measure(true, arena.allocate(100));
            final ArrivalRow launched = meter.measure(false, arena.allocate(100));
            assertTrue(persistent.persistent() && !launched.persistent());
            assertTrue(persistent.emulated());
            assertTrue(
                    persistent.framesPerSecond() > 0 && persistent.roundTrip().count() > 0, persistent.toString());
            assertTrue(launched.framesPerSecond() > 0 && launched.roundTrip().count() > 0, launched.toString());
            assertEquals(0, device.allocatedBytes());
            assertTrue(ArrivalBench.warning(List.of(persistent)).contains("say nothing about GPUs"));
            assertTrue(ArrivalRow.TABLE.text(List.of(persistent, launched)).contains("persistent"));
            final Map<String, ?> json = ArrivalRow.TABLE.json(persistent);
            assertEquals(true, json.get("emulated"));
            assertEquals("persistent", json.get("mode"));
        }
    }
}
