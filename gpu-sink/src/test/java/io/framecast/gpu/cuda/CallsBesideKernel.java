package io.framecast.gpu.cuda;

import io.framecast.gpu.ContractPtx;
import io.framecast.gpu.SharedWords;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import jcuda.Pointer;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/// Which calls of the driver wait for a kernel that runs on another stream: each is made in a process of its
/// own, beside a kernel that ends by itself, and timed. One JSON object on stdout, a table on stderr. The first
/// thing to be known of a driver before persistent kernels are trusted beside it. A program, not a test.
public final class CallsBesideKernel {
    static final String KERNEL = "framecast_spin";
    private static final List<String> CALLS = List.of(
            "cuMemAlloc",
            "cuMemHostAlloc",
            "cuMemHostRegister",
            "cuMemHostUnregister",
            "cuStreamCreate",
            "cuEventCreate",
            "cuMemsetD8Async",
            "cuMemcpyDtoHAsync",
            "cuMemcpyHtoDAsync",
            "cuModuleLoadData",
            "cuStreamDestroy",
            "cuMemFreeHost",
            "cuMemFree");
    private static final int KERNEL_MS = 2000;
    private static final int BYTES = 1 << 20;
    private static final int CALL_SECONDS_MAX = 10;
    private static final double NS_PER_MS = 1e6;

    private final CUstream other = new CUstream();
    private final CUdeviceptr region = new CUdeviceptr();
    private final Pointer pinned = new Pointer();
    private final ByteBuffer heap = ByteBuffer.allocateDirect(2 * BYTES);
    private final Pointer registered;

    private CallsBesideKernel() {
        // Of whole pages.
        registered = Pointer.to(heap.alignedSlice(4096));
    }

    /// Words: `cuda:N`, and how long the kernel runs in milliseconds, default 2000; behind that one call.
    public static void main(final String[] words) throws IOException, InterruptedException {
        final int milliseconds = words.length > 1 ? Integer.parseInt(words[1]) : KERNEL_MS;
        if (words.length > 2) {
            final int ordinal = Integer.parseInt(words[0].substring(words[0].indexOf(':') + 1));
            System.out.println(measure(ordinal, milliseconds, words[2]));
            System.out.flush();
            // The kernel may still run: this process does not wait for it.
            Runtime.getRuntime().halt(0);
        }
        final List<String> rows = new ArrayList<>();
        for (final String call : CALLS) {
            final String row = child(words[0], milliseconds, call);
            rows.add(row);
            System.err.println(row);
        }
        System.out.println("{\"kernel_ms\": " + milliseconds + ", \"rows\": [" + String.join(", ", rows) + "]}");
        System.exit(rows.stream().anyMatch(row -> row.contains("\"error\"")) ? 1 : 0);
    }

