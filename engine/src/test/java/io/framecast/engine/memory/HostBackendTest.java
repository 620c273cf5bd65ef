package io.framecast.engine.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceBackendContract;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

final class HostBackendTest extends DeviceBackendContract {
    @Override
    protected DeviceBackend open() {
        return new HostProvider().open(0);
    }

    @Test
    void shouldBeFoundByServiceLoader() {
        assertTrue(ServiceLoader.load(DeviceBackendProvider.class).stream()
                .anyMatch(provider -> provider.type() == HostProvider.class));
        final HostProvider provider = new HostProvider();
        assertEquals("host", provider.kind());
        assertEquals(1, provider.deviceCount());
        assertTrue(provider.unavailable().isEmpty());
        assertThrows(DeviceException.class, () -> provider.open(1));
    }

    @Test
    void shouldGiveMemoryThatTheHostAddresses() {
        try (DeviceBackend backend = open()) {
            assertTrue(backend.hostAddressable());
            final DeviceRegion region = backend.allocate(1000);
            assertTrue(region.hostAddressable());
            assertEquals(region.address(), region.host().address());
            for (final byte b : region.host().toArray(JAVA_BYTE)) {
                assertEquals(0, b);
            }
        }
    }

    @Test
    void shouldHaveDoneTheWorkWhenTheCallReturns() {
        try (DeviceBackend backend = open();
                DeviceStream stream = backend.openStream();
                DeviceEvent event = backend.openEvent()) {
            final DeviceRegion region = backend.allocate(100);
            stream.fill(region.address() + 10, (byte) 3, 5);
            stream.record(event);
            assertTrue(event.isComplete());
            assertEquals(3, region.host().get(JAVA_BYTE, 14));
            assertEquals(0, region.host().get(JAVA_BYTE, 15));
        }
    }

    @Test
    void shouldTakeAddressesOfRegisteredMemoryAndNoLonger() {
        try (DeviceBackend backend = open();
                MirroredMemory memory = MirroredMemory.allocate(4 * MirroredMemory.pageBytes(), 0);
                DeviceStream stream = backend.openStream()) {
            final MemorySegment ring = memory.segment();
            assertThrows(DeviceException.class, () -> stream.fill(ring.address(), (byte) 1, 10));
            backend.registerHost(ring);
            stream.fill(ring.address() + 5, (byte) 1, 10);
            stream.copyWithin(ring.address() + 100, ring.address() + 5, 10);
            assertEquals(1, ring.get(JAVA_BYTE, 109));
            assertEquals(0, ring.get(JAVA_BYTE, 110));
            assertEquals(0, backend.allocatedBytes());
            assertThrows(IllegalArgumentException.class, () -> backend.free(DeviceRegion.ofHost(ring)));
            backend.unregisterHost(ring);
            assertThrows(DeviceException.class, () -> stream.fill(ring.address(), (byte) 1, 10));
            assertFalse(ring.byteSize() == 0);
        }
    }
}
