package io.framecast.gpu.emulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceBackendContract;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/// The emulated device whose memory NICs know by address.
class PeerMemoryContractTest extends DeviceBackendContract {
    @Override
    protected DeviceBackend open() {
        return new EmulatedProvider().open(0, "peermem");
    }

    @Test
    void shouldHaveMemoryThatIsWrittenByItsAddress() {
        try (DeviceBackend device = open();
                DeviceStream stream = device.openStream();
                Arena arena = Arena.ofShared()) {
            final DeviceRegion region = device.allocate(4096);
            assertTrue(device.access().exportRefusal().isEmpty());
            final DeviceRegion exported = device.access().export(region);
            assertEquals(DeviceRegion.NO_DMA_BUF, exported.dmaBufDescriptor());
            assertFalse(exported.hostAddressable());
            // As a NIC does.
            MemorySegment.ofAddress(exported.address()).reinterpret(4096).set(ValueLayout.JAVA_BYTE, 17, (byte) 42);
            final MemorySegment read = arena.allocate(4096);
            stream.copyToHost(read, 0, region.address(), 4096);
            stream.synchronize();
            assertEquals(42, read.get(ValueLayout.JAVA_BYTE, 17));
            device.access().unexport(exported);
            device.free(region);
        }
    }
}
