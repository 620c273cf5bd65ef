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

/// Calls of C functions by their address, one method per shape of parameters. The handles name no function:
/// the address is their first argument, because a provider's functions are known only when its device is
/// open, and a handle must be `static final` for the compiler to see through it.
///
/// Control calls leave the errno in the caller's capture segment; hot calls return theirs.
final class Downcalls {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO_CAPTURE = Linker.Option.captureCallState("errno");
    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long ERRNO = CAPTURE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    private static final MethodHandle POINTER = control(FunctionDescriptor.of(ADDRESS));
    private static final MethodHandle POINTER_P = control(FunctionDescriptor.of(ADDRESS, ADDRESS));
    private static final MethodHandle POINTER_PP = control(FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));
    private static final MethodHandle POINTER_PLLI =
            control(FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle POINTER_PIPPI =
            control(FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
    private static final MethodHandle POINTER_PLLLII =
            control(FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT));
    private static final MethodHandle LONG_P = LINKER.downcallHandle(FunctionDescriptor.of(JAVA_LONG, ADDRESS));
    private static final MethodHandle INT_P = control(FunctionDescriptor.of(JAVA_INT, ADDRESS));
    private static final MethodHandle INT_PP = control(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle INT_LLL =
            LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle INT_PPP = control(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
    private static final MethodHandle INT_PPI = control(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
    private static final MethodHandle INT_PPIP =
            control(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, ADDRESS));
    private static final MethodHandle INT_PPPI =
            control(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_INT));
    private static final MethodHandle INT_PPS = control(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_SHORT));
    private static final MethodHandle INT_PBP = control(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_BYTE, ADDRESS));
    private static final MethodHandle INT_PBIP =
            control(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_BYTE, JAVA_INT, ADDRESS));
    private static final MethodHandle INT_PIIPIL =
            control(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG));
    private static final MethodHandle VOID_P = LINKER.downcallHandle(FunctionDescriptor.ofVoid(ADDRESS));
    private static final MethodHandle VOID_LI = LINKER.downcallHandle(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
    private static final MethodHandle INT_III = LINKER.downcallHandle(
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
            ERRNO_CAPTURE,
            Linker.Option.firstVariadicArg(2));

    // The hot calls. Objects and arrays go as plain addresses: a segment would be pinned and let go at every
    // call. A provider may enter the kernel to post or to arm, so only the poll is critical.
    private static final MethodHandle POST =
            LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ARM = LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle POLL = LINKER.downcallHandle(
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG), Linker.Option.critical(false));

    private Downcalls() {}

    private static MethodHandle control(final FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor, ERRNO_CAPTURE);
    }

    static MemorySegment newCapture(final Arena arena) {
        return arena.allocate(CAPTURE);
    }

    static int errno(final MemorySegment capture) {
        return capture.get(JAVA_INT, ERRNO);
    }

    static MemorySegment pointer(final MemorySegment function, final MemorySegment capture) {
        return made(() -> (MemorySegment) POINTER.invokeExact(function, capture));
    }

    static MemorySegment pointer(final MemorySegment function, final MemorySegment capture, final MemorySegment a) {
        return made(() -> (MemorySegment) POINTER_P.invokeExact(function, capture, a));
    }

    static MemorySegment pointer(
            final MemorySegment function, final MemorySegment capture, final MemorySegment a, final MemorySegment b) {
        return made(() -> (MemorySegment) POINTER_PP.invokeExact(function, capture, a, b));
    }

    static MemorySegment createCq(
            final MemorySegment function,
            final MemorySegment capture,
            final MemorySegment context,
            final int entries,
            final MemorySegment channel) {
        return made(() -> (MemorySegment)
                POINTER_PIPPI.invokeExact(function, capture, context, entries, MemorySegment.NULL, channel, 0));
    }

    static MemorySegment register(
            final MemorySegment function,
            final MemorySegment capture,
            final MemorySegment pd,
            final Registration what) {
        return made(() -> (MemorySegment)
                POINTER_PLLI.invokeExact(function, capture, pd, what.address(), what.bytes(), what.access()));
    }

    static MemorySegment registerDmaBuf(
            final MemorySegment function,
            final MemorySegment capture,
            final MemorySegment pd,
            final Registration what) {
        return made(() -> (MemorySegment) POINTER_PLLLII.invokeExact(
                function, capture, pd, what.offset(), what.bytes(), what.address(), what.descriptor(), what.access()));
    }

    static long longOf(final MemorySegment function, final MemorySegment a) {
        try {
            return (long) LONG_P.invokeExact(function, a);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int intOf(final MemorySegment function, final MemorySegment capture, final MemorySegment a) {
        return called(() -> (int) INT_P.invokeExact(function, capture, a));
    }

    static int intOf(
            final MemorySegment function, final MemorySegment capture, final MemorySegment a, final MemorySegment b) {
        try {
            return (int) INT_PP.invokeExact(function, capture, a, b);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int intOf(
            final MemorySegment function,
            final MemorySegment capture,
            final MemorySegment a,
            final MemorySegment b,
            final MemorySegment c) {
        return called(() -> (int) INT_PPP.invokeExact(function, capture, a, b, c));
    }

    static int createCmId(
            final MemorySegment function,
            final MemorySegment capture,
            final MemorySegment channel,
            final MemorySegment id,
            final int portSpace) {
        return called(() -> (int) INT_PPPI.invokeExact(function, capture, channel, id, MemorySegment.NULL, portSpace));
    }

    /// Without the errno, whose capture costs garbage until the compiler has seen through it.
    static int takeEvent(final MemorySegment function, final long channel, final long queue, final long queueContext) {
        try {
            return (int) INT_LLL.invokeExact(function, channel, queue, queueContext);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int modify(
            final MemorySegment function,
            final MemorySegment capture,
            final MemorySegment qp,
            final MemorySegment attributes,
            final int mask) {
        return called(() -> (int) INT_PPI.invokeExact(function, capture, qp, attributes, mask));
    }

    static int queryQp(
            final MemorySegment function,
            final MemorySegment capture,
            final MemorySegment qp,
            final MemorySegment attributes,
            final MemorySegment initial) {
        return called(() ->
                (int) INT_PPIP.invokeExact(function, capture, qp, attributes, VerbsConstants.IBV_QP_STATE, initial));
    }

    static int multicast(
            final MemorySegment function,
            final MemorySegment capture,
            final MemorySegment qp,
            final MemorySegment gid,
            final int lid) {
        return called(() -> (int) INT_PPS.invokeExact(function, capture, qp, gid, (short) lid));
    }

    static int queryPort(
            final MemorySegment function,
            final MemorySegment capture,
            final MemorySegment context,
            final int port,
            final MemorySegment attributes) {
        try {
            return (int) INT_PBP.invokeExact(function, capture, context, (byte) port, attributes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// Reads entry `index` of one of a port's tables.
    static int queryTable(
            final MemorySegment function,
            final MemorySegment capture,
            final MemorySegment context,
            final PortIndex at,
            final MemorySegment entry) {
        return called(
                () -> (int) INT_PBIP.invokeExact(function, capture, context, (byte) at.port(), at.index(), entry));
    }

    static int queryGidEntry(
            final MemorySegment function,
            final MemorySegment capture,
            final MemorySegment context,
            final PortIndex at,
            final MemorySegment entry) {
        return called(() -> (int)
                INT_PIIPIL.invokeExact(function, capture, context, at.port(), at.index(), entry, 0, entry.byteSize()));
    }

    static void call(final MemorySegment function, final MemorySegment a) {
        try {
            VOID_P.invokeExact(function, a);
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

    static int fcntl(
            final MemorySegment function,
            final MemorySegment capture,
            final int descriptor,
            final int command,
            final int argument) {
        return called(() -> (int) INT_III.invokeExact(function, capture, descriptor, command, argument));
    }

    /// @return 0, or the errno
    static int post(final MemorySegment function, final long queue, final long requests, final long refused) {
        try {
            return (int) POST.invokeExact(function, queue, requests, refused);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// @return 0, or the errno
    static int arm(final MemorySegment function, final long cq, final boolean solicitedOnly) {
        try {
            return (int) ARM.invokeExact(function, cq, solicitedOnly ? 1 : 0);
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

    /// A call that is not hot: it may allocate.
    @FunctionalInterface
    private interface IntCall {
        int call() throws Throwable;
    }

    /// As [IntCall].
    @FunctionalInterface
    private interface PointerCall {
        MemorySegment call() throws Throwable;
    }

    private static int called(final IntCall downcall) {
        try {
            return downcall.call();
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    private static MemorySegment made(final PointerCall downcall) {
        try {
            return downcall.call();
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    // A downcall throws nothing but what our own mistakes cause.
    private static AssertionError unexpected(final Throwable e) {
        return new AssertionError("downcall", e);
    }

    /// Memory to register. Address and descriptor mean what ibv_reg_mr and ibv_reg_dmabuf_mr make of them.
    record Registration(long address, long bytes, int access, int descriptor, long offset) {}

    /// An entry of a table of a port.
    record PortIndex(int port, int index) {}
}
