package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceAccess;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceBackendContract;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceGather;
import io.framecast.api.spi.DeviceMapping;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.EngineThread;
import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.ContractPtx;
import java.io.IOException;
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
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
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
            List.of("contexts", "device", "imported", "pinned", "registered", "streams", "events", "modules");

    private StubChild() {}

    /// @param arguments one of `contract`, `other`, `calls`, `engine`, `errors`, `access`, `lost`, `probe`
    public static void main(final String[] arguments) throws Throwable {
        switch (arguments[0]) {
            case "contract" -> contract();
            case "other" -> {
                ContextWatch.enterOther();
                final String before = ContextWatch.current();
                report("unavailable", new CudaProvider().unavailable().orElse("nothing"));
                report("probe", before.equals(ContextWatch.current()) ? "left" : ContextWatch.current());
                contract();
            }
            case "calls" -> calls();
            case "engine" -> engine();
            case "errors" -> errors();
            case "access" -> access();
            case "lost" -> lost();
            case "probe" -> {
                report("unavailable", new CudaProvider().unavailable().orElse("nothing"));
                report("place", new CudaProvider().pciAddress(0).orElse("nowhere"));
                report("none", new CudaProvider().pciAddress(1).orElse("nowhere"));
            }
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    /// The contract on `cuda`; not a test class itself, because it needs the stub.
    static final class Contract extends DeviceBackendContract {
        @Override
        protected DeviceBackend open() {
            return ContextWatch.over(new CudaProvider().open(0));
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
            report(test.getName(), verdict.replaceAll("\\s+", " ") + leaks());
            report(test.getName() + "-contexts", ContextWatch.changed().toString());
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
            report("name", backend.name());
            report("description", backend.description());
            final DeviceRegion region = backend.allocate(1 << 20);
            final MemorySegment host = backend.allocatePinned(1 << 20);
            final DeviceStream stream = backend.openStream();
            final DeviceEvent event = backend.openEvent();
            copyMany(region, host, stream, event);
            final long beforeBytes = threads.getCurrentThreadAllocatedBytes();
            copyMany(region, host, stream, event);
            report("allocated", Long.toString(threads.getCurrentThreadAllocatedBytes() - beforeBytes));
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
            report(name, Long.toString(stub("framecast_stub_calls", name)));
        }
        report("leaks", leaks());
    }

    // On a thread of the engine's.
    private static void engine() throws Throwable {
        final List<Throwable> failures = new ArrayList<>();
        final Thread thread = new EngineThread(() -> {
            try (DeviceBackend backend = new CudaProvider().open(0)) {
                final DeviceRegion region = backend.allocate(1 << 20);
                final MemorySegment host = backend.allocatePinned(1 << 20);
                final DeviceEvent event = backend.openEvent();
                final DeviceStream stream = backend.openStream();
                final long before = stub("framecast_stub_calls", "cuCtxSetCurrent");
                copyMany(region, host, stream, event);
                report("set", Long.toString(stub("framecast_stub_calls", "cuCtxSetCurrent") - before));
                report("pushed", Long.toString(stub("framecast_stub_calls", "cuCtxPushCurrent_v2")));
            } catch (final Throwable e) {
                failures.add(e);
            }
            report("left", ContextWatch.current());
        });
        thread.start();
        thread.join();
        report("failures", failures.toString());
        report("leaks", leaks());
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

    private static void errors() throws IOException {
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
            registerReadOnly(backend);
        }
    }

    // As a ring is mapped in processes that may not write it.
    private static void registerReadOnly(final DeviceBackend backend) throws IOException {
        final Path file = Files.createTempFile("framecast", null);
        try (FileChannel channel = FileChannel.open(
                        file, StandardOpenOption.DELETE_ON_CLOSE, StandardOpenOption.WRITE, StandardOpenOption.READ);
                Arena arena = Arena.ofConfined()) {
            channel.write(ByteBuffer.allocate(4096));
            final MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 4096, arena);
            backend.registerHost(mapped);
            backend.unregisterHost(mapped);
            report("read-only", "registered");
        }
    }

    private static void access() throws Throwable {
        try (DeviceBackend backend = new CudaProvider().open(0)) {
            final DeviceAccess access = backend.access();
            report("export-refusal", access.exportRefusal().orElse("nothing"));
            report("mapping-refusal", access.mappingRefusal().orElse("nothing"));
            final DeviceRegion region = backend.allocate(2 << 20);
            final DeviceRegion exported = access.export(region);
            final Path descriptor = Path.of("/proc/self/fd/" + exported.dmaBufDescriptor());
            report("descriptor", Boolean.toString(Files.exists(descriptor)));
            access.flushRemoteWrites();
            access.unexport(exported);
            report("descriptor-after", Boolean.toString(Files.exists(descriptor)));
            report(
                    "cuFlushGPUDirectRDMAWrites",
                    Long.toString(stub("framecast_stub_calls", "cuFlushGPUDirectRDMAWrites")));
            try (DeviceMapping _ = access.map(region)) {
                report("mapped", Long.toString(gdrLive()));
            } catch (final DeviceException e) {
                report("map", e.getMessage());
            }
            report("unmapped", Long.toString(gdrLive()));
        }
        report("leaks", leaks());
    }

    // The device is used, then breaks for good, then everything is given back.
    private static void lost() throws Throwable {
        try (DeviceBackend backend = new CudaProvider().open(0)) {
            final byte[] newer = new String(ContractPtx.resource("contract_add.ptx"), StandardCharsets.UTF_8)
                    .replaceFirst("\\.version \\S+", ".version 9.0")
                    .getBytes(StandardCharsets.UTF_8);
            sayFailure("old-driver", () -> backend.load(kernel("contract_add", newer)));
            fail("cuModuleLoadData", 222);
            final DeviceRegion pieces = backend.allocate(8192);
            try (DeviceStream stream = backend.openStream()) {
                final DeviceGather gather = backend.openGather(stream);
                gather.add(pieces.address() + 4096, pieces.address(), 4096);
                gather.flush();
                stream.synchronize();
                report("old-driver-gather", Long.toString(stub("framecast_stub_calls", "cuMemcpyDtoDAsync_v2")));
            }
            fail("cuStreamCreate", 2);
            sayFailure("stream", backend::openStream);
            fail("", 0);
        }
        for (final int code : new int[] {709, 719, 214, 226, 999}) {
            final DeviceBackend backend = new CudaProvider().open(0);
            final DeviceRegion region = backend.allocate(4096);
            backend.allocate(8192);
            final MemorySegment host = backend.allocatePinned(4096);
            final DeviceStream stream = backend.openStream();
            final DeviceEvent event = backend.openEvent();
            stream.copyToDevice(region.address(), host, 0, 4096);
            stream.record(event);
            broken(code);
            sayFailure(code + "-copy", () -> stream.copyToDevice(region.address(), host, 0, 4096));
            sayFailure(code + "-query", event::isComplete);
            sayFailure(code + "-allocate", () -> backend.allocate(1));
            sayFailure(code + "-free", () -> backend.free(region));
            final long before = stub("framecast_stub_calls", "cuStreamDestroy_v2");
            try {
                backend.close();
                report(code + "-close", "closed");
            } catch (final DeviceException e) {
                report(code + "-close", e.getMessage());
            }
            report(code + "-allocated", Long.toString(backend.allocatedBytes()));
            report(code + "-left", backend.resources().toString());
            final long destroyed = stub("framecast_stub_calls", "cuStreamDestroy_v2") - before;
            report(code + "-destroyed", Long.toString(destroyed));
            broken(0);
        }
    }

    private static void broken(final int code) throws Throwable {
        final MethodHandle handle = Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.libraryLookup(CudaCalls.LIBRARY, Arena.global())
                                .findOrThrow("framecast_stub_break"),
                        FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT));
        handle.invokeExact(code);
    }

    private static void fail(final String function, final int code) throws Throwable {
        final MethodHandle handle = Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.libraryLookup(CudaCalls.LIBRARY, Arena.global())
                                .findOrThrow("framecast_stub_fail"),
                        FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        try (Arena arena = Arena.ofConfined()) {
            handle.invokeExact(arena.allocateFrom(function), code);
        }
    }

    private static long gdrLive() throws Throwable {
        final MethodHandle handle = Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.libraryLookup(GdrCalls.LIBRARY, Arena.global())
                                .findOrThrow("framecast_stub_gdr_live"),
                        FunctionDescriptor.of(ValueLayout.JAVA_LONG));
        return (long) handle.invokeExact();
    }

    private static KernelSource kernel(final String name, final byte[] ptx) {
        return new KernelSource(name, () -> ptx, (_, _, _, _) -> {});
    }

    private static void sayFailure(final String key, final Runnable call) {
        try {
            call.run();
            report(key, "nothing thrown");
        } catch (final DeviceException e) {
            report(key, e.getMessage());
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

    private static void report(final String key, final String value) {
        System.out.println(key + "\t" + value);
    }
}
