package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Calls of C functions by their address: a provider's functions are known only when its device is open.
///
/// Control calls go through [#call], which may allocate. The calls that must not allocate have a `static final` handle
/// each, which the compiler can inline.
final class Downcalls {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO_CAPTURE = Linker.Option.captureCallState("errno");
    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long ERRNO = CAPTURE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    private static final Map<FunctionDescriptor, MethodHandle> CONTROL = new ConcurrentHashMap<>();
    private static final MethodHandle INT_PP =
            LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS), ERRNO_CAPTURE);
    private static final MethodHandle INT_PPP =
            LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS), ERRNO_CAPTURE);
    private static final MethodHandle INT_PBP =
            LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_BYTE, ADDRESS));
    private static final MethodHandle INT_III = LINKER.downcallHandle(
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
            ERRNO_CAPTURE,
            Linker.Option.firstVariadicArg(2));

    // Objects and arrays of the hot calls pass as plain addresses: the linker pins a segment at every call. A
    // provider may enter the kernel to post or to arm, so only the poll is critical.
    private static final MethodHandle INT_LLL =
            LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle INT_LL =
            LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle VOID_LI = LINKER.downcallHandle(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
    private static final MethodHandle ARM = LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle POLL = LINKER.downcallHandle(
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG), Linker.Option.critical(false));

    private Downcalls() {}

    static MemorySegment newCapture(final Arena arena) {
        return arena.allocate(CAPTURE);
    }

    static int errno(final MemorySegment capture) {
        return capture.get(JAVA_INT, ERRNO);
    }

    /// Calls a function that is not hot.
    ///
    /// @param result null for a function without one
    /// @param capture takes the errno
    /// @param arguments of the types MemorySegment, Long, Integer, Short and Byte, which stand for their C types
    static @Nullable Object call(
            final @Nullable MemoryLayout result,
            final MemorySegment function,
            final MemorySegment capture,
            final Object... arguments) {
        final MemoryLayout[] layouts =
                Stream.of(arguments).map(Downcalls::layout).toArray(MemoryLayout[]::new);
        final MethodHandle handle = CONTROL.computeIfAbsent(
                result == null ? FunctionDescriptor.ofVoid(layouts) : FunctionDescriptor.of(result, layouts),
                descriptor -> LINKER.downcallHandle(descriptor, ERRNO_CAPTURE));
        try {
            return handle.bindTo(function).bindTo(capture).invokeWithArguments(arguments);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    private static MemoryLayout layout(final Object argument) {
        return switch (argument) {
            case MemorySegment _ -> ADDRESS;
            case Long _ -> JAVA_LONG;
            case Integer _ -> JAVA_INT;
            case Short _ -> JAVA_SHORT;
            case Byte _ -> JAVA_BYTE;
            default -> throw new AssertionError("no C type for " + argument.getClass());
        };
    }

    static int getAsyncEvent(
            final MemorySegment function,
            final MemorySegment capture,
            final MemorySegment context,
            final MemorySegment event) {
        try {
            return (int) INT_PP.invokeExact(function, capture, context, event);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int getCqEvent(
            final MemorySegment function,
            final MemorySegment capture,
            final MemorySegment channel,
            final MemorySegment queue,
            final MemorySegment queueContext) {
        try {
            return (int) INT_PPP.invokeExact(function, capture, channel, queue, queueContext);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// @return 0, or the errno
    static int queryPort(
            final MemorySegment function, final MemorySegment context, final int port, final MemorySegment attributes) {
        try {
            return (int) INT_PBP.invokeExact(function, context, (byte) port, attributes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int fcntl(
            final MemorySegment function,
            final MemorySegment capture,
            final int descriptor,
            final int command,
            final int argument) {
        try {
            return (int) INT_III.invokeExact(function, capture, descriptor, command, argument);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// Posts requests, or takes an event of a completion channel. Without capturing the errno, which costs garbage
    /// until the compiler has inlined the call.
    ///
    /// @return 0; of posting else the errno
    static int call(final MemorySegment function, final long object, final long first, final long second) {
        try {
            return (int) INT_LLL.invokeExact(function, object, first, second);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// Takes an event of a device, as above.
    ///
    /// @return 0, or negative where there is none
    static int call(final MemorySegment function, final long object, final long first) {
        try {
            return (int) INT_LL.invokeExact(function, object, first);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static void acknowledge(final MemorySegment function, final long cq, final int count) {
        try {
            VOID_LI.invokeExact(function, cq, count);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// @return 0, or the errno
    static int arm(final MemorySegment function, final long cq) {
        try {
            return (int) ARM.invokeExact(function, cq, 0);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// @return completions written, or negative on failure
    static int poll(final MemorySegment function, final long cq, final int countMax, final long completions) {
        try {
            return (int) POLL.invokeExact(function, cq, countMax, completions);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    // A downcall throws nothing but what a mistake of this package causes.
    private static AssertionError unexpected(final Throwable e) {
        return new AssertionError("downcall", e);
    }
}
