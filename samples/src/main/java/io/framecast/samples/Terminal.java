package io.framecast.samples;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// Whether somebody looks at standard error. `System.console()` answers for stdin and stdout, of which one is often a
/// pipe when the tool is watched (`framecast demo --json - | jq`).
final class Terminal {
    private static final int STDERR = 2;

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

    private static boolean isTerminal(final MethodHandle isatty) {
        try {
            return (int) isatty.invokeExact(STDERR) == 1;
        } catch (final Throwable e) {
            throw new IllegalStateException("isatty takes and gives an int", e);
        }
    }
}
