package io.framecast.gpu.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.Optional;

/// Downcalls into libcuda for the calls of each copy, and for the few calls that JCuda lacks or limits. They
/// answer a CUresult. Handles, host pointers and device addresses pass as `long`: then a call allocates
/// nothing, where JCuda needs a Pointer object for each end of each copy and looks into its fields through
/// JNI.
///
/// JCuda limits two: cuMemHostAlloc wraps the memory in a ByteBuffer, which ends at 2 GiB; and cuFuncLoad is
/// missing. Initialising this class throws a LinkageError when the driver lacks one of the names.
final class CudaCalls {
    static final String LIBRARY = "libcuda.so.1";

    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup CUDA = SymbolLookup.libraryLookup(LIBRARY, Arena.global());

    static final CudaCall CTX_SET_CURRENT = longs("cuCtxSetCurrent", 1);
    /// Puts a context on top of the calling thread's stack of them.
    static final CudaCall CTX_PUSH_CURRENT = longs("cuCtxPushCurrent_v2", 1);
    private static final CudaCall CTX_POP_CURRENT = longs("cuCtxPopCurrent_v2", 1);
    // Takes the popped context; written by any thread, read by none.
    private static final long POPPED = Arena.global().allocate(ADDRESS).address();
    private static final MethodHandle MEM_HOST_ALLOC = handle("cuMemHostAlloc", ADDRESS, JAVA_LONG, JAVA_INT);
    static final CudaCall MEM_FREE_HOST = longs("cuMemFreeHost", 1);
    /// Target, source, bytes, stream; so the other copies.
    static final CudaCall COPY_TO_DEVICE = longs("cuMemcpyHtoDAsync_v2", 4);
    static final CudaCall COPY_TO_HOST = longs("cuMemcpyDtoHAsync_v2", 4);
    static final CudaCall COPY_WITHIN = longs("cuMemcpyDtoDAsync_v2", 4);
    private static final MethodHandle FILL = handle("cuMemsetD8Async", JAVA_LONG, JAVA_BYTE, JAVA_LONG, JAVA_LONG);
    static final CudaCall STREAM_QUERY = longs("cuStreamQuery", 1);
    static final CudaCall STREAM_SYNCHRONIZE = longs("cuStreamSynchronize", 1);
    private static final MethodHandle STREAM_WAIT_EVENT = handle("cuStreamWaitEvent", JAVA_LONG, JAVA_LONG, JAVA_INT);
    /// Event, stream.
    static final CudaCall EVENT_RECORD = longs("cuEventRecord", 2);
    static final CudaCall EVENT_QUERY = longs("cuEventQuery", 1);
    static final CudaCall EVENT_SYNCHRONIZE = longs("cuEventSynchronize", 1);
    private static final MethodHandle MAX_ACTIVE_BLOCKS =
            handle("cuOccupancyMaxActiveBlocksPerMultiprocessor", ADDRESS, JAVA_LONG, JAVA_INT, JAVA_LONG);
    private static final MethodHandle LAUNCH_KERNEL = handle(
            "cuLaunchKernel",
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG);

    // Since CUDA 12.4; before, asking for an attribute of a function loads it.
    private static final Optional<MethodHandle> FUNC_LOAD = optional("cuFuncLoad", JAVA_LONG);
    // Since CUDA 11.7, and 11.3.
    private static final Optional<MethodHandle> EXPORT =
            optional("cuMemGetHandleForAddressRange", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);
    private static final Optional<MethodHandle> FLUSH = optional("cuFlushGPUDirectRDMAWrites", JAVA_INT, JAVA_INT);

    private static final MethodHandle POINTER_ATTRIBUTE = handle("cuPointerGetAttribute", ADDRESS, JAVA_INT, JAVA_LONG);

    private static final MethodHandle CLOSE = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("close"), FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final int DMA_BUF_FD = 1;
    private static final int CURRENT_CONTEXT = 0;
    private static final int TO_OWNER = 100;

    private CudaCalls() {}

    /// Binds every downcall: a name that the driver lacks is a LinkageError here, not at the first frame.
    static void bind() {
        // Initialising this class does it.
    }

    static boolean canExport() {
        return EXPORT.isPresent();
    }

