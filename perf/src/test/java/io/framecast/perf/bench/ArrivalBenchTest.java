package io.framecast.perf.bench;

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
    void shouldMeasureBothWaysOnTheEmulatedDevice() throws ArrivalMeter.FramesDiffer {
        try (EmulatedDevice device = new EmulatedDevice(0, EmulatedConfig.DEFAULT);
                Arena arena = Arena.ofShared()) {
            final ArrivalMeter meter = new ArrivalMeter(device, 2, 0.05, () -> false);
            final ArrivalRow told = meter.persistent(arena.allocate(100));
            final ArrivalRow launched = meter.launched(arena.allocate(100));
            assertTrue(told.persistent() && !launched.persistent());
            assertTrue(told.emulated());
            assertTrue(told.framesPerSecond() > 0 && told.roundTrip().count() > 0, told.toString());
            assertTrue(launched.framesPerSecond() > 0 && launched.roundTrip().count() > 0, launched.toString());
            assertEquals(0, device.allocatedBytes());
            assertTrue(ArrivalRow.table(List.of(told, launched)).contains("say nothing about GPUs"));
            final Map<String, ?> json = told.json();
            assertEquals(true, json.get("emulated"));
            assertEquals("persistent", json.get("mode"));
        }
    }
}
