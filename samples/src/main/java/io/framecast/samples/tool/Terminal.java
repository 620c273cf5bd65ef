package io.framecast.samples.tool;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// What the standard descriptors are: whether somebody looks at standard error, for one. `System.console()`
/// answers for stdin and stdout, of which one is often a pipe when the tool is watched (`framecast demo --json
/// - | jq`).
final class Terminal {
    private static final int STDIN = 0;
    private static final int STDERR = 2;
    private static final int F_GETFL = 3;
    private static final int O_ACCMODE = 3;
    private static final int O_WRONLY = 1;

    private Terminal() {}

    static boolean isStderr() {
        final Linker linker = Linker.nativeLinker();
        return linker.defaultLookup()
                .find("isatty")
                .map(symbol -> linker.downcallHandle(
                        symbol, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT)))
                .map(Terminal::isTerminal)
                .orElse(false);
    }

    /// Whether standard input was closed when the tool was started: the launcher then has put something there
    /// that can only be written.
    static boolean isStdinClosed() {
        final Linker linker = Linker.nativeLinker();
        return linker.defaultLookup()
                .find("fcntl")
                .map(symbol -> linker.downcallHandle(
                        symbol,
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
                        Linker.Option.firstVariadicArg(2)))
                .map(Terminal::isUnreadable)
                .orElse(false);
    }

    private static boolean isUnreadable(final MethodHandle fcntl) {
        try {
            final int flags = (int) fcntl.invokeExact(STDIN, F_GETFL);
            return flags < 0 || (flags & O_ACCMODE) == O_WRONLY;
        } catch (final Throwable e) {
            throw new IllegalStateException("fcntl takes and gives ints", e);
        }
    }

    private static boolean isTerminal(final MethodHandle isatty) {
        try {
            return (int) isatty.invokeExact(STDERR) == 1;
        } catch (final Throwable e) {
            throw new IllegalStateException("isatty takes and gives an int", e);
        }
    }
}