    private static String child(final String device, final int milliseconds, final String call)
            throws IOException, InterruptedException {
        final Path said = Files.createTempFile("framecast-call", ".json");
        final Process process = new ProcessBuilder(
                        System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseSerialGC",
                        "-XX:-UsePerfData",
                        "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        CallsBesideKernel.class.getName(),
                        device,
                        Integer.toString(milliseconds),
                        call)
                .redirectOutput(said.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        final boolean ended = process.waitFor(CALL_SECONDS_MAX, TimeUnit.SECONDS);
        process.destroyForcibly();
        final String text = Files.readString(said, StandardCharsets.UTF_8).strip();
        Files.delete(said);
        return text.startsWith("{")
                ? text
                : failed(call, ended ? "status " + process.exitValue() : "not done within " + CALL_SECONDS_MAX + " s");
    }

    private static String failed(final String call, final String why) {
        return "{\"call\": \"" + call + "\", \"error\": \"" + why.replace('"', '\'') + "\"}";
    }

    private static String measure(final int ordinal, final int milliseconds, final String call) {
        final String missing = new CudaProvider().unavailable().orElse("");
        if (!missing.isEmpty()) {
            return failed(call, missing);
        }
        try {
            return new CallsBesideKernel().time(ordinal, milliseconds, call);
        } catch (final io.framecast.api.error.DeviceException e) {
            return failed(call, String.valueOf(e.getMessage()));
        }
    }

    private String time(final int ordinal, final int milliseconds, final String call) {
        open(ordinal);
        final IntSupplier measured = call(call);
        final CudaHandles.Stream stream = new CudaHandles.Stream();
        check("cuStreamCreate", JCudaDriver.cuStreamCreate(stream, 1));
        launch(stream, milliseconds);
        final long beginNs = System.nanoTime();
        final int code = measured.getAsInt();
        final long returnedNs = System.nanoTime();
        check(call, code);
        // Work on the other stream, if it has any.
        while (!call.equals("cuStreamDestroy") && JCudaDriver.cuStreamQuery(other) == CUresult.CUDA_ERROR_NOT_READY) {
            Thread.onSpinWait();
        }
        final long doneNs = System.nanoTime();
        final boolean runs = JCudaDriver.cuStreamQuery(stream) == CUresult.CUDA_ERROR_NOT_READY;
        return String.format(
                Locale.ROOT,
                "{\"call\": \"%s\", \"blocked_ms\": %.3f, \"done_ms\": %.3f, \"kernel_still_runs\": %b}",
                call,
                (returnedNs - beginNs) / NS_PER_MS,
                (doneNs - beginNs) / NS_PER_MS,
                runs);
    }

    private void open(final int ordinal) {
        final CUdevice device = new CUdevice();
        final CudaHandles.Context context = new CudaHandles.Context();
        check("cuDeviceGet", JCudaDriver.cuDeviceGet(device, ordinal));
        check("cuDevicePrimaryCtxRetain", JCudaDriver.cuDevicePrimaryCtxRetain(context, device));
        check("cuCtxSetCurrent", CudaCalls.CTX_SET_CURRENT.call(context.value()));
        check("cuStreamCreate", JCudaDriver.cuStreamCreate(other, 1));
        check("cuMemAlloc", JCudaDriver.cuMemAlloc(region, BYTES));
        check("cuMemHostAlloc", JCudaDriver.cuMemHostAlloc(pinned, BYTES, 1));
    }

    private static void launch(final CudaHandles.Stream stream, final int milliseconds) {
        final CUmodule module = new CUmodule();
        check("cuModuleLoadData", JCudaDriver.cuModuleLoadData(module, ptx()));
        final CudaHandles.Function function = new CudaHandles.Function();
        check("cuModuleGetFunction", JCudaDriver.cuModuleGetFunction(function, module, KERNEL));
        check("cuFuncLoad", CudaCalls.funcLoad(function.value()));
        final Arena arena = Arena.global();
        final MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
        check("cuMemHostAlloc", CudaCalls.memHostAlloc(out, Long.BYTES, 1));
        final MemorySegment runs = out.get(ValueLayout.ADDRESS, 0).reinterpret(Long.BYTES);
        SharedWords.intAt(runs, 0, 0);
        // Pointers to as many values as any driver may look at.
        final int count = CudaStream.ARGUMENTS_MAX;
        final MemorySegment arguments = arena.allocate(ValueLayout.JAVA_LONG, 2 * count);
        for (int i = 0; i < count; i++) {
            arguments.setAtIndex(ValueLayout.JAVA_LONG, count + i, arguments.address() + (long) i * Long.BYTES);
        }
        arguments.setAtIndex(ValueLayout.JAVA_LONG, 0, TimeUnit.MILLISECONDS.toNanos(milliseconds));
        arguments.setAtIndex(ValueLayout.JAVA_LONG, 1, runs.address());
        final long parameters = arguments.address() + (long) count * Long.BYTES;
        check("cuLaunchKernel", CudaCalls.launchKernel(function.value(), 1, 1, stream.value(), parameters));
        while (SharedWords.intAt(runs, 0) == 0) {
            check("the kernel", notReady(JCudaDriver.cuStreamQuery(stream)));
        }
    }

    private static int notReady(final int code) {
        return code == CUresult.CUDA_ERROR_NOT_READY ? CUresult.CUDA_SUCCESS : code;
    }

    // The objects that the call needs are made now, and not beside the kernel.
    private IntSupplier call(final String name) {
        return switch (name) {
            case "cuMemAlloc" -> () -> JCudaDriver.cuMemAlloc(new CUdeviceptr(), BYTES);
            case "cuMemHostAlloc" -> () -> JCudaDriver.cuMemHostAlloc(new Pointer(), BYTES, 1);
            case "cuMemHostRegister" -> () -> JCudaDriver.cuMemHostRegister(registered, BYTES, 1);
            case "cuMemHostUnregister" -> {
                check("cuMemHostRegister", JCudaDriver.cuMemHostRegister(registered, BYTES, 1));
                yield () -> JCudaDriver.cuMemHostUnregister(registered);
            }
            case "cuStreamCreate" -> () -> JCudaDriver.cuStreamCreate(new CUstream(), 1);
            case "cuEventCreate" -> () -> JCudaDriver.cuEventCreate(new CUevent(), 2);
            case "cuMemsetD8Async" -> () -> JCudaDriver.cuMemsetD8Async(region, (byte) 1, BYTES, other);
            case "cuMemcpyDtoHAsync" -> () -> JCudaDriver.cuMemcpyDtoHAsync(pinned, region, BYTES, other);
            case "cuMemcpyHtoDAsync" -> () -> JCudaDriver.cuMemcpyHtoDAsync(region, pinned, BYTES, other);
            case "cuModuleLoadData" -> {
                final byte[] other = ContractPtx.resource("contract_add.ptx");
                final byte[] image = Arrays.copyOf(other, other.length + 1);
                yield () -> JCudaDriver.cuModuleLoadData(new CUmodule(), image);
            }
            case "cuStreamDestroy" -> () -> JCudaDriver.cuStreamDestroy(other);
            case "cuMemFreeHost" -> () -> JCudaDriver.cuMemFreeHost(pinned);
            case "cuMemFree" -> () -> JCudaDriver.cuMemFree(region);
            default -> throw new IllegalArgumentException(CALLS.stream().collect(Collectors.joining(", ")));
        };
    }

    static byte[] ptx() {
        final byte[] text = ContractPtx.resource("spin.ptx");
        return Arrays.copyOf(text, text.length + 1);
    }

    private static void check(final String call, final int code) {
        CudaErrors.check(call, code);
    }
}
