package io.framecast.gpu.arrival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Arrival;
import io.framecast.api.ArrivalOptions;
import io.framecast.api.LossReason;
import io.framecast.api.SourceEvent;
import io.framecast.api.Subscriber;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.gpu.SharedWords;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The contract of arrival rings on every device that has them, seen through the persistent kernel that adds up
/// frames.
abstract class ArrivalContract {
    private static final int FRAME_BYTES = 1000;
    private static final int RESULTS = 1024;
    private static final Duration LONG = Duration.ofSeconds(60);

    DeviceBackend device;
    private MemorySegment results;
    private DeviceRegion partial;

    /// A device, or a skipped test.
    protected abstract DeviceBackend open();

    /// Blocks of the persistent kernel.
    protected abstract int blocks();

    /// Blocks of it, of 128 threads, that the device holds; 0 where that is not known.
    protected int capacity() {
        return 0;
    }

    @BeforeEach
    void openDevice() {
        device = open();
        results = device.allocatePinned((long) RESULTS * ByteSumKernel.RESULT_WORDS * Long.BYTES);
        results.fill((byte) 0);
        partial = device.allocate((long) ArrivalOptions.ENTRIES_MAX * Long.BYTES);
        try (DeviceStream stream = device.openStream()) {
            stream.fill(partial.address(), (byte) 0, partial.bytes());
        }
    }

    @AfterEach
    void closeDevice() {
        if (device != null) {
            device.close();
        }
    }

    final void launch(final Arrival arrival) {
        launch(arrival, blocks());
    }

    private void launch(final Arrival arrival, final int blocks) {
        arrival.launch(ByteSumKernel.persistent(), blocks, 128, results.address(), RESULTS, partial.address());
    }

    private long result(final int number, final int word) {
        final long at = ((number & RESULTS - 1) * (long) ByteSumKernel.RESULT_WORDS + word) * Long.BYTES;
        return SharedWords.longAt(results, at);
    }

    private void assertFrame(final int number, final long frameId) {
        assertEquals(number + 1, result(number, 0), "result " + number);
        assertEquals(frameId, result(number, 1));
        assertEquals(FRAME_BYTES, result(number, 2));
        assertEquals(ScriptedSubscriber.sum(frameId, FRAME_BYTES), result(number, 3), "sum of frame " + frameId);
    }

    private void assertEvent(final int number, final int kind, final long frameId) {
        assertEquals(number + 1, result(number, 0), "result " + number);
        assertEquals(0, result(number, 2));
        assertEquals(kind, result(number, 3));
        assertEquals(frameId, result(number, 1));
    }

