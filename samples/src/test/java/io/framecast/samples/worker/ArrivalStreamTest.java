package io.framecast.samples.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Arrival;
import io.framecast.api.ArrivalOptions;
import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.DeviceRequests;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.arrival.ArrivalMatch;
import io.framecast.gpu.arrival.ArrivalRecord;
import io.framecast.gpu.arrival.ByteSumKernel;
import io.framecast.gpu.arrival.EmulatedArrivals;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedDevice;
import io.framecast.gpu.request.RequestKernel;
import io.framecast.testing.TestPorts;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Frames of the product, over real sockets, taken by a kernel; and a kernel's own frames published.
class ArrivalStreamTest {
    private static final long WAIT_NS = 60_000_000_000L;
    private static final int FRAME_MAX = 200_000;
    private static final int OVER = 6;

    private final Arena arena = Arena.ofShared();
    private final List<Framecast> nodes = new ArrayList<>();
    private final int port = TestPorts.triple();

    @AfterEach
    void close() {
        nodes.forEach(Framecast::close);
        arena.close();
    }

    private Framecast node() {
        final Framecast node = Framecast.launch(NodeConfig.DEFAULT.withSeed(5));
        nodes.add(node);
        return node;
    }

    private Channel channel(final String settings) {
        return Channel.parse("framecast:udp?group=224.20.30.45:" + port + "|interface=127.0.0.1|window=1m|frame-max="
                + FRAME_MAX + settings);
    }

