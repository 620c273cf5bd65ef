package io.framecast.samples.subscribe;

import io.framecast.api.error.ConfigException;
import io.framecast.samples.Console;
import io.framecast.samples.Reasons;
import io.framecast.samples.Stop;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/// `--out`: the frames' bytes, one behind the other.
final class FrameOutput implements AutoCloseable {
    private static final long WRITE_BYTES_MAX = 1L << 26;

    /// Returns when the written frames are on disk.
    interface Flush {
        void toDisk() throws IOException;
    }

    private final String name;
    private final WritableByteChannel channel;
    private final Flush flush;

    FrameOutput(final String name, final WritableByteChannel channel, final Flush flush) {
        this.name = name;
        this.channel = channel;
        this.flush = flush;
    }

    /// Opens a file, or a FIFO once a process reads it.
    ///
    /// @param synced whether [#flush] waits for the disk
    /// @param waitMax longest wait for the reader of a FIFO; zero waits for ever
    /// @throws ConfigException naming file and reason
    static FrameOutput open(
            final Path file, final boolean synced, final Duration waitMax, final Console console, final Stop stop) {
        try {
            if (Files.isDirectory(file)) {
                throw new ConfigException("--out: cannot write " + file + ": it is a directory");
            }
            if (Files.exists(file) && !Files.isRegularFile(file)) {
                return new FrameOutput(file.toString(), new OutputFifo(file).open(waitMax, console, stop), () -> {});
            }
            final FileChannel channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
            return new FrameOutput(file.toString(), channel, synced ? () -> sync(channel, file) : () -> {});
        } catch (final IOException e) {
            throw new ConfigException("--out: cannot write " + Reasons.of(file, e), e);
        }
    }

    // The file's bytes are on disk under its name when its directory is there too.
    private static void sync(final FileChannel channel, final Path file) throws IOException {
        channel.force(true);
        try (FileChannel directory = FileChannel.open(file.toRealPath().resolveSibling(""), StandardOpenOption.READ)) {
            directory.force(true);
        }
    }

    static FrameOutput ofStream(final OutputStream stream) {
        return new FrameOutput("stdout", Channels.newChannel(stream), () -> {});
    }

    /// @throws ConfigException when the disk is full or the reader of a pipe is gone
    void write(final MemorySegment frame) {
        try {
            for (long at = 0; at < frame.byteSize(); at += WRITE_BYTES_MAX) {
                final long part = Math.min(WRITE_BYTES_MAX, frame.byteSize() - at);
                final ByteBuffer buffer = frame.asSlice(at, part).asByteBuffer();
                while (buffer.hasRemaining()) {
                    channel.write(buffer);
                }
            }
        } catch (final IOException e) {
            throw new ConfigException("--out: cannot write " + name + ": " + e.getMessage(), e);
        }
    }

    /// Returns when all that was written is on disk, where that was asked for.
    ///
    /// @throws ConfigException when the disk does not take it
    void flush() {
        try {
            flush.toDisk();
        } catch (final IOException e) {
            throw new ConfigException("--out: cannot flush " + name + " to disk: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (final IOException e) {
            throw new ConfigException("--out: cannot write " + name + ": " + e.getMessage(), e);
        }
    }
}
