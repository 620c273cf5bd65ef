package io.framecast.perf.harness;

import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import java.io.IOException;

/// Signals of Linux (signal(7)), sent by this process: a process of their own would take its time while a
/// fault lasts.
public enum Signal {
    KILL(Linux.SIGKILL),
    CONT(Linux.SIGCONT),
    STOP(Linux.SIGSTOP);

    private final int number;

    Signal(final int number) {
        this.number = number;
    }

    /// @throws IOException when there is no such process
    public void send(final long pid) throws IOException {
        if (Libc.kill((int) pid, number) != 0) {
            throw new IOException("process " + pid + " is gone: SIG" + this + " did not reach it");
        }
    }
}