    @Test
    void shouldCarryFramesAndEventsInOrderThroughOneLaunch() {
        try (ScriptedSubscriber subscriber = new ScriptedSubscriber(device, 77, FRAME_BYTES, 3);
                Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT.withEntries(4))) {
            arrival.attach(subscriber, 9);
            launch(arrival);
            subscriber.source(SourceEvent.Kind.JOINED);
            subscriber.frames(300);
            assertFalse(arrival.serve(Duration.ofMillis(1)));
            while (arrival.stats().returned() < 301) {
                arrival.serve(Duration.ofMillis(5));
            }
            subscriber.lose(5, LossReason.EXPIRED);
            subscriber.lose(2, LossReason.EXPIRED);
            subscriber.lose(1, LossReason.DAMAGED);
            subscriber.frames(20);
            subscriber.source(SourceEvent.Kind.ENDED);
            subscriber.end(Subscriber.State.END_OF_STREAM);
            assertTrue(arrival.serve(LONG));
            assertTrue(arrival.isRunning());
            assertTrue(arrival.drain(LONG));
            assertFalse(arrival.isRunning());
            assertEvent(0, ArrivalLayout.KIND_JOINED, 0);
            for (int i = 0; i < 300; i++) {
                assertFrame(1 + i, i);
            }
            assertEvent(301, ArrivalLayout.KIND_LOSS, 300);
            assertEvent(302, ArrivalLayout.KIND_LOSS, 307);
            assertEvent(303, ArrivalLayout.KIND_ENDED, 308);
            assertFrame(304, 308);
            assertFrame(323, 327);
            assertEvent(324, ArrivalLayout.KIND_OVER, 0);
            assertEquals(0, subscriber.framesHeld);
            assertEquals(320, arrival.stats().frames());
            assertEquals(8, arrival.stats().lostFrames());
            assertEquals(5, arrival.stats().events());
        }
    }

    @Test
    void shouldHoldNoMoreThanTheRingHasCreditFor() {
        try (ScriptedSubscriber subscriber = new ScriptedSubscriber(device, 1, FRAME_BYTES, 32);
                Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT.withEntries(8))) {
            arrival.attach(subscriber, 0);
            subscriber.frames(100);
            // No kernel runs, so no entry is taken.
            while (arrival.stats().outstanding() < 8) {
                assertFalse(arrival.serve(Duration.ofMillis(5)));
            }
            assertFalse(arrival.serve(Duration.ofMillis(20)));
            assertTrue(subscriber.framesHeld <= 9, "one more than the ring may have been polled");
            assertEquals(8, arrival.stats().outstanding());
            // A kernel that comes later finds them.
            launch(arrival);
            subscriber.end(Subscriber.State.SOURCE_LOST);
            assertTrue(arrival.serve(LONG));
            for (int i = 0; i < 100; i++) {
                assertFrame(i, i);
            }
            assertEvent(100, ArrivalLayout.KIND_OVER, 0);
        }
    }

    @Test
    void shouldServeSeveralSubscribersAndSeveralKernelsAfterEachOther() {
        try (ScriptedSubscriber first = new ScriptedSubscriber(device, 1, FRAME_BYTES, 4);
                ScriptedSubscriber second = new ScriptedSubscriber(device, 2, FRAME_BYTES, 4);
                Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT.withEntries(16))) {
            arrival.attach(first, 0);
            arrival.attach(second, 1);
            assertThrows(IllegalArgumentException.class, () -> arrival.attach(second, 1));
            assertThrows(IllegalArgumentException.class, () -> arrival.attach(second, Arrival.CHANNELS_MAX));
            for (int i = 0; i < 5; i++) {
                launch(arrival);
                assertThrows(IllegalStateException.class, () -> launch(arrival));
                first.frames(20);
                second.frames(30);
                final long target = 50L * (i + 1);
                while (arrival.stats().returned() < target) {
                    arrival.serve(Duration.ofMillis(5));
                }
                assertTrue(arrival.drain(LONG));
            }
            long sums = 0;
            for (int i = 0; i < 250; i++) {
                assertEquals(i + 1, result(i, 0));
                sums += result(i, 3);
            }
            long expected = 0;
            for (int i = 0; i < 150; i++) {
                expected += (i < 100 ? 2 : 1) * ScriptedSubscriber.sum(i, FRAME_BYTES);
            }
            assertEquals(expected, sums);
        }
    }

    @Test
    void shouldGiveFramesBackWhenClosedInTheMiddle() {
        final ScriptedSubscriber subscriber = new ScriptedSubscriber(device, 1, FRAME_BYTES, 16);
        final Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT.withEntries(8));
        arrival.attach(subscriber, 0);
        launch(arrival);
        subscriber.frames(1_000);
        arrival.serve(Duration.ofMillis(5));
        arrival.close();
        arrival.close();
        assertEquals(0, subscriber.framesHeld);
        assertEquals(0, arrival.doWork());
        subscriber.close();
    }

    /// Else a source that goes would hold up the engine until the kernel ends.
    @Test
    void shouldFreeMemoryLaterWhileTheKernelRuns() {
        try (ScriptedSubscriber subscriber = new ScriptedSubscriber(device, 1, FRAME_BYTES, 2);
                Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT)) {
            arrival.attach(subscriber, 0);
            launch(arrival);
            subscriber.frames(1);
            while (arrival.stats().returned() < 1) {
                arrival.doWork();
            }
            final long before = device.allocatedBytes();
            final DeviceRegion region = device.allocate(1 << 20);
            final MemorySegment pinned = device.allocatePinned(1 << 16);
            device.free(region);
            device.freePinned(pinned);
            assertTrue(arrival.isRunning(), "freeing waited for nothing");
            assertEquals(before + (1 << 20), device.allocatedBytes());
            assertThrows(IllegalArgumentException.class, () -> device.free(region));
            assertTrue(arrival.drain(LONG));
            device.free(device.allocate(64));
            assertEquals(before, device.allocatedBytes());
            assertThrows(IllegalArgumentException.class, () -> device.free(region));
        }
    }

    /// Else a follower whose leader has gone would hold up its node until the kernel ends.
    @Test
    void shouldUnregisterHostMemoryLaterWhileTheKernelRuns() {
        final AtomicBoolean gone = new AtomicBoolean();
        try (Arena arena = Arena.ofShared();
                Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT)) {
            final MemorySegment memory = arena.allocate(1 << 16, 1 << 12);
            device.registerHost(memory);
            launch(arrival);
            device.unregisterHost(memory, () -> gone.set(true));
            assertTrue(arrival.isRunning(), "unregistering waited for nothing");
            assertTrue(arrival.drain(LONG));
            device.free(device.allocate(64));
            assertTrue(gone.get(), "memory is still registered");
        }
    }

    /// Else a subscriber that is closed would hold up its node until a kernel ends that it knows nothing of.
    @Test
    void shouldCloseAnotherBackendOfTheDeviceWhileTheKernelRuns() throws InterruptedException {
        final DeviceBackend other = open();
        // Before the launch: beside a kernel that runs, loading may wait for it.
        other.load(ByteSumKernel.persistent());
        try (Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT)) {
            launch(arrival);
            final DeviceRegion region = other.allocate(1 << 20);
            final MemorySegment pinned = other.allocatePinned(1 << 16);
            final DeviceStream stream = other.openStream();
            stream.copyToDevice(region.address(), pinned, 0, pinned.byteSize());
            stream.record(other.openEvent());
            final Thread closing = Thread.ofPlatform().daemon().start(other::close);
            assertTrue(closing.join(LONG), "closing waits for a kernel of another backend");
            assertTrue(arrival.isRunning());
            assertThrows(IllegalStateException.class, () -> pinned.get(ValueLayout.JAVA_BYTE, 0));
        }
    }

    /// Else the blocks that run would wait for ever for those that cannot start.
    @Test
    void shouldRefuseAGridThatTheDeviceDoesNotHoldAtOnce() {
        try (ScriptedSubscriber subscriber = new ScriptedSubscriber(device, 1, FRAME_BYTES, 2);
                Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT.withEntries(4))) {
            arrival.attach(subscriber, 0);
            final DeviceException refused =
                    assertThrows(DeviceException.class, () -> launch(arrival, 200_000), "no GPU holds as many");
            final String message = refused.getMessage();
            assertTrue(
                    message.startsWith(device.name() + ": kernel framecast_byte_sum: expected at most ")
                            && message.contains(" blocks of 128 threads, got 200000: "),
                    message);
            if (capacity() > 0) {
                assertTrue(message.contains(" at most " + capacity() + " "), message);
            }
            assertFalse(arrival.isRunning());
            // No kernel was started, and the ring is as good as before.
            launch(arrival);
            subscriber.frames(3);
            subscriber.end(Subscriber.State.END_OF_STREAM);
            assertTrue(arrival.serve(LONG));
            assertFrame(2, 2);
            assertTrue(arrival.drain(LONG));
        }
    }

    @Test
    void shouldCountTheBlocksOfOtherPersistentKernelsOfTheGpu() {
        Assumptions.assumeTrue(capacity() > 0, "what other kernels leave room for is not known here");
        try (DeviceBackend twin = open();
                Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT);
                Arrival beside = Arrival.open(twin, ArrivalOptions.DEFAULT)) {
            // Nothing is loaded beside a kernel that runs.
            twin.load(ByteSumKernel.persistent());
            launch(arrival, capacity() - 5);
            final DeviceException refused = assertThrows(DeviceException.class, () -> launch(beside, 6));
            assertTrue(
                    refused.getMessage().contains(": expected at most 5 blocks of 128 threads, got 6: "),
                    refused.getMessage());
            launch(beside, 5);
            assertTrue(beside.drain(LONG));
            assertTrue(arrival.drain(LONG));
            // They have ended: all is free again, and one behind the other on one stream is one at a time.
            launch(beside, capacity());
            assertTrue(beside.drain(LONG));
            launch(beside, capacity());
            assertTrue(beside.drain(LONG));
        }
    }

    @Test
    void shouldAllocateNothingInSteadyState() {
        final var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (ScriptedSubscriber subscriber = new ScriptedSubscriber(device, 1, 64, 4);
                Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT.withEntries(8))) {
            arrival.attach(subscriber, 0);
            launch(arrival);
            subscriber.frames(3_000);
            pump(arrival, subscriber);
            subscriber.frames(3_000);
            final long before = threads.getCurrentThreadAllocatedBytes();
            pump(arrival, subscriber);
            final long bytes = threads.getCurrentThreadAllocatedBytes() - before;
            // One object for every tenth frame would be more.
            assertTrue(bytes < 3_000 / 10 * 16, "allocated " + bytes + " bytes");
        }
    }

    private static void pump(final Arrival arrival, final ScriptedSubscriber subscriber) {
        while (!subscriber.isIdle()) {
            if (arrival.doWork() == 0) {
                Thread.onSpinWait();
            }
        }
    }
}