    private static void await(final BooleanSupplier condition, final String what) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > WAIT_NS) {
                throw new AssertionError("waited in vain for " + what);
            }
            LockSupport.parkNanos(20_000);
        }
    }

    private MemorySegment frame(final int id) {
        final MemorySegment frame = arena.allocate(1 + (int) (id * 48_611L % FRAME_MAX));
        for (long i = 0; i < frame.byteSize(); i++) {
            frame.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + (i >>> 11) + id * 131L));
        }
        return frame;
    }

    @Test
    void shouldLetAKernelTakeEveryFrameOfAStream() {
        final Subscriber subscriber = node().subscribe(channel("|device=emulated:7"));
        final Publisher publisher = node().publish(channel(""));
        final List<Long> found = new ArrayList<>();
        final List<Long> expected = new ArrayList<>();
        final List<Long> events = new ArrayList<>();
        try (ArrivalSums sums =
                new ArrivalSums(subscriber, ArrivalOptions.DEFAULT.withEntries(8), 1, (id, bytes, sum) -> {
                    if (bytes == 0) {
                        events.add(sum);
                    } else {
                        assertEquals(found.size(), id);
                        found.add(sum);
                    }
                })) {
            await(
                    () -> {
                        sums.poll();
                        return publisher.readySubscribers() == 1;
                    },
                    "the subscriber");
            for (int id = 0; id < 200; id++) {
                final MemorySegment frame = frame(id);
                expected.add(ByteSumKernel.sum(frame));
                await(
                        () -> {
                            sums.poll();
                            return publisher.offer(frame, FrameOptions.DEFAULT) > 0;
                        },
                        "room for a frame");
            }
            await(
                    () -> {
                        sums.poll();
                        return found.size() == 200;
                    },
                    "all frames");
            publisher.close(Duration.ofSeconds(10));
            await(
                    () -> {
                        sums.poll();
                        return events.contains((long) OVER);
                    },
                    "the end");
        }
        assertEquals(expected, found);
        subscriber.close();
    }

    /// A kernel that takes nothing: its subscriber's policy applies, its neighbour gets everything.
    @Test
    void shouldHoldUpNobodyElseWithAKernelThatReturnsNothing() {
        final Subscriber stuck = node().subscribe(channel("|device=emulated:7|delivery=latest"));
        final Subscriber neighbour = node().subscribe(channel("|device=host"));
        final Publisher publisher = node().publish(channel(""));
        final Arrival arrival = Arrival.open(stuck.device(), ArrivalOptions.DEFAULT.withEntries(2));
        arrival.attach(stuck, 0);
        arrival.launch(
                KernelSource.persistent(
                        "takes-nothing",
                        () -> new byte[0],
                        (memory, _, _, all) -> EmulatedArrivals.open(memory, all[0])
                                .await(ArrivalMatch.framesOf(999, 0, 0), new ArrivalRecord())),
                1,
                1);
        await(() -> publisher.readySubscribers() == 2, "both subscribers");
        final int[] got = {0};
        final int frames = 120;
        for (int id = 0; id < frames; id++) {
            final MemorySegment frame = frame(id);
            await(
                    () -> {
                        arrival.doWork();
                        neighbour.poll(taken -> take(taken, got), 10);
                        return publisher.offer(frame, FrameOptions.DEFAULT) > 0;
                    },
                    "room for a frame");
        }
        await(
                () -> {
                    neighbour.poll(taken -> take(taken, got), 10);
                    return got[0] == frames;
                },
                "the neighbour's frames");
        await(
                () -> {
                    arrival.doWork();
                    return arrival.stats().outstanding() == 2;
                },
                "two that no kernel takes");
        arrival.close();
        stuck.close();
        assertTrue(publisher.close(Duration.ofSeconds(20)));
    }

    private static void take(final DeviceFrame frame, final int[] got) {
        assertEquals(got[0], frame.frameId());
        got[0]++;
        frame.close();
    }

    @Test
    void shouldBearTheWrongOrderOfClosing() {
        final Subscriber subscriber = node().subscribe(channel("|device=emulated:7"));
        final Publisher publisher = node().publish(channel(""));
        final Arrival arrival = Arrival.open(subscriber.device(), ArrivalOptions.DEFAULT.withEntries(4));
        arrival.attach(subscriber, 0);
        final AtomicInteger taken = new AtomicInteger();
        // Takes frames and returns none.
        arrival.launch(
                KernelSource.persistent("keeps", () -> new byte[0], (memory, _, _, all) -> {
                    final EmulatedArrivals arrivals = EmulatedArrivals.open(memory, all[0]);
                    while (arrivals.await(ArrivalMatch.ANY, new ArrivalRecord())) {
                        taken.incrementAndGet();
                    }
                }),
                1,
                1);
        await(() -> publisher.readySubscribers() == 1, "the subscriber");
        publisher.offer(frame(1), FrameOptions.DEFAULT);
        await(
                () -> {
                    arrival.doWork();
                    return taken.get() >= 2;
                },
                "source and frame");
        subscriber.close();
        arrival.doWork();
        arrival.close();
        arrival.close();
        assertEquals(0, arrival.stats().outstanding());
    }

    @Test
    void shouldPublishWhatAKernelAsksFor() {
        final int bytes = 50_000;
        final int frames = 40;
        final Subscriber subscriber = node().subscribe(channel("|device=host"));
        final Publisher publisher = node().publish(channel(""));
        await(() -> publisher.readySubscribers() == 1, "the subscriber");
        final int[] got = {0};
        try (DeviceBackend device = new EmulatedDevice(8, EmulatedConfig.DEFAULT);
                DeviceStream stream = device.openStream();
                DeviceEvent ended = device.openEvent();
                DeviceRequests requests = DeviceRequests.open(device, 4)) {
            final DeviceRegion data = device.allocate(bytes);
            final MemorySegment out = device.allocatePinned(2 * Long.BYTES);
            requests.allow(data);
            final int channel = requests.bind(publisher, FRAME_MAX);
            stream.launch(
                    device.load(RequestKernel.source()),
                    1,
                    64,
                    requests.address(),
                    data.address(),
                    bytes,
                    frames,
                    channel,
                    3,
                    out.address());
            stream.record(ended);
            await(
                    () -> {
                        requests.doWork();
                        subscriber.poll(frame -> check(frame, bytes, got), 4);
                        return got[0] == frames && ended.isComplete();
                    },
                    "the kernel's frames");
            assertEquals(frames, out.get(ValueLayout.JAVA_LONG, 0));
        }
        assertEquals(frames, got[0]);
    }

    private static void check(final DeviceFrame frame, final int bytes, final int[] got) {
        assertEquals(bytes, frame.length());
        assertEquals(got[0], frame.tag());
        frame.awaitReady();
        final MemorySegment data = frame.region().host();
        for (int i = 0; i < bytes; i++) {
            assertEquals(RequestKernel.pattern(got[0], i, 3), data.get(ValueLayout.JAVA_BYTE, i));
        }
        got[0]++;
        frame.close();
    }
}
