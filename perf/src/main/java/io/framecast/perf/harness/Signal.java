package io.framecast.perf.harness;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// Signals of Linux (signal(7)), sent without a process of their own: that would take its time while a
/// fault lasts.
public enum Signal {
    KILL(9),
    CONT(18),
    STOP(19);

    private static final MethodHandle SEND = send();

    private final int number;

    Signal(final int number) {
        this.number = number;
    }

    @SuppressWarnings("restricted")
    private static MethodHandle send() {
        final Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().find("kill").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    }

    /// @throws IOException when there is no such process
    public void send(final Process process) throws IOException {
        final int status;
        try {
            status = (int) SEND.invokeExact((int) process.pid(), number);
        } catch (final Throwable e) {
            throw new IllegalStateException(e);
        }
        if (status != 0) {
            throw new IOException("process " + process.pid() + " is gone: SIG" + this + " did not reach it");
        }
    }
}
