package io.framecast.gpu.arrival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Arrival;
import io.framecast.api.ArrivalOptions;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedDevice;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class EmulatedArrivalTest extends ArrivalContract {
    @Override
    protected DeviceBackend open() {
        return new EmulatedDevice(3, EmulatedConfig.DEFAULT.withResidentBlocks(32));
    }

    @Override
    protected int capacity() {
        return 32;
    }

    @Override
    protected int blocks() {
        return 1;
    }

    @Test
    void shouldSayWhichKernelDoesNotEnd() {
        final CountDownLatch release = new CountDownLatch(1);
        final KernelSource deaf =
                KernelSource.persistent("deaf", () -> new byte[0], (_, _, _, _) -> awaitDeaf(release));
        try (DeviceBackend device = open()) {
            final ScriptedSubscriber subscriber = new ScriptedSubscriber(device, 1, 100, 16);
            final Arrival arrival = Arrival.open(device, new ArrivalOptions(4, 2000));
            arrival.attach(subscriber, 0);
            arrival.launch(deaf, 1, 1);
            subscriber.frames(10);
            while (arrival.stats().outstanding() < 4) {
                arrival.doWork();
            }
            final DeviceException refused = assertThrows(DeviceException.class, arrival::close);
            assertTrue(
                    refused.getMessage()
                            .startsWith(
                                    "emulated:3: kernel deaf did not end within 2000 ms after it was asked to and holds 4"),
                    refused.getMessage());
            // The frames that it may still read stay held.
            assertTrue(subscriber.framesHeld >= 4);
            // Others go on beside it.
            try (DeviceStream stream = device.openStream()) {
                stream.copyWithin(
                        device.allocate(64).address(), device.allocate(64).address(), 64);
                stream.synchronize();
            }
            release.countDown();
            arrival.close();
            assertEquals(0, subscriber.framesHeld);
            subscriber.close();
        }
    }

    @Test
    void shouldCountOneKernelAtATimeOfEachStream() {
        final CountDownLatch release = new CountDownLatch(1);
        try (DeviceBackend device = open();
                DeviceStream stream = device.openStream();
                DeviceStream other = device.openStream()) {
            final DeviceKernel kernel = device.load(
                    KernelSource.persistent("waits", () -> new byte[0], (_, _, _, _) -> awaitDeaf(release)));
            stream.launch(kernel, capacity(), 1);
            stream.launch(kernel, capacity(), 1);
            assertThrows(DeviceException.class, () -> other.launch(kernel, 1, 1));
            assertTrue(device.isBusy());
            assertTrue(device.runsPersistentKernel());
            release.countDown();
            stream.synchronize();
            assertFalse(device.isBusy());
            assertFalse(device.runsPersistentKernel());
            other.launch(kernel, capacity(), 1);
            other.synchronize();
        }
    }

    private static void awaitDeaf(final CountDownLatch release) {
        boolean open = false;
        while (!open) {
            try {
                release.await();
                open = true;
            } catch (final InterruptedException _) {
                // Deaf on purpose.
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void shouldGiveFramesBackWhenTheKernelFails() {
        try (DeviceBackend device = open()) {
            final KernelSource broken = KernelSource.persistent("broken", () -> new byte[0], (memory, _, _, all) -> {
                final EmulatedArrivals arrivals = EmulatedArrivals.open(memory, all[0]);
                arrivals.await(ArrivalMatch.ANY, new ArrivalRecord());
                memory.at(1, 1);
            });
            final ScriptedSubscriber subscriber = new ScriptedSubscriber(device, 1, 100, 16);
            final Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT);
            arrival.attach(subscriber, 0);
            arrival.launch(broken, 1, 1);
            subscriber.frames(3);
            final DeviceException failed = assertThrows(DeviceException.class, () -> {
                while (arrival.isRunning()) {
                    arrival.doWork();
                }
            });
            assertTrue(failed.getMessage().startsWith("emulated:3: kernel broken failed: "), failed.getMessage());
            arrival.close();
            assertEquals(0, subscriber.framesHeld);
        }
    }

    @Test
    void shouldRefuseWhatCannotWork() {
        try (DeviceBackend device = open();
                DeviceBackend other = new EmulatedDevice(4, EmulatedConfig.DEFAULT);
                ScriptedSubscriber elsewhere = new ScriptedSubscriber(other, 1, 100, 1);
                Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT)) {
            assertThrows(IllegalArgumentException.class, () -> arrival.attach(elsewhere, 0));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> arrival.launch(new KernelSource("short", () -> new byte[0], (_, _, _, _) -> {}), 1, 1));
        }
    }

    @Test
    void shouldReadFramesOfAnotherBackendOfTheSameGpu() {
        try (DeviceBackend device = open();
                DeviceBackend twin = open();
                ScriptedSubscriber elsewhere = new ScriptedSubscriber(twin, 1, 100, 2);
                Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT)) {
            final long[] seen = new long[1];
            arrival.attach(elsewhere, 0);
            arrival.launch(
                    KernelSource.persistent("reads", () -> new byte[0], (memory, _, _, all) -> {
                        final EmulatedArrivals arrivals = EmulatedArrivals.open(memory, all[0]);
                        final ArrivalRecord frame = new ArrivalRecord();
                        while (arrivals.await(ArrivalMatch.ANY, frame)) {
                            seen[0] += ByteSumKernel.sum(arrivals.data(frame));
                            arrivals.release(frame);
                        }
                    }),
                    1,
                    1);
            elsewhere.frames(2);
            while (arrival.stats().returned() < 2) {
                arrival.doWork();
            }
            assertTrue(arrival.drain(java.time.Duration.ofSeconds(30)));
            assertEquals(ScriptedSubscriber.sum(0, 100) + ScriptedSubscriber.sum(1, 100), seen[0]);
        }
    }
}
