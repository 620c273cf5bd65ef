package io.framecast.engine.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Arrival;
import io.framecast.api.ArrivalOptions;
import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.DeviceRequests;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A transport and a device that `ServiceLoader` finds and that `api` has never heard of are used by their
/// names in a URI.
class ForeignProvidersTest {
    private static final int CYCLES_MAX = 1_000_000;
    private static final String URI = "framecast:queue-test?group=224.20.30.55:7000|window=64k|frame-max=100k|device=";
    private static final int FRAMES = 40;
    private static final int BYTES = 70_001;

    private final Framecast node =
            Framecast.launch(NodeConfig.DEFAULT.withThreading(Threading.INVOKER).withSeed(3));
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() {
        node.close();
        arena.close();
    }

    private static byte value(final int frame, final long index) {
        return (byte) (frame * 37L + index * 11 + (index >>> 10));
    }

    @Test
    void shouldCarryFramesFromDeviceToDeviceOverATransportOfItsOwn() {
        final Channel channel = Channel.parse(URI + "test:0");
        final Publisher publisher = node.publish(channel);
        final Subscriber subscriber = node.subscribe(channel);
        assertEquals("queue-test", subscriber.channel().transport());
        assertEquals("test:0", subscriber.device().name());
        final DeviceBackend device = publisher.device();
        assertInstanceOf(TestDevice.class, device);
        final MemorySegment host = arena.allocate(BYTES);
        final DeviceRegion region = device.allocate(BYTES);
        try (DeviceStream stream = device.openStream();
                DeviceEvent written = device.openEvent()) {
            for (int frame = 0; frame < FRAMES; frame++) {
                for (long i = 0; i < BYTES; i++) {
                    host.set(ValueLayout.JAVA_BYTE, i, value(frame, i));
                }
                stream.copyToDevice(region.address(), host, 0, BYTES);
                stream.record(written);
                carry(publisher, subscriber, region, written, frame);
            }
        }
        device.free(region);
        assertEquals(FRAMES, subscriber.stats().frames());
    }

    private void carry(
            final Publisher publisher,
            final Subscriber subscriber,
            final DeviceRegion region,
            final DeviceEvent written,
            final int id) {
        boolean taken = false;
        for (int i = 0; i < CYCLES_MAX; i++) {
            taken = taken || publisher.offer(region, written, FrameOptions.DEFAULT) > 0;
            node.doWork();
            final DeviceFrame frame = subscriber.poll();
            if (frame != null) {
                check(subscriber.device(), frame, id);
                return;
            }
        }
        throw new AssertionError("frame " + id + " did not come: " + subscriber.state() + " " + subscriber.failure()
                + " " + publisher.failure());
    }

    private void check(final DeviceBackend device, final DeviceFrame frame, final int id) {
        final MemorySegment host = arena.allocate(BYTES);
        assertEquals(id, frame.frameId());
        assertEquals(BYTES, frame.length());
        assertFalse(frame.region().hostAddressable());
        frame.awaitReady();
        try (DeviceStream stream = device.openStream()) {
            stream.copyToHost(host, 0, frame.region().address(), BYTES);
            stream.synchronize();
        }
        frame.close();
        for (long i = 0; i < BYTES; i++) {
            if (host.get(ValueLayout.JAVA_BYTE, i) != value(id, i)) {
                throw new AssertionError("frame " + id + " differs at byte " + i);
            }
        }
    }

    @Test
    void shouldReportCapabilitiesThatASimpleDeviceLacks() {
        try (DeviceBackend device = new TestDeviceProvider().open(0)) {
            assertTrue(assertThrows(DeviceException.class, () -> Arrival.open(device, ArrivalOptions.DEFAULT))
                    .getMessage()
                    .startsWith("test:0: has no kernels that wait for frames"));
            assertTrue(assertThrows(DeviceException.class, () -> DeviceRequests.open(device, 4))
                    .getMessage()
                    .startsWith("test:0: has no kernels that ask to publish"));
        }
    }

    @Test
    void shouldRefuseNamesThatNoProviderHas() {
        assertRefused(
                "transport: no provider of queue-tst is on the class path, nearest is queue-test",
                URI.replace("queue-test", "queue-tst") + "host");
        assertRefused("device: no provider of tests is on the class path, nearest is test", URI + "tests:0");
        assertRefused("device: no provider of tset is on the class path, nearest is test", URI + "auto,tset");
        assertRefused("device: expected test below 1, got test:1", URI + "test:1");
        assertRefused("device: expected host, got host:0", URI + "host:0");
        assertRefused("device: expected test without a mode, got test:0?fast", URI + "test:0?fast");
        assertRefused(
                "queue-test carries multicast groups only",
                "framecast:queue-test?control=10.0.0.1:7000|channel=a|device=host");
    }

    private void assertRefused(final String complaint, final String uri) {
        final Channel channel = Channel.parse(uri);
        final String message = assertThrows(ConfigException.class, () -> node.subscribe(channel))
                .getMessage();
        assertTrue(message.contains(complaint), message);
        assertFalse(message.contains("\n"), message);
    }
}
