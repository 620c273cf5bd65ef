package io.framecast.samples.input;

import io.framecast.api.error.ConfigException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;

/// A file or pipe cut into frames of one length, the last one shorter. Bytes go from the channel straight into the
/// target.
final class ByteInput implements FrameInput {
    /// One read(2) at most; also keeps a frame's views within ByteBuffer's 2 GiB.
    private static final long READ_BYTES_MAX = 1L << 26;

    private static final long UNKNOWN = -1;

    /// Whether the input has an end of its own.
    enum Length {
        FINITE,
        LIVE
    }

    private final String name;
    private final ReadableByteChannel channel;
    private final long frameBytes;
    private final long sizeBytes;
    private final Length length;
    private long positionBytes;
    private boolean ended;
    private boolean whole;

    private ByteInput(
            final String name,
            final ReadableByteChannel channel,
            final long frameBytes,
            final long sizeBytes,
            final Length length) {
        this.length = length;
        this.name = name;
        this.channel = channel;
        this.frameBytes = frameBytes;
        this.sizeBytes = sizeBytes;
    }

    /// A regular file's size is taken now: bytes appended later are not published. Anything else (a FIFO, a device, a
    /// file of /proc, whose size reads 0) is read to its end.
    static ByteInput ofFile(final Path file, final long frameBytes) {
        try {
            if (Files.isDirectory(file)) {
                throw new ConfigException("cannot read " + file + ": expected a file, got a directory");
            }
            if (Files.readAttributes(file, BasicFileAttributes.class).isOther()) {
                requireReadable(file);
                return new ByteInput(file.toString(), new WaitingChannel(file), frameBytes, UNKNOWN, Length.LIVE);
            }
            final FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
            final boolean sized = channel.size() > 0;
            return new ByteInput(file.toString(), channel, frameBytes, sized ? channel.size() : UNKNOWN, Length.FINITE);
        } catch (final NoSuchFileException e) {
            throw new ConfigException("cannot read " + file + ": no such file", e);
        } catch (final AccessDeniedException e) {
            throw new ConfigException("cannot read " + file + ": permission denied", e);
        } catch (final IOException e) {
            throw new ConfigException("cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    // Before its opening waits for a writer.
    private static void requireReadable(final Path file) throws AccessDeniedException {
        if (!Files.isReadable(file)) {
            throw new AccessDeniedException(file.toString());
        }
    }

    static ByteInput ofPipe(
            final String name, final ReadableByteChannel channel, final long frameBytes, final Length length) {
        return new ByteInput(name, channel, frameBytes, UNKNOWN, length);
    }

    @Override
    public long nextBytes() {
        if (ended) {
            return 0;
        }
        return sizeBytes == UNKNOWN ? frameBytes : Math.min(frameBytes, sizeBytes - positionBytes);
    }

    @Override
    public long read(final MemorySegment target) throws IOException {
        long done = 0;
        try {
            while (done < target.byteSize() && !ended) {
                final long part = Math.min(READ_BYTES_MAX, target.byteSize() - done);
                final ByteBuffer buffer = target.asSlice(done, part).asByteBuffer();
                final int count = channel.read(buffer);
                ended = count < 0;
                whole |= ended;
                done += Math.max(count, 0);
            }
        } catch (final ClosedChannelException e) {
            // Cancelled: a frame that was cut short is dropped.
            ended = true;
            return 0;
        } catch (final IOException e) {
            throw new IOException("cannot read " + name + ": " + e.getMessage(), e);
        }
        positionBytes += done;
        if (sizeBytes != UNKNOWN && ended && positionBytes < sizeBytes && channel.isOpen()) {
            throw new IOException("cannot read " + name + ": it was cut to " + positionBytes + " of " + sizeBytes
                    + " bytes while it was published");
        }
        return done;
    }

    @Override
    public boolean isUnfinished() {
        return length == Length.FINITE && !(sizeBytes == UNKNOWN ? whole : positionBytes >= sizeBytes);
    }

    @Override
    public void cancel() {
        close();
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (final IOException e) {
            // Only read from: nothing is lost.
        }
    }
}
