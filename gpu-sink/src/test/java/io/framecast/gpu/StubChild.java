package io.framecast.gpu;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceBackendContract;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import java.lang.annotation.Annotation;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Runs in a JVM of its own whose libcuda.so.1 is the stub, and reports one line per finding on stdout:
/// `key<tab>value`.
final class StubChild {
    private static final int COPIES = 10_000;
    private static final List<String> LIVE =
            List.of("contexts", "device", "pinned", "registered", "streams", "events", "modules");

    private StubChild() {}

    /// @param arguments one of `contract`, `calls`, `errors`, `probe`
    public static void main(final String[] arguments) throws Throwable {
        switch (arguments[0]) {
            case "contract" -> contract();
            case "calls" -> calls();
            case "errors" -> errors();
            case "probe" -> say("unavailable", new CudaProvider().unavailable().orElse("nothing"));
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    /// The contract on `cuda`; not a test class itself, because it needs the stub.
    static final class Contract extends DeviceBackendContract {
        @Override
        protected DeviceBackend open() {
            return new CudaProvider().open(0);
        }

        @Override
        protected KernelSource addKernel() {
            return ContractPtx.withPtx(super.addKernel());
        }
    }

    private static void contract() throws Throwable {
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
            say(test.getName(), verdict.replaceAll("\\s+", " ") + leaks());
        }
    }

    private static List<Method> annotated(final Class<? extends Annotation> annotation) {
        return Arrays.stream(DeviceBackendContract.class.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(annotation))
                .sorted(Comparator.comparing(Method::getName))
                .peek(method -> method.setAccessible(true))
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

    private static void calls() throws Throwable {
        final var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (DeviceBackend backend = new CudaProvider().open(0)) {
            say("name", backend.name());
            say("description", backend.description());
            final DeviceRegion region = backend.allocate(1 << 20);
            final MemorySegment host = backend.allocatePinned(1 << 20);
            final DeviceStream stream = backend.openStream();
            final DeviceEvent event = backend.openEvent();
            copyMany(region, host, stream, event);
            final long beforeBytes = threads.getCurrentThreadAllocatedBytes();
            copyMany(region, host, stream, event);
            say("allocated", Long.toString(threads.getCurrentThreadAllocatedBytes() - beforeBytes));
        }
        for (final String name : List.of(
                "cuMemcpyHtoDAsync_v2",
                "cuMemcpyDtoHAsync_v2",
                "cuMemcpyDtoDAsync_v2",
                "cuMemcpyHtoD_v2",
                "cuMemcpyDtoH_v2",
                "cuEventRecord",
                "cuStreamSynchronize",
                "cuCtxSynchronize")) {
            say(name, Long.toString(stub("framecast_stub_calls", name)));
        }
        say("leaks", leaks());
    }

    private static void copyMany(
            final DeviceRegion region, final MemorySegment host, final DeviceStream stream, final DeviceEvent event) {
        for (int i = 0; i < COPIES; i++) {
            stream.copyToDevice(region.address() + i, host, i, 1000);
            stream.copyWithin(region.address() + 500_000, region.address(), 1000);
            stream.copyToHost(host, 500_000, region.address(), 1000);
            stream.record(event);
            stream.await(event);
        }
        event.synchronize();
    }

    private static void errors() {
        try (DeviceBackend backend = new CudaProvider().open(0)) {
            sayFailure("memory", () -> backend.allocate(1L << 40));
            sayFailure("ordinal", () -> new CudaProvider().open(1));
            sayFailure("ptx", () -> backend.load(kernel("contract_add", new byte[] {'n', 'o'})));
            sayFailure("entry", () -> backend.load(kernel("absent", ContractPtx.resource("contract_add.ptx"))));
            sayFailure("address", () -> backend.openStream().fill(4096, (byte) 0, 1));
            final MemorySegment memory = Arena.global().allocate(4096);
            sayFailure("unregister", () -> backend.unregisterHost(memory));
            backend.registerHost(memory);
            sayFailure("register", () -> backend.registerHost(memory));
        }
    }

    private static KernelSource kernel(final String name, final byte[] ptx) {
        return new KernelSource(name, () -> ptx, (_, _, _, _) -> {});
    }

    private static void sayFailure(final String key, final Runnable call) {
        try {
            call.run();
            say(key, "nothing thrown");
        } catch (final DeviceException e) {
            say(key, e.getMessage());
        }
    }

    private static long stub(final String function, final String argument) throws Throwable {
        final SymbolLookup library = SymbolLookup.libraryLookup(CudaCalls.LIBRARY, Arena.global());
        final MethodHandle handle = Linker.nativeLinker()
                .downcallHandle(
                        library.findOrThrow(function),
                        FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            return (long) handle.invokeExact(arena.allocateFrom(argument));
        }
    }

    private static void say(final String key, final String value) {
        System.out.println(key + "\t" + value);
    }
}
