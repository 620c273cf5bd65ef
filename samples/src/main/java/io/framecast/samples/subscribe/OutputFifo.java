package io.framecast.samples.subscribe;

import io.framecast.api.error.ConfigException;
import io.framecast.samples.CommandException;
import io.framecast.samples.Console;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.Stop;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A FIFO, or a device, that is opened for writing. The opening of a FIFO waits for a reader, which no signal or
/// close would end, so a daemon thread opens it.
final class OutputFifo {
    private static final long LOOK_MS = 200;

    private final Path file;
    private final CompletableFuture<FileChannel> opened = new CompletableFuture<>();

    OutputFifo(final Path file) {
        this.file = file;
    }

    /// Waits for a reader, and reports that in one line.
    ///
    /// @param waitMax zero waits for ever
    FileChannel open(final Duration waitMax, final Console console, final Stop stop) throws IOException {
        Thread.ofPlatform().daemon().name("output-open").start(this::openHere);
        final long startNs = System.nanoTime();
        boolean reported = false;
        while (true) {
            try {
                return opened.get(LOOK_MS, TimeUnit.MILLISECONDS);
            } catch (final TimeoutException _) {
                if (!reported) {
                    reported = true;
                    console.line("--out: no process reads " + file + ": waiting for one");
                }
            } catch (final ExecutionException e) {
                throw e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
            } catch (final InterruptedException e) {
                giveUp();
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted");
            }
            if (stop.isRequested()) {
                giveUp();
                throw new CommandException(
                        ExitStatus.INTERRUPTED, "interrupted while waiting for a process that reads " + file);
            }
            if (waitMax.isPositive() && System.nanoTime() - startNs > waitMax.toNanos()) {
                giveUp();
                throw new ConfigException("--out: no process reads " + file + " within " + waitMax.toMillis() / 1e3
                        + " s (--wait-timeout): open it for reading first, or name a file");
            }
        }
    }

    private void openHere() {
        try {
            final FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
            if (!opened.complete(channel)) {
                channel.close();
            }
        } catch (final IOException | RuntimeException e) {
            opened.completeExceptionally(e);
        }
    }

    // For both ends a FIFO opens at once, and the thread that waits for a reader goes on.
    private void giveUp() {
        try {
            if (opened.cancel(false)) {
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)
                        .close();
            } else if (!opened.isCompletedExceptionally()) {
                opened.resultNow().close();
            }
        } catch (final IOException _) {
            // The thread waits until the process ends.
        }
    }
}
