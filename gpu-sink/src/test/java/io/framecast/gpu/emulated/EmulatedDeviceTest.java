package io.framecast.gpu.emulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ServiceLoader;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class EmulatedDeviceTest {
    private static final int BYTES = 1 << 20;

    @Test
    void shouldBeFoundByTheServiceLoader() {
        final DeviceBackendProvider provider = ServiceLoader.load(DeviceBackendProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(p -> p.kind().equals("emulated"))
                .findFirst()
                .orElseThrow();
        assertTrue(provider.unavailable().isEmpty());
        try (DeviceBackend backend = provider.open(3)) {
            assertEquals("emulated:3", backend.name());
            assertFalse(backend.hostAddressable());
        }
        assertThrows(DeviceException.class, () -> provider.open(provider.deviceCount()));
    }

    @Test
    void shouldGiveAddressesThatAreNoHostPointersAndNeverReturn() {
        try (DeviceBackend backend = device(EmulatedConfig.DEFAULT);
                DeviceBackend other = device(EmulatedConfig.DEFAULT)) {
            final DeviceRegion first = backend.allocate(BYTES);
            assertFalse(first.hostAddressable());
            assertTrue(first.address() >>> 57 != 0, "no pointer of a 64-bit CPU");
            backend.free(first);
            final DeviceRegion second = backend.allocate(BYTES);
            assertNotEquals(first.address(), second.address());
            final DeviceStream stream = backend.openStream();
            assertThrows(DeviceException.class, () -> stream.fill(first.address(), (byte) 1, 1));
            assertThrows(DeviceException.class, () -> stream.fill(second.address() + BYTES, (byte) 1, 1));
            assertThrows(
                    DeviceException.class, () -> stream.fill(other.allocate(1).address(), (byte) 1, 1));
        }
    }

    @Test
    void shouldNameTheMendWhenMemoryRunsOut() {
        try (DeviceBackend backend = device(EmulatedConfig.DEFAULT.withMemory(1000))) {
            final DeviceRegion region = backend.allocate(900);
            final var e = assertThrows(DeviceException.class, () -> backend.allocate(101));
            assertEquals(
                    "emulated:0: out of memory, 101 bytes asked, 100 of 1000 free; lower window or frame-max",
                    e.getMessage());
            backend.free(region);
            assertEquals(1000, backend.allocate(1000).bytes());
        }
    }

    @Test
    void shouldRefuseMemoryThatNoGpuCouldReach() {
        try (DeviceBackend backend = device(EmulatedConfig.DEFAULT);
                Arena confined = Arena.ofConfined()) {
            final DeviceStream stream = backend.openStream();
            final DeviceRegion region = backend.allocate(BYTES);
            final MemorySegment heap = MemorySegment.ofArray(new byte[10]);
            final MemorySegment local = confined.allocate(10);
            assertThrows(DeviceException.class, () -> stream.copyToDevice(region.address(), heap, 0, 10));
            assertThrows(DeviceException.class, () -> stream.copyToDevice(region.address(), local, 0, 10));
            final MemorySegment fixed = backend.allocatePinned(10).asReadOnly();
            assertThrows(DeviceException.class, () -> stream.copyToHost(fixed, 0, region.address(), 10));
            final Arena brief = Arena.ofShared();
            final MemorySegment gone = brief.allocate(10);
            brief.close();
            assertThrows(DeviceException.class, () -> stream.copyToDevice(region.address(), gone, 0, 10));
        }
    }

    @Test
    void shouldKeepTheBooksOfRegisteredMemory() {
        try (DeviceBackend backend = device(EmulatedConfig.DEFAULT);
                Arena arena = Arena.ofShared()) {
            final MemorySegment memory = arena.allocate(BYTES);
            assertThrows(DeviceException.class, () -> backend.unregisterHost(memory));
            backend.registerHost(memory);
            assertThrows(DeviceException.class, () -> backend.registerHost(memory));
            backend.unregisterHost(memory);
            backend.registerHost(memory);
        }
    }

    // A kernel that holds the device's thread makes "asynchronous" something a test can see.
    @Test
    void shouldNotWaitForTheDeviceWhenWorkIsEnqueued() {
        try (DeviceBackend backend = device(EmulatedConfig.DEFAULT)) {
            final CountDownLatch gate = new CountDownLatch(1);
            final DeviceKernel hold = backend.load(kernel("hold", (_, _, _, _) -> awaitGate(gate)));
            final DeviceRegion region = backend.allocate(BYTES);
            final MemorySegment target = backend.allocatePinned(BYTES);
            final DeviceStream stream = backend.openStream();
            final DeviceEvent event = backend.openEvent();
            stream.launch(hold, 1, 1);
            stream.fill(region.address(), (byte) 6, BYTES);
            stream.copyToHost(target, 0, region.address(), BYTES);
            stream.record(event);
            assertFalse(event.isComplete());
            assertEquals(0, target.get(ValueLayout.JAVA_BYTE, BYTES - 1));
            gate.countDown();
            event.synchronize();
            assertEquals(6, target.get(ValueLayout.JAVA_BYTE, BYTES - 1));
        }
    }

    // One direction of the link is slow, the other is not: a stream that did not wait would read before the
    // write.
    @Test
    void shouldHoldAStreamBackUntilTheEventOfASlowOne() {
        final EmulatedConfig slow = EmulatedConfig.DEFAULT.withLink(50_000_000, EmulatedConfig.UNLIMITED);
        try (DeviceBackend backend = device(slow)) {
            final DeviceRegion region = backend.allocate(BYTES);
            final MemorySegment source = backend.allocatePinned(BYTES);
            final MemorySegment target = backend.allocatePinned(BYTES);
            source.fill((byte) 8);
            final DeviceStream writer = backend.openStream();
            final DeviceStream reader = backend.openStream();
            final DeviceEvent written = backend.openEvent();
            writer.copyToDevice(region.address(), source, 0, BYTES);
            writer.record(written);
            reader.await(written);
            reader.copyToHost(target, 0, region.address(), BYTES);
            reader.synchronize();
            assertEquals(-1, source.mismatch(target));
            assertTrue(written.isComplete());
        }
    }

    @Test
    void shouldBlockTheEnqueuerAndLoseNothingWhenTheRingIsFull() {
        try (DeviceBackend backend = device(EmulatedConfig.DEFAULT.withStreamCommands(2))) {
            final DeviceRegion region = backend.allocate(4096);
            final MemorySegment target = backend.allocatePinned(4096);
            final DeviceStream stream = backend.openStream();
            for (int i = 0; i < 4096; i++) {
                stream.fill(region.address() + i, (byte) (i * 31), 1);
            }
            stream.copyToHost(target, 0, region.address(), 4096);
            stream.synchronize();
            for (int i = 0; i < 4096; i++) {
                assertEquals((byte) (i * 31), target.get(ValueLayout.JAVA_BYTE, i));
            }
        }
    }

    @Test
    void shouldBreakTheDeviceWithAReasonWhenAKernelLeavesItsMemory() {
        try (DeviceBackend backend = device(EmulatedConfig.DEFAULT)) {
            final DeviceRegion region = backend.allocate(16);
            final DeviceKernel overrun = backend.load(kernel("overrun", (memory, _, _, a) -> memory.at(a[0], 17)));
            final DeviceStream stream = backend.openStream();
            stream.launch(overrun, 1, 1, region.address());
            final var e = assertThrows(DeviceException.class, stream::synchronize);
            assertTrue(e.getMessage().contains("kernel overrun failed"), e.getMessage());
            assertThrows(DeviceException.class, () -> stream.fill(region.address(), (byte) 1, 1));
            assertThrows(DeviceException.class, () -> backend.openEvent().isComplete());
        }
    }

    @Test
    void shouldReuseStreamSlotsWithoutReopeningOldEvents() {
        try (DeviceBackend backend = device(EmulatedConfig.DEFAULT)) {
            final CountDownLatch gate = new CountDownLatch(1);
            final DeviceKernel hold = backend.load(kernel("hold", (_, _, _, _) -> awaitGate(gate)));
            final DeviceRegion region = backend.allocate(16);
            final DeviceEvent old = backend.openEvent();
            final DeviceStream first = backend.openStream();
            first.fill(region.address(), (byte) 1, 16);
            first.record(old);
            first.close();
            final DeviceStream second = backend.openStream();
            second.launch(hold, 1, 1);
            final DeviceEvent fresh = backend.openEvent();
            second.record(fresh);
            assertTrue(old.isComplete());
            assertFalse(fresh.isComplete());
            gate.countDown();
            fresh.synchronize();
        }
    }

    @Test
    void shouldRefuseMoreStreamsThanItHasAndTakeThemBack() {
        try (DeviceBackend backend = device(EmulatedConfig.DEFAULT.withStreamCommands(2))) {
            final DeviceStream[] streams = new DeviceStream[DmaThread.STREAMS_MAX];
            for (int i = 0; i < streams.length; i++) {
                streams[i] = backend.openStream();
            }
            assertThrows(DeviceException.class, backend::openStream);
            streams[77].close();
            backend.openStream().close();
        }
    }

    @Test
    void shouldAllocateNothingPerCopy() {
        final var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (DeviceBackend backend = new EmulatedDevice(9, EmulatedConfig.DEFAULT)) {
            final Traffic traffic = new Traffic(backend);
            traffic.run(20_000);
            final Thread dma = Thread.getAllStackTraces().keySet().stream()
                    .filter(t -> t.getName().equals("framecast-emulated-9"))
                    .findFirst()
                    .orElseThrow();
            assertTrue(dma.isDaemon());
            final long dmaBefore = threads.getThreadAllocatedBytes(dma.threadId());
            final long before = threads.getCurrentThreadAllocatedBytes();
            traffic.run(20_000);
            final long own = threads.getCurrentThreadAllocatedBytes() - before;
            final long onDma = threads.getThreadAllocatedBytes(dma.threadId()) - dmaBefore;
            // 100 000 calls: one object each would be over a megabyte. Sleeping on a full ring takes a lock
            // node.
            assertTrue(own < 50_000 && onDma < 50_000, "allocated " + own + " and " + onDma + " bytes");
        }
    }

    private static final class Traffic {
        private final DeviceRegion region;
        private final MemorySegment host;
        private final DeviceStream stream;
        private final DeviceStream other;
        private final DeviceEvent event;

        Traffic(final DeviceBackend backend) {
            region = backend.allocate(BYTES);
            host = backend.allocatePinned(BYTES);
            stream = backend.openStream();
            other = backend.openStream();
            event = backend.openEvent();
        }

        void run(final int count) {
            int complete = 0;
            for (int i = 0; i < count; i++) {
                stream.copyToDevice(region.address() + (i & 1023), host, i & 511, 1000);
                stream.record(event);
                other.await(event);
                other.copyToHost(host, 4096, region.address(), 100);
                complete += event.isComplete() ? 1 : 0;
            }
            other.synchronize();
            assertTrue(complete <= count);
        }
    }

    private static DeviceBackend device(final EmulatedConfig config) {
        return new EmulatedDevice(0, config);
    }

    private static KernelSource kernel(final String name, final KernelSource.Emulation emulation) {
        return new KernelSource(name, () -> new byte[0], emulation);
    }

    private static void awaitGate(final CountDownLatch gate) {
        try {
            gate.await();
        } catch (final InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
