package io.framecast.samples.input;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/// A file whose opening may wait: a FIFO's until a writer opens it, which no signal or close would end. So it is
/// opened with the first read, by a daemon thread.
final class WaitingChannel implements ReadableByteChannel {
    private final Path file;
    private final CompletableFuture<FileChannel> opened = new CompletableFuture<>();
    private boolean asked;

    WaitingChannel(final Path file) {
        this.file = file;
    }

    @Override
    public int read(final ByteBuffer target) throws IOException {
        if (!asked) {
            asked = true;
            Thread.ofPlatform().daemon().name("input-open").start(this::open);
        }
        try {
            return opened.get().read(target);
        } catch (final ExecutionException e) {
            throw e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }

    private void open() {
        try {
            final FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
            if (!opened.complete(channel)) {
                channel.close();
            }
        } catch (final IOException | RuntimeException e) {
            opened.completeExceptionally(e);
        }
    }

    @Override
    public boolean isOpen() {
        return !opened.isCompletedExceptionally();
    }

    @Override
    public void close() throws IOException {
        if (!opened.completeExceptionally(new AsynchronousCloseException()) && !opened.isCompletedExceptionally()) {
            opened.resultNow().close();
        }
    }
}
