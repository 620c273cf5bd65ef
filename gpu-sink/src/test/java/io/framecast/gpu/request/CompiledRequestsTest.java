package io.framecast.gpu.request;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.gpu.SharedWords;
import io.framecast.gpu.arrival.HeaderLibrary;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedDevice;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The request functions of `framecast.cuh`, compiled for the host, against the host's end.
class CompiledRequestsTest {
    private static final int REQUESTS = 4;
    private static final int THREADS = 3;
    private static final int EACH = 400;

    @TempDir
    static Path directory;

    @Test
    void shouldServeSeveralThreadsOfAKernelAtOnce() throws IOException, InterruptedException {
        try (HeaderLibrary library = HeaderLibrary.build(directory);
                Arena arena = Arena.ofShared();
                DeviceBackend device = new EmulatedDevice(6, EmulatedConfig.DEFAULT)) {
            final MethodHandle publish = library.function(
                    "publish", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT);
            final MethodHandle await = library.function("await_answer", JAVA_INT, JAVA_LONG, JAVA_INT);
            final TakingPublisher publisher = new TakingPublisher(arena, 64);
            final DeviceRegion data = device.allocate(64);
            // The header needs the ticket counter where it can reach it.
            final MemorySegment counter = arena.allocate(64, 64);
            try (HostRequests requests = new HostRequests(device, REQUESTS)) {
                requests.allow(data);
                requests.bind(publisher, 64);
                SharedWords.longAt(
                        MemorySegment.ofAddress(requests.address()).reinterpret(RequestLayout.REQUEST_HEADER_BYTES),
                        RequestLayout.TICKETS_OFFSET,
                        counter.address());
                final AtomicInteger done = new AtomicInteger();
                final Thread[] threads = new Thread[THREADS];
                for (int t = 0; t < THREADS; t++) {
                    final int thread = t;
                    threads[t] = Thread.ofPlatform().start(() -> {
                        for (int i = 0; i < EACH; i++) {
                            done.addAndGet(ask(publish, await, requests.address(), data.address(), thread * EACH + i));
                        }
                    });
                }
                while (Arrays.stream(threads).anyMatch(Thread::isAlive)) {
                    requests.doWork();
                }
                assertEquals(THREADS * EACH, done.get());
                assertEquals(THREADS * EACH, publisher.taken);
                // Each tag came once.
                final long distinct = publisher.options.stream()
                        .map(options -> io.framecast.api.Arrival.tag(options.metadata()))
                        .distinct()
                        .count();
                assertEquals(THREADS * EACH, distinct);
            }
        }
    }

    private static int ask(
            final MethodHandle publish, final MethodHandle await, final long queue, final long data, final int tag) {
        try {
            final long ticket = (long) publish.invokeExact(queue, 0, data, 64L, RequestLayout.REQUEST_TAGGED, tag);
            final int status = (int) await.invokeExact(queue, (int) ticket);
            // A thread that the system let wait meanwhile finds that others have asked since.
            return status == RequestLayout.STATUS_DONE || status == RequestLayout.STATUS_FORGOTTEN ? 1 : 0;
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }
}
