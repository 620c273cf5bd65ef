package io.framecast.gpu.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.DeviceRequests;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.SharedWords;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class EmulatedRequestTest extends RequestContract {
    private static final int REQUESTS = 8;
    private static final long PATIENCE_NS = 60_000_000_000L;

    @Override
    protected DeviceBackend open() {
        return new EmulatedDevice(5, EmulatedConfig.DEFAULT);
    }

    /// A kernel that writes nonsense into the queue, sequences and all.
    @Test
    void shouldOutliveGarbage() {
        final SplittableRandom random = new SplittableRandom(9);
        try (Arena arena = Arena.ofShared();
                DeviceBackend device = open()) {
            final TakingPublisher publisher = new TakingPublisher(arena, 64);
            final DeviceRegion data = device.allocate(4096);
            try (HostRequests requests = new HostRequests(device, REQUESTS)) {
                requests.allow(data.slice(1000, 100));
                requests.bind(publisher, 64);
                final MemorySegment queue = queueOf(device, requests);
                // On a busy machine the copies of published frames end late, and until then the queue is full.
                final long endNs = System.nanoTime() + PATIENCE_NS;
                for (int round = 0;
                        round < 20_000 || (requests.stats().refused() <= 1_000 && System.nanoTime() < endNs);
                        round++) {
                    final long at = RequestLayout.requestOffset(round % REQUESTS);
                    writeGarbage(queue, at, data.address(), random);
                    // The sequence that the host expects next, so that it looks; the slot may not be free.
                    final long requested = requests.stats().published()
                            + requests.stats().refused()
                            + requests.stats().waiting();
                    SharedWords.intAt(
                            queue,
                            RequestLayout.requestOffset((int) (requested % REQUESTS)),
                            (int) requested + (random.nextInt(8) == 0 ? 0 : 1));
                    requests.doWork();
                    assertTrue(requests.stats().waiting() <= REQUESTS);
                }
                assertTrue(requests.stats().refused() > 1_000, requests.stats().toString());
                assertTrue(publisher.taken > 0, requests.stats().toString());
                assertTrue(publisher.frames.stream().allMatch(frame -> frame.length <= 64));
            }
        }
    }

    private static void writeGarbage(
            final MemorySegment queue, final long at, final long near, final SplittableRandom random) {
        final long address = random.nextInt(3) == 0 ? random.nextLong() : near + 950 + random.nextInt(200);
        final long length = random.nextInt(3) == 0 ? random.nextLong() : random.nextInt(80);
        SharedWords.LONG.set(queue, at + RequestLayout.REQUEST_ADDRESS, address);
        SharedWords.LONG.set(queue, at + RequestLayout.REQUEST_LENGTH, length);
        SharedWords.LONG.set(queue, at + RequestLayout.REQUEST_TIMESTAMP, random.nextInt(2) * random.nextLong());
        SharedWords.INT.set(queue, at + RequestLayout.REQUEST_CHANNEL, random.nextInt(4) == 0 ? random.nextInt() : 0);
        SharedWords.INT.set(queue, at + RequestLayout.REQUEST_FLAGS, random.nextInt());
    }

    // As the device sees it.
    private static MemorySegment queueOf(final DeviceBackend device, final HostRequests requests) {
        final MemorySegment[] found = new MemorySegment[1];
        final KernelSource finder = new KernelSource(
                "finder",
                () -> new byte[0],
                (memory, _, _, all) -> found[0] = memory.at(all[0], RequestLayout.queueBytes(REQUESTS)));
        try (var stream = device.openStream()) {
            stream.launch(device.load(finder), 1, 1, requests.address());
            stream.synchronize();
        }
        return found[0];
    }

    @Test
    void shouldAllocateNothingWithoutTags() {
        final var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Arena arena = Arena.ofShared();
                DeviceBackend device = open()) {
            final TakingPublisher publisher = new TakingPublisher(arena, 64);
            publisher.forgets = true;
            final DeviceRegion data = device.allocate(64);
            try (HostRequests requests = new HostRequests(device, REQUESTS)) {
                requests.allow(data);
                requests.bind(publisher, 64);
                final MemorySegment queue = queueOf(device, requests);
                ask(requests, publisher, queue, data, 3_000);
                final long before = threads.getCurrentThreadAllocatedBytes();
                ask(requests, publisher, queue, data, 6_000);
                final long bytes = threads.getCurrentThreadAllocatedBytes() - before;
                assertTrue(bytes < 3_000 / 10 * 16, "allocated " + bytes + " bytes");
            }
        }
    }

    private static void ask(
            final HostRequests requests,
            final TakingPublisher publisher,
            final MemorySegment queue,
            final DeviceRegion data,
            final long until) {
        while (publisher.taken < until) {
            final int ticket = (int) publisher.taken;
            final long at = RequestLayout.requestOffset(ticket % REQUESTS);
            SharedWords.LONG.set(queue, at + RequestLayout.REQUEST_ADDRESS, data.address());
            SharedWords.LONG.set(queue, at + RequestLayout.REQUEST_LENGTH, 64L);
            SharedWords.intAt(queue, at, ticket + 1);
            while (publisher.taken == ticket) {
                requests.doWork();
            }
        }
    }

    // Requests `count` frames, each of a publisher of its own, as a kernel would.
    private static void request(final MemorySegment queue, final DeviceRegion data, final int count) {
        for (int ticket = 0; ticket < count; ticket++) {
            final long at = RequestLayout.requestOffset(ticket);
            SharedWords.LONG.set(queue, at + RequestLayout.REQUEST_ADDRESS, data.address());
            SharedWords.LONG.set(queue, at + RequestLayout.REQUEST_LENGTH, 64L);
            SharedWords.INT.set(queue, at + RequestLayout.REQUEST_CHANNEL, ticket);
            SharedWords.intAt(queue, at, ticket + 1);
        }
    }

    private static int status(final MemorySegment queue, final int ticket) {
        return (int) (SharedWords.longAt(queue, RequestLayout.answerOffset(REQUESTS, ticket)) >>> 32);
    }

    @Test
    void shouldNotSayDoneWhenThePublisherClosedBeforeTheFrameWasCopied() {
        try (Arena arena = Arena.ofShared();
                DeviceBackend device = open()) {
            final TakingPublisher publisher = new TakingPublisher(arena, 64);
            final DeviceRegion data = device.allocate(64);
            try (HostRequests requests = new HostRequests(device, REQUESTS)) {
                requests.allow(data);
                requests.bind(publisher, 64);
                final MemorySegment queue = queueOf(device, requests);
                request(queue, data, 1);
                // Claimed, and on its way.
                requests.doWork();
                publisher.close();
                while (requests.stats().waiting() > 0) {
                    requests.doWork();
                }
                assertEquals(RequestLayout.STATUS_CLOSED, status(queue, 0));
                assertEquals(0, requests.stats().published());
                assertEquals(1, requests.stats().closed());
            }
        }
    }

    @Test
    void shouldGiveEveryClaimBackWhenTheDeviceIsLostWhileFramesAreCopied() {
        try (Arena arena = Arena.ofShared();
                DeviceBackend device = open()) {
            final TakingPublisher first = new TakingPublisher(arena, 64);
            final TakingPublisher second = new TakingPublisher(arena, 64);
            final DeviceRegion data = device.allocate(64);
            final HostRequests requests = new HostRequests(device, REQUESTS);
            requests.allow(data);
            requests.bind(first, 64);
            requests.bind(second, 64);
            final MemorySegment queue = queueOf(device, requests);
            request(queue, data, 2);
            requests.doWork();
            lose(device);
            assertThrows(DeviceException.class, requests::close);
            assertEquals(1, first.aborted);
            assertEquals(1, second.aborted);
            assertEquals(RequestLayout.STATUS_CLOSED, status(queue, 0));
            assertEquals(RequestLayout.STATUS_CLOSED, status(queue, 1));
        }
    }

    private static void lose(final DeviceBackend device) {
        final KernelSource bad =
                new KernelSource("bad", () -> new byte[0], (memory, _, _, all) -> memory.at(all[0], 1));
        final DeviceStream stream = device.openStream();
        stream.launch(device.load(bad), 1, 1, 4096);
        assertThrows(DeviceException.class, () -> {
            while (true) {
                stream.synchronize();
            }
        });
    }

    @Test
    void shouldTellOfTicketsLongPast() {
        try (Arena arena = Arena.ofShared();
                DeviceBackend device = open()) {
            final TakingPublisher publisher = new TakingPublisher(arena, 64);
            final DeviceRegion data = device.allocate(64);
            try (HostRequests requests = new HostRequests(device, 2)) {
                requests.allow(data);
                requests.bind(publisher, 64);
                final int[] seen = new int[3];
                final KernelSource asker = KernelSource.persistent("asker", () -> new byte[0], (memory, _, _, all) -> {
                    final EmulatedRequests device2 = EmulatedRequests.open(memory, all[0]);
                    final long first = device2.publish(0, all[1], 64, 0, 0);
                    seen[0] = device2.await(first);
                    device2.publish(0, all[1], 64, RequestLayout.REQUEST_TAGGED, 7);
                    final long third = device2.publish(0, all[1], 64, 0, 0);
                    seen[2] = device2.await(third);
                    seen[1] = device2.answered(first);
                });
                try (var stream = device.openStream();
                        var ended = device.openEvent()) {
                    stream.launch(device.load(asker), 1, 1, requests.address(), data.address());
                    stream.record(ended);
                    while (!ended.isComplete()) {
                        requests.doWork();
                    }
                }
                assertEquals(RequestLayout.STATUS_DONE, seen[0]);
                assertEquals(RequestLayout.STATUS_FORGOTTEN, seen[1]);
                assertEquals(RequestLayout.STATUS_DONE, seen[2]);
                assertEquals(3, publisher.taken);
            }
            assertThrows(IllegalArgumentException.class, () -> DeviceRequests.open(device, 3));
        }
    }
}
