package io.framecast.perf.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedDevice;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Planted: one of its tests waits for a kernel that never ends. Run by [KitTest] alone.
@Tag("planted")
final class HangingDevice {
    @Test
    void shouldPassFirst() {
        assertEquals(2, 1 + 1);
    }

    @Test
    void shouldWaitForAKernelThatStandsStill() {
        try (EmulatedDevice device = new EmulatedDevice(0, EmulatedConfig.DEFAULT);
                DeviceStream stream = device.openStream()) {
            stream.launch(
                    device.load(KernelSource.persistent("stands_still", () -> new byte[0], (_, _, _, _) -> {
                        while (true) {
                            LockSupport.park();
                        }
                    })),
                    1,
                    32);
            stream.synchronize();
        }
    }

    @Test
    void shouldPassToo() {
        assertEquals(4, 2 + 2);
    }

    @Test
    void shouldFail() {
        assertEquals(4, 2 + 1, "planted");
    }
}
