package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/// Calls of C functions by their address: a provider's functions are known only when its device is open.
///
/// Arguments and results pass as whole registers, which the calling conventions of 64-bit Linux allow: a function takes
/// the part of a register that its type needs, and ignores registers behind those of its parameters. So a few handles
/// serve all functions, for each handle of another shape costs a JVM tens of milliseconds when it is first used.
///
/// Control calls go through [#call], which may allocate. The calls that must not allocate capture no errno, which
/// costs garbage until the compiler has inlined the call.
final class Downcalls {
    /// Arguments that [#call] takes at most; no convention has fewer registers for them.
    private static final int ARGUMENTS_MAX = 6;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO_CAPTURE = Linker.Option.captureCallState("errno");
    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long ERRNO = CAPTURE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    private static final MethodHandle CONTROL = LINKER.downcallHandle(
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            ERRNO_CAPTURE);
    private static final MethodHandle FCNTL = LINKER.downcallHandle(
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
            ERRNO_CAPTURE,
            Linker.Option.firstVariadicArg(2));
    // A provider may enter the kernel to post or to arm, so only the poll is critical.
    private static final MethodHandle HOT =
            LINKER.downcallHandle(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle POLL = LINKER.downcallHandle(
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG), Linker.Option.critical(false));

    private Downcalls() {}

    static MemorySegment newCapture(final Arena arena) {
        return arena.allocate(CAPTURE);
    }

    static int errno(final MemorySegment capture) {
        return capture.get(JAVA_INT, ERRNO);
    }

    /// Calls a function that is not hot.
    ///
    /// @param capture takes the errno
    /// @param arguments six at most, of the types MemorySegment, Long, Integer, Short and Byte, which stand for
    ///     their C types; memory stays the caller's, and open until the function returns
    /// @return the register of the result: an address, or an int in its lower half; of no meaning where there
    ///     is none
    static long call(final MemorySegment function, final MemorySegment capture, final Object... arguments) {
        final long[] words = new long[ARGUMENTS_MAX];
        for (int i = 0; i < arguments.length; i++) {
            words[i] = word(arguments[i]);
        }
        try {
            return (long)
                    CONTROL.invokeExact(function, capture, words[0], words[1], words[2], words[3], words[4], words[5]);
        } catch (final Throwable e) {
            throw unexpected(e);
        } finally {
            Reference.reachabilityFence(arguments);
        }
    }

    private static long word(final Object argument) {
        return switch (argument) {
            case MemorySegment memory -> memory.address();
            case Number number -> number.longValue();
            default -> throw new AssertionError("no C type for " + argument.getClass());
        };
    }

    static int fcntl(
            final MemorySegment function,
            final MemorySegment capture,
            final int descriptor,
            final int command,
            final int argument) {
        try {
            return (int) FCNTL.invokeExact(function, capture, descriptor, command, argument);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// Calls a hot function: posts requests, arms a queue, takes or acknowledges an event.
    ///
    /// @return its int: of most 0, or the errno or a negative number
    static int hot(final MemorySegment function, final long first, final long second, final long third) {
        try {
            return (int) (long) HOT.invokeExact(function, first, second, third);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// As [#hot], for a function of two parameters.
    static int hot(final MemorySegment function, final long first, final long second) {
        return hot(function, first, second, 0);
    }

    /// @return completions written, or negative on failure
    static int poll(final MemorySegment function, final long cq, final int countMax, final long completions) {
        try {
            return (int) (long) POLL.invokeExact(function, cq, (long) countMax, completions);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    // A downcall throws only where this package has a mistake.
    private static AssertionError unexpected(final Throwable e) {
        return new AssertionError("downcall", e);
    }
}
