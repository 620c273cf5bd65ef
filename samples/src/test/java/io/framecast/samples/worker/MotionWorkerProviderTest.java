package io.framecast.samples.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedDevice;
import io.framecast.samples.FrameWorker;
import io.framecast.samples.FrameWorkerProvider;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

class MotionWorkerProviderTest {
    @Test
    void shouldAddUpTheScoresOfLentFrames() {
        final FrameWorkerProvider provider = ServiceLoader.load(FrameWorkerProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(p -> p.name().equals("motion"))
                .findFirst()
                .orElseThrow();
        try (DeviceBackend device = new EmulatedDevice(2, EmulatedConfig.DEFAULT);
                FrameWorker worker = provider.open(device)) {
            final DeviceFramePool pool = new DeviceFramePool(device, 16);
            for (final byte[] bytes : List.of(new byte[] {0, 0, 0, 0}, new byte[] {0, 100, 0, 1}, new byte[] {9, 0})) {
                final DeviceFramePool.Frame frame = pool.frame(MemorySegment.ofArray(bytes), 3);
                worker.onFrame(frame);
                assertEquals(0, frame.releases(), "lent");
            }
            final Map<String, Object> expected = Map.of(
                    "device", "emulated:2",
                    "frames", 3L,
                    "compared_bytes", 6L,
                    "changed_bytes", 2L,
                    "difference_sum", 210L,
                    "changed_share_max", 0.5);
            assertEquals(expected, worker.summary());
        }
    }
}
