package io.framecast.samples.subscribe;

import io.framecast.api.error.ConfigException;
import io.framecast.samples.Reasons;
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

/// `--out`: the frames' bytes, one behind the other.
final class FrameOutput implements AutoCloseable {
    private static final long WRITE_BYTES_MAX = 1L << 26;

    private final String name;
    private final WritableByteChannel channel;

    private FrameOutput(final String name, final WritableByteChannel channel) {
        this.name = name;
        this.channel = channel;
    }

    /// @throws ConfigException naming file and reason
    static FrameOutput ofFile(final Path file) {
        try {
            if (Files.isDirectory(file)) {
                throw new ConfigException("--out: cannot write " + file + ": it is a directory");
            }
            return new FrameOutput(
                    file.toString(),
                    FileChannel.open(
                            file,
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE,
                            StandardOpenOption.TRUNCATE_EXISTING));
        } catch (final IOException e) {
            throw new ConfigException("--out: cannot write " + Reasons.of(file, e), e);
        }
    }

    static FrameOutput ofStream(final OutputStream stream) {
        return new FrameOutput("stdout", Channels.newChannel(stream));
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

    @Override
    public void close() {
        try {
            channel.close();
        } catch (final IOException e) {
            throw new ConfigException("--out: cannot write " + name + ": " + e.getMessage(), e);
        }
    }
}
