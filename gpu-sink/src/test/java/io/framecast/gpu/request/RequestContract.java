package io.framecast.gpu.request;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Arrival;
import io.framecast.api.DeviceRequests;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.gpu.SharedWords;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A kernel that asks for its memory to be published, on every device that can.
abstract class RequestContract {
    private static final int BYTES = 3000;

    private final Arena arena = Arena.ofShared();
    private DeviceBackend device;
    private DeviceRegion data;
    private MemorySegment out;
    private DeviceStream stream;
    private DeviceEvent ended;

    /// A device, or a skipped test.
    protected abstract DeviceBackend open();

    @BeforeEach
    void openDevice() {
        device = open();
        data = device.allocate(BYTES);
        out = device.allocatePinned(2 * Long.BYTES);
        out.fill((byte) 0);
        stream = device.openStream();
        ended = device.openEvent();
    }

    @AfterEach
    void closeDevice() {
        if (device != null) {
            device.close();
        }
        arena.close();
    }

    private void launch(final DeviceRequests requests, final long channel, final long bytes, final int count) {
        stream.launch(
                device.load(RequestKernel.source()),
                1,
                64,
                requests.address(),
                data.address(),
                bytes,
                count,
                channel,
                5,
                out.address());
        stream.record(ended);
    }

    private void serve(final DeviceRequests requests) {
        while (!ended.isComplete()) {
            requests.doWork();
        }
        requests.doWork();
    }

    private long done() {
        return SharedWords.longAt(out, 0);
    }

    private long status() {
        return SharedWords.longAt(out, Long.BYTES);
    }

    @Test
    void shouldPublishWhatTheKernelAsksFor() {
        final TakingPublisher publisher = new TakingPublisher(arena, BYTES);
        publisher.refusals = 5;
        try (DeviceRequests requests = DeviceRequests.open(device, 4)) {
            requests.allow(data);
            assertEquals(0, requests.bind(publisher, BYTES));
            launch(requests, 0, BYTES, 50);
            serve(requests);
            assertEquals(50, done());
            assertEquals(50, requests.stats().published());
            assertEquals(50L * BYTES, requests.stats().bytes());
            assertEquals(0, requests.stats().waiting());
            for (int n = 0; n < 50; n++) {
                final byte[] expected = new byte[BYTES];
                for (int i = 0; i < BYTES; i++) {
                    expected[i] = RequestKernel.pattern(n, i, 5);
                }
                assertArrayEquals(expected, publisher.frames.get(n), "frame " + n);
                assertEquals(n, Arrival.tag(publisher.options.get(n).metadata()));
            }
        }
    }

    @Test
    void shouldRefuseWhatWasNotAllowed() {
        final TakingPublisher publisher = new TakingPublisher(arena, BYTES);
        try (DeviceRequests requests = DeviceRequests.open(device, 2)) {
            requests.bind(publisher, BYTES);
            // Its memory is not allowed yet.
            launch(requests, 0, BYTES, 3);
            serve(requests);
            assertEquals(0, done());
            assertEquals(RequestLayout.STATUS_REFUSED, status());
            requests.allow(data);
            // No such channel.
            launch(requests, 1, BYTES, 3);
            serve(requests);
            assertEquals(0, done());
            assertEquals(RequestLayout.STATUS_REFUSED, status());
            assertEquals(6, requests.stats().refused());
            assertTrue(publisher.frames.isEmpty());
        }
    }

    @Test
    void shouldTellTheKernelThatThePublisherIsClosed() {
        final TakingPublisher publisher = new TakingPublisher(arena, BYTES);
        publisher.closed = true;
        try (DeviceRequests requests = DeviceRequests.open(device, 2)) {
            requests.allow(data);
            requests.bind(publisher, BYTES);
            launch(requests, 0, BYTES, 3);
            serve(requests);
            assertEquals(RequestLayout.STATUS_CLOSED, status());
            assertEquals(1, requests.stats().closed());
        }
    }

    @Test
    void shouldEndAKernelThatWaitsWhenClosed() {
        final TakingPublisher publisher = new TakingPublisher(arena, BYTES);
        publisher.refusals = Long.MAX_VALUE;
        final DeviceRequests requests = DeviceRequests.open(device, 2);
        requests.allow(data);
        requests.bind(publisher, BYTES);
        launch(requests, 0, BYTES, 3);
        while (requests.stats().waiting() == 0) {
            requests.doWork();
        }
        assertFalse(ended.isComplete());
        requests.close();
        requests.close();
        ended.synchronize();
        assertEquals(0, done());
        assertEquals(RequestLayout.STATUS_CLOSED, status());
    }

    @Test
    void shouldFreeTheQueueOnceTheKernelHasEnded() {
        final TakingPublisher publisher = new TakingPublisher(arena, BYTES);
        publisher.refusals = Long.MAX_VALUE;
        final long bytes = device.allocatedBytes();
        final String before = device.resources().toString();
        final DeviceRequests requests = DeviceRequests.open(device, 2);
        requests.allow(data);
        requests.bind(publisher, BYTES);
        launch(requests, 0, BYTES, 3);
        while (requests.stats().waiting() == 0) {
            requests.doWork();
        }
        assertTrue(device.isBusy());
        assertTrue(device.runsPersistentKernel());
        requests.close();
        ended.synchronize();
        assertFalse(device.isBusy());
        assertFalse(device.runsPersistentKernel());
        requests.close();
        assertEquals(bytes, device.allocatedBytes());
        assertEquals(before, device.resources().toString());
    }

    @Test
    void shouldFreeTheQueueAtOnceWhenNothingRuns() {
        final long bytes = device.allocatedBytes();
        final String before = device.resources().toString();
        final DeviceRequests requests = DeviceRequests.open(device, 4);
        requests.bind(new TakingPublisher(arena, BYTES), BYTES);
        requests.close();
        requests.close();
        assertEquals(0, requests.doWork());
        assertEquals(bytes, device.allocatedBytes());
        assertEquals(before, device.resources().toString());
    }
}
