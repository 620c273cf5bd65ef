package io.framecast.perf.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Frames and background share the modelled link: by what was carried, and by a time that no link can
/// undercut.
final class BackgroundLoadTest {
    private static final long LINK_BYTES_PER_SECOND = 200_000_000;
    private static final int COPY_BYTES = 256 << 10;
    private static final int COPIES = 80;
    // The model makes up for late wake-ups, and copies were under way when measuring began.
    private static final double SLACK = 0.85;

    private DeviceBackend device;

    @BeforeEach
    void open() {
        device = new DeviceChoice(DeviceChoice.EMULATED, 0).open(LINK_BYTES_PER_SECOND);
    }

    @AfterEach
    void close() {
        device.close();
        DeviceChoice.limitLink(0);
    }

    @Test
    void shouldTakeTheLinkFromFramesThatGoTheSameWay() {
        try (BackgroundLoad load = new BackgroundLoad(device, BackgroundLoad.Load.TO_DEVICE, 0)) {
            final long ns = copyBeside(load);
            final double both = (double) load.measuredBytes() + (double) COPIES * COPY_BYTES;
            assertTrue(
                    ns >= SLACK * both / LINK_BYTES_PER_SECOND * 1e9,
                    () -> both + " bytes in " + ns + " ns are more than the link carries");
            // Turn by turn: neither starves.
            final double share = load.measuredBytes() / ((double) COPIES * COPY_BYTES);
            assertTrue(share > 0.1 && share < 10, () -> "background copied " + share + " of what frames did");
        }
    }

    @Test
    void shouldCountBothWays() {
        try (BackgroundLoad load = new BackgroundLoad(device, BackgroundLoad.Load.BOTH, 20_000_000)) {
            copyBeside(load);
            assertTrue(load.measuredBytes() > 0);
            assertTrue(load.achievedMBps() > 0);
            // Each way is paced: together twice the rate, but for what was late; unpaced the link carries
            // far more.
            assertTrue(load.achievedMBps() < 4 * 20, () -> load.achievedMBps() + " MB/s");
        }
        assertEquals(0, device.allocatedBytes(), "nothing is left behind");
    }

    @Test
    void shouldDoNothingWhenThereIsNone() {
        try (BackgroundLoad load = new BackgroundLoad(device, BackgroundLoad.Load.NONE, 0)) {
            load.begin();
            load.end();
            assertEquals(0, load.measuredBytes());
            assertEquals(0, load.achievedMBps());
        }
    }

    /// @return how long the copies of frames took
    private long copyBeside(final BackgroundLoad load) {
        final DeviceRegion region = device.allocate(COPY_BYTES);
        final MemorySegment host = device.allocatePinned(COPY_BYTES);
        try (DeviceStream stream = device.openStream()) {
            load.begin();
            final long beginNs = System.nanoTime();
            for (int i = 0; i < COPIES; i++) {
                stream.copyToDevice(region.address(), host, 0, COPY_BYTES);
            }
            stream.synchronize();
            final long ns = System.nanoTime() - beginNs;
            load.end();
            return ns;
        } finally {
            device.freePinned(host);
            device.free(region);
        }
    }
}
