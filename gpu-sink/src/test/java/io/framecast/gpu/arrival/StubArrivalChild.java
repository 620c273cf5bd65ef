package io.framecast.gpu.arrival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Arrival;
import io.framecast.api.ArrivalOptions;
import io.framecast.api.DeviceRequests;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceResources.Kind;
import io.framecast.api.spi.DeviceStream;
import io.framecast.gpu.cuda.ContextWatch;
import io.framecast.gpu.cuda.CudaProvider;
import java.lang.annotation.Annotation;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Runs in a JVM of its own whose libcuda.so.1 is the stub, with the persistent kernel linked in: the arrival
/// contract on `cuda`, and what only holds there. Reports one line per test on stdout: `name<tab>verdict`.
final class StubArrivalChild {
    private static final List<String> LIVE = List.of("contexts", "device", "pinned", "streams", "events", "modules");

    private StubArrivalChild() {}

    static final class Contract extends ArrivalContract {
        @Override
        protected DeviceBackend open() {
            return new CudaProvider().open(0);
        }

        @Override
        protected int blocks() {
            return 3;
        }

        // Four multiprocessors of 1024 threads.
        @Override
        protected int capacity() {
            return 32;
        }

        /// Blocks that are larger or smaller than those that run: counted as what they may be in the way of.
        @Test
        void shouldCountWhatBlocksOfOtherSizesMayKeepOff() {
            try (Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT);
                    DeviceStream stream = device.openStream()) {
                launch(arrival);
                final DeviceKernel kernel = device.load(ByteSumKernel.persistent());
                // Three blocks of eighths: of halves each is in the way of one, of sixteenths of two.
                assertRefused(stream, kernel, 512, 8 - 3);
                assertRefused(stream, kernel, 64, 64 - 6);
                assertRefused(stream, kernel, 1024, 4 - 3);
                assertTrue(arrival.isRunning());
            }
        }

        private static void assertRefused(
                final DeviceStream stream, final DeviceKernel kernel, final int threads, final int room) {
            final DeviceException refused =
                    assertThrows(DeviceException.class, () -> stream.launch(kernel, room + 1, threads));
            assertTrue(
                    refused.getMessage().contains(" at most " + room + " blocks of " + threads + " threads, "),
                    refused.getMessage());
        }