    static boolean canFlush() {
        return FLUSH.isPresent();
    }

    /// @param out one `int`, receives a dma-buf's descriptor
    static int exportDmaBuf(final MemorySegment out, final long deviceAddress, final long bytes) {
        return callCold(EXPORT.orElseThrow(), out, deviceAddress, bytes, DMA_BUF_FD, 0L);
    }

    /// @param out receives the attribute
    static int pointerAttribute(final MemorySegment out, final int attribute, final long address) {
        try {
            return (int) POINTER_ATTRIBUTE.invokeExact(out, attribute, address);
        } catch (final Throwable e) {
            throw impossible(e);
        }
    }

    /// Waits until the current context sees the writes of NICs.
    static int flushRemoteWrites() {
        try {
            return (int) FLUSH.orElseThrow().invokeExact(CURRENT_CONTEXT, TO_OWNER);
        } catch (final Throwable e) {
            throw impossible(e);
        }
    }

    static int closeDescriptor(final int descriptor) {
        return callCold(CLOSE, descriptor);
    }

    private static CudaCall longs(final String symbol, final int parameters) {
        final MemoryLayout[] layouts = new MemoryLayout[parameters];
        Arrays.fill(layouts, JAVA_LONG);
        return new CudaCall(symbol.replace("_v2", ""), handle(symbol, layouts));
    }

    private static MethodHandle handle(final String name, final MemoryLayout... parameters) {
        return optional(name, parameters).orElseThrow(() -> new UnsatisfiedLinkError(LIBRARY + " has no " + name));
    }

    /// Empty where the driver lacks the name.
    static Optional<MethodHandle> optional(final String name, final MemoryLayout... parameters) {
        return CUDA.find(name)
                .map(symbol -> LINKER.downcallHandle(symbol, FunctionDescriptor.of(JAVA_INT, parameters)));
    }

    /// Takes the topmost context off: the one before it is current again.
    static int ctxPopCurrent() {
        return CTX_POP_CURRENT.call(POPPED);
    }

    /// @param out one pointer, receives the memory's address
    static int memHostAlloc(final MemorySegment out, final long bytes, final int flags) {
        return callCold(MEM_HOST_ALLOC, out, bytes, flags);
    }

    static int fill(final long deviceAddress, final byte value, final long bytes, final long stream) {
        try {
            return (int) FILL.invokeExact(deviceAddress, value, bytes, stream);
        } catch (final Throwable e) {
            throw impossible(e);
        }
    }

    static int streamWaitEvent(final long stream, final long event) {
        try {
            return (int) STREAM_WAIT_EVENT.invokeExact(stream, event, 0);
        } catch (final Throwable e) {
            throw impossible(e);
        }
    }

    /// How many blocks of a function one multiprocessor holds, without shared memory that is asked for at
    /// launch.
    ///
    /// @param out one `int`
    static int maxActiveBlocks(final MemorySegment out, final long function, final int blockThreads) {
        return callCold(MAX_ACTIVE_BLOCKS, out, function, blockThreads, 0L);
    }

    /// @param parameters address of an array of pointers to the kernel's parameters
    static int launchKernel(
            final long function,
            final int gridBlocks,
            final int blockThreads,
            final long stream,
            final long parameters) {
        try {
            return (int) LAUNCH_KERNEL.invokeExact(
                    function, gridBlocks, 1, 1, blockThreads, 1, 1, 0, stream, parameters, 0L);
        } catch (final Throwable e) {
            throw impossible(e);
        }
    }

    /// Loads a function now rather than at its first launch; does nothing on drivers before CUDA 12.4.
    static int funcLoad(final long function) {
        return FUNC_LOAD.map(load -> callCold(load, function)).orElse(0);
    }

    /// A call that may allocate.
    ///
    /// @param arguments of exactly the types of the handle's parameters
    static int callCold(final MethodHandle handle, final Object... arguments) {
        try {
            return (int) handle.invokeWithArguments(arguments);
        } catch (final Throwable e) {
            throw impossible(e);
        }
    }

    static AssertionError impossible(final Throwable e) {
        return new AssertionError("a downcall to C cannot throw", e);
    }
}
