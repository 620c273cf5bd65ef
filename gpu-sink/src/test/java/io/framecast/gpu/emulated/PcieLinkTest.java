package io.framecast.gpu.emulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class PcieLinkTest {
    private static final long MS = 1_000_000;

    @Test
    void shouldTakeTheTimeThatTheRateSays() {
        final PcieLink link = new PcieLink(1_000_000_000);
        assertEquals(10 * MS + 1000, link.send(1000, false, 10 * MS));
        assertEquals(20 * MS + 5000, link.send(5000, false, 20 * MS));
    }

    @Test
    void shouldQueueTransfersBehindEachOther() {
        final PcieLink link = new PcieLink(1_000_000_000);
        long arrivalNs = 0;
        for (int i = 1; i <= 10; i++) {
            arrivalNs = link.send(1000, true, 10 * MS);
            assertTrue(arrivalNs >= 9 * MS + i * 1000L);
        }
        assertEquals(9 * MS + 10_000, arrivalNs);
    }

    @Test
    void shouldKeepTheRateWhenTheThreadWakesLate() {
        final PcieLink link = new PcieLink(1_000_000_000);
        long nowNs = link.send(100_000, false, 0);
        for (int i = 1; i < 100; i++) {
            nowNs = link.send(100_000, true, nowNs + 50_000);
        }
        assertEquals(100 * 100_000, nowNs);
    }

    // Two streams share the link: together they take at least the time that the bytes take. A lower bound holds on any
    // machine, however slow.
    @Test
    void shouldShareTheLinkBetweenStreams() {
        final long rate = 200_000_000;
        final int bytes = 2_000_000;
        final EmulatedConfig config = EmulatedConfig.DEFAULT.withLink(rate, EmulatedConfig.UNLIMITED);
        try (EmulatedDevice device = new EmulatedDevice(0, config)) {
            final DeviceRegion region = device.allocate(2L * bytes);
            final MemorySegment host = device.allocatePinned(bytes);
            final DeviceStream first = device.openStream();
            final DeviceStream second = device.openStream();
            final long startNs = System.nanoTime();
            first.copyToDevice(region.address(), host, 0, bytes);
            second.copyToDevice(region.address() + bytes, host, 0, bytes);
            first.synchronize();
            second.synchronize();
            final long tookNs = System.nanoTime() - startNs;
            assertTrue(tookNs >= 19 * MS, "20 ms of link time took " + tookNs + " ns");
        }
    }
}