        @Test
        void shouldGiveMemoryOutAgainWhileTheKernelRuns() {
            try (Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT);
                    DeviceStream stream = device.openStream()) {
                launch(arrival);
                final long bytes = device.allocatedBytes();
                final long pinnedBytes = device.resources().inUse(Kind.PINNED_BYTES);
                for (int i = 0; i < 100; i++) {
                    final DeviceRegion region = device.allocate(1 << 20);
                    final MemorySegment pinned = device.allocatePinned(1 << 16);
                    device.free(region);
                    device.freePinned(pinned);
                    assertThrows(IllegalArgumentException.class, () -> device.free(region));
                }
                assertEquals(bytes + (1 << 20), device.allocatedBytes());
                assertEquals(pinnedBytes + (1 << 16), device.resources().inUse(Kind.PINNED_BYTES));
                final DeviceRegion used = device.allocate(1 << 20);
                final MemorySegment host = device.allocatePinned(1 << 16);
                stream.copyToDevice(used.address(), host, 0, host.byteSize());
                device.free(used);
                final DeviceRegion other = device.allocate(1 << 20);
                assertNotEquals(used.address(), other.address(), "a copy into it is still under way");
                stream.synchronize();
                device.free(other);
                device.allocate(1 << 20);
                device.allocate(1 << 20);
                assertEquals(bytes + 2 * (1 << 20), device.allocatedBytes());
                assertTrue(arrival.isRunning());
            }
        }

        /// It would be written by a kernel that only later learns that it is closed.
        @Test
        void shouldNotGiveAQueueOutAgainThatAKernelMayStillWrite() {
            try (Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT)) {
                final long before = device.resources().inUse(Kind.PINNED_BYTES);
                launch(arrival);
                final DeviceRequests requests = DeviceRequests.open(device, 8);
                final long queueBytes = device.resources().inUse(Kind.PINNED_BYTES) - before;
                requests.close();
                final MemorySegment other = device.allocatePinned(queueBytes);
                assertNotEquals(requests.address(), other.address());
                assertTrue(arrival.drain(Duration.ofSeconds(60)));
                requests.close();
                device.freePinned(other);
                assertEquals(before, device.resources().inUse(Kind.PINNED_BYTES));
            }
        }

        @Test
        void shouldLeaveNothingBehindWhenWhatIsOpenedIsRefusedOnTheWay() throws Throwable {
            for (final String refused : List.of("cuMemHostAlloc", "cuStreamCreate", "cuEventCreate")) {
                assertNothingLeft(device, refused, () -> Arrival.open(device, ArrivalOptions.DEFAULT));
            }
            for (final String refused :
                    List.of("cuMemAlloc_v2", "cuStreamCreate", "cuMemsetD8Async", "cuMemHostAlloc")) {
                assertNothingLeft(device, refused, () -> DeviceRequests.open(device, 8));
            }
        }

        @Test
        void shouldLaunchNothingThatNobodyWouldKnowToRun() throws Throwable {
            try (Arrival arrival = Arrival.open(device, ArrivalOptions.DEFAULT)) {
                final long before = stub("framecast_stub_calls", "cuLaunchKernel");
                fail("cuEventCreate", 2);
                assertThrows(DeviceException.class, () -> launch(arrival));
                fail("cuLaunchKernel", 701);
                assertThrows(DeviceException.class, () -> launch(arrival));
                fail("", 0);
                assertEquals(before + 1, stub("framecast_stub_calls", "cuLaunchKernel"));
                // Nothing runs: memory is freed at once.
                final long bytes = device.allocatedBytes();
                device.free(device.allocate(1 << 20));
                assertEquals(bytes, device.allocatedBytes());
            }
        }
    }

    private interface Opening {
        AutoCloseable open();
    }

    private static void assertNothingLeft(final DeviceBackend device, final String refused, final Opening opening)
            throws Throwable {
        final String before = device.resources().toString();
        fail(refused, 2);
        assertThrows(DeviceException.class, opening::open);
        fail("", 0);
        assertEquals(before, device.resources().toString(), refused);
    }

    private static void fail(final String function, final int code) throws Throwable {
        final var call = Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.libraryLookup("libcuda.so.1", Arena.global())
                                .findOrThrow("framecast_stub_fail"),
                        FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        try (Arena arena = Arena.ofConfined()) {
            call.invokeExact(arena.allocateFrom(function), code);
        }
    }

    public static void main(final String[] arguments) throws Throwable {
        ContextWatch.enterOther();
        final String others = ContextWatch.current();
        final Method before = annotated(BeforeEach.class).getFirst();
        final Method after = annotated(AfterEach.class).getFirst();
        for (final Method test : annotated(Test.class)) {
            final Contract contract = new Contract();
            String verdict = "passed";
            try {
                before.invoke(contract);
                test.invoke(contract);
            } catch (final InvocationTargetException e) {
                verdict = "failed: " + e.getCause();
            }
            after.invoke(contract);
            System.out.println(test.getName() + "\t" + verdict.replaceAll("\\s+", " ") + leaks()
                    + (others.equals(ContextWatch.current()) ? "" : ", another context is current"));
        }
    }

    private static List<Method> annotated(final Class<? extends Annotation> annotation) {
        return Stream.of(ArrivalContract.class, Contract.class)
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(annotation))
                .sorted(Comparator.comparing(Method::getName))
                .toList();
    }

    private static String leaks() throws Throwable {
        final StringBuilder leaks = new StringBuilder();
        for (final String what : LIVE) {
            final long count = stub("framecast_stub_live", what);
            if (count != 0) {
                leaks.append(", leaks ").append(count).append(' ').append(what);
            }
        }
        return leaks.toString();
    }

    private static long stub(final String function, final String argument) throws Throwable {
        final SymbolLookup library = SymbolLookup.libraryLookup("libcuda.so.1", Arena.global());
        final var call = Linker.nativeLinker()
                .downcallHandle(
                        library.findOrThrow(function),
                        FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            return (long) call.invokeExact(arena.allocateFrom(argument));
        }
    }
}
